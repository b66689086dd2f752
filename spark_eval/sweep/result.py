"""The door for campaigns: from the bytes of a run's record to the result that is kept of it.

Needs neither Spark nor a folder. What cannot be simulated or judged has a result too, so that it
takes no other run with it: the lab could not do its work there.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any, TypeAlias

from spark_eval.cases.case import HOLDS, UNKNOWN
from spark_eval.judging.judged import Judgement
from spark_eval.judging.of_record import JudgedRecord, judge
from spark_eval.judging.results import NOTHING_ASKED, ClaimResult
from spark_eval.judging.verdict import NOT_CHECKED, PASS
from spark_eval.program.exit_codes import CRASHED
from spark_eval.read.folder.files import Files, MemoryFiles
from spark_eval.results.coverage import Coverage
from spark_eval.sweep.cause import cause
from spark_eval.sweep.settings import parts_of, settings_of

Result: TypeAlias = dict[str, Any]

NOT_JUDGED = "the record could not be judged"


def result_of(
    run: str, seed: int, files: Mapping[str, bytes], settings: Mapping[str, Any] | None = None
) -> Result:
    """`files` are those of a run folder, by their path in it; `settings` may be drawn, as
    sweep.json names them. Raises nothing.
    """
    try:
        drawn = parts_of(settings_of(settings or {}), json.loads(files["plan.json"]))
        return {**told(run, seed, *covered(MemoryFiles(files))), "settings": dict(drawn)}
    except Exception as error:
        said = str(error).strip().partition("\n")[0]
        return unjudged(run, seed, f"{NOT_JUDGED}: {type(error).__name__}: {said}")


def unjudged(run: str, seed: int, why: str) -> Result:
    """Of a run that could not be simulated, or not judged."""
    return {
        "run": run,
        "seed": seed,
        "verdict": UNKNOWN,
        "exit_code": CRASHED,
        "reasons": [why],
        "foretold": PASS,
        "not_as_foretold": [],
        "claims": [],
        "requirements": {},
        "settings": {},
        "coverage": {},
    }


def covered(files: Files) -> tuple[JudgedRecord, Coverage]:
    """A judged record, and which faults met which part of a message's life in it."""
    coverage = Coverage()
    return judge(files, also=coverage.count), coverage


def told(run: str, seed: int, judged: JudgedRecord, coverage: Coverage) -> Result:
    """Of a record that is judged, but for its settings."""
    return {
        "run": run,
        "seed": seed,
        **_reached(judged, judged.histories.run.servers),
        "settings": {},
        "coverage": coverage.numbers(),
    }


def _reached(judgement: Judgement, servers: Collection[str]) -> Result:
    verdict = judgement.verdict
    return {
        "verdict": verdict.verdict,
        "exit_code": verdict.exit_code,
        "reasons": list(verdict.reasons),
        "foretold": verdict.expected,
        "not_as_foretold": list(verdict.not_as_expected),
        "claims": [_claim(result, servers) for result in judgement.results.values()],
        "requirements": {
            name: status for name, status in verdict.requirements.items() if status != NOT_CHECKED
        },
    }


def _claim(result: ClaimResult, servers: Collection[str]) -> Result:
    """`cause` is empty where the claim holds or had nothing to ask."""
    example = result.examples[0] if result.examples else None
    said = example.detail if example else "" if _is_quiet(result) else result.reason
    return {
        "name": result.name,
        "status": result.status,
        "asked": result.asked,
        "violations": result.violations,
        "unknown": result.unknown,
        "reason": result.reason,
        "cause": cause(said, servers),
        "example": example
        and {"subject": example.subject, "at_ms": example.at_ms, "detail": example.detail},
    }


def _is_quiet(result: ClaimResult) -> bool:
    return result.status == HOLDS or result.reason == NOTHING_ASKED
