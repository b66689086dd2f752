"""Messages a second that two of our servers make durable twice, beside two of Postfix.

Ours: plain processes on loopback as the lab configures them; each 250 follows the queue database
of the primary and that of its shadow server, and the mailbox is on the second. Theirs: a Postfix
that relays to a second one, which keeps a copy of all; its 250 follows ONE durable copy, so its
promise is the weaker one, and most of its work is still to be done. So a second ratio is given
beside the first: of the messages a second until all are delivered, when both have done all. Same
sender, same disk, in turn; no work is left over to the next round. ROUNDS of MESSAGES, medians of
the rounds' ratios.
"""

import itertools
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from bench.loopback import Organisation, organisation
from bench.postfix import USER, check_it_is_there, postfix_pair
from bench.result import Result, Unmeasurable, in_pairs, not_measured
from bench.sending import Mail, send
from lab.program.errors import GroundError

NAME, UNIT = "durable_messages_vs_postfix", "messages/s"
AGAINST = "Postfix, whose 250 follows one copy; aim 1"
ROUNDS, MESSAGES, WARM_UP = 5, 400, 50
DELIVERED_WITHIN_S, LOOK_S = 120.0, 0.1


@dataclass(frozen=True, slots=True)
class Rates:
    """Messages a second: until the last 250, and until the last is in its mailbox."""

    acknowledged: float
    delivered: float


@dataclass(frozen=True, slots=True)
class Side:
    """Servers that stand: where mail goes, and how many messages have been delivered since."""

    name: str
    mail: Mail
    delivered: Callable[[], int]


def measure() -> Result:
    """Messages a second; aim: a ratio of 1. Without Postfix there is a row without a number."""
    try:
        check_it_is_there()
    except Unmeasurable as reason:
        return not_measured(NAME, UNIT, reason)
    with tempfile.TemporaryDirectory(prefix="shadowlab-bench-") as folder:
        Path(folder).chmod(0o755)  # Postfix works as several users
        return result_of(_pairs(Path(folder)))


def result_of(pairs: Sequence[tuple[Rates, Rates]]) -> Result:
    """What is laid side by side is the 250s; `against` has the ratio of the deliveries too."""
    delivered = median(ours.delivered / theirs.delivered for ours, theirs in pairs)
    acknowledged = [(ours.acknowledged, theirs.acknowledged) for ours, theirs in pairs]
    against = f"{AGAINST}; until delivered {delivered:.3g}"
    return in_pairs(NAME, acknowledged, UNIT, against)


def _pairs(folder: Path) -> list[tuple[Rates, Rates]]:
    with (
        organisation(folder / "ours", ("a", "b")) as nodes,
        postfix_pair(folder / "postfix") as postfix,
    ):
        ours = Mail(nodes.ports["a"], USER, nodes.folder / "authority.pem")
        theirs = Mail(postfix.port, USER, folder / "postfix" / "authority.pem")
        sides = (
            Side("ours", ours, lambda: _in_mailbox(nodes)),
            Side("Postfix", theirs, postfix.delivered),
        )
        marks = (f"m{number}" for number in itertools.count())
        for side in sides:
            measured(side, marks, WARM_UP)
        found = list(rounds(sides, marks))
        check_each_had_its_shadow(_second_copies(nodes), WARM_UP + ROUNDS * MESSAGES)
        return found


def rounds(sides: tuple[Side, Side], marks: Iterator[str]) -> Iterator[tuple[Rates, Rates]]:
    """Both sides in each round, the one first and then the other."""
    for which in range(ROUNDS):
        first, second = sides if which % 2 == 0 else sides[::-1]
        found = {side.name: measured(side, marks, MESSAGES) for side in (first, second)}
        yield found[sides[0].name], found[sides[1].name]


def measured(side: Side, marks: Iterator[str], count: int) -> Rates:
    """Of so many messages; returns when everything is in its mailbox. Raises GroundError."""
    due = side.delivered() + count
    sending_s = send(side.mail, list(itertools.islice(marks, count)))
    sent = time.monotonic()
    while side.delivered() < due:
        if time.monotonic() > sent + DELIVERED_WITHIN_S:
            raise GroundError(f"{side.name}: {due - side.delivered()} messages are not delivered")
        time.sleep(LOOK_S)
    rates = Rates(count / sending_s, count / (sending_s + time.monotonic() - sent))
    said = f"{rates.acknowledged:.0f} 250s a second, {rates.delivered:.0f} delivered"
    print(f"{side.name}: {said}", file=sys.stderr)
    return rates


def check_each_had_its_shadow(found: int, sent: int) -> None:
    """Ours may accept a message unprotected (SR-5): that would be no measurement."""
    if found != sent:
        raise GroundError(
            f"{found} of {sent} messages have a shadow, so this measures something else"
        )


def _in_mailbox(nodes: Organisation) -> int:
    return _count(nodes, "mailbox-DB1.db", "SELECT count(*) FROM copies")


def _second_copies(nodes: Organisation) -> int:
    """Shadows, and what becomes of them: copies in the shadow Safety Net."""
    shadows, kept = (f"(SELECT count(*) FROM {t})" for t in ("shadows", "shadow_safety_net"))
    return _count(nodes, "queue.db", f"SELECT {shadows} + {kept}")


def _count(nodes: Organisation, file: str, question: str) -> int:
    """Asked of a database of the second server; 0 where it has no such file yet."""
    path = nodes.folder / "servers" / nodes.names[-1] / "data" / file
    if not path.exists():
        return 0
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        return int(connection.execute(question).fetchone()[0])
