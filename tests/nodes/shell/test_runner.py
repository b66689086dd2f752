"""A node as a process: it starts or says why not, stops in order, and loses nothing when killed."""

from __future__ import annotations

import json
import signal
import smtplib
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nodes.shell import runner
from nodes.shell.chaos.machine import Machine, order_machine, read_found
from nodes.shell.logs.inputs import from_json
from nodes.store.dump import mailbox_files, mailbox_rows, queue_rows
from nodes.store.message_digest import digest_of
from tests.nodes.shell.organisation import ORIGIN_MS, Organisation
from tests.nodes.shell.running import process
from tests.nodes.shell.sending import SENDER, Sent, message, send, send_many
from tests.nodes.shell.waiting import records, until

pytestmark = pytest.mark.slow

SERVER = "par-mbx1"


@pytest.fixture
def organisation(tmp_path: Path) -> Organisation:
    return Organisation(tmp_path)


def events(organisation: Organisation, server: str = SERVER) -> list[str]:
    return [r["event"] for r in records(organisation.logs(server) / "lifecycle.jsonl")]


def held(organisation: Organisation, server: str = SERVER) -> set[str]:
    """Message-Ids in any queue, Safety Net or mailbox of a node that stands still."""
    data = organisation.data(server)
    rows = list(queue_rows(data / "queue.db", ORIGIN_MS))
    for path in mailbox_files(data).values():
        rows += mailbox_rows(path, ORIGIN_MS)
    return {str(row["message_id"]) for row in rows}


def test_a_node_says_hello_and_stops_when_asked(organisation: Organisation) -> None:
    with process(organisation, SERVER) as node:
        with socket.create_connection(("127.0.0.1", node.port()), timeout=20) as client:
            assert client.recv(512).startswith(b"220 par-mbx1.shadowlab.example Microsoft ESMTP")
        assert node.stop() == 0
    assert events(organisation) == ["configured", "database-created", "started", "stopped"]


def test_what_was_sent_is_there_after_a_restart_with_the_same_id(
    organisation: Organisation,
) -> None:
    for number in (1, 2):
        with process(organisation, SERVER) as node:
            reply = send(node.port(), number).reply
            assert reply is not None
            assert reply.startswith("250 2.6.0")
            assert node.stop() == 0
    assert held(organisation) == {"<m000001@outside.example>", "<m000002@outside.example>"}
    starts = (r for r in records(organisation.logs(SERVER) / "lifecycle.jsonl"))
    ids = {r["database_id"] for r in starts if "database_id" in r}
    assert len(ids) == 1


def without(key: str) -> Callable[[dict[str, Any]], None]:
    return lambda document: document.pop(key)


def setting(**values: Any) -> Callable[[dict[str, Any]], None]:
    return lambda document: document.update(values)


WRONG: dict[str, tuple[Callable[[dict[str, Any]], None], str]] = {
    "an unknown key": (setting(Listens={}), "Listens: no such key\nhint: did you mean Listen?"),
    "another version": (setting(Version=2), "Version: 2: must be 1"),
    "no name": (without("Name"), "Name: None: must be a text"),
    "a name that is no server": (setting(Name="x"), "Name: x: not among Servers"),
    "no port": (setting(Listen={"smtp": "127.0.0.1"}), "Listen.smtp: '127.0.0.1': must be host:"),
    "a link to nowhere": (
        setting(Links={"lyo-mbx1": {"smtp": "here"}}),
        "Links.lyo-mbx1.smtp: 'here': must be host:port",
    ),
    "no TLS": (setting(Tls=None), "Tls: is missing"),
    "no certificate": (
        setting(Tls={"Certificate": "/nowhere", "Key": "/nowhere", "Authority": "/nowhere"}),
        "Tls: [Errno 2]",
    ),
    "a clock that stands": (
        setting(LabClock={"Origin": "2026-01-05T08:00:00Z", "Speed": 0, "StartFile": "x"}),
        "LabClock.Speed: 0: must be a number above 0",
    ),
    "an origin without a zone": (
        setting(LabClock={"Origin": "2026-01-05", "Speed": 1, "StartFile": "x"}),
        "LabClock.Origin: '2026-01-05': must be a date with its zone",
    ),
    "an unknown parameter": (
        setting(TransportConfig={"ShadowHartbeat": "1m"}),
        "TransportConfig.ShadowHartbeat: no such parameter",
    ),
    "a contradiction": (
        setting(TransportConfig={"ShadowMessagePreferenceSetting": "LocalOnly"}),
        "LocalOnly contradicts MaxRetriesForRemoteSiteShadow",
    ),
    "a place that is none": (
        setting(Breakpoints=[{"Name": "f1", "At": "x", "Nth": 1, "FromMs": 0, "UntilMs": 1}]),
        "Breakpoints[0].At: 'x': no such place",
    ),
    "half a breakpoint": (setting(Breakpoints=[{"Name": "f1"}]), "Breakpoints[0]: must have Name"),
    "no data folder": (without("Data"), "Data: None: must be a path"),
    "the role of another program": (setting(Name="ext1"), "Role: external: this program serves"),
}


@pytest.mark.parametrize(("spoil", "said"), WRONG.values(), ids=WRONG.keys())
def test_a_wrong_configuration_is_refused_with_one_clear_line(
    spoil: Callable[[dict[str, Any]], None],
    said: str,
    organisation: Organisation,
    capsys: pytest.CaptureFixture[str],
) -> None:
    document = organisation.document(SERVER)
    organisation.logs(SERVER).mkdir(parents=True)
    spoil(document)
    config = organisation.folder / "config.json"
    config.write_text(json.dumps(document))
    assert runner.main([str(config)]) == 64
    complaint = capsys.readouterr().err
    assert said in complaint
    assert complaint.startswith(f"{config}: ")
    assert len([line for line in complaint.splitlines() if not line.startswith("hint:")]) == 1
    assert events(organisation) == ["configuration-refused"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("not json", "is not JSON"),
        ("[]", "must be a JSON object"),
        ('{"Version": 1, "Version": 1}', "Version: given twice"),
    ],
)
def test_a_file_that_is_no_configuration_is_refused(
    text: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "config.json"
    config.write_text(text)
    assert runner.main([str(config)]) == 64
    assert said in capsys.readouterr().err
    assert runner.main([str(tmp_path / "nothing")]) == 64
    assert "No such file" in capsys.readouterr().err


def test_a_port_that_is_taken_is_said_and_the_database_left_alone(
    organisation: Organisation,
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        organisation.ports[SERVER] = port = taken.getsockname()[1]
        with process(organisation, SERVER) as node:
            code, said = node.ended()
    assert code == 69
    assert said == f"cannot start: Listen.smtp: 127.0.0.1:{port}: Address already in use\n"
    assert not organisation.data(SERVER).exists()


def test_a_data_folder_that_cannot_be_made_is_said(organisation: Organisation) -> None:
    organisation.data(SERVER).parent.mkdir()
    organisation.data(SERVER).write_text("a file is in the way")
    with process(organisation, SERVER) as node:
        code, said = node.ended()
    assert code == 73
    assert said.startswith("cannot start: ")
    assert len(said.splitlines()) == 1


def test_a_damaged_database_is_set_aside_reported_and_replaced(organisation: Organisation) -> None:
    with process(organisation, SERVER) as node:
        send(node.port(), 1)
        node.stop()
    path = organisation.data(SERVER) / "queue.db"
    path.write_bytes(path.read_bytes()[:6000])
    with process(organisation, SERVER) as node:
        node.port()
        assert node.stop() == 0
    lines = records(organisation.logs(SERVER) / "lifecycle.jsonl")
    aside = next(line for line in lines if line["event"] == "database-set-aside")
    assert Path(aside["renamed_to"]).stat().st_size == 6000
    assert aside["reason"]
    ids = [line["database_id"] for line in lines if line["event"] == "database-created"]
    assert len(set(ids)) == 2


def test_a_node_on_a_full_disk_refuses_mail_for_now_and_says_how_it_finds_its_machine(
    organisation: Organisation,
) -> None:
    data = organisation.data(SERVER)
    with process(organisation, SERVER) as node:
        port = node.port()
        send(port, 1)
        order_machine(data, Machine(order=1, disk_is_full=True))
        node.process.send_signal(signal.SIGUSR1)
        until(lambda: read_found(data).get("order") == 1 or None, "the answer")
        assert read_found(data)["disk_is_full"] is True
        assert send(port, 2, size=200_000).reply == "451 4.3.0 Message could not be stored"
        order_machine(data, Machine(order=2))
        node.process.send_signal(signal.SIGUSR1)
        until(lambda: read_found(data).get("order") == 2 or None, "the answer")
        assert str(send(port, 2, size=200_000).reply).startswith("250")
        assert node.stop() == 0
    refused = [
        line
        for line in records(organisation.logs(SERVER) / "inputs.jsonl")
        if line["input"] == "CommitFailed"
    ]
    assert [line["reason"] for line in refused] == ["database or disk is full"]


def test_a_node_whose_clock_is_set_says_so_and_dates_its_records_by_it(
    organisation: Organisation,
) -> None:
    data, logs = organisation.data(SERVER), organisation.logs(SERVER)
    with process(organisation, SERVER) as node:
        node.port()
        order_machine(data, Machine(order=1, skew_ms=7_200_000))
        node.process.send_signal(signal.SIGUSR1)
        until(lambda: read_found(data).get("order") == 1 or None, "the answer")
        assert read_found(data)["skew_ms"] == 7_200_000
        assert node.stop() == 0
    begun, stopped = (
        next(line for line in records(logs / "lifecycle.jsonl") if line["event"] == event)
        for event in ("started", "stopped")
    )
    assert begun["date"].startswith("2026-01-05T08:00")
    assert stopped["date"].startswith("2026-01-05T10:00")


def test_a_node_whose_volume_is_used_up_says_so_and_recovers(organisation: Organisation) -> None:
    """The ballast is a file of its own, and goes with the order."""
    organisation.sections["TransportService"] = {"QueueDatabaseVolumeSize": "4MB"}
    data, log = organisation.data(SERVER), organisation.logs(SERVER) / "lifecycle.jsonl"

    def levels() -> list[tuple[str, str]]:
        said = (line for line in records(log) if line["event"] == "back-pressure")
        return [(line["from"], line["to"]) for line in said]

    with process(organisation, SERVER) as node:
        node.port()
        for order, percent in ((1, 97), (2, 99), (3, 0)):
            order_machine(data, Machine(order=order, disk_percent=percent))
            node.process.send_signal(signal.SIGUSR1)
            until(lambda: len(levels()) == order or None, "the level")  # noqa: B023
        assert not (data / "ballast").exists()
        assert node.stop() == 0
    assert levels() == [("normal", "medium"), ("medium", "high"), ("high", "normal")]


def test_a_node_that_starts_on_a_full_disk_finds_it_so(organisation: Organisation) -> None:
    data = organisation.data(SERVER)
    data.mkdir(parents=True, exist_ok=True)
    order_machine(data, Machine(order=7, disk_is_full=True))
    with process(organisation, SERVER) as node:
        node.port()
        assert read_found(data)["order"] == 7
        assert node.stop() == 0


def test_a_node_whose_clock_is_set_dates_by_it_and_goes_on_as_before_over_a_restart(
    organisation: Organisation,
) -> None:
    data, hour_ms = organisation.data(SERVER), 3_600_000
    data.mkdir(parents=True, exist_ok=True)
    with process(organisation, SERVER) as node:
        node.port()
        order_machine(data, Machine(order=1, skew_ms=-hour_ms))
        node.process.send_signal(signal.SIGUSR1)
        until(lambda: read_found(data).get("order") == 1 or None, "the answer")
        assert node.stop() == 0
    with process(organisation, SERVER) as node:
        node.port()
        assert node.stop() == 0
    folder = organisation.logs(SERVER)
    dated = [(r["event"], r["at_ms"]) for r in records(folder / "lifecycle.jsonl")]
    off = [event for event, at_ms in dated if at_ms == -hour_ms]
    assert off == ["stopped", "configured", "database-opened", "started", "stopped"]
    heard = records(folder / "inputs.jsonl")
    now_ms = [r["now_ms"] - ORIGIN_MS for r in heard if r["input"] == "DatabaseOpened"]
    assert now_ms == [0, 0]
    assert {r.get("ahead_ms") for r in heard} == {None, -hour_ms}


def test_a_node_killed_in_the_middle_of_commits_loses_nothing_it_acknowledged(
    organisation: Organisation,
) -> None:
    """Four senders at once and SIGKILL meanwhile, three times over on the same files."""
    acknowledged: set[str] = set()
    for life in range(3):
        with process(organisation, SERVER) as node:
            senders = Senders(node.port(), first=life * 1000)
            wait_for_messages(organisation, 40 * (life + 1))
            node.kill()
            acknowledged |= senders.acknowledged()
    with process(organisation, SERVER) as node:
        node.port()
        until(lambda: all_delivered(organisation) or None, "what was queued is delivered")
        node.stop()
    assert len(acknowledged) > 40
    assert acknowledged <= held(organisation)
    assert "database-set-aside" not in events(organisation)


def wait_for_messages(organisation: Organisation, count: int) -> None:
    until(lambda: len(received(organisation)) > count or None, f"{count} messages are in")


class Senders:
    """Four at once, each with a hundred messages; they end when the connection breaks."""

    def __init__(self, port: int, first: int) -> None:
        self._sent: list[Sent] = []
        self._threads = [
            threading.Thread(target=self._send, args=(port, first + 100 * n)) for n in range(4)
        ]
        for thread in self._threads:
            thread.start()

    def _send(self, port: int, first: int) -> None:
        self._sent.extend(send_many(port, first, 100))

    def acknowledged(self) -> set[str]:
        for thread in self._threads:
            thread.join()
        return {s.message_id for s in self._sent if (s.reply or "").startswith("250")}


def received(organisation: Organisation) -> list[str]:
    """RECEIVE rows of the message tracking log: messages that are durable."""
    files = sorted(organisation.logs(SERVER).glob("MSGTRK*"))
    return [line for f in files for line in f.read_text().splitlines() if ",RECEIVE," in line]


def all_delivered(organisation: Organisation) -> bool:
    """By the log: every message received was delivered or turfed."""
    (tracking,) = organisation.logs(SERVER).glob("MSGTRK*")
    text = tracking.read_text()
    return text.count(",DELIVER,") + text.count(",DUPLICATEDELIVER,") >= text.count(",RECEIVE,")


def test_a_log_torn_by_a_kill_is_ended_before_it_goes_on(organisation: Organisation) -> None:
    with process(organisation, SERVER) as node:
        send(node.port(), 1)
        node.kill()
    (tracking,) = organisation.logs(SERVER).glob("MSGTRK*")
    with tracking.open("a") as log:
        log.write("2026-01-05T08:00")
    with process(organisation, SERVER) as node:
        send(node.port(), 2)
        node.stop()
    lines = tracking.read_text().splitlines()
    assert "2026-01-05T08:00" in lines
    assert len([line for line in lines if line.startswith("#Fields")]) == 1


def test_inputs_are_written_down_and_can_be_read_again(organisation: Organisation) -> None:
    with process(organisation, SERVER) as node:
        send(node.port(), 1)
        node.stop()
    lines = records(organisation.logs(SERVER) / "inputs.jsonl")
    names = [type(from_json(line)).__name__ for line in lines]
    assert names[0] == "DatabaseOpened"
    assert names[-1] in ("StopRequested", "Committed", "ConnectionLost")
    assert {"SessionAccepted", "RecipientOffered", "MessageOffered", "Committed"} <= set(names)
    assert {line["now_ms"] for line in lines} == {ORIGIN_MS}
    assert "x" * 70 not in (organisation.logs(SERVER) / "inputs.jsonl").read_text()


def test_deadlines_run_in_lab_time_once_it_is_set_going(organisation: Organisation) -> None:
    """A silent client is cut after ConnectionInactivityTimeout, 5 lab minutes: 0.5 s here."""
    organisation.speed = 600.0
    with process(organisation, SERVER) as node:
        with socket.create_connection(("127.0.0.1", node.port()), timeout=20) as client:
            client.recv(512)
            client.setblocking(False)
            with pytest.raises(BlockingIOError):
                client.recv(512)
            client.settimeout(20)
            organisation.start_lab_time(time.monotonic_ns())
            assert client.recv(512).startswith(b"421 4.4.2")
            assert client.recv(512) == b""
        node.stop()
    (cut,) = [
        line
        for line in records(organisation.logs(SERVER) / "inputs.jsonl")
        if line["input"] == "ConnectionLost"
    ]
    assert 300_000 <= cut["now_ms"] - ORIGIN_MS < 420_000


def test_an_external_server_writes_down_what_it_takes(organisation: Organisation) -> None:
    with process(organisation, "ext1", "external") as node:
        assert (send(node.port(), 1, "bob@partner.example").reply or "").startswith("250")
        assert (send(node.port(), 2, "bob@elsewhere.example").reply or "").startswith("550 5.1.10")
        node.kill()
    (line,) = records(organisation.data("ext1") / "received.jsonl")
    assert line["message_id"] == "<m000001@outside.example>"
    assert (line["sender"], line["recipients"]) == (SENDER, ["bob@partner.example"])
    assert (line["received_ms"], line["peer"]) == (0, "client.example")
    assert line["size_bytes"] > 0
    assert digest_of(message(1)[1].encode()).columns().items() <= line.items()


def test_an_external_server_knows_the_null_reverse_path(organisation: Organisation) -> None:
    with process(organisation, "ext1", "external") as node:
        with smtplib.SMTP("127.0.0.1", node.port()) as client:
            client.sendmail("", ["bob@partner.example"], message(1)[1])
        node.kill()
    (line,) = records(organisation.data("ext1") / "received.jsonl")
    assert line["sender"] == ""


def test_an_external_server_refuses_a_configuration_that_is_not_its_own(
    organisation: Organisation,
) -> None:
    with process(organisation, SERVER, "external") as node:
        code, said = node.ended()
    assert code == 64
    assert "Role: mailbox: this program serves external" in said
