"""Two servers of an organisation, real TLS between them: in, shadow, delivery, discard."""

from __future__ import annotations

import csv
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from nodes.shell.logs.exchange import TRACKING_FIELDS
from nodes.store.dump import mailbox_files, mailbox_rows, queue_rows
from nodes.store.message_digest import digest_of
from tests.nodes.shell.organisation import ORIGIN_MS, Organisation, fqdn, free_port
from tests.nodes.shell.running import NodeProcess, process
from tests.nodes.shell.sending import message, send
from tests.nodes.shell.waiting import records, until

pytestmark = pytest.mark.slow

PARIS, LYON, MANAGER = "par-mbx1", "lyo-mbx1", "am1"
MESSAGE_ID = "<m000001@outside.example>"
AS_SENT = digest_of(message(1)[1].encode()).columns()


@pytest.fixture
def organisation(tmp_path: Path) -> Organisation:
    made = Organisation(tmp_path, speed=600.0)
    made.ports = {PARIS: free_port(), LYON: free_port(), "ext1": free_port()}
    made.links = {PARIS: [LYON, "ext1"], LYON: [PARIS, "ext1"]}
    made.sections["TransportConfig"] = {"ShadowHeartbeatFrequency": "00:01:00"}
    return made


@pytest.fixture
def lyon(organisation: Organisation) -> Iterator[NodeProcess]:
    with process(organisation, LYON) as node:
        node.port()
        yield node


@pytest.fixture
def paris(organisation: Organisation) -> Iterator[NodeProcess]:
    with process(organisation, PARIS) as node:
        node.port()
        yield node


def tracking(organisation: Organisation, server: str) -> list[dict[str, str]]:
    """Whole rows of a server's message tracking log, so far."""
    names = TRACKING_FIELDS.split(",")
    text = "".join(p.read_text() for p in sorted(organisation.logs(server).glob("MSGTRK*")))
    lines = [line for line in text.split("\n")[:-1] if not line.startswith("#")]
    return [dict(zip(names, row, strict=True)) for row in csv.reader(lines)]


def events(organisation: Organisation, server: str) -> list[str]:
    return [row["event-id"] for row in tracking(organisation, server)]


def wait_for(organisation: Organisation, server: str, event: str) -> None:
    what = f"{event} at {server}"
    until(lambda: event in events(organisation, server) or None, what, organisation.folder)


def queues(organisation: Organisation, server: str) -> list[str]:
    path = organisation.data(server) / "queue.db"
    return [str(row["queue"]) for row in queue_rows(path, ORIGIN_MS)]


def test_a_message_is_shadowed_delivered_and_let_go(
    organisation: Organisation, paris: NodeProcess, lyon: NodeProcess
) -> None:
    organisation.start_lab_time(time.monotonic_ns())
    reply = send(paris.port(), 1).reply
    assert reply is not None
    assert reply.startswith(f"250 2.6.0 {MESSAGE_ID}")
    wait_for(organisation, PARIS, "DELIVER")
    wait_for(organisation, LYON, "HADISCARD")
    assert (paris.stop(), lyon.stop()) == (0, 0)
    assert events(organisation, PARIS) == ["HAREDIRECT", "RECEIVE", "DELIVER"]
    assert events(organisation, LYON) == ["HARECEIVE", "HADISCARD"]
    assert queues(organisation, LYON) == ["shadow-safety-net"]
    assert "primary-safety-net" in queues(organisation, PARIS)
    (path,) = mailbox_files(organisation.data(PARIS)).values()
    (copy,) = mailbox_rows(path, ORIGIN_MS)
    assert (copy["message_id"], copy["server"]) == (MESSAGE_ID, PARIS)


def test_a_message_for_the_other_servers_database_goes_there(
    organisation: Organisation, paris: NodeProcess, lyon: NodeProcess
) -> None:
    organisation.start_lab_time(time.monotonic_ns())
    send(lyon.port(), 1)
    wait_for(organisation, LYON, "SEND")
    (send_row,) = [r for r in tracking(organisation, LYON) if r["event-id"] == "SEND"]
    assert send_row["server-hostname"] == fqdn(PARIS)
    assert "Queued mail for delivery" in send_row["source-context"]
    wait_for(organisation, PARIS, "HADISCARD")
    assert events(organisation, PARIS) == ["HARECEIVE", "DELIVER", "HADISCARD"]
    (path,) = mailbox_files(organisation.data(PARIS)).values()
    (copy,) = mailbox_rows(path, ORIGIN_MS)
    assert AS_SENT.items() <= copy.items()


ODD = {b"a\xff": r"a\xff", b"a\xfe": r"a\xfe", b"a b": r"a\x20b", b"ab": "ab", b"a\x00": r"a\x00"}


def _say(port: int, recipient: bytes, message: bytes) -> str:
    """The reply to the dot of a message, over a socket of its own."""
    said = b"EHLO client", b"MAIL FROM:<bob@partner.example>", b"RCPT TO:<%b>" % recipient, b"DATA"
    with socket.create_connection(("127.0.0.1", port), timeout=20) as client:
        lines = client.makefile("rb")
        client.sendall(b"\r\n".join((*said, message, b".", b"")))
        while not (heard := lines.readline()).startswith(b"354"):
            assert heard.startswith(b"2"), heard
        return lines.readline().decode()


@pytest.mark.parametrize("recipient", [b"db1-user01@shadowlab.example", b"bob@partner.example"])
def test_messages_that_differ_in_an_octet_of_their_ids_stay_two_on_every_hop(
    organisation: Organisation, paris: NodeProcess, lyon: NodeProcess, recipient: bytes
) -> None:
    date = b"Date: Mon, 05 Jan 2026 08:00:00 +0000"
    odd = [b"Message-ID: <%b@x>\r\n%b\r\n\r\n%b" % (id, date, id.hex().encode()) for id in ODD]
    with process(organisation, "ext1", "external") as outside:
        outside.port()
        organisation.start_lab_time(time.monotonic_ns())
        replies = [_say(lyon.port(), recipient, message) for message in odd]
        assert [reply.split()[2] for reply in replies] == _ids()
        until(lambda: events(organisation, PARIS).count("HADISCARD") == len(ODD) or None, "all")
    assert (paris.stop(), lyon.stop()) == (0, 0)
    for server in (PARIS, LYON):
        assert {row["message-id"] for row in tracking(organisation, server)} == set(_ids())
    kept = list(records(organisation.data("ext1") / "received.jsonl"))
    for path in mailbox_files(organisation.data(PARIS)).values():
        kept += mailbox_rows(path, ORIGIN_MS)
    assert sorted(str(row["message_id"]) for row in kept) == sorted(_ids())
    assert len({str(row["body_sha256"]) for row in kept}) == len(ODD)


def _ids() -> list[str]:
    return [f"<{shown}@x>" for shown in ODD.values()]


def test_a_message_that_goes_round_is_given_up_where_it_was_taken_and_its_sender_told(
    organisation: Organisation, paris: NodeProcess
) -> None:
    """Lyon takes it, by a MaxHopCount of its own; Paris, the next hop, does not."""
    organisation.sections["ReceiveConnector"] = {"MaxHopCount": 70}
    around = b"Received: from a by b\r\n" * 61 + b"Message-ID: <round@x>\r\n\r\nround"
    with process(organisation, LYON) as lyon:
        organisation.start_lab_time(time.monotonic_ns())
        refused = _say(paris.port(), b"db1-user01@shadowlab.example", around)
        assert refused == "554 5.4.6 Hop count exceeded - possible mail loop\r\n"
        assert _say(lyon.port(), b"db1-user01@shadowlab.example", around).startswith("250 ")
        wait_for(organisation, LYON, "DSN")
    (given_up,) = [row for row in tracking(organisation, LYON) if row["event-id"] == "FAIL"]
    assert given_up["recipient-status"].startswith("554 5.4.6 ")


def test_a_message_for_the_outside_goes_out(
    organisation: Organisation, paris: NodeProcess, lyon: NodeProcess
) -> None:
    with process(organisation, "ext1", "external") as outside:
        outside.port()
        organisation.start_lab_time(time.monotonic_ns())
        assert send(paris.port(), 1, "bob@partner.example").reply is not None
        wait_for(organisation, PARIS, "SEND")
    (copy,) = records(organisation.data("ext1") / "received.jsonl")
    assert (copy["message_id"], copy["peer"]) == (MESSAGE_ID, fqdn(PARIS))
    assert AS_SENT.items() <= copy.items()


def test_a_shadow_outlives_its_holder_and_its_primary(
    organisation: Organisation, paris: NodeProcess
) -> None:
    """Both are killed when the message is acknowledged; back with their files, they finish."""
    with process(organisation, LYON) as lyon:
        lyon.port()
        assert send(paris.port(), 1).reply is not None
        lyon.kill()
    paris.kill()
    assert queues(organisation, LYON) == ["shadow"]
    with process(organisation, LYON) as lyon, process(organisation, PARIS) as paris_again:
        lyon.port()
        paris_again.port()
        organisation.start_lab_time(time.monotonic_ns())
        wait_for(organisation, LYON, "HADISCARD")
    assert events(organisation, LYON)[:2] == ["HARECEIVE", "LOAD"]


def test_a_primary_that_returns_without_its_queue_has_its_messages_promoted(
    organisation: Organisation, lyon: NodeProcess
) -> None:
    with process(organisation, PARIS) as paris:
        assert send(paris.port(), 1, "bob@partner.example").reply is not None
        paris.kill()
    for file in organisation.data(PARIS).glob("queue.db*"):
        file.unlink()
    with process(organisation, PARIS) as paris:
        paris.port()
        organisation.start_lab_time(time.monotonic_ns())
        wait_for(organisation, LYON, "RESUBMIT")
    rows = [r for r in tracking(organisation, LYON) if r["event-id"] == "RESUBMIT"]
    assert [r["source-context"] for r in rows] == ["database-id-changed"]


def with_copies(organisation: Organisation) -> None:
    copies = [
        {"Server": server, "ActivationPreference": number}
        for number, server in enumerate((PARIS, LYON), 1)
    ]
    database = {"Name": "DB1", "Server": PARIS, "Copies": copies}
    organisation.sections["Databases"] = [database, {"Name": "DB2", "Server": LYON}]
    organisation.services = ("smtp", "replication", "management")


def test_a_delivery_is_in_the_copy_on_the_other_server_too(organisation: Organisation) -> None:
    """Its log goes over the replication service, through SMTP."""
    with_copies(organisation)
    with process(organisation, LYON) as lyon, process(organisation, PARIS) as paris:
        lyon.port()
        paris.port()
        organisation.start_lab_time(time.monotonic_ns())
        assert send(paris.port(), 1).reply is not None
        assert send(paris.port(), 2).reply is not None
        until(lambda: len(shown(organisation, LYON)) == 2 or None, "logs", organisation.folder)
        assert (paris.stop(), lyon.stop()) == (0, 0)
    assert shown(organisation, LYON) == shown(organisation, PARIS)


def test_active_manager_fails_a_dead_servers_database_over(organisation: Organisation) -> None:
    with_copies(organisation)
    organisation.speed = 60.0
    organisation.managers = (MANAGER,)
    organisation.ports[MANAGER] = free_port()
    organisation.links[MANAGER] = [PARIS, LYON]
    with (
        process(organisation, LYON) as lyon,
        process(organisation, PARIS) as paris,
        process(organisation, MANAGER, "active_manager") as manager,
    ):
        assert all(node.port() for node in (lyon, paris, manager))
        organisation.start_lab_time(time.monotonic_ns())
        assert send(paris.port(), 1).reply is not None
        until(lambda: len(shown(organisation, LYON)) == 1 or None, "logs", organisation.folder)
        paris.kill()
        mounted = "database-mounted"
        what = f"{mounted} at {LYON}"
        until(lambda: mounted in happened(organisation, LYON) or None, what, organisation.folder)
        send(lyon.port(), 2)
        until(lambda: len(shown(organisation, LYON)) == 2 or None, "mail", organisation.folder)
        assert (manager.stop(), lyon.stop()) == (0, 0)
    told = happened(organisation, MANAGER)
    assert told.index("failover-decided") < told.index("failover-mounted")


def happened(organisation: Organisation, server: str) -> list[str]:
    """Events of its lifecycle, so far."""
    return [str(r["event"]) for r in records(organisation.logs(server) / "lifecycle.jsonl")]


def shown(organisation: Organisation, server: str) -> list[tuple[object, ...]]:
    """What the copy of DB1 on that server shows."""
    files = mailbox_files(organisation.data(server))
    rows = mailbox_rows(files["DB1"], ORIGIN_MS) if "DB1" in files else iter(())
    return [(row["mailbox"], row["message_id"], row["delivered_ms"]) for row in rows]
