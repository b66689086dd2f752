"""Messages a second that two of our servers make durable twice, beside two of Postfix.

Ours: plain processes on loopback as the lab configures them; each 250 follows the queue database
of the primary and that of its shadow server, and the mailbox is on the second. Theirs: a Postfix
that relays to a second one, which keeps a copy of all; its 250 follows ONE durable copy, so its
promise is the weaker one. Same sender, same disk, in turn; each round ends when all is delivered,
so that no work is left over to the next. ROUNDS of MESSAGES, the median of the rounds' ratios.
"""

import itertools
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from bench.loopback import Organisation, organisation
from bench.postfix import USER, check_it_is_there, postfix_pair
from bench.result import Result, Unmeasurable, in_pairs, not_measured
from bench.sending import Mail, send
from lab.errors import GroundError

NAME, UNIT = "durable_messages_vs_postfix", "messages/s"
AGAINST = "Postfix, whose 250 follows one copy; aim 1"
ROUNDS, MESSAGES, WARM_UP = 5, 400, 50
DELIVERED_WITHIN_S, LOOK_S = 120.0, 0.1


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
        return in_pairs(NAME, _pairs(Path(folder)), UNIT, AGAINST)


def _pairs(folder: Path) -> list[tuple[float, float]]:
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
            messages_per_second(side, marks, WARM_UP)
        found = list(rounds(sides, marks))
        check_each_had_its_shadow(_second_copies(nodes), WARM_UP + ROUNDS * MESSAGES)
        return found


def rounds(sides: tuple[Side, Side], marks: Iterator[str]) -> Iterator[tuple[float, float]]:
    """Both sides in each round, the one first and then the other."""
    for which in range(ROUNDS):
        first, second = sides if which % 2 == 0 else sides[::-1]
        found = {side.name: messages_per_second(side, marks, MESSAGES) for side in (first, second)}
        yield found[sides[0].name], found[sides[1].name]


def messages_per_second(side: Side, marks: Iterator[str], count: int) -> float:
    """250s a second; returns when everything is in its mailbox. Raises GroundError."""
    due = side.delivered() + count
    begun = time.monotonic()
    rate = count / send(side.mail, list(itertools.islice(marks, count)))
    while side.delivered() < due:
        if time.monotonic() > begun + DELIVERED_WITHIN_S:
            raise GroundError(f"{side.name}: {due - side.delivered()} messages are not delivered")
        time.sleep(LOOK_S)
    whole = count / (time.monotonic() - begun)
    print(f"{side.name}: {rate:.0f} acknowledged a second, {whole:.0f} delivered", file=sys.stderr)
    return rate


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
