"""A next hop says 451 to one of three recipients, over real SMTP: nobody gets a second copy, and
the third gets its one, with the node killed in between.
"""

from __future__ import annotations

import smtplib
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, Envelope, Session

from nodes.store.dump import queue_rows
from tests.nodes.shell.organisation import ORIGIN_MS, Organisation, free_port
from tests.nodes.shell.running import process
from tests.nodes.shell.sending import SENDER, message
from tests.nodes.shell.waiting import until

SERVER = "par-mbx1"
ANNE, BOB, CARL = (f"{name}@partner.example" for name in ("anne", "bob", "carl"))


class Partner:
    """Takes mail for everybody, but for `busy`; `tried`: all recipients that it was asked for."""

    def __init__(self, busy: str) -> None:
        self.busy = busy
        self.taken: list[tuple[str, ...]] = []
        self.tried: list[str] = []

    async def handle_RCPT(
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        self.tried.append(address)
        if address == self.busy:
            return "451 4.2.1 mailbox busy"
        envelope.rcpt_tos.append(address)
        return "250 2.1.5 ok"

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:
        self.taken.append(tuple(envelope.rcpt_tos))
        return "250 2.0.0 ok"


@pytest.fixture
def partner(organisation: Organisation) -> Iterator[Partner]:
    partner = Partner(BOB)
    controller = Controller(partner, hostname="127.0.0.1", port=organisation.ports["ext1"])
    controller.start()
    try:
        yield partner
    finally:
        controller.stop()


@pytest.fixture
def organisation(tmp_path: Path) -> Organisation:
    made = Organisation(tmp_path, speed=600.0)
    made.ports = {"ext1": free_port()}
    made.links = {SERVER: ["ext1"]}
    return made


def send_to_all(port: int) -> None:
    with smtplib.SMTP("127.0.0.1", port, "client.example", timeout=20) as client:
        assert client.sendmail(SENDER, (ANNE, BOB, CARL), message(1)[1]) == {}


def waiting(organisation: Organisation) -> list[object] | None:
    """Recipients in the delivery queue of a node; None where it is just being written."""
    try:
        rows = list(queue_rows(organisation.data(SERVER) / "queue.db", ORIGIN_MS))
    except sqlite3.Error:
        return None
    return [row["recipients"] for row in rows if row["queue"] == "delivery"]


def wait_until_only(recipients: list[object], organisation: Organisation) -> None:
    what = f"only {recipients} wait"
    until(lambda: waiting(organisation) == recipients or None, what, organisation.folder)


@pytest.mark.parametrize("killed", [False, True], ids=["same life", "killed in between"])
def test_each_recipient_gets_one_copy(
    organisation: Organisation, partner: Partner, killed: bool
) -> None:
    organisation.start_lab_time(time.monotonic_ns())
    with process(organisation, SERVER) as node:
        send_to_all(node.port())
        wait_until_only([[BOB]], organisation)
        until(lambda: partner.tried.count(BOB) > 2 or None, "retries", organisation.folder)
        if killed:
            node.kill()
        else:
            partner.busy = ""
            wait_until_only([], organisation)
    if killed:
        partner.busy = ""
        with process(organisation, SERVER):
            wait_until_only([], organisation)
    assert partner.taken == [(ANNE, CARL), (BOB,)]
    assert (partner.tried.count(ANNE), partner.tried.count(CARL)) == (1, 1)
