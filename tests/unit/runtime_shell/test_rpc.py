"""Servers and channels as every service uses them, over real gRPC."""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import io
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import grpc
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from grimoire.bus import NoOwnerError, correlated, correlation_id
from grimoire.fairness.secret import Secret
from grimoire.runtime.config import Address, Config, ConfigError, LogFormat, TlsFiles
from grimoire.runtime.identity import Identity
from grimoire.runtime.keys import KeyRing
from grimoire.runtime.metrics import Metrics
from grimoire.runtime.rpc import (
    MAX_MESSAGE,
    SERVICE_TOKEN_KEY,
    RpcServer,
    account_metadata,
    account_of,
    dialer,
    is_serving,
    open_channel,
)
from grimoire.v1 import play_pb2, play_pb2_grpc
from tests.support.broker import until
from tests.support.process_logging import captured_logging

SERVICE = play_pb2.DESCRIPTOR.services_by_name["PlayService"]
SEED = bytes(range(32))


class Play(play_pb2_grpc.PlayServiceServicer):
    """Answers by what it is asked: the language names what shall happen."""

    def __init__(self) -> None:
        self.calls = 0

    async def ListGames(self, request: play_pb2.ListGamesRequest, context: grpc.aio.ServicerContext):
        self.calls += 1
        match request.language:
            case "fail":
                raise ValueError(f"broken with {SEED!r}")
            case "abort":
                await context.abort(grpc.StatusCode.NOT_FOUND, "no such match")
            case "no owner":
                raise NoOwnerError("nobody")
            case "once unavailable" if self.calls == 1:
                await context.abort(grpc.StatusCode.UNAVAILABLE, "not yet")
            case "big":
                return play_pb2.ListGamesResponse(games=[play_pb2.GameSummary(name="x" * MAX_MESSAGE)])
        account = account_of(context)
        summary = play_pb2.GameSummary(game=correlation_id(), name=repr(account))
        return play_pb2.ListGamesResponse(games=[summary])

    async def Watch(self, request: play_pb2.WatchRequest, context: grpc.aio.ServicerContext):
        yield play_pb2.WatchResponse()
        if request.match_id == "fail":
            raise ValueError(f"broken with {SEED!r}")
        if request.match_id == "for ever":
            await asyncio.Event().wait()
        if request.match_id == "refused too late":
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.Event().wait()
            await context.abort(grpc.StatusCode.FAILED_PRECONDITION, "moved")


class Running:
    def __init__(self, server: RpcServer, play: Play, metrics: Metrics) -> None:
        self.server = server
        self.play = play
        self.metrics = metrics

    def counted(self, method: str, code: str) -> float:
        """A call is counted just after its answer has left."""
        labels = {"method": f"grimoire.v1.PlayService/{method}", "code": code}
        return self.metrics.registry.get_sample_value("grimoire_rpc_calls_total", labels) or 0.0


@asynccontextmanager
async def running(
    token: Secret | None, *, tls: TlsFiles | None = None, host: str = "127.0.0.1"
) -> AsyncIterator[Running]:
    metrics, play = Metrics(), Play()
    server = RpcServer(Address(host, 0), [SERVICE], token=token, tls=tls, metrics=metrics)
    play_pb2_grpc.add_PlayServiceServicer_to_server(play, server.raw)
    await server.start()
    await server.set_serving(True)
    try:
        yield Running(server, play, metrics)
    finally:
        await server.stop(0.1)


@pytest.fixture
async def internal(keys: KeyRing) -> AsyncIterator[Running]:
    async with running(keys.service_token) as it:
        yield it


@pytest.fixture
async def dial() -> AsyncIterator[Callable[..., grpc.aio.Channel]]:
    channels: list[grpc.aio.Channel] = []

    def open_one(it: Running, token: Secret | None = None, tls: TlsFiles | None = None) -> grpc.aio.Channel:
        channels.append(open_channel(str(it.server.address), token=token, tls=tls))
        return channels[-1]

    yield open_one
    for channel in channels:
        await channel.close()


def ask(channel: grpc.aio.Channel, language: str = "", **options):
    stub = play_pb2_grpc.PlayServiceStub(channel)
    return stub.ListGames(play_pb2.ListGamesRequest(language=language), timeout=20, **options)


async def status_of(call) -> tuple[grpc.StatusCode, str]:
    with pytest.raises(grpc.aio.AioRpcError) as failed:
        await call
    return failed.value.code(), failed.value.details()


class TestToken:
    async def test_who_shows_it_is_served(self, internal: Running, dial, keys: KeyRing) -> None:
        assert await ask(dial(internal, keys.service_token))

    @pytest.mark.parametrize("shown", [None, Secret(bytes(32)), Secret(b"x")])
    async def test_who_does_not_reaches_nothing(self, internal: Running, dial, shown: Secret | None) -> None:
        channel = dial(internal, shown)
        code, _ = await status_of(ask(channel))
        assert code is grpc.StatusCode.UNAUTHENTICATED
        stream = play_pb2_grpc.PlayServiceStub(channel).Watch(play_pb2.WatchRequest(), timeout=20)
        code, _ = await status_of(stream.read())
        assert code is grpc.StatusCode.UNAUTHENTICATED
        assert internal.play.calls == 0
        await until(lambda: internal.counted("ListGames", "UNAUTHENTICATED") == 1)

    async def test_strange_tokens_are_refused_not_errors(self, internal: Running, dial, log: io.StringIO) -> None:
        for shown in ("", "ä".encode().hex(), "x" * 5000):
            code, _ = await status_of(ask(dial(internal), metadata=((SERVICE_TOKEN_KEY, shown),)))
            assert code is grpc.StatusCode.UNAUTHENTICATED
        assert "rpc_failed" not in log.getvalue()

    async def test_the_edge_is_open(self, dial) -> None:
        async with running(None) as edge:
            assert await ask(dial(edge))


class TestHealth:
    async def test_it_tells_the_truth_from_start_to_stop(self, keys: KeyRing, dial) -> None:
        server = RpcServer(Address("127.0.0.1", 0), [SERVICE], token=keys.service_token, metrics=Metrics())
        await server.start()
        channel = dial(Running(server, Play(), Metrics()))
        watching = health_pb2_grpc.HealthStub(channel).Watch(
            health_pb2.HealthCheckRequest(service=SERVICE.full_name), timeout=20
        )
        status = health_pb2.HealthCheckResponse
        assert (await watching.read()).status == status.NOT_SERVING
        assert not await is_serving(channel)
        await server.set_serving(True)
        assert (await watching.read()).status == status.SERVING
        assert await is_serving(channel)
        await server.set_serving(False, SERVICE.full_name)
        assert (await watching.read()).status == status.NOT_SERVING
        assert await is_serving(channel)
        await server.set_serving(True, SERVICE.full_name)
        assert (await watching.read()).status == status.SERVING
        stopping = asyncio.create_task(server.stop(5))
        assert (await watching.read()).status == status.NOT_SERVING
        watching.cancel()
        await stopping
        assert not await is_serving(channel, within_s=0.2)

    async def test_an_unknown_service_is_not_healthy(self, internal: Running, dial) -> None:
        assert not await is_serving(dial(internal), "grimoire.v1.NoSuchService")

    async def test_nobody_there_is_not_healthy(self) -> None:
        channel = open_channel("127.0.0.1:1")
        assert not await is_serving(channel, within_s=0.2)
        await channel.close()


async def services_listed(channel: grpc.aio.Channel) -> set[str]:
    stub = reflection_pb2_grpc.ServerReflectionStub(channel)
    call = stub.ServerReflectionInfo(iter([reflection_pb2.ServerReflectionRequest(list_services="")]), timeout=20)
    answer = await call.read()
    call.cancel()
    return {service.name for service in answer.list_services_response.service}


async def test_reflection_lists_what_is_served_to_who_may_call(internal: Running, dial, keys: KeyRing) -> None:
    listed = await services_listed(dial(internal, keys.service_token))
    assert listed == {
        "grimoire.v1.PlayService",
        "grpc.health.v1.Health",
        "grpc.reflection.v1alpha.ServerReflection",
    }
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await services_listed(dial(internal))
    assert refused.value.code() is grpc.StatusCode.UNAUTHENTICATED


class TestFailures:
    async def test_an_unexpected_one_is_told_without_details_and_logged_once(
        self, internal: Running, dial, keys: KeyRing, config: Config
    ) -> None:
        with captured_logging(config, LogFormat.JSON) as log, correlated("abc-7"):
            code, details = await status_of(ask(dial(internal, keys.service_token), "fail"))
        assert code is grpc.StatusCode.INTERNAL
        assert details == "internal error; it is logged as abc-7"
        lines = [json.loads(line) for line in log.getvalue().splitlines()]
        failures = [line for line in lines if line["level"] in ("error", "critical")]
        assert [(line["event"], line["correlation_id"]) for line in failures] == [("rpc_failed", "abc-7")]
        assert failures[0]["exception"][0]["exc_value"] == "broken with <hidden>"
        await until(lambda: internal.counted("ListGames", "INTERNAL") == 1)

    async def test_a_stream_that_breaks_is_the_same(
        self, internal: Running, dial, keys: KeyRing, log: io.StringIO
    ) -> None:
        stub = play_pb2_grpc.PlayServiceStub(dial(internal, keys.service_token))
        call = stub.Watch(play_pb2.WatchRequest(match_id="fail"), timeout=20)
        assert await call.read() == play_pb2.WatchResponse()
        code, details = await status_of(call.read())
        assert code is grpc.StatusCode.INTERNAL
        assert "broken" not in details
        assert log.getvalue().count("rpc_failed") == 1
        await until(lambda: internal.counted("Watch", "INTERNAL") == 1)

    async def test_a_meant_one_passes_as_it_is_and_is_not_logged(
        self, internal: Running, dial, keys: KeyRing, log: io.StringIO
    ) -> None:
        answer = await status_of(ask(dial(internal, keys.service_token), "abort"))
        assert answer == (grpc.StatusCode.NOT_FOUND, "no such match")
        assert log.getvalue() == ""
        await until(lambda: internal.counted("ListGames", "NOT_FOUND") == 1)

    async def test_what_lies_behind_and_does_not_answer_is_unavailable(
        self, internal: Running, dial, keys: KeyRing
    ) -> None:
        code, details = await status_of(ask(dial(internal, keys.service_token), "no owner"))
        assert code is grpc.StatusCode.UNAVAILABLE
        assert "nobody" not in details

    async def test_unavailable_is_tried_again(self, internal: Running, dial, keys: KeyRing) -> None:
        assert await ask(dial(internal, keys.service_token), "once unavailable")
        assert internal.play.calls == 2

    async def test_a_cancelled_stream_is_counted_as_such(self, internal: Running, dial, keys: KeyRing) -> None:
        stub = play_pb2_grpc.PlayServiceStub(dial(internal, keys.service_token))
        call = stub.Watch(play_pb2.WatchRequest(match_id="for ever"), timeout=20)
        await call.read()
        call.cancel()
        await until(lambda: internal.counted("Watch", "CANCELLED") == 1)

    async def test_too_large_a_message_is_refused(self, internal: Running, dial, keys: KeyRing) -> None:
        code, _ = await status_of(ask(dial(internal, keys.service_token), "big"))
        assert code is grpc.StatusCode.RESOURCE_EXHAUSTED

    async def test_a_refusal_that_nobody_waits_for_any_more_is_none(
        self, internal: Running, dial, keys: KeyRing, log: io.StringIO
    ) -> None:
        stub = play_pb2_grpc.PlayServiceStub(dial(internal, keys.service_token))
        call = stub.Watch(play_pb2.WatchRequest(match_id="refused too late"))
        await call.read()
        call.cancel()
        await until(lambda: internal.counted("Watch", "CANCELLED") == 1)
        assert "error" not in log.getvalue().lower()


class TestUnreadable:
    """Bytes that are no message: the sender's mistake, and nothing to fill a log with."""

    @pytest.mark.parametrize("data", [b"\xff" * 40, b"\x0a\x02\xff\xfe", b"\x0a\x7f"], ids=["noise", "text", "cut"])
    async def test_a_request(self, internal: Running, dial, keys: KeyRing, log: io.StringIO, data: bytes) -> None:
        channel = dial(internal, keys.service_token)
        code, _ = await status_of(channel.unary_unary("/grimoire.v1.PlayService/ListGames")(data))
        assert code is grpc.StatusCode.INVALID_ARGUMENT
        code, _ = await status_of(channel.unary_stream("/grimoire.v1.PlayService/Watch")(data).read())
        assert code is grpc.StatusCode.INVALID_ARGUMENT
        assert internal.play.calls == 0
        await until(lambda: internal.counted("ListGames", "INVALID_ARGUMENT") == 1)
        assert "error" not in log.getvalue().lower()

    async def test_a_strangers_is_not_even_looked_at(self, internal: Running, dial) -> None:
        code, _ = await status_of(dial(internal).unary_unary("/grimoire.v1.PlayService/ListGames")(b"\xff" * 40))
        assert code is grpc.StatusCode.UNAUTHENTICATED

    async def test_one_among_the_messages_of_a_stream(
        self, internal: Running, dial, keys: KeyRing, log: io.StringIO
    ) -> None:
        async def questions() -> AsyncIterator[bytes]:
            yield reflection_pb2.ServerReflectionRequest(list_services="").SerializeToString()
            yield b"\xff" * 40

        method = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"
        call = dial(internal, keys.service_token).stream_stream(method)(questions())
        assert await call.read()
        code, _ = await status_of(call.read())
        assert code is grpc.StatusCode.INVALID_ARGUMENT
        assert "error" not in log.getvalue().lower()


class TestMetadata:
    async def test_the_correlation_id_goes_with_a_call(self, internal: Running, dial, keys: KeyRing) -> None:
        channel = dial(internal, keys.service_token)
        with correlated("abc-8"):
            assert (await ask(channel)).games[0].game == "abc-8"
        assert len((await ask(channel)).games[0].game) == 16

    @pytest.mark.parametrize("name", ["Väinö", "a%20b", "", "龍 🐉\n"])
    async def test_the_account_goes_with_a_call(self, internal: Running, dial, keys: KeyRing, name: str) -> None:
        identity = Identity("a1", name, bot=True)
        answer = await ask(dial(internal, keys.service_token), metadata=account_metadata(identity))
        assert answer.games[0].name == repr(identity)

    async def test_no_account_is_nobody(self, internal: Running, dial, keys: KeyRing) -> None:
        assert (await ask(dial(internal, keys.service_token))).games[0].name == "None"


class TestListening:
    async def test_a_taken_port_is_refused_not_shared(self, internal: Running) -> None:
        second = RpcServer(internal.server.address, [SERVICE], token=None, metrics=Metrics())
        with pytest.raises(ConfigError, match=str(internal.server.address.port)):
            await second.start()

    @pytest.mark.slow
    async def test_whoever_connects_and_says_nothing_is_let_go_of(self, internal: Running) -> None:
        address = internal.server.address
        reader, writer = await asyncio.open_connection(address.host, address.port)
        async with asyncio.timeout(60):
            await reader.read()  # up to the end
        writer.close()

    def test_beyond_this_machine_internal_calls_need_tls_or_a_word(self, config: Config, keys: KeyRing) -> None:
        outside = config.with_address("replay", Address("0.0.0.0", 0))
        with pytest.raises(ConfigError, match="GRIMOIRE_TLS_CERTIFICATE"):
            RpcServer.internal(outside, "replay", keys, [SERVICE])

    async def test_a_private_network_is_trusted_when_said_so(self, config: Config, keys: KeyRing) -> None:
        outside = replace(config.with_address("replay", Address("0.0.0.0", 0)), private_network=True)
        server = RpcServer.internal(outside, "replay", keys, [SERVICE])
        assert (await server.start()).port != 0
        await server.stop(0)


class TestTls:
    async def test_both_sides_show_certificates(self, tmp_path: Path, config: Config, keys: KeyRing) -> None:
        tls = certificates(tmp_path / "ours")
        async with running(keys.service_token, tls=tls, host="localhost") as it:
            channel = dialer(replace(config, tls=tls), keys)(str(it.server.address))
            assert await ask(channel)
            await channel.close()

    async def test_strangers_and_plain_calls_stay_outside(self, tmp_path: Path, dial, keys: KeyRing) -> None:
        ours, theirs = certificates(tmp_path / "ours"), certificates(tmp_path / "theirs")
        half = ours._replace(certificate=theirs.certificate, key=theirs.key)
        async with running(keys.service_token, tls=ours, host="localhost") as it:
            for tls in (None, theirs, half):
                stub = play_pb2_grpc.PlayServiceStub(dial(it, keys.service_token, tls))
                code, _ = await status_of(stub.ListGames(play_pb2.ListGamesRequest(), timeout=2))
                assert code in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED)
            assert it.play.calls == 0


def certificates(folder: Path) -> TlsFiles:
    """An authority of its own and one certificate for localhost, signed by it."""
    folder.mkdir()
    authority_key, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    issuer = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, f"authority {folder.name}")])
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.UTC)

    def signed(name: x509.Name, public: ec.EllipticCurvePublicKey, extension: x509.ExtensionType) -> bytes:
        builder = x509.CertificateBuilder(issuer, name, public, x509.random_serial_number())
        builder = builder.not_valid_before(now - datetime.timedelta(days=1))
        builder = builder.not_valid_after(now + datetime.timedelta(days=1)).add_extension(extension, critical=True)
        return builder.sign(authority_key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)

    authority = signed(issuer, authority_key.public_key(), x509.BasicConstraints(ca=True, path_length=0))
    certificate = signed(subject, key.public_key(), x509.SubjectAlternativeName([x509.DNSName("localhost")]))
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    files = TlsFiles(folder / "cert.pem", folder / "key.pem", folder / "ca.pem")
    for path, content in zip(files, (certificate, private, authority), strict=True):
        path.write_bytes(content)
    return files
