"""What a sweep met, and what it never did, counted from the results of its runs; no Spark."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from spark_eval.sweep.combinations import Combinations, never_at_all
from spark_eval.sweep.folder import SweepFolder
from spark_eval.sweep.settings import DrawnSetting, Part
from spark_eval.sweep.summary import summary

HOLD = DrawnSetting("Hold", "$.hold", (Part("8m", 8, 8), Part("1h..2h", 60, 120)))
LOCAL = DrawnSetting("Local", "$.local", (Part("true", "true", "true"), Part("false", "no", "no")))
PAIRS = ("queued", "shadowing", "submitting", "awaiting-discard", "in-safety-net")


def sweep(*settings: DrawnSetting, kinds: tuple[str, ...] = ("kill", "stop")) -> SweepFolder:
    return SweepFolder(Path("/s"), "calm", 0, 9, settings, kinds)


def result(coverage: Mapping[str, list[str]], **settings: str) -> dict[str, Any]:
    met = {phase: dict.fromkeys(kinds, 1) for phase, kinds in coverage.items()}
    return {"coverage": met, "settings": settings}


def content(asked: SweepFolder, *results: dict[str, Any]) -> dict[str, Any]:
    combinations = Combinations()
    for each in results:
        combinations.add(each)
    return combinations.content(asked)


def test_a_value_lies_in_the_first_part_that_holds_it() -> None:
    values = (8, "8", 60, 120, 121, "x", None, True)
    assert [HOLD.part_of({"hold": value}) for value in values] == [
        "8m", "8m", "1h..2h", "1h..2h", None, None, None, None,
    ]  # fmt: skip
    assert [LOCAL.part_of({"local": value}) for value in (True, "true", 1)] == [
        "true", "true", None,
    ]  # fmt: skip


@pytest.mark.parametrize("path", ["$.a.b", "$.a['b']", "$.c[1].b", "$.a['d.e'].f"])
def test_a_path_leads_to_a_value_in_the_plan(path: str) -> None:
    plan = {"a": {"b": 8, "d.e": {"f": 8}}, "c": [{}, {"b": 8}]}
    setting = replace(HOLD, path=path)
    assert setting.part_of(plan) == "8m"
    others: tuple[Any, ...] = ({}, [], None, {"a": 8, "c": []})
    assert [setting.part_of(each) for each in others] == [None] * 4


def test_each_part_of_a_setting_counts_with_each_phase_and_fault() -> None:
    met = content(
        sweep(HOLD, LOCAL),
        result({"queued": ["kill"]}, Hold="8m", Local="true"),
        result({"queued": ["kill"]}, Hold="8m", Local="false"),
        result({}, Hold="1h..2h", Local="true"),
    )
    assert (met["possible"], met["met"], met["parts"]) == (5 * 2 * 4, 3, 4)
    assert met["drawn"] == {"Hold": {"8m": 2, "1h..2h": 1}, "Local": {"true": 2, "false": 1}}
    assert met["pairs"]["queued"] == {"kill": 3, "stop": 0}
    assert met["never_met"] == {"queued": {"kill": {"Hold": ["1h..2h"]}}}
    assert "queued with stop" in set(never_at_all(met))
    assert "queued with kill" not in set(never_at_all(met))


def test_without_drawn_settings_phases_and_faults_are_what_can_be_met() -> None:
    met = content(sweep(), result({"queued": ["kill"], "submitting": ["stop"]}))
    assert (met["possible"], met["met"], met["never_met"]) == (10, 2, {})


def test_a_fault_that_was_met_though_nobody_expected_it_counts() -> None:
    assert content(sweep(), result({"queued": ["pause"]}))["pairs"]["queued"]["pause"] == 1


def test_where_nobody_said_what_could_be_met_nothing_is_missing() -> None:
    met = content(sweep(kinds=()), result({"queued": ["kill"]}))
    assert (met["possible"], list(never_at_all(met))) == (0, [])


def test_the_summary_names_what_was_never_met() -> None:
    whole = {
        "verdict": "pass", "scenario": "calm", "judged": 1, "seeds": 1, "counts": {"pass": 1},
        "failures": [], "unknowns": [], "requirements": {},
        "combinations": content(
            sweep(HOLD), result({phase: ["kill"] for phase in PAIRS}, Hold="8m"),
            result({"queued": ["stop"]}, Hold="1h..2h"),
        ),
    }  # fmt: skip
    told = summary(whole)
    assert "met 6 of 20 combinations of phase, fault and setting" in told
    assert (
        "never met: submitting with stop, shadowing with stop, awaiting-discard with stop, "
        "in-safety-net with stop" in told
    )
    assert "see combinations in verdict.json" in told
