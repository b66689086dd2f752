"""What became of a server: when it was down, which queue database it had, where its log has holes.

A row that is missing inside a hole proves nothing. Holes lie around damage, and just before a
SIGKILL, since a commit is logged after it is durable. A queue database that was replaced has lost
everything it held (SM-17); the evidence is the lifecycle log, or else the database id on tracking
rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import NamedTuple

from spark_eval.histories.organisation.pressure import Limits, Span
from spark_eval.histories.organisation.settings import ServerConfig
from spark_eval.intervals.interval import FOREVER_MS, Interval, touches
from spark_eval.intervals.outage import Certainty, Outage, out_at
from spark_eval.read.clocks import Life
from spark_eval.read.plan import Evidence

MAILBOX, EXTERNAL, ACTIVE_MANAGER = "mailbox", "external", "active_manager"
FRONT_END = "frontend"
# a node logs within this of its commit, in wall milliseconds; more than any commit takes
UNLOGGED_WALL_MS = 250
# where a server writes no tracking log
EVERYWHERE = (Interval(0, FOREVER_MS),)


class Down(NamedTuple):
    """A time that a server was away, or its disk full: `kind` of the fault."""

    outage: Outage
    kind: str


class Era(NamedTuple):
    """While a server had one queue database: from when it was first seen, and `lost_ms` with the id
    of the one that replaced it; without one where the server was gone for good then.
    """

    database_id: str
    from_ms: int
    lost_ms: int | None
    next_id: str | None


@dataclass(frozen=True, slots=True)
class Server:
    """`mount_dial`: how many logs a copy there may lack that is mounted without being asked for
    (TP-6); `evidence`: what its record can show; `holes` of its logs; `slack_ms`: how late a row
    may be, and how well two times of one clock can be compared; `askew_ms`: how far the clocks of
    this run's servers were apart; `pressure`: while its log says that it was under back pressure;
    `disks_lost`: when all that it had on disk was gone, for good or since a new server came (TP-8).
    """

    name: str
    fqdn: str
    role: str
    site: str | None
    dag: str | None
    domain: str | None
    auto_activation: str
    mount_dial: int
    evidence: frozenset[Evidence]
    config: ServerConfig
    downs: tuple[Down, ...]
    holes: tuple[Interval, ...]
    eras: tuple[Era, ...]
    lives: tuple[Life, ...]
    slack_ms: int
    askew_ms: int
    limits: Limits
    pressure: tuple[Span, ...]
    disks_lost: tuple[int, ...] = ()

    @property
    def is_mailbox(self) -> bool:
        return self.role == MAILBOX

    @property
    def is_front_end(self) -> bool:
        return self.role == FRONT_END

    @property
    def boundary(self) -> str | None:
        """The transport high availability boundary of a mailbox server: its DAG, or its site where
        it is in none (TP-3).
        """
        if not self.is_mailbox:
            return None
        return f"dag:{self.dag}" if self.dag else f"site:{self.site}"

    def out(self, start_ms: int, end_ms: int) -> Certainty:
        """Whether it was away, or its disk full, at some moment of [start, end]."""
        return out_at((each.outage for each in self.downs), start_ms, end_ms)

    def away(self, *kinds: str) -> Iterator[Interval]:
        """While it may have been away, or its disk full: by faults of these kinds, or of any."""
        return (each.outage.possible for each in self.downs if not kinds or each.kind in kinds)

    def shows(self, start_ms: int, end_ms: int) -> bool:
        """Whether its logs are whole all along [start, end]."""
        return not touches(self.holes, start_ms, end_ms)

    def may_press(self, level: int, start_ms: int, end_ms: int) -> bool:
        """Whether it may have been at that level of back pressure, or above, at some moment."""
        return any(
            each.level == level and each.possible.touches(start_ms, end_ms)
            for each in self.pressure
        )

    def surely_presses(self, level: int, start_ms: int, end_ms: int) -> bool:
        """Whether it was all along."""
        return any(
            each.level == level and each.certain.covers(start_ms, end_ms) for each in self.pressure
        )

    def killed_after(self, time_ms: int) -> bool:
        """Surely, at that time or later."""
        return any(
            each.kind == "kill"
            and each.outage.certain is not None
            and each.outage.certain.lo >= time_ms
            for each in self.downs
        )

    def lost_ms(self, database_id: str) -> int | None:
        """When this queue database of it was lost at the latest; None where it never was."""
        return next((era.lost_ms for era in self.eras if era.database_id == database_id), None)

    def replaced_ms(self, database_id: str) -> int | None:
        """When another one was seen in its place, from which alone others learn of the loss."""
        eras = (era for era in self.eras if era.database_id == database_id)
        return next((era.lost_ms for era in eras if era.next_id is not None), None)

    @property
    def last_database_id(self) -> str:
        """Of the queue database that it had at the end; empty where none was ever seen."""
        return next((era.database_id for era in self.eras[-1:]), "")

    @property
    def is_gone(self) -> bool:
        """Whether it was gone for good at the end, with all that it kept (TP-8)."""
        last = self.eras[-1:]
        return any(era.lost_ms is not None and era.next_id is None for era in last)

    def life_at(self, time_ms: int) -> int | None:
        """When the life began in which that time lies."""
        return max((life.lo_ms for life in self.lives if life.lo_ms <= time_ms), default=None)


def eras_of(seen: Iterable[tuple[int, str]], gone_ms: int | None = None) -> tuple[Era, ...]:
    """From each time at which a queue database was seen, and its id; `gone_ms`: when the server was
    gone for good.
    """
    first: dict[str, int] = {}
    for at_ms, database_id in seen:
        first[database_id] = min(first.get(database_id, at_ms), at_ms)
    begun = sorted((at_ms, database_id) for database_id, at_ms in first.items())
    return tuple(
        Era(database_id, from_ms, *(after or (gone_ms, None)))
        for (from_ms, database_id), after in zip_longest(begun, begun[1:])
    )


def holes_of(
    damage: Iterable[tuple[int | None, int | None]], downs: Sequence[Down], unlogged_ms: int
) -> tuple[Interval, ...]:
    """Around damage (`from_ms`, `to_ms` of each), and just before a kill."""
    around = [
        Interval(from_ms or 0, FOREVER_MS if to_ms is None else to_ms) for from_ms, to_ms in damage
    ]
    kills = [each.outage.certain for each in downs if each.kind == "kill"]
    before = [Interval(sure.lo - unlogged_ms, sure.lo) for sure in kills if sure is not None]
    return (*around, *before)
