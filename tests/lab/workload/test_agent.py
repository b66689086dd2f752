"""What a probe tells apart, and the conversation between the lab and its agent."""

import asyncio
import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from lab.clock import start_text
from lab.workload.agent import Agent, AgentError, WorkloadStatus, serve
from lab.workload.probe import Probe, Seen, probe
from lab.workload.program import Container
from tests.certificates import Authority
from tests.lab.workload.scripted_server import LOST, SILENT, Script, serving, unused_port


def seen(script: Script, wait_seconds: float = 1.0) -> Probe:
    async def act() -> Probe:
        async with serving(script) as port:
            return await probe("127.0.0.1", port, wait_seconds)

    return asyncio.run(act())


def test_a_220_is_a_banner() -> None:
    found = seen(Script())
    assert (found.seen, found.text) == (Seen.BANNER, "220 scripted.example ESMTP")


def test_a_probe_says_how_long_it_took() -> None:
    assert seen(Script(banner=SILENT), 0.1).took_ms >= 100


def test_nothing_within_the_wait_is_silence() -> None:
    assert seen(Script(banner=SILENT), 0.1).seen is Seen.SILENT


def test_an_end_without_a_word_is_closed() -> None:
    assert seen(Script(banner=LOST)).seen is Seen.CLOSED


def test_any_other_greeting_is_no_banner() -> None:
    assert seen(Script(banner="421 4.3.2 not now")).seen is Seen.CLOSED


def test_a_port_that_nobody_listens_on_is_refused() -> None:
    assert asyncio.run(probe("127.0.0.1", unused_port(), 1.0)).seen is Seen.REFUSED


def test_a_reset_is_a_reset() -> None:
    with _resetting() as port:
        assert asyncio.run(probe("127.0.0.1", port, 1.0)).seen is Seen.RESET


def test_a_probe_over_the_agent_is_the_probe_itself(tmp_path: Path) -> None:
    with _container(tmp_path) as (agent, port):
        found = agent.probe(f"127.0.0.1:{port}", 1.0)
        assert found.seen is Seen.BANNER
        assert found.took_ms > 0


def test_a_probe_message_comes_back_with_its_reply(tmp_path: Path) -> None:
    with _container(tmp_path) as (agent, port):
        answer = agent.probe_message(
            f"127.0.0.1:{port}",
            fqdn="scripted.example",
            sender="probe@outside.example",
            recipient="a@shadowlab.example",
            message_id="<probe.1@x>",
            wait_seconds=1.0,
        )
    assert (answer.outcome, answer.reply) == ("ok", "250 2.6.0 queued")


def test_status_counts_what_was_acknowledged(tmp_path: Path) -> None:
    with _container(tmp_path, started=True) as (agent, _):
        status = _wait_for(agent, lambda status: status.acknowledged == 1)
    assert (status.planned, status.begun, status.outstanding) == (1, 1, 0)


def test_a_crash_of_the_workload_is_told_by_status(tmp_path: Path) -> None:
    with _container(tmp_path, started=True, targets="{") as (agent, _):
        status = _wait_for(agent, lambda status: status.crashed is not None)
    assert "JSONDecodeError" in str(status.crashed)


def test_stop_ends_the_process_with_a_whole_ledger(tmp_path: Path) -> None:
    with _container(tmp_path, started=True) as (agent, _):
        _wait_for(agent, lambda status: status.acknowledged == 1)
        agent.stop()
        with pytest.raises(AgentError):
            _wait_for(agent, lambda _: False)
    rows = [json.loads(line) for line in (tmp_path / "ledger.jsonl").read_text().splitlines()]
    assert [row["type"] for row in rows] == ["message", "attempt", "outcome"]


def test_what_is_added_is_sent_at_its_time_also_when_the_plan_is_done(tmp_path: Path) -> None:
    with _container(tmp_path, started=True) as (agent, _):
        _wait_for(agent, lambda status: status.acknowledged == 1)
        agent.add([_message("<more.1@x>", 0), _message("<more.2@x>", 100_000_000)])
        status = _wait_for(agent, lambda status: status.acknowledged == 2)
        assert (status.planned, status.begun) == (3, 2)
        agent.stop()
    assert _sent(tmp_path)[1:] == ["<more.1@x>"]


def test_once_hushed_nothing_begins_and_what_should_have_is_named(tmp_path: Path) -> None:
    with _container(tmp_path, started=True) as (agent, _):
        _wait_for(agent, lambda status: status.acknowledged == 1)
        agent.add([_message("<far.1@x>", 100_000_000)])
        hushed = agent.hush()
        assert hushed.at_ms > 0
        assert hushed.not_begun == frozenset()
        agent.add([_message("<late.1@x>", 0)])
        assert agent.hush().not_begun == {"<late.1@x>"}
        assert agent.status().begun == 1
        agent.stop()
    assert len(_sent(tmp_path)) == 1


def test_nothing_is_added_before_the_clock_goes(tmp_path: Path) -> None:
    with _container(tmp_path) as (agent, _), pytest.raises(AgentError, match="nothing is sent yet"):
        agent.add([_message("<more.1@x>", 0)])


def _sent(folder: Path) -> list[str]:
    rows = [json.loads(line) for line in (folder / "ledger.jsonl").read_text().splitlines()]
    return [row["message_id"] for row in rows if row["type"] == "message"]


def _message(message_id: str, at_ms: int) -> dict[str, object]:
    return {
        "message_id": message_id,
        "at_ms": at_ms,
        "mail": "inbound",
        "sender": "sender01@outside.example",
        "recipients": ["db1-user01@shadowlab.example"],
        "via": ["a"],
        "size_bytes": 2000,
        "retry_ms": 60_000,
    }


def test_an_unknown_request_is_answered_and_ends_nothing() -> None:
    async def act() -> list[dict[str, Any]]:
        server = await serve({}, "127.0.0.1", 0)
        async with server:
            port = server.sockets[0].getsockname()[1]
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            answers = []
            for line in (b"no json\n", b'{"op": "dance"}\n', b"[]\n"):
                writer.write(line)
                answers.append(json.loads(await reader.readline()))
            writer.close()
            await writer.wait_closed()
        return answers

    assert [answer["ok"] for answer in asyncio.run(act())] == [False, False, False]


def test_an_agent_that_is_not_there_is_an_agent_error() -> None:
    with pytest.raises(AgentError, match="did not answer status"):
        Agent("127.0.0.1", unused_port()).status()


@contextmanager
def _resetting() -> Iterator[int]:
    """A server that answers every connection with a reset."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def reset() -> None:
            connection, _ = server.accept()
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            connection.close()

        thread = threading.Thread(target=reset)
        thread.start()
        yield server.getsockname()[1]
        thread.join(5)


@contextmanager
def _container(
    folder: Path, *, started: bool = False, targets: str | None = None
) -> Iterator[tuple[Agent, int]]:
    """A workload's process in a thread, with one message for a scripted server."""
    ready, ports, ended = threading.Event(), [0, 0], threading.Event()

    async def live() -> None:
        async with serving(Script()) as port:
            _write_workload(folder, port, started, targets)
            container = Container(folder, folder / "start.json")
            ports[1] = port

            def listening(agent_port: int) -> None:
                ports[0] = agent_port
                ready.set()

            running = asyncio.ensure_future(container.run("127.0.0.1", 0, listening))
            while not running.done():
                if ended.is_set():
                    container.stop()
                await asyncio.wait([running], timeout=0.01)

    thread = threading.Thread(target=lambda: asyncio.run(live()))
    thread.start()
    assert ready.wait(5)
    try:
        yield Agent("127.0.0.1", ports[0]), ports[1]
    finally:
        ended.set()
        thread.join(5)


def _write_workload(folder: Path, port: int, started: bool, targets: str | None) -> None:
    message = {
        "message_id": "<m000001.test.1@outside.example>",
        "at_ms": 0,
        "mail": "inbound",
        "sender": "sender01@outside.example",
        "recipients": ["a@shadowlab.example"],
        "via": ["a"],
        "size_bytes": 500,
        "retry_ms": 60_000,
    }
    plan = {
        "clock": {"origin": "2026-01-05T08:00:00Z", "speed": 60},
        "duration_ms": 600_000,
        "messages": [message],
    }
    target = {"a": {"address": f"127.0.0.1:{port}", "fqdn": "scripted.example"}}
    (folder / "plan.json").write_text(json.dumps(plan))
    (folder / "targets.json").write_text(json.dumps(target) if targets is None else targets)
    Authority(folder / "tls")
    if started:
        (folder / "start.json").write_text(start_text(time.monotonic_ns()))


def _wait_for(agent: Agent, holds: Callable[[WorkloadStatus], bool]) -> WorkloadStatus:
    deadline = time.monotonic() + 5
    while not holds(status := agent.status()):
        assert time.monotonic() < deadline, status
    return status
