"""What became of all messages of a run, as sums: parts of a run add up to the whole."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from spark_eval.expected.mail.deliveries import EXCUSED, LOST, UNKNOWN, deliveries
from spark_eval.expected.mail.forks import is_done
from spark_eval.expected.node.shown_queues import held
from spark_eval.expected.safety_net.resubmissions import given_back
from spark_eval.expected.shadow.promotions import promotions_of
from spark_eval.histories.message import Message
from spark_eval.histories.primary import key_of
from spark_eval.histories.run import Run
from spark_eval.histories.shadow import is_promotion
from spark_eval.read.names import Ref
from spark_eval.read.rows import TrackingRow


class Promoted(NamedTuple):
    """A promotion that happened."""

    server: str
    primary: str
    cause: str | None
    at_ms: int
    message_id: str
    ref: Ref


class GivenBack(NamedTuple):
    """A message that a Safety Net gave back, and when its server says that it was done with it."""

    at_ms: int
    done_ms: int | None
    request_id: str
    ref: Ref


Place = tuple[str | None, str | None]
"""A mailbox database, and primary or shadow."""
Promotion = tuple[str, str, str]
"""Shadow server, primary server, and cause."""


@dataclass(slots=True)
class Totals:
    """Counts of messages: `promised` to anybody, `lost` or `excused` for anybody; `may_be_…` of
    those whose fate is not known. Only where `expect` says something of them: `promoted`, and
    `resubmitted`, how many came back into which database from which Safety Nets, and the first.
    `given_back`: by server and database, each message. `held`: by look, kind and name of a queue,
    how many certainly and possibly were in it.
    """

    promised: int = 0
    lost: int = 0
    excused: int = 0
    may_be_lost: int = 0
    may_be_excused: int = 0
    taken_over: dict[Promotion, list[int]] = field(default_factory=dict)
    promoted: list[Promoted] = field(default_factory=list)
    resubmitted: dict[Place, tuple[int, int, Ref]] = field(default_factory=dict)
    held: dict[tuple[str, str, str], tuple[int, int]] = field(default_factory=dict)
    given_back: dict[tuple[str, str | None], list[GivenBack]] = field(default_factory=dict)

    def add(self, other: Totals) -> None:
        self.promised += other.promised
        self.lost += other.lost
        self.excused += other.excused
        self.may_be_lost += other.may_be_lost
        self.may_be_excused += other.may_be_excused
        self.promoted += other.promoted
        for promotion, times in other.taken_over.items():
            self.taken_over.setdefault(promotion, []).extend(times)
        for where, counts in other.held.items():
            self.held[where] = _sum(self.held.get(where, (0, 0)), counts)
        for at, given in other.given_back.items():
            self.given_back.setdefault(at, []).extend(given)
        for place, came in other.resubmitted.items():
            self.resubmitted[place] = _both(self.resubmitted.get(place), came)


def _sum(one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
    return one[0] + other[0], one[1] + other[1]


def _both(known: tuple[int, int, Ref] | None, came: tuple[int, int, Ref]) -> tuple[int, int, Ref]:
    if known is None:
        return came
    return known[0] + came[0], *min(known[1:], came[1:])


def totals_of(messages: Iterable[Message], run: Run) -> Totals:
    """Of a part of a run's messages, or of all of them."""
    found = Totals()
    for message in messages:
        count(found, message, run)
    return found


def count(found: Totals, message: Message, run: Run) -> None:
    """A message and the DSNs about it."""
    _count_deliveries(found, message, run)
    for item in held(message, run):
        where = (item.operation, item.kind, item.name)
        found.held[where] = _sum(found.held.get(where, (0, 0)), (item.is_sure, 1))
    for each in message.with_dsns:
        take_over(found.taken_over, each.tracking)
        _give_back(found, each)
        if run.expect.promotions is not None:
            found.promoted += _promoted(each, run)
        if run.expect.resubmissions is not None:
            _count_resubmissions(found, each)


def take_over(found: dict[Promotion, list[int]], rows: Iterable[TrackingRow]) -> None:
    """Adds what rows say of shadow messages that were promoted."""
    for row in rows:
        if is_promotion(row):
            promotion = (row.server, row.primary_server or "", row.context or "")
            found.setdefault(promotion, []).append(row.at_ms)


def _count_deliveries(found: Totals, message: Message, run: Run) -> None:
    known = deliveries(message, run)
    outcomes = {each.outcome for each in known}
    is_open = UNKNOWN in outcomes
    found.promised += any(each.promised for each in known)
    found.lost += LOST in outcomes
    found.excused += EXCUSED in outcomes
    found.may_be_lost += is_open and LOST not in outcomes
    found.may_be_excused += is_open and EXCUSED not in outcomes


def _count_resubmissions(found: Totals, message: Message) -> None:
    for given in given_back(message):
        row = given.row
        place, came = (row.destination, row.safety_net), (1, row.at_ms, row.ref)
        found.resubmitted[place] = _both(found.resubmitted.get(place), came)


def _give_back(found: Totals, message: Message) -> None:
    for given in given_back(message):
        row, key = given.row, key_of(given.row)
        done = [each.at_ms for each in message.tracking if is_done(each) and key_of(each) == key]
        one = GivenBack(row.at_ms, max(done, default=None), row.context or "", row.ref)
        found.given_back.setdefault((row.server, row.destination), []).append(one)


def _promoted(message: Message, run: Run) -> Iterable[Promoted]:
    for promotion in promotions_of(message, run):
        copy, row = promotion.copy, promotion.copy.promoted
        if row is not None:
            yield Promoted(
                copy.server.name, copy.primary_name, promotion.cause, row.at_ms,
                message.message_id, row.ref,
            )  # fmt: skip
