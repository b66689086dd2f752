"""Every id that a claim or a scenario names has a plain sentence for the pages."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lab.requirements import REQUIREMENTS
from spark_eval import claims
from spark_eval.claims.claim import Claim
from spark_eval.report.catalogue import catalogue

SCENARIOS = Path(__file__).resolve().parents[2] / "scenarios"
PROVES = re.compile(r"^proves: \[([^\]]*)\]", re.MULTILINE)


def test_each_requirement_has_a_sentence_and_nothing_else_has() -> None:
    assert set(catalogue().requirements) == REQUIREMENTS


@pytest.mark.parametrize("claim", claims.ALL, ids=lambda claim: claim.name)
def test_each_claim_and_what_it_checks_has_a_sentence(claim: Claim) -> None:
    assert catalogue().claims.get(claim.name, "").endswith(".")
    assert set(claim.requirements) <= set(catalogue().requirements)


def test_each_requirement_that_a_scenario_proves_has_a_sentence() -> None:
    files = [path.read_text(encoding="utf-8") for path in SCENARIOS.rglob("*.yaml")]
    named = {
        name
        for text in files
        for ids in PROVES.findall(text)
        for name in re.findall(r"[A-Z]{2}-\d+", ids)
    }
    assert named
    assert named <= set(catalogue().requirements)


def test_a_sentence_is_one_line_that_ends_with_a_full_stop() -> None:
    for sentence in [*catalogue().requirements.values(), *catalogue().claims.values()]:
        assert re.fullmatch(r"[A-Z][^\n]{10,150}\.", sentence), sentence
