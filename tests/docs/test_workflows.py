"""What a hosted CI does: each night the nightly suite, at each push and pull request every test."""

from __future__ import annotations

import re
from typing import Any

import pytest
from ruamel.yaml import YAML

from tests.docs.pages import ROOT

FILES = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))


def _read(name: str) -> dict[str, Any]:
    content: dict[str, Any] = YAML(typ="safe").load(ROOT / ".github" / "workflows" / name)
    return content


def _steps(name: str) -> list[dict[str, Any]]:
    return [step for job in _read(name)["jobs"].values() for step in job["steps"]]


def _made(name: str) -> list[str]:
    """The targets of make, in order."""
    return [step["run"].split()[1] for step in _steps(name) if step.get("run", "")[:5] == "make "]


def _kept(name: str) -> dict[str, str]:
    """The paths that are uploaded -> when."""
    steps = [step for step in _steps(name) if "upload-artifact" in step.get("uses", "")]
    return {step["with"]["path"]: step["if"] for step in steps}


def test_there_is_one_for_the_night_and_one_for_each_change() -> None:
    assert [path.name for path in FILES] == ["nightly.yml", "test.yml"]
    assert set(_read("nightly.yml")["on"]) == {"schedule", "workflow_dispatch"}
    assert {"push", "pull_request"} <= set(_read("test.yml")["on"])


@pytest.mark.parametrize("name", [path.name for path in FILES])
def test_a_workflow_calls_targets_that_exist_and_may_change_nothing(name: str) -> None:
    assert _made(name)
    assert set(_made(name)) <= TARGETS
    assert _read(name)["permissions"] == {"contents": "read"}
    assert all("timeout-minutes" in job for job in _read(name)["jobs"].values())


def test_tests_have_what_the_night_has() -> None:
    def given(name: str) -> list[tuple[str, Any]]:
        uses = [step for step in _steps(name) if "uses" in step and "upload" not in step["uses"]]
        return [(step["uses"], step.get("with")) for step in uses]

    assert given("test.yml") == given("nightly.yml")
    assert _made("test.yml") == ["images", "test", "down"]


def test_of_tests_the_junit_file_is_kept_and_the_runs_of_what_failed() -> None:
    (call,) = (step["run"] for step in _steps("test.yml") if "make test" in step.get("run", ""))
    options = dict(re.findall(r"--(\w+)=(\S+?)[\s\"]", call))
    kept = {path.split("\n")[0]: when for path, when in _kept("test.yml").items()}
    assert kept == {
        options["junitxml"]: "always()",
        f"{options['basetemp']}/**/runs/**": "failure()",
    }
    assert "tmp_path_retention_policy=failed" in call


def test_of_the_night_every_run_is_kept() -> None:
    assert {path.split("\n")[0]: when for path, when in _kept("nightly.yml").items()} == {
        "runs/**": "always()"
    }
