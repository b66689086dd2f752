"""One verdict of all seeds, folded from the results of their runs; needs no Spark.

Failures and what stayed unknown are grouped by claim and cause, most seeds first, each with a
whole example and the command that asks it again. No wall time and no path: the same results give
the same bytes.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from spark_eval.cases.case import UNKNOWN, VIOLATED
from spark_eval.judging.catalogue import catalogue, in_order
from spark_eval.judging.verdict import FAIL, NOT_ASKED, PASS, PROVEN
from spark_eval.program.exit_codes import CRASHED
from spark_eval.results.coverage import PHASES
from spark_eval.sweep.cause import cause
from spark_eval.sweep.combinations import Combinations
from spark_eval.sweep.folder import SweepFolder

Result = Mapping[str, Any]

NAMES = {CRASHED: "crashed", 1: FAIL, 2: UNKNOWN, 0: PASS}
SEEDS_SHOWN = 5


@dataclass(slots=True)
class _Group:
    """Runs alike in claim and cause: how many, the first seeds, the first whole example."""

    claim: str
    cause: str
    seeds: int = 0
    first: list[int] = field(default_factory=list)
    example: dict[str, Any] = field(default_factory=dict)

    def add(self, result: Result, example: Mapping[str, Any]) -> None:
        self.seeds += 1
        if not self.first:
            self.example = {"run": result["run"], "seed": result["seed"], **example}
        if len(self.first) < SEEDS_SHOWN:
            self.first.append(result["seed"])


class Tally:
    """Takes results in the order of seeds, one at a time, and keeps counts and few examples."""

    def __init__(self) -> None:
        self._codes: Counter[int] = Counter()
        self._groups: dict[str, dict[tuple[str, str], _Group]] = {VIOLATED: {}, UNKNOWN: {}}
        self._requirements: dict[str, Counter[str]] = {}
        self._met: dict[str, Counter[str]] = {}
        self._combinations = Combinations()
        self._surprises = 0

    def add(self, results: Iterable[Result]) -> None:
        for result in results:
            self._codes[result["exit_code"]] += 1
            self._surprises += (
                result["verdict"] != result["foretold"] or len(result["not_as_foretold"]) > 0
            )
            for claim in result["claims"]:
                self._add_claim(result, claim)
            if result["verdict"] == UNKNOWN:
                self._add_reasons(result)
            for name, status in result["requirements"].items():
                self._requirements.setdefault(name, Counter())[status] += 1
            for phase, kinds in result["coverage"].items():
                self._met.setdefault(phase, Counter()).update(kinds)
            self._combinations.add(result)

    def _add_claim(self, result: Result, claim: Mapping[str, Any]) -> None:
        if claim["status"] not in self._groups or not claim["cause"]:
            return
        example = claim["example"] or {"detail": claim["reason"]}
        self._group(claim["status"], claim["name"], claim["cause"]).add(result, example)

    def _add_reasons(self, result: Result) -> None:
        """What makes a run unknown besides its claims, as a fault without evidence."""
        for reason in result["reasons"]:
            if not any(claim["name"] in reason for claim in result["claims"]):
                self._group(UNKNOWN, "", cause(reason, ())).add(result, {"detail": reason})

    def _group(self, status: str, claim: str, why: str) -> _Group:
        return self._groups[status].setdefault((claim, why), _Group(claim, why))

    def content(self, sweep: SweepFolder) -> dict[str, Any]:
        """verdict.json of the sweep."""
        code = worst(self._codes)
        return {
            "version": 1,
            "scenario": sweep.scenario,
            "first_seed": sweep.first_seed,
            "seeds": sweep.seeds,
            "judged": self._codes.total(),
            "verdict": NAMES[code],
            "exit_code": code,
            "counts": {name: self._codes[number] for number, name in NAMES.items()},
            "not_as_foretold": self._surprises,
            "failures": self._told(VIOLATED, sweep.scenario),
            "unknowns": self._told(UNKNOWN, sweep.scenario),
            "requirements": {
                name: _asked(self._requirements[name]) for name in in_order(self._requirements)
            },
            "not_checked": in_order(set(catalogue().requirements) - set(self._requirements)),
            "coverage": {
                phase: dict(sorted(self._met.get(phase, Counter()).items())) for phase in PHASES
            },
            "combinations": self._combinations.content(sweep),
        }

    def _told(self, status: str, scenario: str) -> list[dict[str, Any]]:
        ordered = sorted(self._groups[status].values(), key=lambda g: (-g.seeds, g.claim, g.cause))
        return [
            {
                "claim": group.claim,
                "cause": group.cause,
                "seeds": group.seeds,
                "first_seeds": group.first,
                "example": group.example,
                "replay": replay(scenario, group.example["seed"]),
            }
            for group in ordered
        ]


def worst(codes: Iterable[int]) -> int:
    """Of several runs the worst counts: 3, 1, 2, 0; none at all is 2, since nothing was asked."""
    there = set(codes)
    return next((code for code in NAMES if code in there), 2)


def replay(scenario: str, seed: int) -> str:
    return f"shadowlab run {shlex.quote(scenario)} --on simulator --seed {seed}"


def _asked(statuses: Counter[str]) -> dict[str, int]:
    counts = {name: statuses[name] for name in (PROVEN, VIOLATED, UNKNOWN)}
    return {"asked": statuses.total() - statuses[NOT_ASKED], **counts}
