"""What all shadow messages that one server holds for another one show together. Sums: parts of a
run's mail add up to the whole.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from spark_eval.intervals.interval import Interval, merged
from spark_eval.read.names import Ref

Name = tuple[str, str]


@dataclass(slots=True)
class HeldOfPair:
    """Of shadow messages that one server held for another one, at each of the moments at which it
    asked (`Pair.moments`): by how much their number changed before that moment, of those that it
    surely held (`holding`), that it ever had (`had`), that were gone again (`gone`). `let_go`: how
    many, by rows that are far from any hole of its log, and the first of them; `longest_ms`,
    `prompt_ms`: what an exchange took at most. `spans`: of those that came and that no contact
    followed for ShadowResubmitTimeSpan, when that was over, at the earliest and at the latest;
    `left`: when one left its queue, its stay over; `proven`: while each was held, as what came
    after shows: its end, a start that loaded it, or the listing at the end. `queued`: while each
    was surely in the queues of its primary, `may_be_queued`, while it may have been.
    """

    holding: Counter[int] = field(default_factory=Counter)
    had: Counter[int] = field(default_factory=Counter)
    gone: Counter[int] = field(default_factory=Counter)
    let_go: int = 0
    first_let_go: tuple[int, Ref] | None = None
    longest_ms: int = 0
    prompt_ms: int = 0
    spans: list[tuple[int, int]] = field(default_factory=list)
    left: list[int] = field(default_factory=list)
    proven: list[Interval] = field(default_factory=list)
    queued: list[Interval] = field(default_factory=list)
    may_be_queued: list[Interval] = field(default_factory=list)

    def add(self, other: HeldOfPair) -> None:
        for mine, more in (
            (self.holding, other.holding),
            (self.had, other.had),
            (self.gone, other.gone),
        ):
            mine.update(more)
        self.let_go += other.let_go
        both = [each for each in (self.first_let_go, other.first_let_go) if each is not None]
        self.first_let_go = min(both, default=None)
        self.longest_ms = max(self.longest_ms, other.longest_ms)
        self.prompt_ms = max(self.prompt_ms, other.prompt_ms)
        self.spans = sorted({*self.spans, *other.spans})
        self.left += other.left
        self.queued += other.queued
        self.may_be_queued += other.may_be_queued
        self.proven = list(merged([*self.proven, *other.proven]))


@dataclass(slots=True)
class MailOfPairs:
    """`first`: when the first shadow message may have come; `oldest`: of those promoted after the
    same last contact, when the oldest came.
    """

    first: dict[Name, int] = field(default_factory=dict)
    held: dict[Name, HeldOfPair] = field(default_factory=dict)
    oldest: dict[tuple[str, str, int], int] = field(default_factory=dict)

    def first_came_ms(self, server: str, primary: str) -> int | None:
        return self.first.get((server, primary))

    def oldest_ms(self, server: str, primary: str, contact_ms: int) -> int | None:
        return self.oldest.get((server, primary, contact_ms))

    def add(self, other: MailOfPairs) -> None:
        for name, first_ms in other.first.items():
            self.first[name] = min(self.first.get(name, first_ms), first_ms)
        for name, held in other.held.items():
            self.held.setdefault(name, HeldOfPair()).add(held)
        for group, oldest_ms in other.oldest.items():
            self.oldest[group] = min(self.oldest.get(group, oldest_ms), oldest_ms)
