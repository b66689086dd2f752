"""What code, scenarios and documents cite is defined in the documents: requirements, what Exchange
documents, design decisions, RFCs, and files of the repository itself.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

from lab.scenario.requirements import OWN, REQUIREMENTS, requirement_table

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = (
    *(".ci", ".github", "bench", "defects", "docs", "lab", "nodes", "playbooks", "scenarios"),
    *("spark_eval", "tests"),
)
KINDS = {".cfg", ".css", ".dialogue", ".j2", ".md", ".py", ".sql", ".toml", ".yaml", ".yml"}
# these say what happens to an id that does not exist
WRONG_ON_PURPOSE = {
    "tests/lab/validation/wrong_scenarios.py": {"SM-77"},
    "tests/lab/validation/test_validate.py": {"SM-70"},
}
MEANT_FOR_THIS_TEST = "tests/docs"
TABLE = ("docs/requirements.md", "spark_eval/requirements.toml")

REQUIREMENT = re.compile(r"\b[A-Z]{2}-\d+\b")
FACT = re.compile(r"F§\s*\d+(?:\.\d+)*")
DECISION = re.compile(r"\bdecision[\s#]+(\d+)", re.IGNORECASE)  # a comment may break the line
RFC = re.compile(r"\bRFC[\s#]*(\d+)")
PAPER = re.compile(r"\bseeds? 0\d\d\b|\bspec/[\w-]+")  # of whoever wrote the first version
DOCUMENT = re.compile(r"(?<![\w*{}<>./-])(?:\./|\.\./)?(?:[\w-]+/)*[\w-]+\.md\b")
KEY = re.compile(r"(?<!\!)\[([a-z][a-z0-9-]+)\](?!\()")


@cache
def texts() -> dict[str, str]:
    """Every file that people or programs read, by its path in the repository."""
    files = [path for path in ROOT.iterdir() if path.suffix in KINDS or path.name == "Makefile"]
    for folder in FOLDERS:
        files += [path for path in (ROOT / folder).rglob("*") if path.suffix in KINDS]
    named = {path.relative_to(ROOT).as_posix(): path for path in sorted(files)}
    return {
        name: path.read_text(encoding="utf-8")
        for name, path in named.items()
        if not name.startswith(MEANT_FOR_THIS_TEST)
    }


def cited(pattern: re.Pattern[str]) -> dict[str, list[str]]:
    """What the pattern finds -> where, as `file:line`."""
    found = defaultdict(list)
    for name, text in texts().items():
        for match in pattern.finditer(text):
            if match[0] in WRONG_ON_PURPOSE.get(name, ()):
                continue
            line = text.count("\n", 0, match.start()) + 1
            found[match[match.lastindex or 0]].append(f"{name}:{line}")
    return dict(found)


def headings(page: str, pattern: str) -> set[str]:
    return set(re.findall(rf"^#+ {pattern}", texts()[page], re.MULTILINE))


def facts() -> set[str]:
    return headings("docs/exchange.md", r"(F§\d+(?:\.\d+)*)\b")


def decisions() -> set[str]:
    return headings("docs/decisions.md", r"Decision (\d+):")


def rfcs() -> set[str]:
    keys = requirement_table().sources
    return {key.removeprefix("RFC ") for key in keys if key.startswith("RFC ")}


CITATIONS: dict[str, tuple[re.Pattern[str], Callable[[], set[str]]]] = {
    "a requirement": (REQUIREMENT, lambda: set(REQUIREMENTS)),
    "what Exchange documents": (FACT, facts),
    "a design decision": (DECISION, decisions),
    "an RFC": (RFC, rfcs),
}


@pytest.mark.parametrize("kind", CITATIONS)
def test_what_is_cited_is_defined(kind: str) -> None:
    pattern, defined = CITATIONS[kind]
    found, known = cited(pattern), defined()
    assert found
    assert {name: places for name, places in found.items() if name not in known} == {}


@pytest.mark.parametrize("kind", CITATIONS)
def test_a_citation_that_leads_nowhere_is_found_wherever_it_stands(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = {
        "a requirement": "see SM-99.",
        "what Exchange documents": '"""As documented (F§3.9)."""',
        "a design decision": "# it follows a design decision\n# 77 of this project",
        "an RFC": "RFC 1\n",
    }[kind]
    pattern, defined = CITATIONS[kind]
    known = defined()
    monkeypatch.setattr(f"{__name__}.texts", lambda: {"lab/made_up.py": f"\n{wrong}\n"})
    assert [places for name, places in cited(pattern).items() if name not in known] == [
        ["lab/made_up.py:2"]
    ]


def test_no_file_cites_papers_that_are_not_in_the_repository() -> None:
    assert cited(PAPER) == {}


def test_each_page_that_a_file_names_is_there() -> None:
    gone = {}
    for name, places in cited(DOCUMENT).items():
        missing = [place for place in places if not any(map(Path.is_file, _meant(name, place)))]
        if missing:
            gone[name] = missing
    assert gone == {}


def _meant(name: str, place: str) -> Iterator[Path]:
    """A page is named from the root, from docs/, or from beside the file that names it."""
    yield ROOT / name
    yield ROOT / "docs" / name
    yield ROOT / Path(place).parent / name


def test_each_source_that_is_cited_stands_in_the_bibliography_and_no_other_does() -> None:
    table = requirement_table()
    in_table = {key for each in table.requirements.values() for key in each.sources}
    on_page = set(KEY.findall(texts()["docs/exchange.md"]))
    of_code = {
        f"RFC {number}"
        for number, places in cited(RFC).items()
        if any(not place.startswith(TABLE) for place in places)
    }
    used = {key for key in in_table | on_page | of_code if not key.startswith("F§")} - {OWN}
    assert used == set(table.sources)


def test_each_design_decision_says_what_why_and_at_what_cost() -> None:
    parts = re.split(r"^## ", texts()["docs/decisions.md"], flags=re.MULTILINE)[1:]
    assert [part.partition(":")[0] for part in parts] == [
        f"Decision {number}" for number in range(1, len(parts) + 1)
    ]
    for part in parts:
        assert re.findall(r"^\*\*(\w+)\.\*\* ", part, re.MULTILINE) == ["What", "Why", "Cost"]
