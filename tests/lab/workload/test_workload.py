"""What the workload sends, and what its ledger says of it, against a scripted server."""

import asyncio
import json
import re
import ssl
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from lab.clock import LabClock
from lab.workload import program as workload
from lab.workload.ledger import Ledger, LedgerFile
from lab.workload.plan_reader import PlannedMessage, WorkPlan, read_targets, read_work_plan
from lab.workload.program import Workload
from lab.workload.smtp_attempt import Patience, Target, tls_context
from nodes.store.message_digest import digest_of
from tests.certificates import Authority
from tests.lab.workload.scripted_server import LOST, SILENT, Script, serving, unused_port

ORIGIN = datetime(2026, 1, 5, 8, tzinfo=UTC)
SPEED = 60.0
MESSAGE = PlannedMessage(
    "<m000001.test.1@outside.example>",
    0,
    "inbound",
    "sender01@outside.example",
    ("db1-user01@shadowlab.example", "db1-user02@shadowlab.example"),
    ("a",),
    2000,
    3000,
)

Row = dict[str, Any]


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A slow machine makes no answer late."""
    monkeypatch.setattr(workload, "patience", lambda _: Patience(10, 10))


@pytest.fixture
def impatient(patient: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """For servers that do not answer anyway."""
    monkeypatch.setattr(workload, "patience", lambda _: Patience(0.3, 0.3))


def send(
    folder: Path,
    scripts: dict[str, Script | None],
    messages: Sequence[PlannedMessage] = (MESSAGE,),
    duration_ms: float = 600_000,
    stop_after: float | None = None,
    fqdn: str = "scripted.example",
) -> list[Row]:
    """Run a workload against servers (None: nobody listens); the rows of its ledger."""
    if not (folder / "authority.pem").exists():
        Authority(folder)
    asyncio.run(_send(folder, scripts, messages, duration_ms, stop_after, fqdn))
    return [json.loads(line) for line in (folder / "ledger.jsonl").read_text().splitlines()]


async def _send(
    folder: Path,
    scripts: dict[str, Script | None],
    messages: Sequence[PlannedMessage],
    duration_ms: float,
    stop_after: float | None,
    fqdn: str,
) -> None:
    clock = LabClock(ORIGIN, SPEED, time.monotonic_ns())
    async with AsyncExitStack() as stack:
        targets = {}
        for name, script in scripts.items():
            port = await stack.enter_async_context(serving(script)) if script else unused_port()
            targets[name] = Target(name, "127.0.0.1", port, fqdn)
        with LedgerFile(folder / "ledger.jsonl") as file:
            ledger = Ledger(file.append, clock.lab_ms)
            plan = WorkPlan(ORIGIN, SPEED, duration_ms, tuple(messages))
            tls = tls_context(folder / "authority.pem")
            running = asyncio.create_task(
                Workload(plan, targets, clock, ledger, tls).run(), name="workload"
            )
            await asyncio.wait([running], timeout=stop_after or 20)
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)


def outcomes(rows: list[Row]) -> list[tuple[str, str]]:
    return [(row["server"], row["outcome"]) for row in rows if row["type"] == "outcome"]


def test_a_250_after_the_dot_is_ok(tmp_path: Path) -> None:
    rows = send(tmp_path, {"a": Script()})
    assert outcomes(rows) == [("a", "ok")]


def test_a_message_has_8bit_octets_and_mail_says_so(tmp_path: Path) -> None:
    """RFC 6152 section 3."""
    script = Script()
    rows = send(tmp_path, {"a": script})
    size = rows[0]["content_bytes"]
    assert not script.received[0].isascii()
    assert script.mail == [f"MAIL FROM:<{MESSAGE.sender}> SIZE={size} BODY=8BITMIME"]


def test_a_server_without_8bitmime_gets_no_message(tmp_path: Path) -> None:
    script = Script(ehlo="250 scripted.example")
    rows = send(tmp_path, {"a": script}, stop_after=2)
    last = next(row for row in rows if row["type"] == "outcome")
    assert (last["outcome"], last["reason"]) == ("failed", "MAIL: the server offers no 8BITMIME")
    assert (script.mail, script.received) == ([], [])


def test_the_reply_is_kept_word_for_word(tmp_path: Path) -> None:
    reply = "250 2.6.0 <m@x> [InternalId=7, Hostname=a] Queued mail for delivery"
    rows = send(tmp_path, {"a": Script(final=[reply])})
    assert rows[-1]["reply"] == reply


def test_the_ledger_is_ahead_of_every_act(tmp_path: Path) -> None:
    rows = send(tmp_path, {"a": Script()})
    assert [row["type"] for row in rows] == ["message", "attempt", "outcome"]
    assert rows[0]["mono_ns"] <= rows[1]["mono_ns"] <= rows[2]["mono_ns"]


def test_an_attempt_is_written_before_the_connection_is_opened(tmp_path: Path) -> None:
    rows = send(tmp_path, {"a": None}, stop_after=0.02)
    assert rows[1]["type"] == "attempt"


def test_a_451_is_failed_and_tried_again_after_retry(tmp_path: Path) -> None:
    script = Script(final=["451 4.4.0 Message failed to be made redundant", "250 ok"])
    rows = send(tmp_path, {"a": script})
    attempts = [row for row in rows if row["type"] == "attempt"]
    assert outcomes(rows) == [("a", "failed"), ("a", "ok")]
    assert attempts[1]["started_ms"] - attempts[0]["started_ms"] >= MESSAGE.retry_ms


def test_every_attempt_sends_the_same_bytes(tmp_path: Path) -> None:
    script = Script(final=["451 no", "250 ok"])
    send(tmp_path, {"a": script})
    assert script.received[0] == script.received[1]


def test_a_connection_lost_after_the_dot_is_unknown(tmp_path: Path) -> None:
    rows = send(tmp_path, {"a": Script(final=[LOST, "250 ok"])})
    assert outcomes(rows) == [("a", "unknown"), ("a", "ok")]
    assert rows[2]["reply"] is None


@pytest.mark.usefixtures("impatient")
def test_silence_after_the_dot_is_unknown(tmp_path: Path) -> None:
    rows = send(tmp_path, {"a": Script(final=[SILENT])}, duration_ms=20_000)
    assert outcomes(rows)[0] == ("a", "unknown")


@pytest.mark.parametrize("stage", ["banner", "ehlo", "rcpt", "data"])
@pytest.mark.parametrize("end", [LOST, SILENT])
@pytest.mark.usefixtures("impatient")
def test_whatever_ends_before_the_dot_is_failed(tmp_path: Path, stage: str, end: str) -> None:
    rows = send(tmp_path, {"a": Script(**{stage: end})}, duration_ms=20_000)  # type: ignore[arg-type]
    assert outcomes(rows)[0] == ("a", "failed")


def test_a_refused_connection_is_failed(tmp_path: Path) -> None:
    rows = send(tmp_path, {"a": None}, duration_ms=5000)
    assert outcomes(rows)[0] == ("a", "failed")


def test_a_refused_recipient_fails_the_message_for_all(tmp_path: Path) -> None:
    script = Script(rcpt="550 5.1.1 nobody of that name")
    rows = send(tmp_path, {"a": script}, duration_ms=5000)
    assert rows[2]["outcome"] == "failed"
    assert rows[2]["reply"] == "550 5.1.1 nobody of that name"
    assert script.received == []


def test_the_next_server_of_via_is_tried_at_once(tmp_path: Path) -> None:
    message = _with(via=("a", "b"), retry_ms=600_000)
    rows = send(tmp_path, {"a": None, "b": Script()}, [message])
    assert outcomes(rows) == [("a", "failed"), ("b", "ok")]


def test_nothing_is_tried_once_the_plan_is_over(tmp_path: Path) -> None:
    rows = send(tmp_path, {"a": None}, [_with(retry_ms=1000)], duration_ms=20_000)
    assert all(row["started_ms"] < 20_000 for row in rows if row["type"] == "attempt")


def test_a_silent_server_delays_no_message_for_another(tmp_path: Path) -> None:
    slow = [_with(message_id=f"<s{n}@x>", via=("a",)) for n in range(30)]
    scripts: dict[str, Script | None] = {"a": Script(banner=SILENT), "b": Script()}
    rows = send(tmp_path, scripts, [*slow, _with(via=("b",))], stop_after=1)
    first = next(row for row in rows if row["type"] == "outcome")
    assert (first["server"], first["outcome"]) == ("b", "ok")


def test_a_workload_stopped_in_doubt_says_so(tmp_path: Path) -> None:
    rows = send(tmp_path, {"a": Script(final=[SILENT])}, stop_after=0.2)
    assert outcomes(rows) == [("a", "unknown")]
    assert "stopped" in rows[-1]["reason"]


def test_starttls_is_used_where_it_is_offered(tmp_path: Path) -> None:
    script = Script(tls=_server_tls(tmp_path, "scripted.example"))
    rows = send(tmp_path, {"a": script})
    assert outcomes(rows) == [("a", "ok")]
    assert script.was_encrypted


def test_a_certificate_for_another_name_is_refused(tmp_path: Path) -> None:
    script = Script(tls=_server_tls(tmp_path, "somebody.else.example"))
    rows = send(tmp_path, {"a": script}, duration_ms=5000)
    assert outcomes(rows)[0] == ("a", "failed")
    assert "certificate" in rows[2]["reason"]


def test_the_ledger_names_the_date_that_the_header_carries(tmp_path: Path) -> None:
    script = Script()
    rows = send(tmp_path, {"a": script}, [_with(at_ms=1234)])
    assert rows[0]["date"] == "2026-01-05T08:00:01Z"
    assert b"Date: Mon, 05 Jan 2026 08:00:01 +0000" in script.received[0]


def test_the_ledger_has_the_digest_of_what_the_server_receives(tmp_path: Path) -> None:
    script = Script()
    rows = send(tmp_path, {"a": script})
    (on_the_wire,) = script.received
    arrived = re.sub(rb"(?m)^\.", b"", on_the_wire.removesuffix(b".\r\n"))
    assert arrived != on_the_wire.removesuffix(b".\r\n")
    digest = digest_of(arrived)
    assert {name: rows[0][name] for name in digest.columns()} == digest.columns()
    assert digest.content_bytes == MESSAGE.size_bytes


def test_the_plan_is_read_in_the_order_of_time(tmp_path: Path) -> None:
    rows = [_row(at_ms, number) for number, at_ms in enumerate((500, 100, 100))]
    plan = {
        "clock": {"origin": "2026-01-05T08:00:00Z", "speed": 60},
        "duration_ms": 1000,
        "messages": rows,
        "topology": {"mailboxes": [{"address": "sender", "database": "DB1"}]},
    }
    rows[0] |= {"mail": "internal", "sender": "sender"}
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    read = read_work_plan(tmp_path / "plan.json")
    assert [message.message_id for message in read.messages] == ["<1>", "<2>", "<0>"]
    assert [message.outbox for message in read.messages] == [None, None, "DB1"]


def test_targets_are_read_by_server_name(tmp_path: Path) -> None:
    text = '{"a": {"address": "10.1.2.3:21000", "fqdn": "a.shadowlab.example"}}'
    (tmp_path / "targets.json").write_text(text)
    assert read_targets(tmp_path / "targets.json") == {
        "a": Target("a", "10.1.2.3", 21000, "a.shadowlab.example")
    }


def _with(**changes: Any) -> PlannedMessage:
    fields = {name: getattr(MESSAGE, name) for name in PlannedMessage.__slots__}
    return PlannedMessage(**(fields | changes))


def _row(at_ms: int, number: int) -> Row:
    return {
        "message_id": f"<{number}>",
        "at_ms": at_ms,
        "mail": "inbound",
        "sender": "a@x",
        "recipients": ["b@y"],
        "via": ["a"],
        "size_bytes": 100,
        "retry_ms": 60_000,
    }


def _server_tls(folder: Path, fqdn: str) -> ssl.SSLContext:
    certificate, key = Authority(folder).issue(fqdn)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, key)
    return context
