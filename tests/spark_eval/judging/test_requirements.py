"""Every id that a claim or a scenario names has a plain sentence for the pages."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lab.scenario.requirements import REQUIREMENTS, requirement_table
from spark_eval.claims.catalogue import ALL
from spark_eval.claims.claim import Claim
from spark_eval.judging.catalogue import catalogue

SCENARIOS = Path(__file__).resolve().parents[3] / "scenarios"
PROVES = re.compile(r"^proves: \[([^\]]*)\]", re.MULTILINE)


def test_each_requirement_has_a_sentence_and_nothing_else_has() -> None:
    assert set(catalogue().requirements) == REQUIREMENTS


def test_the_ids_of_each_family_count_up_from_one() -> None:
    table = requirement_table()
    for family in table.families:
        names = [name for name, each in table.requirements.items() if each.family == family]
        assert names == [f"{family}-{number}" for number in range(1, len(names) + 1)]
    assert {each.family for each in table.requirements.values()} == set(table.families)


def test_the_table_says_which_claim_checks_what_as_the_claims_do() -> None:
    in_table = {
        (claim, name)
        for name, requirement in requirement_table().requirements.items()
        for claim in requirement.checked_by
    }
    assert in_table == {(claim.name, name) for claim in ALL for name in claim.requirements}


@pytest.mark.parametrize("claim", ALL, ids=lambda claim: claim.name)
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
