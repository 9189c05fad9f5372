"""Who is calling: guests, tokens, forged tokens."""

from __future__ import annotations

import grpc
import pytest

from gateway import names
from gateway.names import MAX_NAME, clean_name, made_up_name
from grimoire.client import NotSignedInError, Rejected
from grimoire.runtime.identity import mint
from grimoire.runtime.keys import KeyRing
from grimoire.v1 import play_pb2, play_pb2_grpc
from tests.gateway.house import House

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("Aino", "Aino"),
        ("  Aino   Kallas ", "Aino Kallas"),
        ("Väinö 🐦", "Väinö 🐦"),
        ("ﬁnn", "finn"),  # NFKC: what looks the same is the same
        ("x" * MAX_NAME, "x" * MAX_NAME),
    ],
)
async def test_a_name_is_shown_in_one_form(typed: str, shown: str) -> None:
    assert clean_name(typed) == shown


@pytest.mark.parametrize(
    "typed", ["", "   ", "x" * (MAX_NAME + 1), "a\u202eb", "a\x00b", "tab\x07", "\u0301a", "e" + "\u0316" * 3, "\ue000"]
)
async def test_a_name_that_would_harm_a_screen_is_none(typed: str) -> None:
    assert clean_name(typed) is None


async def test_a_made_up_name_is_a_name() -> None:
    for _ in range(200):
        name = made_up_name()
        assert clean_name(name) == name
    longest = [max(map(len, words)) for words in (names._MANNERS, names._BEINGS)]
    assert sum(longest) + len("  999") <= MAX_NAME


async def test_a_guest_is_known_by_its_token(home_house: House) -> None:
    client = await home_house.client("  Aino   Kallas ")
    account = await client.whoami()
    assert (account.name, account.bot) == ("Aino Kallas", False)
    again = await home_house.client(token=client.token)
    assert (await again.whoami()).account_id == account.account_id
    await client.close()
    await again.close()


async def test_a_guest_without_a_name_gets_one(home_house: House) -> None:
    client = await home_house.client("")
    assert clean_name((await client.whoami()).name)
    await client.close()


async def test_a_bad_name_is_refused_with_its_field(home_house: House) -> None:
    client = await home_house.client("Aino")
    with pytest.raises(Rejected) as refused:
        await client.guest("x" * 25)
    assert (refused.value.code, refused.value.field) == ("bad_name", "name")
    await client.close()


def _tokens(house: House, elsewhere: KeyRing) -> dict[str, str]:
    account = "0" * 26
    good = mint(house.keys, account, "Aino", False)
    body, _, signature = good.partition(".")
    other = mint(house.keys, "1" * 26, "Eve", False)
    return {
        "of another installation": mint(elsewhere, account, "Aino", False),
        "expired": mint(house.keys, account, "Aino", False, lifetime_s=-1),
        "another's body": f"{other.partition('.')[0]}.{signature}",
        "no signature": body,
        "empty signature": f"{body}.",
        "cut": good[:-1],
        "one letter changed": f"{'A' if body[0] != 'A' else 'B'}{body[1:]}.{signature}",
        "endless": good + "x" * 4000,
        "nothing": "",
    }


@pytest.mark.parametrize(
    "kind",
    [
        "of another installation",
        "expired",
        "another's body",
        "no signature",
        "empty signature",
        "cut",
        "one letter changed",
        "endless",
        "nothing",
    ],
)
async def test_a_token_that_was_not_issued_here_opens_nothing(
    home_house: House, tmp_path_factory: pytest.TempPathFactory, kind: str
) -> None:
    token = _tokens(home_house, KeyRing.load_or_create(tmp_path_factory.mktemp("keys") / "keys"))[kind]
    async with grpc.aio.insecure_channel(home_house.address) as channel:
        stub = play_pb2_grpc.SessionServiceStub(channel)
        games = play_pb2_grpc.PlayServiceStub(channel)
        metadata = (("authorization", f"Bearer {token}"),)
        for call in (
            stub.WhoAmI(play_pb2.WhoAmIRequest(), metadata=metadata),
            # A bad token is refused also where none is needed: its holder should know.
            games.ListGames(play_pb2.ListGamesRequest(), metadata=metadata),
        ):
            with pytest.raises(grpc.aio.AioRpcError) as refused:
                await call
            assert refused.value.code() is grpc.StatusCode.UNAUTHENTICATED


@pytest.mark.parametrize("header", ["Basic QWlubzpwdw==", "bearer x", "Bearer"])
async def test_another_kind_of_authorization_opens_nothing(home_house: House, header: str) -> None:
    async with grpc.aio.insecure_channel(home_house.address) as channel:
        stub = play_pb2_grpc.SessionServiceStub(channel)
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await stub.WhoAmI(play_pb2.WhoAmIRequest(), metadata=(("authorization", header),))
        assert refused.value.code() is grpc.StatusCode.UNAUTHENTICATED


async def test_two_tokens_open_nothing(home_house: House) -> None:
    token = mint(home_house.keys, "0" * 26, "Aino", False)
    async with grpc.aio.insecure_channel(home_house.address) as channel:
        stub = play_pb2_grpc.SessionServiceStub(channel)
        shown = ("authorization", f"Bearer {token}")
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await stub.WhoAmI(play_pb2.WhoAmIRequest(), metadata=(shown, shown))
        assert refused.value.code() is grpc.StatusCode.UNAUTHENTICATED


async def test_without_a_session_one_sees_the_games_and_nothing_else(home_house: House) -> None:
    client = await home_house.client("Aino")
    match_id = await home_house.create([client, client])
    anybody = await home_house.client(token="")
    assert [g.game for g in await anybody.games()] == ["toy"]
    assert (await anybody.describe("toy")).name == "Beacon"
    for refused in (anybody.whoami(), anybody.open_match(match_id), anybody.challenges(), anybody.export(match_id)):
        with pytest.raises(NotSignedInError):
            await refused
    await client.close()
    await anybody.close()


async def test_metadata_that_names_another_account_changes_nothing(home_house: House) -> None:
    client = await home_house.client("Eve")
    async with grpc.aio.insecure_channel(home_house.address) as channel:
        stub = play_pb2_grpc.SessionServiceStub(channel)
        reply = await stub.WhoAmI(
            play_pb2.WhoAmIRequest(),
            metadata=(
                ("authorization", f"Bearer {client.token}"),
                ("grimoire-account", "0" * 26),
                ("grimoire-account-name", "Aino"),
            ),
        )
    assert reply.account.name == "Eve"
    await client.close()
