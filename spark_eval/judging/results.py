"""What a claim came to, as reports say it: a tally with its words."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal

from spark_eval.cases.case import UNKNOWN, Case
from spark_eval.claims.claim import Claim
from spark_eval.judging.tally import Tally

Status = Literal["holds", "violated", "unknown", "not applicable"]
NOT_APPLICABLE: Final = "not applicable"
NOTHING_ASKED = "nothing was asked"


@dataclass(frozen=True, slots=True)
class CounterExample:
    """`which` is first, worst or last; `refs` are (file, line) in the run folder."""

    which: str
    subject: str
    at_ms: int | None
    detail: str
    refs: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class ClaimResult:
    """`proofs` maps each requirement that a case named to holds, violated or unknown; `surprises`
    are what `expect` says and what did not, or not surely, happen.
    """

    name: str
    requirements: tuple[str, ...]
    status: Status
    asked: int = 0
    violations: int = 0
    unknown: int = 0
    reason: str = NOTHING_ASKED
    examples: tuple[CounterExample, ...] = ()
    proofs: dict[str, str] = field(default_factory=dict)
    crashed: bool = False
    surprises: tuple[str, ...] = ()

    @property
    def asked_nothing(self) -> bool:
        return not self.asked and not self.crashed


def result_of(claim: Claim, tally: Tally) -> ClaimResult:
    if tally.crash is not None:
        return crashed(claim, tally.crash)
    if not tally.asked:
        return ClaimResult(claim.name, claim.requirements, UNKNOWN)
    return ClaimResult(
        name=claim.name,
        requirements=claim.requirements,
        status=tally.status,
        asked=tally.asked,
        violations=tally.violations,
        unknown=tally.unknown,
        reason=tally.reason[1] if tally.reason else "",
        examples=_examples(tally),
        proofs=dict(tally.proofs),
        surprises=tuple(sorted(tally.surprises)),
    )


def crashed(claim: Claim, said: str) -> ClaimResult:
    reason = f"the check crashed: {said}"
    return ClaimResult(claim.name, claim.requirements, UNKNOWN, reason=reason, crashed=True)


def _examples(tally: Tally) -> tuple[CounterExample, ...]:
    """None of them twice."""
    found: list[CounterExample] = []
    for which, case in (("first", tally.first), ("worst", tally.worst), ("last", tally.last)):
        if case is not None:
            example = _example(which, case)
            if all(example.subject != e.subject or example.refs != e.refs for e in found):
                found.append(example)
    return tuple(found)


def _example(which: str, case: Case) -> CounterExample:
    refs = tuple((ref.file, ref.line) for ref in case.refs[:4])
    return CounterExample(which, case.subject, case.at_ms, case.detail, refs)
