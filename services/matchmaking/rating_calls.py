"""Ratings over gRPC: one's own, their history, and the leaderboard."""

from __future__ import annotations

import grpc

from grimoire.eventstore import Unavailable
from grimoire.v1 import matchmaking_pb2_grpc, rating_pb2
from matchmaking.calls import Context, abort, caller_of, language_of, limit_of, unavailable
from matchmaking.desk import Desk
from matchmaking.shown import show_change
from matchmaking.shown_tickets import show_difficulty, show_leaderboard

__all__ = ["RatingCalls"]

_ROWS = (50, 500)


class RatingCalls(matchmaking_pb2_grpc.MatchmakingServiceServicer):
    """The part of the service that says how strong people are."""

    _desk: Desk

    async def GetRatings(
        self,
        request: rating_pb2.GetRatingsRequest,  # noqa: ARG002 - the schema's signature
        context: Context,
    ) -> rating_pb2.GetRatingsResponse:
        """The caller's, in every game."""
        caller = await caller_of(context)
        try:
            ratings = await self._desk.ratings.of_account(caller.account_id)
        except Unavailable:
            await abort(context, grpc.StatusCode.UNAVAILABLE, unavailable())
        shown = [rating_pb2.GameRating(game=game, rating=skill.message) for game, skill in ratings]
        return rating_pb2.GetRatingsResponse(ratings=shown)

    async def ListRatingChanges(
        self, request: rating_pb2.ListRatingChangesRequest, context: Context
    ) -> rating_pb2.ListRatingChangesResponse:
        """The caller's history in one game, newest first."""
        caller, limit = await caller_of(context), limit_of(request.limit, _ROWS)
        try:
            changes = await self._desk.ratings.history(caller.account_id, request.game, limit)
        except Unavailable:
            await abort(context, grpc.StatusCode.UNAVAILABLE, unavailable())
        return rating_pb2.ListRatingChangesResponse(changes=[show_change(change) for change in changes])

    async def GetLeaderboard(
        self, request: rating_pb2.GetLeaderboardRequest, context: Context
    ) -> rating_pb2.GetLeaderboardResponse:
        """The best of one game."""
        caller, language = await caller_of(context), language_of(request.language)
        try:
            limit = limit_of(request.limit, _ROWS)
            best = await self._desk.ratings.best(request.game, limit)
            tasks = await self._desk.ratings.difficulties(request.game, limit)
            accounts = {account_id for account_id, _ in best}
            people = await self._desk.faces.people(caller.account_id, request.game, accounts, language)
        except Unavailable:
            await abort(context, grpc.StatusCode.UNAVAILABLE, unavailable(), language)
        return rating_pb2.GetLeaderboardResponse(
            rows=show_leaderboard(best, people), difficulties=map(show_difficulty, tasks)
        )
