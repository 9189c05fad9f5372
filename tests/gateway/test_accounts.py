"""Accounts: passwords, sessions, names, and how somebody is erased."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from typing import Any

import grpc
import pytest
import pytest_asyncio

from gateway.accounts import AccountLimits
from gateway.callers import Caller, Scope, address_of_call, calling_from
from gateway.passwords import HashCost, Passwords
from gateway.refusals import Refused
from gateway.service import Gateway
from grimoire.client import Client, NotSignedInError, Rejected
from grimoire.runtime.identity import mint, occupant_id, verify
from grimoire.v1 import account_pb2, chat_pb2, matchmaking_pb2, matchmaking_pb2_grpc, play_pb2
from tests.gateway.browser import Browser, RefusedError, guests
from tests.gateway.house import House, house
from tests.gateway.tables import running_table

pytestmark = pytest.mark.asyncio(loop_scope="module")

CHEAP = HashCost(passes=1, memory_kib=1024, lanes=1)
FREE = AccountLimits(guests_per_s=1000, guest_burst=1000, sign_ins_per_s=1000, sign_in_burst=1000, first_lock_s=60)
GOOD = "correct horse battery"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def home(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    gateway = Gateway(account_limits=FREE, hash_cost=CHEAP)
    async with house(tmp_path_factory.mktemp("house"), gateway) as running:
        yield running


async def refused(call: Any) -> RefusedError:
    with pytest.raises(RefusedError) as caught:
        await call
    return caught.value


# ---- signing up and in -----------------------------------------------------------------------------------------------


async def test_one_signs_up_and_in_again_from_elsewhere(home: House) -> None:
    async with Browser(home.web) as first, Browser(home.web) as second:
        account = await first.sign_up("Ilmatar", GOOD)
        assert (account.name, account.guest, account.role) == ("Ilmatar", False, play_pb2.ROLE_PLAYER)
        # However a name is written, it is the same.
        again = await second.sign_in("  ILMATAR ", GOOD)
        assert again.account_id == account.account_id
        assert (await second.me()).account == account


async def test_a_guest_who_signs_up_keeps_its_account_and_so_its_matches(home: House) -> None:
    async with Browser(home.web) as browser:
        guest = await browser.guest("Louhi")
        match_id = await home.create_for([guest.account_id, guest.account_id])
        old_token = next(iter(browser.http.cookies.values()))
        account = await browser.sign_up("Louhi of Pohjola", GOOD)
        assert account.account_id == guest.account_id
        look = await browser.call(
            "play", "Look", play_pb2.LookRequest(match_id=match_id, seat=1), play_pb2.LookResponse
        )
        assert look.snapshot.viewer.seat == 1
        # Whoever had the guest's session has it no longer.
        assert next(iter(browser.http.cookies.values())) != old_token
        client = await home.client(token=old_token)
        with pytest.raises(NotSignedInError):
            await client.whoami()
        await client.close()
        assert (await refused(browser.sign_up("Louhi again", GOOD))).code == "already_registered"


@pytest.mark.parametrize("password", ["", "short", "x" * 9, "x" * 129])
async def test_of_a_password_only_its_length_is_asked(home: House, password: str) -> None:
    async with Browser(home.web) as browser:
        why = await refused(browser.sign_up("Sampsa", password))
        assert (why.code, why.rejection.field) == ("bad_password", "password")


async def test_any_letters_make_a_password_however_they_are_typed(home: House) -> None:
    async with Browser(home.web) as browser, Browser(home.web) as other:
        await browser.sign_up("Antero", "aaaaaaaaa\u00e4")
        assert (await other.sign_in("Antero", "aaaaaaaaaa\u0308")).name == "Antero"


async def test_a_name_is_one_persons(home: House) -> None:
    async with Browser(home.web) as owner, Browser(home.web) as other:
        await owner.sign_up("Kyllikki", GOOD)
        assert (await refused(other.sign_up("KYLLIKKI", GOOD))).code == "name_taken"
        assert (await refused(other.guest("kyllikki"))).code == "name_taken"
        await other.guest("Somebody")
        rename = account_pb2.RenameRequest(name="Ｋyllikki")
        why = await refused(other.call("account", "Rename", rename, account_pb2.RenameResponse))
        assert why.code == "name_taken"
        # Guests share theirs: they own none.
        async with Browser(home.web) as third:
            assert (await third.guest("Somebody")).name == "Somebody"


async def test_a_wrong_password_and_an_unknown_name_are_answered_alike(home: House) -> None:
    async with Browser(home.web) as browser:
        await browser.sign_up("Tuulikki", GOOD)
        wrong = await refused(browser.sign_in("Tuulikki", GOOD + "x"))
        nobody = await refused(browser.sign_in("Nobody at all", GOOD))
        assert wrong.code == nobody.code == "wrong_password"
        assert wrong.rejection == nobody.rejection
        assert wrong.status == nobody.status == 403


async def test_a_password_cannot_be_tried_for_long_and_names_that_nobody_has_neither(home: House) -> None:
    async with Browser(home.web) as browser, Browser(home.web) as owner:
        await owner.sign_up("Marjatta", GOOD)
        for name in ("Marjatta", "Marjatan kissa"):
            codes = [(await refused(browser.sign_in(name, f"wrong password {n}"))).code for n in range(8)]
            free = FREE.free_failures + 1
            assert codes == ["wrong_password"] * free + ["locked"] * (8 - free)
        why = await refused(browser.sign_in("Marjatta", GOOD))
        assert why.code == "locked"
        assert 0 < why.rejection.retry_after_ms <= 60_000
        # Who is in already stays in.
        assert (await owner.me()).account.name == "Marjatta"


async def test_one_address_tries_and_makes_only_so_many(tmp_path_factory: pytest.TempPathFactory) -> None:
    limits = AccountLimits(guest_burst=3, guests_per_s=0.01, sign_in_burst=2, sign_ins_per_s=0.01)
    gateway = Gateway(account_limits=limits, hash_cost=CHEAP)
    async with house(tmp_path_factory.mktemp("house"), gateway) as home, Browser(home.web) as browser:
        for _ in range(3):
            await browser.guest()
        why = await refused(browser.guest())
        assert why.code == "rate_limited"
        assert why.rejection.retry_after_ms > 1000
        # Over gRPC it is the same door.
        client = await Client.connect(home.address, keepsakes=home.home, patience_s=0.1)
        with pytest.raises(Rejected) as caught:
            await client.guest()
        assert caught.value.code == "rate_limited"
        await client.close()
        for n in range(2):
            assert (await refused(browser.sign_in(f"Name {n}", GOOD))).code == "wrong_password"
        assert (await refused(browser.sign_in("Name 3", GOOD))).code == "rate_limited"


async def test_who_has_many_addresses_counts_as_one() -> None:
    for address, counted in (
        ("192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:aaaa::1", "2001:db8:1:2::/64"),
        ("2001:db8:1:2:bbbb::1%eth0", "2001:db8:1:2::/64"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("::1", "::1"),
        ("nonsense", "unknown"),
    ):
        with calling_from(address):
            assert address_of_call() == counted


async def test_hashes_are_argon2id_salted_and_renewed_when_made_cheaply() -> None:
    cheap, dear = Passwords(CHEAP), Passwords(HashCost(passes=2, memory_kib=2048, lanes=1))
    one, other = await cheap.hash(GOOD), await cheap.hash(GOOD)
    assert one != other
    assert one.startswith("$argon2id$")
    assert await dear.fits(GOOD, one)
    assert not await dear.fits(GOOD + "x", one)
    assert not await dear.fits(GOOD, None)
    assert not await dear.fits(GOOD, "no hash")
    assert dear.is_outdated(one)
    assert not cheap.is_outdated(one)
    with pytest.raises(Refused):
        await cheap.hash("short")
    cheap.close()
    dear.close()


async def test_a_hash_that_was_cheaper_is_renewed_at_the_next_sign_in(home: House) -> None:
    async with Browser(home.web) as browser:
        await browser.sign_up("Vellamo", GOOD)
    before = _column(home, "SELECT password FROM edge_accounts WHERE name = 'Vellamo'")
    dearer = Gateway(hash_cost=HashCost(passes=2, memory_kib=1024, lanes=1))
    async with home.another_edge(dearer) as web, Browser(web) as browser:
        await browser.sign_in("Vellamo", GOOD)
        assert before != _column(home, "SELECT password FROM edge_accounts WHERE name = 'Vellamo'")
        await browser.sign_in("Vellamo", GOOD)


# ---- sessions --------------------------------------------------------------------------------------------------------


async def _sessions(browser: Browser) -> list[account_pb2.Session]:
    request = account_pb2.ListSessionsRequest()
    return list((await browser.call("account", "ListSessions", request, account_pb2.ListSessionsResponse)).sessions)


async def test_sessions_are_listed_and_revoked(home: House) -> None:
    async with Browser(home.web) as first, Browser(home.web) as second, Browser(home.web) as stranger:
        await first.sign_up("Pellervo", GOOD)
        request = account_pb2.SignInRequest(name="Pellervo", password=GOOD, label="Phone\n of\x00 Pellervo")
        await second.call("account", "SignIn", request, account_pb2.SignInResponse)
        sessions = await _sessions(second)
        assert [s.current for s in sessions] == [True, False]
        assert sessions[0].label == "Phone of Pellervo"
        await stranger.guest()
        revoke = account_pb2.RevokeSessionRequest(session_id=sessions[0].session_id)
        why = await refused(stranger.call("account", "RevokeSession", revoke, account_pb2.RevokeSessionResponse))
        assert why.code == "unknown_session"
        answer = await first.call("account", "RevokeSession", revoke, account_pb2.RevokeSessionResponse)
        assert answer.ended_sessions == 1
        assert not (await second.me()).HasField("account")
        assert (await first.me()).HasField("account")


async def test_signing_out_ends_the_session_everywhere(home: House) -> None:
    async with guests(home.web, "Osmo") as (browser,):
        token = next(iter(browser.http.cookies.values()))
        await browser.call("account", "SignOut", account_pb2.SignOutRequest(), account_pb2.SignOutResponse)
        assert not browser.http.cookies
        async with Browser(home.web, origin="", token=token) as thief:
            assert (await refused(thief.me())).connect_code == "unauthenticated"


async def test_another_password_ends_every_other_session(home: House) -> None:
    async with Browser(home.web) as first, Browser(home.web) as second:
        await first.sign_up("Kaleva", GOOD)
        await second.sign_in("Kaleva", GOOD)
        change = account_pb2.ChangePasswordRequest(old_password="wrong wrong wrong", new_password="another long one")
        answer = account_pb2.ChangePasswordResponse
        assert (await refused(first.call("account", "ChangePassword", change, answer))).code == "wrong_password"
        change.old_password = GOOD
        assert (await first.call("account", "ChangePassword", change, answer)).ended_sessions == 1
        assert not (await second.me()).HasField("account")
        assert (await refused(second.sign_in("Kaleva", GOOD))).code == "wrong_password"
        await second.sign_in("Kaleva", "another long one")
        async with guests(home.web, "Guest") as (guest,):
            assert (await refused(guest.call("account", "ChangePassword", change, answer))).code == "no_password"


async def test_a_stream_ends_with_its_session(home: House) -> None:
    async with running_table(home) as table, guests(home.web, "Eve") as (browser,):
        watch = play_pb2.WatchRequest(match_id=table.match_id)
        async with aclosing(browser.stream("play", "Watch", watch, play_pb2.WatchResponse)) as frames:
            await anext(frames)
            await browser.call("account", "SignOut", account_pb2.SignOutRequest(), account_pb2.SignOutResponse)
            await table.move()
            assert (await refused(anext(frames))).connect_code == "unauthenticated"


async def test_a_program_may_only_do_what_its_token_is_for(home: House) -> None:
    async with Browser(home.web) as browser:
        await browser.sign_up("Ahti", GOOD)
        request = account_pb2.CreateTokenRequest(scopes=[account_pb2.SCOPE_READ], label="bot", password="not this one")
        answer = account_pb2.CreateTokenResponse
        assert (await refused(browser.call("account", "CreateToken", request, answer))).code == "wrong_password"
        request.password = GOOD
        reader = (await browser.call("account", "CreateToken", request, answer)).token
        request.scopes.append(account_pb2.SCOPE_PLAY)
        player = (await browser.call("account", "CreateToken", request, answer)).token
        for scopes in ([], [account_pb2.SCOPE_ACCOUNT], [account_pb2.SCOPE_READ, account_pb2.SCOPE_ACCOUNT]):
            wrong = account_pb2.CreateTokenRequest(scopes=scopes, password=GOOD)
            assert (await refused(browser.call("account", "CreateToken", wrong, answer))).code == "bad_scope"
    async with running_table(home) as table:
        submit = play_pb2.SubmitRequest(command=table.command())
        async with Browser(home.web, origin="", token=reader) as program:
            look = play_pb2.LookRequest(match_id=table.match_id)
            assert (await program.call("play", "Look", look, play_pb2.LookResponse)).snapshot.view
            assert (
                await refused(program.call("play", "Submit", submit, play_pb2.SubmitResponse))
            ).code == "scope_missing"
            create = matchmaking_pb2.CreateChallengeRequest(game="toy")
            call = program.call("matchmaking", "CreateChallenge", create, matchmaking_pb2.CreateChallengeResponse)
            assert (await refused(call)).code == "scope_missing"
        async with Browser(home.web, origin="", token=player) as program:
            reply = (await program.call("play", "Submit", submit, play_pb2.SubmitResponse)).reply
            assert reply.rejection.code == "not_a_seat"
            for method, sent, got in (
                ("Rename", account_pb2.RenameRequest(name="Eve"), account_pb2.RenameResponse),
                ("DeleteAccount", account_pb2.DeleteAccountRequest(password=GOOD), account_pb2.DeleteAccountResponse),
                ("CreateToken", account_pb2.CreateTokenRequest(password=GOOD), account_pb2.CreateTokenResponse),
            ):
                assert (await refused(program.call("account", method, sent, got))).code == "scope_missing"
    # Over gRPC as well.
    client = await home.client(token=reader)
    with pytest.raises(Rejected) as caught:
        await client.create("toy")
    assert caught.value.code == "scope_missing"
    await client.close()


async def test_a_persons_token_without_a_session_opens_nothing(home: House) -> None:
    token = mint(home.keys, "0" * 26, "Aino", False)
    async with Browser(home.web, origin="", token=token) as nobody:
        assert (await refused(nobody.me())).connect_code == "unauthenticated"


async def test_of_very_many_sessions_the_longest_unused_end(home: House) -> None:
    async with Browser(home.web) as browser, Browser(home.web) as first:
        await first.sign_up("Iku", GOOD)
        for _ in range(20):
            await browser.sign_in("Iku", GOOD)
        assert len(await _sessions(browser)) == 20
        assert not (await first.me()).HasField("account")


async def test_what_is_not_used_for_long_ends_and_lost_guests_are_erased(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    gateway = Gateway(hash_cost=CHEAP)
    async with (
        house(tmp_path_factory.mktemp("house"), gateway) as home,
        Browser(home.web) as known,
        Browser(home.web) as guest,
        Browser(home.web) as fresh,
    ):
        await known.sign_up("Known", GOOD)
        await guest.guest("Lost")
        account = await fresh.guest("Fresh")
        for table in ("edge_sessions", "edge_accounts"):
            _change(home, f"UPDATE {table} SET used_ms = 1 WHERE account_id != '{account.account_id}'")
        assert gateway.housekeeping is not None
        await gateway.housekeeping.sweep()
        assert _column(home, "SELECT name FROM edge_accounts ORDER BY name") == ["Fresh", "Known"]
        assert len(_column(home, "SELECT session_id FROM edge_sessions")) == 1
        assert (await fresh.me()).HasField("account")
        await known.sign_in("Known", GOOD)


# ---- the person ------------------------------------------------------------------------------------------------------


async def test_another_name_is_shown_from_then_on(home: House) -> None:
    async with Browser(home.web) as browser, Browser(home.web) as other:
        await browser.sign_up("Untamo", GOOD)
        rename = account_pb2.RenameRequest(name="Kalervo")
        answer = await browser.call("account", "Rename", rename, account_pb2.RenameResponse)
        assert answer.account.name == "Kalervo"
        assert (await browser.me()).account.name == "Kalervo"
        # The former one is free again.
        assert (await other.sign_up("Untamo", GOOD)).name == "Untamo"
        async with Browser(home.web) as again:
            assert (await again.sign_in("Kalervo", GOOD)).account_id == answer.account.account_id


async def test_settings_are_kept_and_never_overwritten_unseen(home: House) -> None:
    async with guests(home.web, "Aino") as (browser,):
        get, got = account_pb2.GetSettingsRequest(), account_pb2.GetSettingsResponse
        assert (await browser.call("account", "GetSettings", get, got)).revision == 0
        save, saved = account_pb2.SaveSettingsRequest(settings='{"theme":"dark"}'), account_pb2.SaveSettingsResponse
        assert (await browser.call("account", "SaveSettings", save, saved)).revision == 1
        save.settings, save.revision = '{"theme":"light"}', 1
        assert (await browser.call("account", "SaveSettings", save, saved)).revision == 2
        assert (await refused(browser.call("account", "SaveSettings", save, saved))).code == "stale_settings"
        save.revision = 2**64 - 1
        assert (await refused(browser.call("account", "SaveSettings", save, saved))).code == "stale_settings"
        found = await browser.call("account", "GetSettings", get, got)
        assert (found.settings, found.revision) == ('{"theme":"light"}', 2)
        for wrong, code in (("[]", "malformed"), ("{", "malformed"), (f'{{"x":"{"x" * 17000}"}}', "too_large")):
            save = account_pb2.SaveSettingsRequest(settings=wrong)
            assert (await refused(browser.call("account", "SaveSettings", save, saved))).code == code


async def test_everybody_can_see_what_is_held_of_them(home: House) -> None:
    async with Browser(home.web) as browser, running_table(home) as table:
        await browser.sign_up("Nyyrikki", GOOD)
        say = chat_pb2.SayRequest(match_id=table.match_id, text="Good game")
        await browser.call("chat", "Say", say, chat_pb2.SayResponse)
        request = account_pb2.ExportPersonRequest()
        held = json.loads(
            (await browser.call("account", "ExportPerson", request, account_pb2.ExportPersonResponse)).json
        )
        assert held["account"]["name"] == "Nyyrikki"
        assert held["account"]["has_password"] is True
        assert [said["text"] for said in held["chat"]] == ["Good game"]
        assert len(held["sessions"]) == 1
        assert "argon2" not in json.dumps(held)


class Forgetful(matchmaking_pb2_grpc.MatchmakingServiceServicer):
    """Matchmaking, as far as it forgets people."""

    def __init__(self) -> None:
        self.away = True
        self.forgotten: list[str] = []

    async def ForgetAccount(self, request: Any, context: grpc.aio.ServicerContext[Any, Any]) -> Any:
        if self.away:
            await context.abort(grpc.StatusCode.INTERNAL, "away")
        self.forgotten.append(request.account_id)
        return matchmaking_pb2.ForgetAccountResponse()


async def test_erasing_a_person_leaves_nothing_of_it_and_every_log_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, serve_matchmaking: Callable[..., Any]
) -> None:
    forgetful = Forgetful()
    gateway = Gateway(account_limits=FREE, hash_cost=CHEAP)
    beside = {"matchmaking": serve_matchmaking(forgetful)}
    name, said = "Väinämöinen77", "Vaka vanha on täällä"
    async with (
        house(tmp_path_factory.mktemp("house"), gateway, beside=beside) as home,
        running_table(home) as table,
        Browser(home.web) as browser,
        Browser(home.web) as other,
    ):
        account = await browser.sign_up(name, GOOD)
        await other.guest("Aino")
        save = account_pb2.SaveSettingsRequest(settings='{"seen":"Vaka vanha"}')
        await browser.call("account", "SaveSettings", save, account_pb2.SaveSettingsResponse)
        say = chat_pb2.SayRequest(match_id=table.match_id, text=said)
        spoken = (await browser.call("chat", "Say", say, chat_pb2.SayResponse)).message
        report = chat_pb2.ReportRequest(message_id=spoken.message_id, reason="rude")
        await other.call("chat", "Report", report, chat_pb2.ReportResponse)
        head = await home.head(table.clients[0], table.match_id)
        assert said.encode() in _held(home)

        delete = account_pb2.DeleteAccountRequest(password="not the password")
        answer = account_pb2.DeleteAccountResponse
        assert (await refused(browser.call("account", "DeleteAccount", delete, answer))).code == "wrong_password"
        delete.password = GOOD
        await browser.call("account", "DeleteAccount", delete, answer)
        assert not browser.http.cookies
        assert not (await browser.me()).HasField("account")
        assert (await refused(browser.sign_in(name, GOOD))).code == "wrong_password"
        chat = chat_pb2.WatchChatRequest(match_id=table.match_id)
        async with aclosing(other.stream("chat", "WatchChat", chat, chat_pb2.WatchChatResponse)) as stream:
            assert not (await anext(stream)).messages
        assert (await home.head(table.clients[0], table.match_id)).hash == head.hash
        for text in (name, said, "Vaka vanha"):
            assert text.encode() not in _held(home), text

        # Matchmaking keeps names too: it is told until it has heard.
        assert gateway.housekeeping is not None
        with pytest.raises(grpc.aio.AioRpcError):
            await gateway.housekeeping.forget()
        assert _column(home, "SELECT account_id FROM edge_erasures") == [account.account_id]
        forgetful.away = False
        await gateway.housekeeping.forget()
        assert set(forgetful.forgotten) == {account.account_id}
        assert not _column(home, "SELECT account_id FROM edge_erasures")


async def test_the_occupant_of_an_erased_seat_is_nobodys_any_more(home: House) -> None:
    async with Browser(home.web) as browser:
        account = await browser.guest("Gone")
        match_id = await home.create_for([account.account_id, "0" * 26])
        pseudonym = occupant_id(home.keys, match_id, account.account_id)  # type: ignore[arg-type]
        request = account_pb2.DeleteAccountRequest()
        await browser.call("account", "DeleteAccount", request, account_pb2.DeleteAccountResponse)
        again = await browser.guest("Gone")
        assert occupant_id(home.keys, match_id, again.account_id) != pseudonym  # type: ignore[arg-type]
        look = await browser.call("play", "Look", play_pb2.LookRequest(match_id=match_id), play_pb2.LookResponse)
        assert pseudonym in {s.occupant_id for s in look.snapshot.head.created.seats}


async def test_no_token_or_password_is_logged(home: House, capfd: pytest.CaptureFixture[str]) -> None:
    secret = "a very secret password"
    async with Browser(home.web) as browser, Browser(home.web) as liar:
        await browser.sign_up("Secretive", secret)
        await refused(liar.sign_in("Secretive", secret + "!"))
        token = next(iter(browser.http.cookies.values()))
        async with Browser(home.web, token=token[:-1] + "x") as thief:
            await refused(thief.me())
    told = "".join(capfd.readouterr())
    for text in (secret, token, token.partition(".")[2], "$argon2"):
        assert text not in told


async def test_what_a_caller_is_allowed_is_in_its_scope() -> None:
    reader = Caller("a", "A", scope=Scope.READ)
    reader.require(Scope.READ)
    for ask in (lambda: reader.require(Scope.PLAY), reader.require_moderator):
        with pytest.raises(Refused):
            ask()


async def test_a_token_names_nobody(home: House) -> None:
    client = await home.client("Aino")
    identity = verify(home.keys, client.token or "")
    assert identity is not None
    assert identity.name == ""
    assert identity.session_id
    await client.close()


async def test_when_the_database_is_locked_calls_are_refused_and_known_people_still_known(home: House) -> None:
    async with guests(home.web, "Aino") as (browser,):
        path = home.config.data_dir / "gateway.db"
        with sqlite3.connect(path, isolation_level=None) as lock:
            lock.execute("BEGIN EXCLUSIVE")
            assert (await browser.me()).account.name == "Aino"
            async with asyncio.timeout(20), Browser(home.web) as other:
                assert (await refused(other.guest("Väinö"))).code == "unavailable"
            lock.execute("ROLLBACK")
        async with Browser(home.web) as other:
            assert (await other.guest("Väinö")).name == "Väinö"


def _column(home: House, statement: str) -> list[Any]:
    with sqlite3.connect(home.config.data_dir / "gateway.db") as connection:
        return [row[0] for row in connection.execute(statement)]


def _change(home: House, statement: str) -> None:
    with sqlite3.connect(home.config.data_dir / "gateway.db") as connection:
        connection.execute(statement)


def _held(home: House) -> bytes:
    """All bytes of the database's files."""
    return b"".join(path.read_bytes() for path in home.config.data_dir.glob("gateway.db*"))
