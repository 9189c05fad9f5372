"""Requests, events and lost connections, against the real broker."""

from __future__ import annotations

import asyncio
import json
import os
import signal

import psutil
import pytest
from opentelemetry import context as otel_context
from opentelemetry import trace
from structlog.testing import capture_logs

from grimoire.bus import (
    GATEWAY,
    Bus,
    BusError,
    BusLimits,
    BusSettings,
    Message,
    NoOwnerError,
    OldServerError,
    RequestTimeoutError,
    SubjectError,
    TooLargeError,
    UnreachableError,
    command_subject,
    correlated,
    correlation_id,
    event_subject,
    game_role,
    incoming,
    partition_commands,
    partition_of,
    who_subject,
)
from grimoire.bus.correlation import CORRELATION_HEADER
from grimoire.bus.embedded import MAX_PAYLOAD
from grimoire.fairness.secret import Secret
from tests.support.broker import GAME, Broker, until

ROLE = game_role(GAME)
MATCH = "0" * 26
COMMANDS = partition_commands(GAME, partition_of(MATCH))


async def echo(broker: Broker, prefix: bytes = b"re: ") -> Bus:
    game = await broker.connect(ROLE)

    async def answer(message: Message) -> None:
        await game.reply(message, prefix + message.data)

    await game.serve_async(COMMANDS, answer)
    return game


class TestRequests:
    async def test_a_command_reaches_the_owner_and_its_reply_comes_back(self, broker: Broker) -> None:
        await echo(broker)
        edge = await broker.connect(GATEWAY)
        assert await edge.request_command(GAME, MATCH, b"draw") == b"re: draw"

    async def test_many_at_once_each_get_their_own_reply(self, broker: Broker) -> None:
        await echo(broker)
        edge = await broker.connect(GATEWAY)
        replies = await asyncio.gather(*(edge.request_command(GAME, MATCH, b"%d" % n) for n in range(500)))
        assert replies == [b"re: %d" % n for n in range(500)]

    async def test_the_same_bytes_are_sent_again_until_there_is_an_owner(self, broker: Broker) -> None:
        edge = await broker.connect(GATEWAY)
        asking = asyncio.create_task(edge.request_command(GAME, MATCH, b"draw", owner_s=20))
        # By the end of a round trip the first sending has found nobody.
        await edge.flush()
        assert not asking.done()
        await echo(broker)
        assert await asking == b"re: draw"

    async def test_without_an_owner_it_says_so(self, broker: Broker) -> None:
        edge = await broker.connect(GATEWAY)
        with pytest.raises(NoOwnerError):
            await edge.request_command(GAME, MATCH, b"draw", owner_s=0.1)
        with pytest.raises(NoOwnerError):
            await edge.who(GAME, 3)

    async def test_an_owner_that_does_not_answer_is_told_from_none(self, broker: Broker) -> None:
        game, edge = await broker.connect(ROLE), await broker.connect(GATEWAY)
        await game.serve(COMMANDS, lambda _: None)
        with pytest.raises(RequestTimeoutError):
            await edge.request_command(GAME, MATCH, b"draw", reply_s=0.05)

    async def test_an_empty_reply_is_a_reply(self, broker: Broker) -> None:
        await echo(broker, prefix=b"")
        edge = await broker.connect(GATEWAY)
        assert await edge.request_command(GAME, MATCH, b"") == b""

    async def test_the_owners_address_is_answered_by_the_owner(self, broker: Broker) -> None:
        game, edge = await broker.connect(ROLE), await broker.connect(GATEWAY)

        async def here(message: Message) -> None:
            await game.reply(message, b"127.0.0.1:7431")

        await game.serve_async(who_subject(GAME, 3), here)
        assert await edge.who(GAME, 3) == "127.0.0.1:7431"

    async def test_a_malformed_match_id_reaches_nobody(self, broker: Broker) -> None:
        edge = await broker.connect(GATEWAY)
        with pytest.raises(SubjectError):
            await edge.request_command(GAME, "m1.>", b"draw")

    async def test_a_declined_request_is_nobodys_and_finds_whoever_takes_it(self, broker: Broker) -> None:
        game, edge = await broker.connect(ROLE), await broker.connect(GATEWAY)
        asked = 0

        def undecided(request: Message) -> None:
            nonlocal asked
            asked += 1
            asyncio.ensure_future(game.decline(request) if asked < 3 else game.reply(request, b"mine"))  # noqa: RUF006

        await game.serve(f"cmd.{GAME}.*.*", undecided)
        with pytest.raises(NoOwnerError):
            await edge.request(command_subject(GAME, MATCH), b"", reply_s=10)
        assert await edge.request_command(GAME, MATCH, b"") == b"mine"
        assert asked == 3


class TestLimits:
    async def test_the_broker_takes_the_stated_size_and_not_one_byte_more(self, broker: Broker) -> None:
        await echo(broker, prefix=b"")
        edge = await broker.connect(GATEWAY)
        assert edge.max_payload == MAX_PAYLOAD
        largest = bytes(MAX_PAYLOAD)
        assert await edge.request_command(GAME, MATCH, largest) == largest
        with pytest.raises(TooLargeError):
            await edge.request_command(GAME, MATCH, largest + b"x")

    async def test_too_large_an_event_or_reply_is_refused_before_it_is_sent(self, broker: Broker) -> None:
        game = await broker.connect(ROLE)
        with pytest.raises(TooLargeError):
            await game.publish_event(GAME, MATCH, bytes(MAX_PAYLOAD + 1))
        with pytest.raises(TooLargeError):
            await game.reply(Message(_client=game._client, reply="_INBOX_gateway.x.1"), bytes(MAX_PAYLOAD + 1))

    async def test_a_slow_listener_loses_messages_and_it_is_said(self, broker: Broker) -> None:
        game = await broker.connect(ROLE)
        edge = await broker.connect(GATEWAY, BusLimits(pending_messages=2))
        free, heard = asyncio.Event(), []

        async def slow(message: Message) -> None:
            await free.wait()
            heard.append(message.data)

        with capture_logs() as logs:
            await edge.serve_async(event_subject(GAME), slow)
            for number in range(10):
                await game.publish_event(GAME, MATCH, b"%d" % number)
            await game.flush()
            await edge.flush()
            free.set()
            await until(lambda: len(heard) >= 2)
        lost = [line for line in logs if line["event"] == "bus_slow_consumer"]
        assert lost
        assert len(lost) + len(heard) == 10
        assert all("data" not in line and "9" not in str(line.get("reason", "")) for line in lost)

    async def test_what_cannot_be_kept_while_the_broker_is_away_is_refused(self, broker: Broker) -> None:
        game = await broker.connect(ROLE, BusLimits(outgoing_bytes=1000))
        await broker.server.stop()
        await until(lambda: not game.connected)
        await game.publish_event(GAME, MATCH, bytes(600))
        with pytest.raises(BusError):
            await game.publish_event(GAME, MATCH, bytes(600))


class TestHandlers:
    async def test_they_are_called_in_order(self, broker: Broker) -> None:
        game, edge = await broker.connect(ROLE), await broker.connect(GATEWAY)
        heard: list[bytes] = []
        await edge.serve(event_subject(GAME), lambda message: heard.append(message.data))
        sent = [b"%d" % number for number in range(1000)]
        for data in sent:
            await game.publish_event(GAME, MATCH, data)
        await until(lambda: len(heard) == len(sent))
        assert heard == sent

    async def test_a_failing_one_is_logged_once_and_the_next_message_follows(self, broker: Broker) -> None:
        game, edge = await broker.connect(ROLE), await broker.connect(GATEWAY)
        heard: list[bytes] = []

        def fragile(message: Message) -> None:
            if message.data == b"bad":
                raise OSError("broken")
            heard.append(message.data)

        with capture_logs() as logs:
            await edge.serve(event_subject(GAME), fragile)
            for data in (b"bad", b"good"):
                await game.publish_event(GAME, MATCH, data)
            await until(lambda: heard == [b"good"])
        assert [line["event"] for line in logs] == ["bus_handler_failed"]

    async def test_a_stopped_subscription_hears_no_more(self, broker: Broker) -> None:
        game, edge = await broker.connect(ROLE), await broker.connect(GATEWAY)
        heard: list[bytes] = []
        subscription = await edge.serve(event_subject(GAME), lambda message: heard.append(message.data))
        await game.publish_event(GAME, MATCH, b"1")
        await until(lambda: heard == [b"1"])
        await subscription.stop()
        await subscription.stop()
        await game.publish_event(GAME, MATCH, b"2")
        await game.flush()
        await edge.flush()
        assert heard == [b"1"]

    async def test_a_queue_shares_its_messages(self, broker: Broker) -> None:
        game, edges = await broker.connect(ROLE), [await broker.connect(GATEWAY) for _ in range(2)]
        heard: list[bytes] = []
        for edge in edges:
            await edge.serve(event_subject(GAME), lambda message: heard.append(message.data), queue="q")
        for number in range(20):
            await game.publish_event(GAME, MATCH, b"%d" % number)
        await game.flush()
        for edge in edges:
            await edge.flush()
        await until(lambda: len(heard) >= 20)
        assert len(heard) == 20

    async def test_no_text_of_a_message_shows_its_data(self, broker: Broker) -> None:
        game, edge = await broker.connect(ROLE), await broker.connect(GATEWAY)
        heard: list[Message] = []
        await edge.serve(event_subject(GAME), heard.append)
        await game.publish_event(GAME, MATCH, b"hidden card")
        await until(lambda: bool(heard))
        for text in (repr(heard[0]), str(heard[0]), f"{heard[0]}"):
            assert "hidden" not in text
            assert "11 bytes" in text


class TestCorrelation:
    async def test_the_id_travels_with_requests_and_events(self, broker: Broker) -> None:
        game, edge = await broker.connect(ROLE), await broker.connect(GATEWAY)
        seen: list[str] = []

        async def answer(message: Message) -> None:
            seen.append(correlation_id())
            await game.publish_event(GAME, MATCH, b"")
            await game.reply(message, b"")

        def hear(message: Message) -> None:
            with incoming(message.headers):
                seen.append(correlation_id())

        await game.serve_async(COMMANDS, answer)
        await edge.serve(event_subject(GAME), hear)
        with correlated("abc-1"):
            await edge.request_command(GAME, MATCH, b"")
        await until(lambda: len(seen) == 2)
        assert seen == ["abc-1", "abc-1"]
        assert correlation_id() == ""

    async def test_the_w3c_trace_context_travels_too(self, broker: Broker) -> None:
        game, edge = await broker.connect(ROLE), await broker.connect(GATEWAY)
        spans: list[trace.SpanContext] = []

        async def answer(message: Message) -> None:
            spans.append(trace.get_current_span().get_span_context())
            await game.reply(message, b"")

        await game.serve_async(COMMANDS, answer)
        span = trace.SpanContext(0xABC, 0xDEF, is_remote=False, trace_flags=trace.TraceFlags(1))
        token = otel_context.attach(trace.set_span_in_context(trace.NonRecordingSpan(span)))
        try:
            await edge.request_command(GAME, MATCH, b"")
        finally:
            otel_context.detach(token)
        assert [(s.trace_id, s.span_id) for s in spans] == [(0xABC, 0xDEF)]

    @pytest.mark.parametrize("given", ["", "a b", "x" * 65, "a\nb", "ä"])
    def test_a_malformed_id_is_replaced(self, given: str) -> None:
        with incoming({CORRELATION_HEADER: given}) as used:
            assert used != given
            assert len(used) == 16


class TestLostConnections:
    async def test_subscriptions_come_back_with_the_connection(self, broker: Broker) -> None:
        game, edge = await broker.connect(ROLE), await broker.connect(GATEWAY)
        heard: list[bytes] = []
        back: list[str] = []

        async def note(bus: Bus) -> None:
            back.append(bus.role)

        for bus in (game, edge):
            bus.on_reconnect(lambda bus=bus: note(bus))
        await edge.serve(event_subject(GAME), lambda message: heard.append(message.data))
        kill(broker)
        await until(lambda: sorted(back) == [ROLE, GATEWAY])
        await edge.flush()
        await game.publish_event(GAME, MATCH, b"after")
        await until(lambda: heard == [b"after"])

    async def test_a_request_under_way_is_sent_again_with_the_same_bytes(self, broker: Broker) -> None:
        game, edge = await broker.connect(ROLE), await broker.connect(GATEWAY)
        heard: list[bytes] = []

        async def answer_the_second(message: Message) -> None:
            heard.append(message.data)
            if len(heard) > 1:
                await game.reply(message, b"done")

        await game.serve_async(COMMANDS, answer_the_second)
        asking = asyncio.create_task(edge.request_command(GAME, MATCH, b"draw", reply_s=30, owner_s=30))
        await until(lambda: heard == [b"draw"])
        kill(broker)
        assert await asking == b"done"
        assert set(heard) == {b"draw"}

    async def test_a_broken_reconnect_callback_does_not_end_the_connection(self, broker: Broker) -> None:
        edge = await broker.connect(GATEWAY)
        called: list[int] = []

        async def broken() -> None:
            called.append(1)
            raise ValueError("broken")

        async def fine() -> None:
            called.append(2)

        edge.on_reconnect(broken)
        edge.on_reconnect(fine)
        kill(broker)
        await until(lambda: called == [1, 2])
        await edge.flush()

    async def test_closing_while_the_broker_is_away_ends(self, broker: Broker) -> None:
        edge = await broker.connect(GATEWAY)
        await broker.server.stop()
        await until(lambda: not edge.connected)
        asking = asyncio.create_task(edge.request_command(GAME, MATCH, b"draw", reply_s=60))
        await asyncio.wait_for(edge.close(), 10)
        assert edge.closed
        with pytest.raises(BusError):
            await asyncio.wait_for(asking, 10)

    async def test_closing_as_the_broker_dies_does_not_wait_for_it(self, broker: Broker) -> None:
        edge = await broker.connect(GATEWAY, BusLimits(drain_s=600))
        await edge.serve(event_subject(GAME), lambda _: None)
        pid = broker.server.pid
        assert pid is not None
        # It stands still: neither answers nor ends the connection, until it is killed.
        os.kill(pid, signal.SIGSTOP)
        closing = asyncio.create_task(edge.close())
        await asyncio.sleep(0)
        kill(broker)
        await asyncio.wait_for(closing, 10)
        assert edge.closed

    async def test_closing_does_not_wait_for_ever_for_a_broker_that_stands_still(self, broker: Broker) -> None:
        edge = await broker.connect(GATEWAY, BusLimits(drain_s=0.1))
        await edge.serve(event_subject(GAME), lambda _: None)
        pid = broker.server.pid
        assert pid is not None
        os.kill(pid, signal.SIGSTOP)
        await asyncio.wait_for(edge.close(), 10)
        assert edge.closed
        os.kill(pid, signal.SIGCONT)

    async def test_closing_handles_what_has_arrived(self, broker: Broker) -> None:
        game, edge = await broker.connect(ROLE), await broker.connect(GATEWAY)
        handled: list[bytes] = []

        async def slowly(message: Message) -> None:
            await asyncio.sleep(0)
            handled.append(message.data)

        await edge.serve_async(event_subject(GAME), slowly)
        for number in range(100):
            await game.publish_event(GAME, MATCH, b"%d" % number)
        await game.close()
        await edge.flush()
        await edge.close()
        await edge.close()
        assert len(handled) == 100

    async def test_a_broker_that_answers_is_alive_and_one_that_stands_still_is_not(self, broker: Broker) -> None:
        edge = await broker.connect(GATEWAY)
        assert await edge.alive(5.0)
        pid = broker.server.pid
        assert pid is not None
        os.kill(pid, signal.SIGSTOP)
        try:
            await until(lambda: psutil.Process(pid).status() == psutil.STATUS_STOPPED)
            assert not await edge.alive(0.1)
            assert edge.connected
            # The second time it is given up, to be renewed.
            assert not await edge.alive(0.1)
            assert not edge.connected
            assert not await edge.alive(0.1)
        finally:
            os.kill(pid, signal.SIGCONT)
        await until(lambda: edge.connected)
        assert await edge.alive(5.0)

    async def test_a_subscription_that_was_given_up_half_way_is_no_listener(self, broker: Broker) -> None:
        game, edge = await broker.connect(ROLE), await broker.connect(GATEWAY)
        subscribing = asyncio.create_task(game.serve(f"cmd.{GAME}.*.*", lambda _: None))
        await asyncio.sleep(0)
        subscribing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await subscribing
        await game.flush()
        with pytest.raises(NoOwnerError):
            await edge.request(command_subject(GAME, MATCH), b"", reply_s=10)


class TestConnecting:
    async def test_a_broker_that_is_not_there_is_named_so(self, broker: Broker) -> None:
        settings = broker.settings(GATEWAY, BusLimits(connect_s=0.3))
        await broker.server.stop()
        with pytest.raises(UnreachableError, match="does not answer"):
            await Bus.connect(settings)

    async def test_too_old_a_broker_is_refused_with_both_versions(self) -> None:
        # No such old broker can be had here: this one says only what is needed to be taken for it.
        info = json.dumps({"version": "2.9.25", "max_payload": 1000, "headers": True}).encode()

        async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(b"INFO " + info + b"\r\n")
            while line := await reader.readline():
                if line.startswith(b"PING"):
                    writer.write(b"PONG\r\n")
            writer.close()

        server = await asyncio.start_server(greet, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        try:
            with pytest.raises(OldServerError, match=r"2\.9\.25.*2\.10\.0"):
                await Bus.connect(BusSettings((f"nats://127.0.0.1:{port}",), GATEWAY, Secret(bytes(32))))
        finally:
            server.close()
            await server.wait_closed()

    def test_no_text_of_the_settings_shows_address_or_password(self) -> None:
        settings = BusSettings(("nats://u:letmein@h:1",), GATEWAY, Secret(b"\x07" * 32))
        assert repr(settings) == "BusSettings(role='gateway')"


def kill(broker: Broker) -> None:
    pid = broker.server.pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
