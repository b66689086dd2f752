"""From claims to one word: pass, fail or unknown, with the reasons (spec: lab.md "Claims").

Fail if any claim is violated; else unknown if a claim that `expect` or `proves` needs is unknown, a
fault or an operation has no evidence that it took effect, the record is damaged where no fault
explains it (what a line said that cannot be read was asked of nobody), or the lab's clock was too
coarse for a duration that had to be judged; else pass. What the plan foretells is shown beside it
and changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from spark_eval.claims.claim import HOLDS, UNKNOWN, VIOLATED, ClaimResult
from spark_eval.exit_codes import CRASHED

PASS, FAIL = "pass", "fail"
EXIT_CODES = {PASS: 0, FAIL: 1, UNKNOWN: 2}

PROVEN, NOT_ASKED = "proven", "not asked"
JUDGED_BY_CLOCK = ("discard_after_delivery", "promotion_on_time", "no_early_promotion")


@dataclass(frozen=True, slots=True)
class Asked:
    """What the plan asks of a run beyond the claims, and what decides whether it can be answered.

    `faults` maps each planned fault to its evidence: True took effect, False did not, None not
    seen; `operations` each operation; `unseen` either to why, where the record says so.
    `too_coarse` says why the clock cannot judge, or is empty; `damage` what of the record cannot be
    read, though no fault explains it.
    """

    proves: tuple[str, ...]
    expects_loss: bool
    expects_promotions: bool
    faults: Mapping[str, bool | None]
    too_coarse: str
    foretold: str
    unseen: Mapping[str, str] = field(default_factory=dict)
    operations: Mapping[str, bool | None] = field(default_factory=dict)
    expects_resubmissions: bool = False
    damage: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """`requirements`: id to proven, violated, unknown or not asked."""

    verdict: str
    exit_code: int
    reasons: tuple[str, ...]
    requirements: Mapping[str, str]
    foretold: str


def reach(results: Mapping[str, ClaimResult], asked: Asked) -> Verdict:
    """`results` by claim name, one for each claim that is built."""
    requirements = _requirements(results, asked.proves)
    violated = [_why(result) for result in results.values() if result.status == VIOLATED]
    crashed = [_why(result) for result in results.values() if result.crashed]
    open_questions = crashed + _unanswered(results, requirements, asked)
    verdict = FAIL if violated else UNKNOWN if open_questions else PASS
    return Verdict(
        verdict=verdict,
        exit_code=CRASHED if crashed else EXIT_CODES[verdict],
        reasons=tuple(violated + open_questions),
        requirements=requirements,
        foretold=asked.foretold,
    )


def _why(result: ClaimResult) -> str:
    if result.status == VIOLATED:
        return f"{result.name} is violated: {result.violations} of {result.asked} asked"
    return f"{result.name} is {result.status}: {result.reason}"


def _unanswered(
    results: Mapping[str, ClaimResult], requirements: Mapping[str, str], asked: Asked
) -> list[str]:
    reasons = [
        _unproven(requirement, requirements[requirement], results)
        for requirement in asked.proves
        if requirements[requirement] in (UNKNOWN, NOT_ASKED)
    ]
    needed = [
        ("no_loss", asked.expects_loss),
        ("promotion_on_time", asked.expects_promotions),
        ("resubmission_bounded", asked.expects_resubmissions),
    ]
    for name, wanted in needed:
        if wanted and name in results and results[name].status == UNKNOWN:
            reasons.append(f"`expect` needs it: {_why(results[name])}")
    reasons += asked.damage
    reasons += [
        _evidence(f"{what} {name}", seen, asked.unseen.get(name, ""))
        for what, told in (("fault", asked.faults), ("operation", asked.operations))
        for name, seen in told.items()
        if seen is not True
    ]
    judged = any(results[name].asked for name in JUDGED_BY_CLOCK if name in results)
    return reasons + ([asked.too_coarse] if asked.too_coarse and judged else [])


def _evidence(what: str, seen: bool | None, why: str) -> str:
    because = f": {why}" if why else ""
    if seen is None:
        return f"{what} has no evidence that it took effect{because}"
    return f"{what} did not take effect{because}"


def _unproven(requirement: str, status: str, results: Mapping[str, ClaimResult]) -> str:
    if any(requirement in result.requirements for result in results.values()):
        return f"{requirement} is to be proven and is {status}"
    return f"{requirement} is to be proven, and no claim checks it"


def _requirements(results: Mapping[str, ClaimResult], proves: tuple[str, ...]) -> dict[str, str]:
    """Every requirement that a claim checks or the plan names; unchecked ones are not asked."""
    names = {name for result in results.values() for name in result.requirements} | set(proves)
    return {name: _requirement(name, results) for name in sorted(names)}


def _requirement(name: str, results: Mapping[str, ClaimResult]) -> str:
    told = {result.proofs[name] for result in results.values() if name in result.proofs}
    if VIOLATED in told:
        return VIOLATED
    if UNKNOWN in told:
        return UNKNOWN
    return PROVEN if HOLDS in told else NOT_ASKED
