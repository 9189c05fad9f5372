"""Accounts: the handlers of `SessionService` and `AccountService`, free of any transport."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Iterator
from typing import Final, Protocol

import msgspec
import structlog

from gateway.callers import Caller, Role, Scope, address_of_call, unauthenticated
from gateway.database import DatabaseError, TakenError
from gateway.limits import RateLimiter
from gateway.meters import GUESTS, SIGN_INS
from gateway.names import MAX_NAME, clean_name, made_up_name, name_key
from gateway.passwords import Passwords
from gateway.people import Account, People, Session, StaleError
from gateway.refusals import RefusalKind, Refused, rejection, unavailable
from gateway.sessions import Sessions
from grimoire.match.codes import reject
from grimoire.runtime.identity import new_account_id
from grimoire.v1 import account_pb2, play_pb2

__all__ = ["AccountLimits", "Accounts", "Talk"]

_log: Final = structlog.stdlib.get_logger(__name__)

_MAX_SETTINGS: Final = 16 * 1024
_SETTINGS: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])


class Talk(Protocol):
    """What somebody has said."""

    async def said_by(self, account_id: str) -> list[dict[str, object]]:
        """All of it, as plain values."""
        ...

    async def erased(self, account_id: str) -> None:
        """Somebody is gone, and with it what it said."""
        ...


class AccountLimits(msgspec.Struct, frozen=True):
    """How often accounts may be made and passwords tried.

    Attributes:
        guests_per_s: guests of one address in the long run.
        guest_burst: guests of one address at once.
        sign_ins_per_s: passwords tried from one address in the long run.
        sign_in_burst: of these, at once.
        free_failures: so many wrong passwords of one name in a row cost nothing.
        first_lock_s: the next one locks the name for so long; each further one for twice as long.
        longest_lock_s: and no longer.
    """

    guests_per_s: float = 0.5
    guest_burst: int = 100
    sign_ins_per_s: float = 0.2
    sign_in_burst: int = 20
    free_failures: int = 5
    first_lock_s: float = 15.0
    longest_lock_s: float = 15 * 60.0


class Accounts:
    """Who people are.

    Args:
        people: where they are kept.
        sessions: opens and ends sessions.
        passwords: makes and checks hashes.
        talk: what they have said.
        now_ms: the wall clock, UTC ms.
        limits: how often one may.
        now: seconds of a clock that never goes back.
    """

    def __init__(
        self,
        people: People,
        sessions: Sessions,
        passwords: Passwords,
        talk: Talk,
        now_ms: Callable[[], int],
        limits: AccountLimits | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._people = people
        self._sessions = sessions
        self._passwords = passwords
        self._talk = talk
        self._now_ms = now_ms
        self._limits = limits or AccountLimits()
        self._guest_rate = RateLimiter(self._limits.guests_per_s, self._limits.guest_burst, now)
        self._password_rate = RateLimiter(self._limits.sign_ins_per_s, self._limits.sign_in_burst, now)
        self.on_erased: list[Callable[[], None]] = []
        """Called after somebody was erased: others have to forget as well."""

    # ---- guests ----------------------------------------------------------------------------------------------------

    async def create_guest(
        self, caller: Caller | None, request: play_pb2.CreateGuestRequest
    ) -> play_pb2.CreateGuestResponse:
        """A new account with a name and a session; nothing else is asked.

        Raises:
            Refused: `bad_name`, `name_taken`, `rate_limited`.
        """
        del caller  # anybody may
        name = _shown(request.name) if request.name.strip() else made_up_name()
        self._count(self._guest_rate)
        with _database():
            if await self._people.by_name(name_key(name)) is not None:
                raise _name_taken()
            account = await self._add(name, None)
            token, _ = await self._sessions.open(account.account_id, Scope.ACCOUNT, "")
        GUESTS.inc()
        return play_pb2.CreateGuestResponse(token=token, account=_message(account))

    async def who_am_i(self, caller: Caller, request: play_pb2.WhoAmIRequest) -> play_pb2.WhoAmIResponse:
        """The caller's own account."""
        del request
        return play_pb2.WhoAmIResponse(account=_of_caller(caller))

    async def get_me(self, caller: Caller | None, request: account_pb2.GetMeRequest) -> account_pb2.GetMeResponse:
        """Who the caller is; no account where nobody is signed in."""
        del request
        if caller is None:
            return account_pb2.GetMeResponse()
        silenced = caller.silenced_until_ms if caller.silenced_until_ms > self._now_ms() else 0
        return account_pb2.GetMeResponse(
            account=_of_caller(caller), scopes=_scopes(caller.scope), silenced_until_ms=silenced
        )

    # ---- with a password -------------------------------------------------------------------------------------------

    async def sign_up(self, caller: Caller | None, request: account_pb2.SignUpRequest) -> account_pb2.SignUpResponse:
        """A name and a password; a guest keeps its account, and so its matches.

        Raises:
            Refused: `bad_name`, `bad_password`, `name_taken`, `already_registered`, `rate_limited`.
        """
        if caller is not None and (caller.bot or not caller.guest):
            sentence = "You have an account with a password already; sign out first."
            raise Refused(RefusalKind.NOT_NOW, rejection("already_registered", sentence))
        if caller is not None:
            caller.require(Scope.ACCOUNT)
        name = _shown(request.name)
        self._count(self._password_rate)
        hashed = await self._passwords.hash(request.password)
        with _database():
            try:
                if caller is None:
                    account = await self._add(name, hashed)
                else:
                    await self._people.register(caller.account_id, name, name_key(name), hashed)
                    account = await self._own(caller)
            except TakenError:
                raise _name_taken() from None
            if caller is not None:
                # Whoever had the guest's token has it no longer.
                ended = await self._people.end_others(caller.account_id, "")
                await self._sessions.end(caller.account_id, ended)
            token, _ = await self._sessions.open(account.account_id, Scope.ACCOUNT, request.label)
        SIGN_INS.labels("signed_up").inc()
        return account_pb2.SignUpResponse(token=token, account=_message(account))

    async def sign_in(self, caller: Caller | None, request: account_pb2.SignInRequest) -> account_pb2.SignInResponse:
        """A new session of an account that has a password.

        Raises:
            Refused: `wrong_password` (whether the name exists is not told), `rate_limited`, `locked`.
        """
        del caller  # whoever it was before
        self._count(self._password_rate)
        key = name_key(clean_name(request.name) or "")
        with _database():
            await self._refuse_locked(key)
            account = await self._people.by_name(key)
            if not await self._passwords.fits(request.password, account.password if account else None):
                await self._note_failure(key)
                SIGN_INS.labels("wrong_password").inc()
                sentence = "There is no account with this name and password."
                raise Refused(RefusalKind.FORBIDDEN, rejection("wrong_password", sentence))
            if account is None or account.password is None:
                raise TypeError("a password fits nobody's")
            await self._people.forgive(key)
            if self._passwords.is_outdated(account.password):
                hashed = await self._passwords.hash(request.password)
                await self._people.set_password(account.account_id, hashed)
            token, _ = await self._sessions.open(account.account_id, Scope.ACCOUNT, request.label)
        SIGN_INS.labels("signed_in").inc()
        return account_pb2.SignInResponse(token=token, account=_message(account))

    async def change_password(
        self, caller: Caller, request: account_pb2.ChangePasswordRequest
    ) -> account_pb2.ChangePasswordResponse:
        """Another password; every other session ends.

        Raises:
            Refused: `wrong_password`, `bad_password`, `no_password`.
        """
        with _database():
            account = await self._own(caller)
            if account.guest:
                sentence = "This account has no password; sign up to give it one."
                raise Refused(RefusalKind.NOT_NOW, rejection("no_password", sentence))
            await self._prove(account, request.old_password)
            hashed = await self._passwords.hash(request.new_password)
            await self._people.set_password(account.account_id, hashed)
            ended = await self._people.end_others(account.account_id, caller.session_id)
            await self._sessions.end(account.account_id, ended)
        return account_pb2.ChangePasswordResponse(ended_sessions=len(ended))

    # ---- the account -----------------------------------------------------------------------------------------------

    async def rename(self, caller: Caller, request: account_pb2.RenameRequest) -> account_pb2.RenameResponse:
        """Another name, shown everywhere from now on.

        Raises:
            Refused: `bad_name`, `name_taken`, `rate_limited`.
        """
        name = _shown(request.name)
        self._count(self._guest_rate)
        with _database():
            account = await self._own(caller)
            key = name_key(name)
            other = await self._people.by_name(key)
            if other is not None and other.account_id != account.account_id:
                raise _name_taken()
            try:
                await self._people.rename(account.account_id, name, None if account.guest else key)
            except TakenError:
                raise _name_taken() from None
            await self._sessions.changed(account.account_id)
        return account_pb2.RenameResponse(account=_message(msgspec.structs.replace(account, name=name)))

    async def delete(
        self, caller: Caller, request: account_pb2.DeleteAccountRequest
    ) -> account_pb2.DeleteAccountResponse:
        """Erases the person; every log stays as it is, and valid.

        Raises:
            Refused: `wrong_password`.
        """
        with _database():
            account = await self._own(caller)
            if not account.guest:
                await self._prove(account, request.password)
        await self.erase(account.account_id)
        return account_pb2.DeleteAccountResponse()

    async def erase(self, account_id: str) -> None:
        """Erases a person, whoever wants it."""
        with _database():
            ended = await self._people.erase(account_id, self._now_ms())
        await self._sessions.end(account_id, ended)
        await self._talk.erased(account_id)
        for callback in self.on_erased:
            callback()
        _log.info("account_erased")

    async def export(
        self, caller: Caller, request: account_pb2.ExportPersonRequest
    ) -> account_pb2.ExportPersonResponse:
        """Everything the edge holds about the caller; matches have exports of their own."""
        del request
        with _database():
            account = await self._own(caller)
            held = {
                "account": {
                    "account_id": account.account_id,
                    "name": account.name,
                    "has_password": not account.guest,
                    "role": account.role.name.lower(),
                    "created_ms": account.created_ms,
                    "silenced_until_ms": account.silenced_until_ms,
                },
                "sessions": [
                    {key: value for key, value in msgspec.structs.asdict(session).items() if key != "session_id"}
                    for session in await self._people.sessions_of(account.account_id)
                ],
                "settings": msgspec.json.decode((await self._people.settings(account.account_id)).json or "{}"),
                "chat": await self._talk.said_by(account.account_id),
            }
        return account_pb2.ExportPersonResponse(json=msgspec.json.format(msgspec.json.encode(held)).decode())

    # ---- sessions --------------------------------------------------------------------------------------------------

    async def sign_out(self, caller: Caller, request: account_pb2.SignOutRequest) -> account_pb2.SignOutResponse:
        """Ends the session that calls."""
        del request
        with _database():
            ended = await self._people.end_session(caller.account_id, caller.session_id)
        await self._sessions.end(caller.account_id, ended)
        return account_pb2.SignOutResponse()

    async def list_sessions(
        self, caller: Caller, request: account_pb2.ListSessionsRequest
    ) -> account_pb2.ListSessionsResponse:
        """The caller's sessions, the newest used first."""
        del request
        with _database():
            found = await self._people.sessions_of(caller.account_id)
        return account_pb2.ListSessionsResponse(sessions=[_session(session, caller) for session in found])

    async def revoke_session(
        self, caller: Caller, request: account_pb2.RevokeSessionRequest
    ) -> account_pb2.RevokeSessionResponse:
        """Ends one session of the caller, or all but the one that asks.

        Raises:
            Refused: `unknown_session`.
        """
        with _database():
            if request.session_id:
                ended = await self._people.end_session(caller.account_id, request.session_id)
                if not ended:
                    raise Refused(RefusalKind.UNKNOWN, rejection("unknown_session", "You have no such session."))
            else:
                ended = await self._people.end_others(caller.account_id, caller.session_id)
        await self._sessions.end(caller.account_id, ended)
        return account_pb2.RevokeSessionResponse(ended_sessions=len(ended))

    async def create_token(
        self, caller: Caller, request: account_pb2.CreateTokenRequest
    ) -> account_pb2.CreateTokenResponse:
        """A token for a program, which may do nothing with the account.

        Raises:
            Refused: `bad_scope`, `wrong_password`.
        """
        scopes = set(request.scopes)
        if not scopes or not scopes <= {account_pb2.SCOPE_READ, account_pb2.SCOPE_PLAY}:
            sentence = "A token has the scope READ or PLAY, or both."
            raise Refused(RefusalKind.MALFORMED, rejection("bad_scope", sentence, field="scopes"))
        with _database():
            account = await self._own(caller)
            if not account.guest:
                await self._prove(account, request.password)
            scope = Scope(max(scopes))
            token, session = await self._sessions.open(account.account_id, scope, request.label)
        return account_pb2.CreateTokenResponse(token=token, session=_session(session, caller))

    # ---- settings --------------------------------------------------------------------------------------------------

    async def get_settings(
        self, caller: Caller, request: account_pb2.GetSettingsRequest
    ) -> account_pb2.GetSettingsResponse:
        """What a client has saved with the account."""
        del request
        with _database():
            found = await self._people.settings(caller.account_id)
        return account_pb2.GetSettingsResponse(settings=found.json, revision=found.revision)

    async def save_settings(
        self, caller: Caller, request: account_pb2.SaveSettingsRequest
    ) -> account_pb2.SaveSettingsResponse:
        """Saves it.

        Raises:
            Refused: `too_large`, `malformed`, `stale_settings`.
        """
        size = len(request.settings.encode())
        if size > _MAX_SETTINGS:
            raise Refused(RefusalKind.MALFORMED, reject("too_large", size=size, limit=_MAX_SETTINGS))
        try:
            _SETTINGS.decode(request.settings)
        except msgspec.MsgspecError:
            refusal = rejection("malformed", "Settings are a JSON object.", field="settings")
            raise Refused(RefusalKind.MALFORMED, refusal) from None
        with _database():
            try:
                revision = await self._people.save_settings(caller.account_id, request.settings, request.revision)
            except StaleError:
                sentence = "These settings were changed elsewhere in between; read them again."
                raise Refused(RefusalKind.NOT_NOW, rejection("stale_settings", sentence)) from None
        return account_pb2.SaveSettingsResponse(revision=revision)

    # ---- helpers ---------------------------------------------------------------------------------------------------

    async def _add(self, name: str, hashed: str | None) -> Account:
        account = Account(new_account_id(), name, hashed, Role.PLAYER, self._now_ms(), 0)
        await self._people.add(account, name_key(name) if hashed is not None else None)
        return account

    async def _own(self, caller: Caller) -> Account:
        account = await self._people.get(caller.account_id)
        if account is None:
            raise unauthenticated("This account is gone.")
        return account

    async def _prove(self, account: Account, password: str) -> None:
        """The password again, for what cannot be undone."""
        self._count(self._password_rate)
        key = name_key(account.name)
        await self._refuse_locked(key)
        if not await self._passwords.fits(password, account.password):
            await self._note_failure(key)
            refusal = rejection("wrong_password", "This is not the password.", field="password")
            raise Refused(RefusalKind.FORBIDDEN, refusal)

    async def _refuse_locked(self, key: str) -> None:
        left_ms = await self._people.locked_until(key) - self._now_ms()
        if left_ms > 0:
            SIGN_INS.labels("locked").inc()
            sentence = f"Too many wrong passwords; try again in {math.ceil(left_ms / 1000)} s."
            raise Refused(RefusalKind.BUSY, rejection("locked", sentence, retry_after_ms=left_ms))

    async def _note_failure(self, key: str) -> None:
        limits = self._limits
        await self._people.note_failure(
            key,
            self._now_ms(),
            limits.free_failures,
            int(limits.first_lock_s * 1000),
            int(limits.longest_lock_s * 1000),
        )

    def _count(self, rate: RateLimiter) -> None:
        retry_after_ms = rate.take(address_of_call())
        if retry_after_ms:
            raise Refused(RefusalKind.BUSY, reject("rate_limited", retry_after_ms=retry_after_ms))


@contextlib.contextmanager
def _database() -> Iterator[None]:
    """A database that is away is a refusal, not a fault."""
    try:
        yield
    except DatabaseError as error:
        _log.warning("accounts_unavailable", why=str(error))
        raise unavailable("Accounts cannot be reached now; try again.") from None


def _shown(typed: str) -> str:
    name = clean_name(typed)
    if name is None:
        sentence = f"A name has 1 to {MAX_NAME} printable characters."
        raise Refused(RefusalKind.MALFORMED, rejection("bad_name", sentence, field="name"))
    return name


def _name_taken() -> Refused:
    return Refused(RefusalKind.NOT_NOW, rejection("name_taken", "Somebody else has this name.", field="name"))


def _message(account: Account) -> play_pb2.Account:
    return play_pb2.Account(
        account_id=account.account_id,
        name=account.name,
        guest=account.guest,
        role=play_pb2.Role.ValueType(int(account.role)),
        created_ms=account.created_ms,
    )


def _of_caller(caller: Caller) -> play_pb2.Account:
    return play_pb2.Account(
        account_id=caller.account_id,
        name=caller.name,
        bot=caller.bot,
        guest=caller.guest,
        role=play_pb2.Role.ValueType(int(caller.role)),
        created_ms=caller.created_ms,
    )


def _scopes(scope: Scope) -> list[account_pb2.Scope.ValueType]:
    return [account_pb2.Scope.ValueType(int(held)) for held in Scope if held <= scope]


def _session(session: Session, caller: Caller) -> account_pb2.Session:
    return account_pb2.Session(
        session_id=session.session_id,
        label=session.label,
        created_ms=session.created_ms,
        used_ms=session.used_ms,
        expires_ms=session.expires_ms,
        scopes=_scopes(session.scope),
        current=session.session_id == caller.session_id,
    )
