"""docs/requirements.md, written from the table of requirements and the scenarios of the checkout.

    python -m lab.cli.requirements_page        writes it anew

A test compares the page with this text, so nobody edits it by hand.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from lab.program.sources import ROOT, SCENARIOS
from lab.scenario.requirements import OWN, Requirement, requirement_table
from lab.validation.library import scenario_paths
from lab.validation.requirement_list import NOT_CHECKED, naming_scenarios, unchecked

PAGE = Path("docs/requirements.md")
HEAD = """# Requirements

Every promise of the transport that this lab puts to the test. Scenarios name the ids in `proves:`,
claims check them; reports, the terminal and comments in the code cite them. `shadowlab list
requirements` prints this list. [exchange.md](exchange.md) has what is cited as `F§n.m`,
[decisions.md](decisions.md) the design decisions, [glossary.md](glossary.md) the words.

*`make pages` writes this page from `spark_eval/requirements.toml` and the scenarios.* What a claim
checks is only believed until a node that breaks it on purpose is caught: `shadowlab prove`.
"""
OVERVIEW = (
    "family",
    "about",
    "requirements",
    "checked by a claim",
    "named by a scenario",
    "not wholly built",
)
SOURCES_HEAD = """## Sources

The keys that stand above and in [exchange.md](exchange.md). "This project" is a decision of this
project, where documents are silent or disagree.
"""


def page(scenarios: Mapping[str, Sequence[str]]) -> str:
    """The whole text. `scenarios`: requirement -> scenarios that have it in `proves:`."""
    parts = [HEAD, *_overview(scenarios), *_families(scenarios), SOURCES_HEAD, *_bibliography()]
    return "\n".join(parts) + "\n"


def _overview(scenarios: Mapping[str, Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(OVERVIEW)} |"
    yield "|---" * len(OVERVIEW) + "|"
    for family, title in requirement_table().families.items():
        of_family = _of_family(family)
        checked = sum(1 for each in of_family if each.checked_by)
        named = sum(1 for each in of_family if scenarios.get(each.name))
        missing = sum(1 for each in of_family if each.missing)
        yield f"| {family} | {title} | {len(of_family)} | {checked} | {named} | {missing} |"
    names = ", ".join(f"[{name}](#{name.lower()})" for name in unchecked())
    total = len(requirement_table().requirements)
    yield f"\nChecked by no claim yet, {len(unchecked())} of {total}: {names}\n"


def _families(scenarios: Mapping[str, Sequence[str]]) -> Iterator[str]:
    for family, title in requirement_table().families.items():
        yield f"## {family}: {title}\n"
        for requirement in _of_family(family):
            yield from _requirement(requirement, scenarios.get(requirement.name, ()))


def _of_family(family: str) -> list[Requirement]:
    requirements = requirement_table().requirements.values()
    return [requirement for requirement in requirements if requirement.family == family]


def _requirement(requirement: Requirement, scenarios: Sequence[str]) -> Iterator[str]:
    yield f"### {requirement.name}\n"
    yield f"**{requirement.sentence}**"
    if requirement.detail:
        yield f"{requirement.detail}"
    yield ""
    yield f"- Source: {', '.join(map(_source, requirement.sources))}"
    yield f"- {_checks(requirement, scenarios)}"
    if requirement.missing:
        yield f"- Not built yet: {requirement.missing}"
    yield ""


def _source(key: str) -> str:
    if key == OWN:
        return "this project"
    return f"[{key}](exchange.md)" if key.startswith("F§") else f"[{key}](#sources)"


def _checks(requirement: Requirement, scenarios: Sequence[str]) -> str:
    claims = ", ".join(f"`{claim}`" for claim in requirement.checked_by)
    checked = f"checked by {claims}" if claims else NOT_CHECKED
    named = ", ".join(f"`{name}`" for name in scenarios)
    text = f"{checked}; {f'scenarios: {named}' if named else 'no scenario names it'}"
    return text[0].upper() + text[1:]


def _bibliography() -> Iterator[str]:
    yield "| key | document |"
    yield "|---|---|"
    for key, document in requirement_table().sources.items():
        yield f"| {key} | {document} |"


def main() -> None:
    """Write the page into the checkout that this program comes from."""
    text = page(naming_scenarios(scenario_paths(SCENARIOS)))
    (ROOT / PAGE).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
