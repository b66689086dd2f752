"""What a proof comes to: which defects were caught by what must catch them, which requirements are
proven by that, and whether sound nodes pass under the same seeds. No judgement of a run is made
here; that is the evaluation's.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from defects.defect import ONE_OF_RARE, Defect
from lab.program.errors import FAIL, GROUND_FAILED, PASS, UNKNOWN

CAUGHT, ELSEWHERE, MISSED, BROKEN = "caught", "caught by others", "not caught", "no defect"
NOT_RUN = "not run"  # the lab could not
KNOWN, SURPRISE = "known, not caught", "caught after all"
PROVEN, BELIEVED, NOT_ASKED = "proven", "believed", "not asked"
NOT_CHECKED = "not checked"  # by no claim
FINE = (CAUGHT, KNOWN)

Result = Mapping[str, Any]
"""A run as a sweep keeps it: `verdict`, `foretold`, `reasons`, `claims`, `requirements`."""


@dataclass(frozen=True, slots=True)
class Runs:
    """The runs of one defect, or of sound nodes of one scenario. `crashes` of nodes, `bugs` of runs
    that could not be simulated or judged at all, and runs that had no `ground`, as on an engine
    that went away, are a line each.
    """

    scenario: str
    seeds: range
    results: Sequence[Result]
    crashes: Sequence[str] = ()
    bugs: Sequence[str] = ()
    ground: Sequence[str] = ()

    @property
    def stopped(self) -> tuple[str, ...]:
        return (*self.bugs, *self.crashes)


@dataclass(frozen=True, slots=True)
class Finding:
    """`caught`: under how many seeds all that must be violated was; `violated`: claim to runs;
    `broke`: requirements that a run in which it was caught says are violated.
    """

    defect: Defect
    runs: Runs
    status: str
    caught: int
    violated: Mapping[str, int]
    broke: frozenset[str]


@dataclass(frozen=True, slots=True)
class Soundness:
    """Sound nodes under the seeds of a scenario: what was violated, what was unknown and why."""

    runs: Runs
    violated: Mapping[str, int]
    not_as_expected: tuple[str, ...]

    @property
    def code(self) -> int:
        if self.runs.bugs:
            return GROUND_FAILED
        is_accused = self.violated or self.runs.crashes
        return FAIL if is_accused else UNKNOWN if self.not_as_expected else PASS


@dataclass(frozen=True, slots=True)
class Proof:
    """`requirements`: id to its status and the defects that prove it."""

    findings: tuple[Finding, ...]
    sound: tuple[Soundness, ...]
    requirements: Mapping[str, tuple[str, tuple[str, ...]]] = field(default_factory=dict)

    @property
    def code(self) -> int:
        """3 where sound nodes could not be simulated, or the lab could not run a defect; 1 where a
        defect is not caught as it must be, or a sound node is accused; 2 where a sound node's
        verdict is unknown; else 0.
        """
        codes = {each.code for each in self.sound}
        found = {each.status for each in self.findings}
        if NOT_RUN in found:
            codes.add(GROUND_FAILED)
        if found - {NOT_RUN, *FINE}:
            codes.add(FAIL)
        return next((c for c in (GROUND_FAILED, FAIL, UNKNOWN) if c in codes), PASS)


def violated_in(result: Result) -> frozenset[str]:
    """Names of claims."""
    return frozenset(each["name"] for each in result["claims"] if each["status"] == "violated")


def finding(defect: Defect, runs: Runs) -> Finding:
    found = [(violated_in(each), each) for each in runs.results]
    caught = [result for names, result in found if names.issuperset(defect.claims)]
    violated = Counter(name for names, _ in found for name in names)
    broke = frozenset(
        name
        for result in caught
        for name, status in result["requirements"].items()
        if status == "violated"
    )
    status = _status(defect, runs, len(caught), bool(violated))
    return Finding(defect, runs, status, len(caught), dict(violated), broke)


def _status(defect: Defect, runs: Runs, caught: int, is_noticed: bool) -> str:
    if runs.ground:
        return NOT_RUN
    if runs.stopped:
        return BROKEN
    counts = ONE_OF_RARE if defect.is_rare else 1
    is_caught = caught * counts >= len(runs.seeds)
    if defect.not_caught:
        return SURPRISE if is_caught else KNOWN
    return CAUGHT if is_caught else ELSEWHERE if is_noticed and not caught else MISSED


def soundness(runs: Runs) -> Soundness:
    violated = Counter(name for each in runs.results for name in violated_in(each))
    others = [each for each in runs.results if each["verdict"] != each["foretold"]]
    reasons = (f"seed {each['seed']}: {'; '.join(each['reasons'])}" for each in others)
    return Soundness(runs, dict(violated), tuple(reasons))


def proof(findings: Iterable[Finding], sound: Iterable[Soundness]) -> Proof:
    found, healthy = tuple(findings), tuple(sound)
    asked: dict[str, bool] = {}
    for result in _all_results(found, healthy):
        for name, status in result["requirements"].items():
            if status != NOT_CHECKED:
                asked[name] = asked.get(name, False) or status != NOT_ASKED
    requirements = {name: _standing(name, asked[name], found) for name in sorted(asked, key=_order)}
    return Proof(found, healthy, requirements)


def _all_results(found: Iterable[Finding], sound: Iterable[Soundness]) -> Iterable[Result]:
    for runs in (*(each.runs for each in found), *(each.runs for each in sound)):
        yield from runs.results


def _standing(name: str, asked: bool, found: Iterable[Finding]) -> tuple[str, tuple[str, ...]]:
    by = tuple(
        each.defect.name
        for each in found
        if each.status == CAUGHT and each.defect.requirement == name and name in each.broke
    )
    return (PROVEN, by) if by else (BELIEVED if asked else NOT_ASKED, ())


def _order(name: str) -> tuple[str, int]:
    """`SM-2` before `SM-10`."""
    family, _, number = name.partition("-")
    return family, int(number)


def content(made: Proof) -> dict[str, Any]:
    """prove.json."""
    return {
        "version": 1,
        "code": made.code,
        "defects": [
            {
                "name": each.defect.name,
                "sentence": each.defect.sentence,
                "requirement": each.defect.requirement,
                "claims": list(each.defect.claims),
                "status": each.status,
                "not_caught": each.defect.not_caught,
                "caught": each.caught,
                "violated": dict(each.violated),
                **_runs(each.runs),
            }
            for each in made.findings
        ],
        "sound": [
            {
                "violated": dict(each.violated),
                "not_as_foretold": list(each.not_as_expected),
                **_runs(each.runs),
            }
            for each in made.sound
        ],
        "requirements": {
            name: {"status": status, "by": list(by)}
            for name, (status, by) in made.requirements.items()
        },
    }


def _runs(runs: Runs) -> dict[str, Any]:
    return {
        "scenario": runs.scenario,
        "first_seed": runs.seeds.start,
        "seeds": len(runs.seeds),
        "crashes": list(runs.crashes),
        "bugs": list(runs.bugs),
        "ground": list(runs.ground),
    }
