"""Who is calling: guests by one call, and what a token says."""

from __future__ import annotations

from gateway.names import MAX_NAME, clean_name, made_up_name
from gateway.refusals import RefusalKind, Refused, rejection
from grimoire.runtime.identity import Identity, mint, new_account_id
from grimoire.runtime.keys import KeyRing
from grimoire.v1 import play_pb2

__all__ = ["Sessions"]


class Sessions:
    """The handlers of `SessionService`.

    Args:
        keys: of this installation; tokens are signed with its session key.
    """

    def __init__(self, keys: KeyRing) -> None:
        self._keys = keys

    async def create_guest(
        self, identity: Identity | None, request: play_pb2.CreateGuestRequest
    ) -> play_pb2.CreateGuestResponse:
        """A new account with a name and a token; nothing else is asked.

        Raises:
            Refused: `bad_name`.
        """
        del identity  # anybody may
        name = clean_name(request.name) if request.name.strip() else made_up_name()
        if name is None:
            sentence = f"A name has 1 to {MAX_NAME} printable characters."
            raise Refused(RefusalKind.MALFORMED, rejection("bad_name", sentence, field="name"))
        guest = Identity(new_account_id(), name)
        token = mint(self._keys, guest.account_id, guest.name, guest.bot)
        return play_pb2.CreateGuestResponse(token=token, account=_account(guest))

    async def who_am_i(self, identity: Identity, request: play_pb2.WhoAmIRequest) -> play_pb2.WhoAmIResponse:
        """The caller's own account."""
        del request
        return play_pb2.WhoAmIResponse(account=_account(identity))


def _account(identity: Identity) -> play_pb2.Account:
    return play_pb2.Account(account_id=identity.account_id, name=identity.name, bot=identity.bot)
