"""Cases of a claim, counted. Tallies of parts add up to the tally of the whole, in whatever order.

Of all counter-examples the first, the worst and the last are kept; every value of a case decides
between two that are level, so that one record has one answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from spark_eval.cases.case import HOLDS, UNKNOWN, VIOLATED, Case, Status
from spark_eval.intervals.interval import FOREVER_MS

_RANK = {HOLDS: 0, UNKNOWN: 1, VIOLATED: 2}


@dataclass(slots=True)
class Tally:
    """`proofs` maps each requirement that a case named to holds, violated or unknown; `reason` is
    one for not knowing; `surprises` are what `expect` says and what did not, or not surely, happen;
    `crash` is what the claim itself raised, in a line.
    """

    asked: int = 0
    violations: int = 0
    unknown: int = 0
    reason: tuple[int, str] | None = None
    first: Case | None = None
    worst: Case | None = None
    last: Case | None = None
    proofs: dict[str, str] = field(default_factory=dict)
    surprises: set[str] = field(default_factory=set)
    crash: str | None = None

    @property
    def status(self) -> Status:
        return VIOLATED if self.violations else UNKNOWN if self.unknown or not self.asked else HOLDS

    def ask(self, cases: Callable[..., Iterable[Case]], *histories: object) -> None:
        """A claim that crashes takes no other one with it."""
        try:
            for case in cases(*histories):
                self._take(case)
        except Exception as error:
            self._crashed(in_a_line(error))

    def _crashed(self, said: str | None) -> None:
        self.crash = min((each for each in (self.crash, said) if each is not None), default=None)

    def add(self, other: Tally) -> None:
        self.asked += other.asked
        self.violations += other.violations
        self.unknown += other.unknown
        self._not_knowing(other.reason)
        for example in (other.first, other.worst, other.last):
            if example is not None:
                self._show(example)
        for requirement, status in other.proofs.items():
            self._prove(requirement, status)
        self.surprises |= other.surprises
        self._crashed(other.crash)

    def _take(self, case: Case) -> None:
        self.asked += 1
        for requirement in case.requirements:
            self._prove(requirement, case.status)
        if case.status == HOLDS:
            return
        said = f"{case.subject}: {case.detail}"
        if case.expected:
            self.surprises.add(said)
        if case.status == UNKNOWN:
            self.unknown += 1
            self._not_knowing((FOREVER_MS if case.at_ms is None else case.at_ms, said))
        else:
            self.violations += 1
            self._show(case)

    def _prove(self, requirement: str, status: str) -> None:
        known = self.proofs.get(requirement)
        if known is None or _RANK[status] > _RANK[known]:
            self.proofs[requirement] = status

    def _not_knowing(self, reason: tuple[int, str] | None) -> None:
        if reason is not None and (self.reason is None or reason < self.reason):
            self.reason = reason

    def _show(self, case: Case) -> None:
        if self.first is None or _by_time(case) < _by_time(self.first):
            self.first = case
        if self.worst is None or _by_weight(case) > _by_weight(self.worst):
            self.worst = case
        if self.last is None or _by_time(case) > _by_time(self.last):
            self.last = case


def in_a_line(error: Exception) -> str:
    """What was raised, and what it says first."""
    said = str(error).strip().splitlines()
    return f"{type(error).__name__}: {said[0] if said else ''}"


def _by_time(case: Case) -> tuple[object, ...]:
    return (-1 if case.at_ms is None else case.at_ms), case.subject, case.detail, case.refs


def _by_weight(case: Case) -> tuple[object, ...]:
    return case.weight, case.subject, case.detail, case.refs
