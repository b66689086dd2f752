"""What passed between two servers: what the asking one logged of its questions, and when faults may
have kept it from the other one.

A pair is the server that asks and the primary server that it asks, in this order. Contact is the
final reply to a server's own XQDISCARD and nothing else (SM-6).
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, TypeVar

from spark_eval.histories.organisation.server import Server
from spark_eval.histories.sessions import OPENED, QUESTION, STANDS, Session
from spark_eval.histories.ways import REPLICATION, SMTP, Slow, Ways
from spark_eval.intervals.interval import Interval, merged
from spark_eval.read.csv_rows import integer
from spark_eval.read.names import Ref, short_name
from spark_eval.read.rows import ConnectivityRow

CONTACT, FAILED, OUTDATED = "XQDISCARD contact", "XQDISCARD failed", "XQDISCARD outdated"
HEARTBEAT = "heartbeat"
FOR_MESSAGES = ("delivery", "shadowredundancy")
# sessions that end in good order only when they were used, if for no message
FOR_OTHERS = ("replication", "safetynet")
_CARRIED = re.compile("Messages: [1-9]")


class Contact(NamedTuple):
    """An answer: `notifications`, how many it gave; `database_id` of the primary; `asked_ms`, when
    its question was asked.
    """

    at_ms: int
    asked_ms: int | None
    mono_ns: int | None
    database_id: str | None
    notifications: int | None
    ref: Ref


class Failure(NamedTuple):
    """A heartbeat that had no answer; `asked_ms`, when it was begun."""

    at_ms: int
    asked_ms: int | None


class Begun(NamedTuple):
    """A session that was opened for a heartbeat."""

    at_ms: int
    ref: Ref


class Used(NamedTuple):
    """A session that stood from `at_ms` on, and was opened for something else than a question:
    whether it `asked` before anything else, and how long it `waited_ms` until then.
    """

    at_ms: int
    asked: bool
    waited_ms: int
    service: str
    ref: Ref


@dataclass(slots=True)
class Questions:
    """What one server logged of its questions to another one, each in order of time: answers,
    heartbeats that failed, and sessions opened for a heartbeat; `outdated`, answers that were none.
    """

    contacts: list[Contact] = field(default_factory=list)
    failed: list[Failure] = field(default_factory=list)
    begun: list[Begun] = field(default_factory=list)
    outdated: list[Contact] = field(default_factory=list)

    @property
    def heard(self) -> list[Interval]:
        """From when to when each question was heard, in order of time."""
        return _spans(*self.contacts, *self.outdated)

    @property
    def may_be_heard(self) -> list[Interval]:
        """The same, those too that had no answer."""
        return _spans(*self.contacts, *self.outdated, *self.failed)


def _spans(*turns: Contact | Failure) -> list[Interval]:
    return sorted(Interval(each.asked_ms or each.at_ms, each.at_ms) for each in turns)


Name = tuple[str, str]
Turn = TypeVar("Turn", Contact, Failure)


def questions_of(rows: Iterable[ConnectivityRow]) -> dict[Name, Questions]:
    """By asking and asked server."""
    found: dict[Name, Questions] = {}
    for row in sorted(rows, key=lambda row: (row.at_ms, row.ref)):
        if row.said.startswith((CONTACT, FAILED, OUTDATED)):
            peer = short_name(row.value("Peer")) or ""
            known = found.setdefault((row.server, peer), Questions())
            if row.said.startswith(FAILED):
                known.failed.append(Failure(row.at_ms, row.asked_ms))
            elif row.said.startswith(OUTDATED):
                known.outdated.append(_contact(row))
            else:
                known.contacts.append(_contact(row))
        elif row.way == OPENED and row.said == HEARTBEAT:
            known = found.setdefault((row.server, row.peer or ""), Questions())
            known.begun.append(Begun(row.at_ms, row.ref))
    return found


def _contact(row: ConnectivityRow) -> Contact:
    return Contact(
        row.at_ms, row.asked_ms, row.mono_ns, row.value("DatabaseId"),
        integer(row.value("Notifications")), row.ref,
    )  # fmt: skip


@dataclass(frozen=True)
class Pair:
    """`contacts_ms`, and `told_all`, answers that left nothing unsaid, in order. Intervals, merged:
    the primary may be out of reach (`peer_possible`), surely is (`peer_certain`); the asking server
    may be down (`own_possible`); either (`any_possible`). `used`: sessions that stood and were
    opened for something else than a question; `lost`: see `Session.is_lost_heartbeat`.
    """

    questions: Questions
    contacts_ms: Sequence[int]
    told_all: Sequence[Contact]
    peer_possible: tuple[Interval, ...]
    peer_certain: tuple[Interval, ...]
    own_possible: tuple[Interval, ...]
    any_possible: tuple[Interval, ...]
    slows: tuple[Slow, ...]
    used: tuple[Used, ...]
    lost: int

    @property
    def answers(self) -> list[Contact]:
        """Those that say how many messages they name."""
        return [each for each in self.questions.contacts if each.notifications is not None]

    @cached_property
    def moments(self) -> list[int]:
        """When such sessions stood, and when answers came, in order of time."""
        return sorted([*(each.at_ms for each in self.used), *(a.at_ms for a in self.answers)])

    def last_contact(self, by_ms: int) -> int | None:
        return last_by(self.contacts_ms, by_ms)


def last_by(times_ms: Sequence[int], by_ms: int) -> int | None:
    """The latest of times in order, at or before `by_ms`."""
    place = bisect_right(times_ms, by_ms)
    return times_ms[place - 1] if place else None


def between(times_ms: Sequence[int], start_ms: int, end_ms: int) -> Sequence[int]:
    """Those of times in order that lie within, both ends included."""
    return times_ms[bisect_left(times_ms, start_ms) : bisect_right(times_ms, end_ms)]


def turns_between(turns: Sequence[Turn], start_ms: int, end_ms: int) -> Sequence[Turn]:
    """Those of turns in order that came within, both ends included."""
    start = bisect_left(turns, start_ms, key=_at_ms)
    return turns[start : bisect_right(turns, end_ms, key=_at_ms)]


def _at_ms(turn: Contact | Failure) -> int:
    return turn.at_ms


class Pairs:
    """Of every two servers, each made when it is first asked for."""

    def __init__(
        self,
        servers: Mapping[str, Server],
        ways: Ways,
        questions: Mapping[Name, Questions],
        sessions: Iterable[tuple[str, Session]],
    ) -> None:
        self._servers = servers
        self._ways = ways
        self._questions = questions
        self._used: dict[Name, list[Used]] = {}
        self._lost: Counter[Name] = Counter()
        for server, session in sessions:
            self._take(server, session)
        self._known: dict[Name, Pair] = {}

    def _take(self, server: str, session: Session) -> None:
        peer = session.rows[-1].peer or ""
        if session.is_lost_heartbeat:
            self._lost[server, peer] += 1
        elif (used := _used(session)) is not None:
            self._used.setdefault((server, session.rows[1].peer or ""), []).append(used)

    def names(self) -> Iterable[Name]:
        """Those of whom a log says something."""
        return sorted({*self._questions, *self._used, *self._lost})

    def between(self, server: str, primary: str) -> Pair:
        name = (server, primary)
        if name not in self._known:
            self._known[name] = self._pair(server, primary)
        return self._known[name]

    def _pair(self, server: str, primary: str) -> Pair:
        questions = self._questions.get((server, primary), Questions())
        own, peer = self._servers.get(server), self._servers.get(primary)
        page = peer.config.page if peer else None
        cuts, slows = self._ways.cuts(server, primary), self._ways.slows(server, primary)
        downs = [down.outage for down in peer.downs] if peer else []
        outages = [*downs, *cuts]
        # a link so late that sessions may be given up may be as good as cut
        too_late = [
            slow.at for slow in slows if own is not None and slow.late_ms >= own.config.timeout_ms
        ]
        unreached = [*(each.possible for each in outages), *too_late]
        down = list(own.away()) if own else []
        return Pair(
            questions=questions,
            contacts_ms=[each.at_ms for each in questions.contacts],
            told_all=[
                each
                for each in questions.contacts
                if page is None or each.notifications is None or each.notifications < page
            ],
            peer_possible=merged(unreached),
            peer_certain=merged(each.certain for each in outages if each.certain is not None),
            own_possible=merged(down),
            any_possible=merged([*unreached, *down]),
            slows=tuple(slows),
            used=tuple(self._used.get((server, primary), ())),
            lost=self._lost[server, primary],
        )


def _used(session: Session) -> Used | None:
    """None of one that saw neither a question nor a message before it ended; what was opened for no
    message, and has ended in good order, was used all the same.
    """
    purpose = session.purpose
    if len(session.rows) < 3 or purpose not in (*FOR_MESSAGES, *FOR_OTHERS):
        return None
    stands, first = session.rows[1], session.rows[2]
    if stands.said != STANDS:
        return None
    asked, is_other = first.said.startswith(QUESTION), purpose in FOR_OTHERS
    is_over = is_other and first is session.ended and session.gave_up is None
    if not asked and not is_over and not _CARRIED.match(first.said):
        return None
    service = REPLICATION if purpose == REPLICATION else SMTP
    return Used(stands.at_ms, asked, first.at_ms - stands.at_ms, service, stands.ref)
