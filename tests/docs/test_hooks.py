"""What pre-commit calls is what `make lint` calls, by the tools in .venv and without a network."""

from __future__ import annotations

import re
import shlex
from typing import Any

import pytest
from ruamel.yaml import YAML

from tests.docs.pages import ROOT

RECIPES = re.compile(r"^lint-\w+:.*\n((?:\t.*\n)+)", re.MULTILINE)
OF_FILES = {"ruff check", "ruff format", "yamllint"}  # they get the files of a commit


def hooks() -> list[dict[str, Any]]:
    config = YAML(typ="safe").load(ROOT / ".pre-commit-config.yaml")
    assert [repo["repo"] for repo in config["repos"]] == ["local"]
    return [hook for repo in config["repos"] for hook in repo["hooks"]]


def test_the_hooks_are_the_checks_of_make_lint() -> None:
    assert sorted(entry_of(hook) for hook in hooks()) == sorted(recipe())


def test_a_hook_fetches_nothing() -> None:
    assert {hook["language"] for hook in hooks()} == {"system"}


@pytest.mark.parametrize("hook", hooks(), ids=lambda hook: str(hook["id"]))
def test_a_check_of_the_whole_project_gets_no_files(hook: dict[str, Any]) -> None:
    is_of_files = any(hook["entry"].startswith(f".venv/bin/{tool}") for tool in OF_FILES)
    assert hook.get("pass_filenames", True) == is_of_files


def entry_of(hook: dict[str, Any]) -> str:
    """A hook's command as `make lint` would write it: for files of a commit it says `.`."""
    entry = str(hook["entry"]).replace(" --force-exclude", "")
    return f"{entry} ." if hook.get("pass_filenames", True) else entry


def recipe() -> list[str]:
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    checked = re.search(r"^CHECKED := (.*)$", text, re.MULTILINE)
    found = RECIPES.findall(text)
    assert found
    assert checked is not None
    filled = "".join(found).replace("$(BIN)", ".venv/bin").replace("$(CHECKED)", checked[1])
    filled = filled.replace("$(CURDIR)", "$PWD").replace("$$", "$")
    return [plain(line.strip()) for line in filled.splitlines()]


def plain(line: str) -> str:
    """A call with an environment of its own as a hook has to write it."""
    return f"bash -c {shlex.quote(line)}" if line.startswith("PATH=") else line
