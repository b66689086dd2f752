"""How long live mail takes beside a resubmission of 100,000 messages, beside what it takes alone
(SN-19).

Two servers, as the lab configures them. The Primary Safety Net of the second holds COPIES messages
that no mailbox has; a resubmit request for all of them is disabled and enabled by turns, and mail
goes in at a steady pace meanwhile. What is measured is the time from MAIL FROM until it is in its
mailbox, in each phase its median. A round is a phase beside and a phase alone, by turns the one or
the other first, so that the two of a round see the same machine.
"""

import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from bench.loopback import ORIGIN_MS, Organisation, organisation
from bench.result import Result, in_pairs
from bench.sending import SIZE_BYTES, Mail, message, send_steadily
from lab.program.errors import GroundError
from nodes.core.interface.queue_changes import (
    Change,
    FinishFork,
    InsertMessage,
    MoveToPrimarySafetyNet,
)
from nodes.core.model.identity import Identity
from nodes.core.model.message import Envelope, Fork, Header, PrimaryMessage
from nodes.core.model.next_hop import NextHop
from nodes.store.queue.database import QueueDatabase, open_queue_database

COPIES, A_TRANSACTION = 100_000, 1_000
ROUNDS, MESSAGES, EVERY_S = 5, 100, 0.1
HOUR_MS = 3_600_000
REQUEST = "all-of-it"
WITHIN_S, LOOK_S = 120.0, 0.1


def measure() -> Result:
    """Milliseconds until delivered; aim of the ratio: 2 at most."""
    with tempfile.TemporaryDirectory(prefix="shadowlab-bench-") as folder:
        fill(Path(folder) / "servers" / "b" / "data", COPIES)
        with organisation(Path(folder), ("a", "b")) as nodes:
            pairs = list(_rounds(nodes))
            left = COPIES - resubmitted(nodes)
    print(f"{COPIES - left:,} messages were resubmitted meanwhile", file=sys.stderr)
    against = f"alone, {MESSAGES} messages a phase; aim 2"
    return in_pairs("live_mail_beside_a_resubmission", pairs, "ms", against)


def fill(data: Path, copies: int) -> None:
    """So many copies into the Primary Safety Net of a queue database, as a node puts them there:
    delivered into DB1 in the hour before lab time begins.
    """
    data.mkdir(parents=True)
    opening = open_queue_database(data / "queue.db", ORIGIN_MS - 2 * HOUR_MS, lambda: "filled")
    identity, opened = Identity(), opening.opened
    identity.opened(opened.database_id, opened.starts, opened.last_discard_sequence)
    with opening.database as database:
        for first in range(0, copies, A_TRANSACTION):
            _add(database, identity, range(first, min(first + A_TRANSACTION, copies)))


def _add(database: QueueDatabase, identity: Identity, numbers: range) -> None:
    changes: list[Change] = []
    for number in numbers:
        changes += _kept(identity, number)
    database.apply(tuple(changes), lambda body: message(body, Organisation.USER))


def _kept(identity: Identity, number: int) -> tuple[Change, ...]:
    """What a queue database hears of a message from its receipt to its stay in the Safety Net."""
    internal_id, hop = identity.next_internal_id(), NextHop.into("DB1")
    recipients = (Organisation.USER,)
    delivered_ms = ORIGIN_MS - HOUR_MS + number * HOUR_MS // COPIES
    kept = PrimaryMessage(
        internal_id=internal_id,
        network_message_id=identity.network_message_id(internal_id),
        header=Header(f"<kept{number}@outside.example>", delivered_ms, "bench"),
        envelope=Envelope("sender@outside.example", recipients),
        size_bytes=SIZE_BYTES,
        received_ms=delivered_ms,
        shadow_server=None,
        forks=(Fork(hop, recipients),),
    )
    return (
        InsertMessage(kept, f"kept{number}"),
        FinishFork(internal_id, hop, "done", delivered_ms),
        MoveToPrimarySafetyNet(internal_id, delivered_ms, delivered_ms + 48 * HOUR_MS),
    )


def _rounds(nodes: Organisation) -> Iterator[tuple[float, float]]:
    _request(nodes, f"ADD {REQUEST} primary DB1 {ORIGIN_MS - 2 * HOUR_MS} {ORIGIN_MS} -")
    _request(nodes, f"DISABLE {REQUEST}")
    for number in range(ROUNDS):
        phases = (("beside", _beside), ("alone", _alone))
        found = {
            name: phase(nodes, f"{name}{number}")
            for name, phase in (phases if number % 2 == 0 else phases[::-1])
        }
        yield found["beside"], found["alone"]


def _beside(nodes: Organisation, mark: str) -> float:
    """Raises GroundError where the resubmission did not go on through all of the phase."""
    _request(nodes, f"ENABLE {REQUEST}")
    before = resubmitted(nodes)
    _until(lambda: resubmitted(nodes) > before, "the resubmission does not begin")
    took_ms = _phase(nodes, mark)
    _request(nodes, f"DISABLE {REQUEST}")
    if resubmitted(nodes) >= COPIES:
        raise GroundError("the resubmission was over before the mail was", "take more COPIES")
    return took_ms


def _alone(nodes: Organisation, mark: str) -> float:
    _until(lambda: _in_queue(nodes) == 0, "what was resubmitted is not delivered")
    return _phase(nodes, mark)


def _phase(nodes: Organisation, mark: str) -> float:
    """The median of milliseconds that MESSAGES of live mail take."""
    mail = Mail(nodes.ports["a"], nodes.USER, nodes.folder / "authority.pem")
    begun = send_steadily(mail, [f"{mark}-{number}" for number in range(MESSAGES)], EVERY_S)
    _until(lambda: begun.keys() <= _delivered_ms(nodes, mark).keys(), "mail is not delivered")
    delivered_ms = _delivered_ms(nodes, mark)
    took = [delivered_ms[each] - nodes.lab_ms(at_ns) for each, at_ns in begun.items()]
    print(f"{mark}: {statistics.median(took):.0f} ms, at most {max(took):.0f}", file=sys.stderr)
    return statistics.median(took)


def _request(nodes: Organisation, words: str) -> None:
    code, said = nodes.ask("b", f"XRESUBMIT {words}")
    if code != 250:
        raise GroundError(f"XRESUBMIT {words}: {code} {said}")


def _until(holds: Callable[[], bool], otherwise: str) -> None:
    deadline = time.monotonic() + WITHIN_S
    while not holds():
        if time.monotonic() > deadline:
            raise GroundError(f"{otherwise} within {WITHIN_S:g} s")
        time.sleep(LOOK_S)


def resubmitted(nodes: Organisation) -> int:
    """How many messages the request has made."""
    return int(_asked(nodes, "queue.db", "SELECT max(resubmitted) FROM resubmit_requests")[0][0])


def _in_queue(nodes: Organisation) -> int:
    return int(_asked(nodes, "queue.db", "SELECT count(*) FROM messages")[0][0])


def _delivered_ms(nodes: Organisation, mark: str) -> dict[str, int]:
    """By mark, when each live message of a phase came into its mailbox, in lab time."""
    rows = _asked(
        nodes,
        "mailbox-DB1.db",
        "SELECT m.message_id, c.delivered_ms FROM messages AS m JOIN copies AS c USING "
        f"(message_row) WHERE m.message_id GLOB '<{mark}-*'",
    )
    return {name.removeprefix("<").partition("@")[0]: at_ms for name, at_ms in rows}


def _asked(nodes: Organisation, file: str, question: str) -> list[tuple[Any, ...]]:
    path = nodes.folder / "servers" / "b" / "data" / file
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        return connection.execute(question).fetchall()
