"""A run as judged: what verdict.json, junit.xml, the summary and the report are made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from spark_eval.judging.results import ClaimResult
from spark_eval.judging.verdict import Verdict
from spark_eval.read.folder.run_folder import RunFolder


@dataclass(frozen=True, slots=True)
class Judgement:
    """The claims of one run, in the order of reports, and the verdict that they reach."""

    results: Mapping[str, ClaimResult]
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class JudgedRun(Judgement):
    """Bounded: counts and counter-examples, no rows of the record. `fates`: why what was promised
    was not delivered (`outcome`, `reason`, `deliveries`), the most first.
    """

    folder: RunFolder
    delivery: Mapping[str, Any]
    promotion: Mapping[str, Any]
    safety_net: Mapping[str, Any]
    exposure: Mapping[str, Any]
    clocks_off: tuple[Mapping[str, Any], ...]
    log_damage: tuple[Mapping[str, Any], ...]
    fates: tuple[Mapping[str, Any], ...] = ()
