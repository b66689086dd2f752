"""Pages stay short, their links lead somewhere, and what people are to type exists."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from functools import cache

import pytest
from typer.main import get_command

from lab.cli.app import app
from lab.validation.library import find_scenario
from tests.docs.pages import CODE, FENCED, ROOT, blocks, pages, read, rows, sections

MOST_LINES = {"README.md": 200, "ARCHITECTURE.md": 110}
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
TARGET = re.compile(r"^([a-z-]+):.*## ", re.MULTILINE)
OF_SCENARIO = {"plan", "run", "up", "sweep", "exhaust", "shrink", "repeat"}
NO_NAME = re.compile(r"[A-Z-]+|.*[/*].*")  # RUN, MESSAGE-ID, or a path


@pytest.mark.parametrize("page", MOST_LINES)
def test_a_page_for_newcomers_is_short(page: str) -> None:
    assert len(read(page).splitlines()) <= MOST_LINES[page]


@pytest.mark.parametrize("page", pages())
def test_every_link_leads_somewhere(page: str) -> None:
    for target in LINK.findall(FENCED.sub("", read(page))):
        if not target.startswith(("http:", "https:")):
            file, _, place = target.partition("#")
            path = (ROOT / page).parent / file if file else ROOT / page
            assert path.exists(), f"{page}: {target}"
            if place:
                headings = sections(path.resolve().relative_to(ROOT).as_posix())
                assert place in {anchor(each) for each in headings}, f"{page}: {target}"


@pytest.mark.parametrize("page", pages())
def test_every_command_that_a_page_shows_exists_with_its_options(page: str) -> None:
    for words in typed(page):
        if words[0] == "make":
            assert words[1:] == [] or words[1] in targets() or "=" in words[1], words
        else:
            assert words[1] in commands(), f"{page}: {' '.join(words)}"
            options = {word.partition("=")[0] for word in words[2:] if word.startswith("--")}
            assert options <= commands()[words[1]], f"{page}: {' '.join(words)}"


@pytest.mark.parametrize("page", pages())
def test_every_scenario_that_a_page_runs_is_there(page: str) -> None:
    for words in typed(page):
        given = [word.partition("=")[2] for word in words if word.startswith("SCENARIO=")]
        if words[0] != "make" and words[1] in OF_SCENARIO and len(words) > 2:
            given.append(words[2])
        for name in given:
            if not NO_NAME.fullmatch(name):
                assert find_scenario(name).is_file()


def typed(page: str) -> Iterator[list[str]]:
    """Calls of make and of shadowlab in blocks of commands and in tables, as words."""
    shown = [
        line for block in blocks(page) if block.language == "sh" for line in _lines(block.text)
    ]
    cells = [cell for row in rows(FENCED.sub("", read(page))) for cell in row]
    shown += [code for cell in cells for code in CODE.findall(cell)]
    for line in shown:
        words = line.split("#")[0].replace(".venv/bin/", "")
        if words.startswith(("make ", "shadowlab ")) and not words.startswith("make test TESTS"):
            yield shlex.split(words)


def _lines(text: str) -> list[str]:
    return [line.split(" > ")[0].strip() for line in text.splitlines()]


@cache
def commands() -> dict[str, set[str]]:
    """Every command of shadowlab with its options."""
    return {
        name: {option for parameter in command.params for option in parameter.opts} | {"--help"}
        for name, command in get_command(app).commands.items()  # type: ignore[attr-defined]
    }


def targets() -> set[str]:
    return set(TARGET.findall((ROOT / "Makefile").read_text(encoding="utf-8")))


def anchor(heading: str) -> str:
    """As forges make it of a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
