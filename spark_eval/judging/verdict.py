"""From claims to one word: pass, fail or unknown, with the reasons.

A claim that had nothing to ask is not applicable, unless `expect` or `proves` needs it, or the
record is damaged, which may be why: then it stays unknown.

Fail if any claim is violated; else unknown if a claim that `expect` or `proves` needs is unknown, a
fault or an operation has no evidence that it took effect, the record is damaged where no fault
explains it (what a line said that cannot be read was asked of nobody), or the lab's clock was too
coarse for a duration that had to be judged; else pass. What the plan expects is shown beside it
and changes nothing; a failure that was expected and came in another way is not as expected.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from spark_eval.cases.case import HOLDS, UNKNOWN, VIOLATED
from spark_eval.judging.catalogue import catalogue, in_order
from spark_eval.judging.results import NOT_APPLICABLE, ClaimResult, Status
from spark_eval.program import exit_codes

Word = Literal["pass", "fail", "unknown"]
PASS: Final = "pass"
FAIL: Final = "fail"
EXIT_CODES = {PASS: exit_codes.PASS, FAIL: exit_codes.FAIL, UNKNOWN: exit_codes.UNKNOWN}

PROVEN, NOT_ASKED, NOT_CHECKED = "proven", "not asked", "not checked"
JUDGED_BY_CLOCK = ("discard_after_delivery", "promotion_on_time", "no_early_promotion")


@dataclass(frozen=True, slots=True)
class Asked:
    """What the plan asks of a run beyond the claims, and what decides whether it can be answered.

    `faults` maps each planned fault to its evidence: True took effect, False did not, None not
    seen; `operations` each operation; `unseen` either to why, where the record says so.
    `too_coarse` says why the clock cannot judge, or is empty; `damage` what of the record cannot be
    read, though no fault explains it; `needs` names the claims that `expect` says something of.
    """

    proves: tuple[str, ...]
    faults: Mapping[str, bool | None]
    too_coarse: str
    expected: str
    unseen: Mapping[str, str] = field(default_factory=dict)
    operations: Mapping[str, bool | None] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    damage: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """`requirements`: each id to proven, violated, unknown, not asked, or not checked by any claim.
    `not_as_expected`: what a run that fails did otherwise than `expect` says, apart from its
    `verdict`.
    """

    verdict: Word
    exit_code: int
    reasons: tuple[str, ...]
    requirements: Mapping[str, str]
    expected: str
    not_as_expected: tuple[str, ...] = ()


def reach(results: Mapping[str, ClaimResult], asked: Asked) -> Verdict:
    """`results` by claim name, one for each claim that is built."""
    requirements = _requirements(results, asked.proves)
    violated = [_why(result) for result in results.values() if result.status == VIOLATED]
    crashed = [_why(result) for result in results.values() if result.crashed]
    open_questions = crashed + _unanswered(results, requirements, asked)
    verdict: Word = FAIL if violated else UNKNOWN if open_questions else PASS
    return Verdict(
        verdict=verdict,
        exit_code=exit_codes.CRASHED if crashed else EXIT_CODES[verdict],
        reasons=tuple(violated + open_questions),
        requirements=requirements,
        expected=asked.expected,
        not_as_expected=_surprises(results) if violated else (),
    )


def applied(results: Mapping[str, ClaimResult], asked: Asked) -> dict[str, ClaimResult]:
    """`results`, where what had nothing to ask and nobody needs is not applicable."""
    told = _requirements(results, asked.proves)
    missed = {name for name in asked.proves if told[name] != PROVEN}

    def status(result: ClaimResult) -> Status:
        needed = result.name in asked.needs or missed & set(result.requirements)
        aside = result.asked_nothing and not needed and not asked.damage
        return NOT_APPLICABLE if aside else result.status

    return {name: replace(result, status=status(result)) for name, result in results.items()}


def _surprises(results: Mapping[str, ClaimResult]) -> tuple[str, ...]:
    return tuple(each for result in results.values() for each in result.surprises)


def _why(result: ClaimResult) -> str:
    if result.status == VIOLATED:
        return f"{result.name} is violated: {result.violations} of {result.asked} checked"
    return f"{result.name} is {result.status}: {result.reason}"


def _unanswered(
    results: Mapping[str, ClaimResult], requirements: Mapping[str, str], asked: Asked
) -> list[str]:
    reasons = [
        _unproven(requirement, requirements[requirement])
        for requirement in asked.proves
        if requirements[requirement] in (UNKNOWN, NOT_ASKED, NOT_CHECKED)
    ]
    reasons += [
        f"it has to be known: {_why(results[name])}"
        for name in asked.needs
        if name in results and results[name].status == UNKNOWN
    ]
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


def _unproven(requirement: str, status: str) -> str:
    if status == NOT_CHECKED:
        return f"{requirement} is to be proven, and no claim checks it"
    return f"{requirement} is to be proven and is {status}"


def _requirements(results: Mapping[str, ClaimResult], proves: tuple[str, ...]) -> dict[str, str]:
    """Every requirement that there is, and what else a plan names."""
    names = {*catalogue().requirements, *proves}
    return {name: _requirement(name, results) for name in in_order(names)}


def _requirement(name: str, results: Mapping[str, ClaimResult]) -> str:
    told = {result.proofs[name] for result in results.values() if name in result.proofs}
    if VIOLATED in told:
        return VIOLATED
    if UNKNOWN in told:
        return UNKNOWN
    if HOLDS in told:
        return PROVEN
    checked = any(name in result.requirements for result in results.values())
    return NOT_ASKED if checked else NOT_CHECKED
