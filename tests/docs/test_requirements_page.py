"""docs/requirements.md is what the table of requirements and the scenarios say today."""

from __future__ import annotations

from pathlib import Path

from lab.cli.requirements_page import PAGE, page
from lab.scenario.requirements import REQUIREMENTS
from lab.validation.library import scenario_paths
from lab.validation.requirement_list import naming_scenarios

ROOT = Path(__file__).resolve().parents[2]


def test_the_page_is_current() -> None:
    written = (ROOT / PAGE).read_text(encoding="utf-8")
    made = page(naming_scenarios(scenario_paths(ROOT / "scenarios")))
    assert written == made, "make pages writes it anew"


def test_each_requirement_has_a_heading_and_says_who_checks_it() -> None:
    parts = page({"SM-6": ["site-cut"]}).split("\n### ")[1:]
    by_name = {part.partition("\n")[0]: part for part in parts}
    assert set(by_name) == REQUIREMENTS
    checks = "- Checked by `promotion_on_time`, `no_early_promotion`; scenarios: `site-cut`\n"
    assert checks in by_name["SM-6"]
    assert "- No claim checks it yet; no scenario names it\n- Not built yet: " in by_name["LG-1"]
    assert all("\n- Source: " in part for part in parts)


def test_what_no_claim_checks_yet_is_named_and_counted_at_the_beginning() -> None:
    head, *parts = page({}).split("\n### ")
    bare = [part.partition("\n")[0] for part in parts if "\n- No claim checks it yet" in part]
    links = ", ".join(f"[{name}](#{name.lower()})" for name in bare)
    assert f"Checked by no claim yet, {len(bare)} of {len(parts)}: {links}\n" in head


def test_a_scenario_that_names_one_more_requirement_makes_another_page() -> None:
    named = naming_scenarios(scenario_paths(ROOT / "scenarios"))
    assert page(named) != page(named | {"LG-1": ["calm"]})
