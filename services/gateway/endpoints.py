"""Everything the edge answers, in one table that any transport can serve."""

from __future__ import annotations

import enum
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from typing import Any, TypeAlias

import msgspec
from google.protobuf.message import DecodeError, Message

from gateway.accounts import Accounts
from gateway.callers import Caller, Scope, unauthenticated
from gateway.chat import Chat
from gateway.lobby import LobbyStreams
from gateway.play import Play
from gateway.refusals import RefusalKind, Refused
from grimoire.match.codes import reject
from grimoire.v1 import account_pb2, chat_pb2, envelope_pb2, lobby_pb2, play_pb2, replay_pb2

__all__ = ["CookieEffect", "Endpoint", "Forwarded", "endpoints"]

Unary: TypeAlias = Callable[[Any, Any], Awaitable[Message]]
Streaming: TypeAlias = Callable[[Any, Any], AsyncGenerator[Message, None]]


class CookieEffect(enum.Enum):
    """What an answer does to the session of a browser."""

    NONE = "none"
    OPENS = "opens"
    """The answer has a field `token`."""
    ENDS = "ends"


class Endpoint(msgspec.Struct, frozen=True):
    """One method of a service, handled here.

    Attributes:
        service: full name, e.g. `grimoire.v1.PlayService`.
        method: name, e.g. `Submit`.
        request: message type.
        unary: handler of caller and request; None for a stream.
        streaming: handler that yields responses; None for one response.
        scope: the caller's session must have it; None: no session is needed, the handler is given whatever caller
            there is.
        moderator: the caller must be one.
        cookie: what its answer does to a browser's session.
        malformed: the response that says that the bytes are no request; None: the call is refused.
    """

    service: str
    method: str
    request: type[Message]
    unary: Unary | None = None
    streaming: Streaming | None = None
    scope: Scope | None = Scope.READ
    moderator: bool = False
    cookie: CookieEffect = CookieEffect.NONE
    malformed: Callable[[envelope_pb2.Rejection], Message] | None = None

    @property
    def path(self) -> str:
        """As it stands in a request, e.g. `/grimoire.v1.PlayService/Submit`."""
        return f"/{self.service}/{self.method}"

    def read(self, data: bytes) -> Message:
        """The request in these bytes.

        Raises:
            Refused: `malformed`.
        """
        try:
            return self.request.FromString(data)
        except DecodeError:
            raise Refused(
                RefusalKind.MALFORMED, reject("malformed", detail=f"it is no {self.request.__name__}")
            ) from None

    def admit(self, caller: Caller | None) -> Caller | None:
        """The caller, if this endpoint is for it.

        Raises:
            Refused: unauthenticated, `scope_missing`, `forbidden`.
        """
        if self.scope is None:
            return caller
        if caller is None:
            raise unauthenticated()
        caller.require(self.scope)
        if self.moderator:
            caller.require_moderator()
        return caller


class Forwarded(msgspec.Struct, frozen=True):
    """One method of an internal service, answered there with the caller's account beside the same bytes.

    Attributes:
        service: full name.
        method: name.
        owner: which service of the platform answers.
        request, response: message types, for transports that speak JSON.
        scope: the caller's session must have it.
        unary: handler of caller, path and request bytes.
        streaming: the same, with many responses.
        uploading: the same, with many requests.
    """

    service: str
    method: str
    owner: str
    request: type[Message]
    response: type[Message]
    scope: Scope
    unary: Callable[[Caller, str, bytes], Awaitable[bytes]] | None = None
    streaming: Callable[[Caller, str, bytes], AsyncGenerator[bytes, None]] | None = None
    uploading: Callable[[Caller, str, AsyncIterator[bytes]], Awaitable[bytes]] | None = None

    @property
    def path(self) -> str:
        """As it stands in a request, e.g. `/grimoire.v1.ReplayService/Export`."""
        return f"/{self.service}/{self.method}"

    def admit(self, caller: Caller | None) -> Caller:
        """The caller, if this method is for it.

        Raises:
            Refused: unauthenticated, `scope_missing`.
        """
        if caller is None:
            raise unauthenticated()
        caller.require(self.scope)
        return caller


def endpoints(
    accounts: Accounts, play: Play, chat: Chat, lobby: LobbyStreams, import_file: Unary
) -> tuple[Endpoint, ...]:
    """What this edge handles itself."""
    replay = "grimoire.v1.ReplayService"
    return (
        *_sessions(accounts),
        *_accounts(accounts),
        *_play(play),
        *_chat(chat),
        *_lobby(lobby),
        Endpoint(replay, "ImportFile", replay_pb2.ImportFileRequest, import_file, scope=Scope.PLAY),
    )


def _sessions(accounts: Accounts) -> tuple[Endpoint, ...]:
    service, pb, opens = "grimoire.v1.SessionService", play_pb2, CookieEffect.OPENS
    return (
        Endpoint(service, "CreateGuest", pb.CreateGuestRequest, accounts.create_guest, scope=None, cookie=opens),
        Endpoint(service, "WhoAmI", pb.WhoAmIRequest, accounts.who_am_i),
    )


def _accounts(accounts: Accounts) -> tuple[Endpoint, ...]:
    service, pb, all_of_it = "grimoire.v1.AccountService", account_pb2, Scope.ACCOUNT
    opens, ends = CookieEffect.OPENS, CookieEffect.ENDS
    return (
        Endpoint(service, "GetMe", pb.GetMeRequest, accounts.get_me, scope=None),
        Endpoint(service, "SignUp", pb.SignUpRequest, accounts.sign_up, scope=None, cookie=opens),
        Endpoint(service, "SignIn", pb.SignInRequest, accounts.sign_in, scope=None, cookie=opens),
        Endpoint(service, "SignOut", pb.SignOutRequest, accounts.sign_out, cookie=ends),
        Endpoint(service, "Rename", pb.RenameRequest, accounts.rename, scope=all_of_it),
        Endpoint(service, "ChangePassword", pb.ChangePasswordRequest, accounts.change_password, scope=all_of_it),
        Endpoint(service, "DeleteAccount", pb.DeleteAccountRequest, accounts.delete, scope=all_of_it, cookie=ends),
        Endpoint(service, "ListSessions", pb.ListSessionsRequest, accounts.list_sessions, scope=all_of_it),
        Endpoint(service, "RevokeSession", pb.RevokeSessionRequest, accounts.revoke_session, scope=all_of_it),
        Endpoint(service, "CreateToken", pb.CreateTokenRequest, accounts.create_token, scope=all_of_it),
        Endpoint(service, "GetSettings", pb.GetSettingsRequest, accounts.get_settings, scope=all_of_it),
        Endpoint(service, "SaveSettings", pb.SaveSettingsRequest, accounts.save_settings, scope=all_of_it),
        Endpoint(service, "ExportPerson", pb.ExportPersonRequest, accounts.export, scope=all_of_it),
    )


def _play(play: Play) -> tuple[Endpoint, ...]:
    service, pb = "grimoire.v1.PlayService", play_pb2
    return (
        Endpoint(service, "ListGames", pb.ListGamesRequest, play.list_games, scope=None),
        Endpoint(service, "DescribeGame", pb.DescribeGameRequest, play.describe_game, scope=None),
        Endpoint(service, "Submit", pb.SubmitRequest, play.submit, scope=Scope.PLAY, malformed=_submit_malformed),
        Endpoint(service, "Explain", pb.ExplainRequest, play.explain, scope=Scope.PLAY, malformed=_explain_malformed),
        Endpoint(service, "Watch", pb.WatchRequest, streaming=play.watch),
        Endpoint(service, "Look", pb.LookRequest, play.look),
    )


def _chat(chat: Chat) -> tuple[Endpoint, ...]:
    service, pb = "grimoire.v1.ChatService", chat_pb2
    return (
        Endpoint(service, "Say", pb.SayRequest, chat.say, scope=Scope.PLAY),
        Endpoint(service, "WatchChat", pb.WatchChatRequest, streaming=chat.watch),
        Endpoint(service, "Mute", pb.MuteRequest, chat.mute, scope=Scope.PLAY),
        Endpoint(service, "Report", pb.ReportRequest, chat.report, scope=Scope.PLAY),
        Endpoint(service, "ListReports", pb.ListReportsRequest, chat.reports, scope=Scope.ACCOUNT, moderator=True),
        Endpoint(service, "DecideReport", pb.DecideReportRequest, chat.decide, scope=Scope.ACCOUNT, moderator=True),
    )


def _lobby(lobby: LobbyStreams) -> tuple[Endpoint, ...]:
    service, pb = "grimoire.v1.LobbyService", lobby_pb2
    return (
        Endpoint(service, "WatchLobby", pb.WatchLobbyRequest, streaming=lobby.watch, scope=None),
        Endpoint(service, "Follow", pb.FollowRequest, streaming=lobby.follow, scope=None),
    )


def _submit_malformed(why: envelope_pb2.Rejection) -> Message:
    return play_pb2.SubmitResponse(reply=envelope_pb2.CommandReply(rejection=why))


def _explain_malformed(why: envelope_pb2.Rejection) -> Message:
    return play_pb2.ExplainResponse(rejection=why)
