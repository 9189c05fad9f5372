"""What a client does about its own person: signing up and in, and talking beside a match."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import AsyncGenerator

from grimoire.client.connection import Connection
from grimoire.client.texts import sends_text
from grimoire.v1 import account_pb2, chat_pb2, play_pb2

__all__ = ["Person"]


@sends_text
class Person:
    """The part of a client that is about people. Raises as every method of a client does."""

    _connection: Connection

    # ---- accounts --------------------------------------------------------------------------------------------------

    async def sign_up(self, name: str, password: str, *, label: str = "") -> play_pb2.Account:
        """Gives oneself a name and a password; a guest keeps its account, and so its matches.

        Args:
            name: 1 to 24 characters that nobody else signs in with.
            password: 10 to 128 characters.
            label: what the session is called in the list of sessions.
        """
        request = account_pb2.SignUpRequest(name=name, password=password, label=label)
        # Not repeated: whether the first one took effect could not be told from its refusal.
        reply = await self._connection.ask(self._connection.account.SignUp, request, patience_s=0)
        self._connection.token = reply.token
        return reply.account

    async def sign_in(self, name: str, password: str, *, label: str = "") -> play_pb2.Account:
        """Comes back; the new session's token is used from now on."""
        request = account_pb2.SignInRequest(name=name, password=password, label=label)
        reply = await self._connection.ask(self._connection.account.SignIn, request, patience_s=0)
        self._connection.token = reply.token
        return reply.account

    async def sign_out(self) -> None:
        """Ends this session; its token opens nothing any more."""
        await self._connection.ask(self._connection.account.SignOut, account_pb2.SignOutRequest())
        self._connection.token = None

    # ---- chat ------------------------------------------------------------------------------------------------------

    async def say(self, match_id: str, text: str) -> chat_pb2.ChatMessage:
        """Says something beside a match: 1 to 300 characters."""
        request = chat_pb2.SayRequest(match_id=match_id, text=text, request_id=secrets.token_bytes(16))
        return (await self._connection.ask(self._connection.chat.Say, request)).message

    async def hear(self, match_id: str) -> AsyncGenerator[chat_pb2.ChatMessage, None]:
        """What was said beside a match, then what is being said; a message that comes again was changed."""
        request = chat_pb2.WatchChatRequest(match_id=match_id)
        stream = self._connection.stream(self._connection.chat.WatchChat, request)
        async with contextlib.aclosing(stream) as responses:
            async for response in responses:
                for message in response.messages:
                    yield message
