"""A front end as a process before two mailbox servers, over real SMTP and TLS (TP-7)."""

from __future__ import annotations

import smtplib
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from nodes.core.interface.replies import R451_NO_SERVER
from nodes.store.dump import mailbox_files, mailbox_rows
from nodes.store.message_digest import digest_of
from tests.nodes.shell.organisation import DOMAIN, ORIGIN_MS, Organisation, free_port
from tests.nodes.shell.running import NodeProcess, process
from tests.nodes.shell.sending import SENDER, send
from tests.nodes.shell.waiting import records, until

pytestmark = pytest.mark.slow

FRONT_END, FIRST, SECOND = "par-fe1", "par-mbx1", "par-mbx2"
EIGHT_BIT = (
    b"Message-ID: <m1@outside.example>\r\nDate: Mon, 05 Jan 2026 08:00:00 +0000\r\n\r\n"
    b"..gr\xc3\xbc\xc3\x9fe\r\n" + (b"x" * 70 + b"\r\n") * 3_000
)


@pytest.fixture
def organisation(tmp_path: Path) -> Organisation:
    made = Organisation(tmp_path, speed=60.0, front_ends=(FRONT_END,))
    made.ports = {FIRST: free_port(), SECOND: free_port(), FRONT_END: free_port()}
    made.links = {FIRST: [SECOND], SECOND: [FIRST], FRONT_END: [FIRST, SECOND]}
    made.start_lab_time(time.monotonic_ns())
    return made


@pytest.fixture
def nodes(organisation: Organisation) -> Iterator[dict[str, NodeProcess]]:
    with ExitStack() as stack:
        found = {
            name: stack.enter_context(process(organisation, name, module))
            for name, module in ((FIRST, "runner"), (SECOND, "runner"), (FRONT_END, "front_end"))
        }
        for node in found.values():
            node.port()
        yield found


def test_a_message_goes_through_it_byte_for_byte_and_the_250_is_that_of_the_server_behind(
    organisation: Organisation, nodes: dict[str, NodeProcess]
) -> None:
    with smtplib.SMTP("127.0.0.1", nodes[FRONT_END].port(), "client.example", timeout=20) as client:
        said = client.sendmail(
            SENDER, [f"db1-user01@{DOMAIN}", f"db2-user01@{DOMAIN}"], EIGHT_BIT, ["BODY=8BITMIME"]
        )
        assert said == {}
    path = mailbox_files(organisation.data(FIRST))["DB1"]
    (row,) = until(lambda: list(mailbox_rows(path, ORIGIN_MS)) or None, "it", organisation.folder)
    assert digest_of(EIGHT_BIT).columns().items() <= row.items()
    reply = send(nodes[FRONT_END].port(), 1).reply or ""
    assert reply.startswith("250 2.6.0 <m000001@outside.example> [InternalId=")
    assert f"Hostname={SECOND}.{DOMAIN}]" in reply  # each transaction begins with the next one


def test_a_refusal_is_that_of_the_server_behind(nodes: dict[str, NodeProcess]) -> None:
    port = nodes[FRONT_END].port()
    assert send(port, 1, "nobody").reply == send(nodes[FIRST].port(), 1, "nobody").reply
    assert (send(port, 2).reply or "").startswith("250 ")


def test_where_a_server_does_not_answer_another_is_chosen_and_where_none_does_it_refuses(
    organisation: Organisation, nodes: dict[str, NodeProcess]
) -> None:
    port = nodes[FRONT_END].port()
    nodes[FIRST].kill()
    for number in (1, 2):
        assert f"Hostname={SECOND}" in (send(port, number).reply or "")
    nodes[SECOND].kill()
    assert send(port, 3).reply == f"451 {R451_NO_SERVER.lines[0]}"
    assert nodes[FRONT_END].stop() == 0
    last = records(organisation.logs(FRONT_END) / "lifecycle.jsonl")[-1]
    assert (last["event"], last["count"]) == ("stopped", 0)
    assert not list(organisation.data(FRONT_END).glob("*.db*"))


def test_it_gives_nobody_a_right(nodes: dict[str, NodeProcess]) -> None:
    with smtplib.SMTP("127.0.0.1", nodes[FRONT_END].port(), "client.example", timeout=20) as client:
        _, offered = client.ehlo()
        assert b"\nX" not in offered
        for line in (f"XQDISCARD {FIRST} - 0", "XOUTBOX DB1", f"XREDIRECT {FIRST}"):
            assert client.docmd(line) == (550, b"5.7.1 Not authorized")
