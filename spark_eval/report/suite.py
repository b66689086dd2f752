"""The page of a suite: `python -m spark_eval.report.suite FOLDER`, from suite.json in it and the
verdict.json of each run.

Tables only, so it needs no script and no Spark. Nothing is judged again. Exit codes: 0 the page is
written, 3 it could not be, 4 the call is wrong.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from spark_eval.judging.catalogue import in_order
from spark_eval.program.exit_codes import (
    CRASHED,
    FAIL,
    INTERRUPTED,
    PASS,
    UNKNOWN,
    WRONG_CALL,
)
from spark_eval.program.outer_edge import guarded
from spark_eval.program.printable import visible_lines
from spark_eval.read.folder.given_json import read_json
from spark_eval.report.render import MISSHAPEN, templates
from spark_eval.results.whole_file import write_whole

WORDS = {PASS: "pass", FAIL: "fail", UNKNOWN: "unknown", CRASHED: "fail", INTERRUPTED: "unknown"}
SAID = WORDS | {CRASHED: "the lab could not", INTERRUPTED: "interrupted"}
STATUSES = ("proven", "violated", "unknown", "not asked")
NOT_CHECKED = "not checked"


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes report.html beside suite.json and prints where it is, with a line for the suite."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    if len(words) != 1 or words[0].startswith("-"):
        print("usage: python -m spark_eval.report.suite FOLDER", file=sys.stderr)
        return WRONG_CALL
    folder = Path(words[0])
    try:
        content = read_json(folder / "suite.json")
        write_whole(folder / "report.html", render(folder, content))
        told = f"suite: {SAID.get(content['code'], content['code'])}: {_line(content['tasks'])}"
    except (OSError, *MISSHAPEN) as error:
        cause = f"error: the page of {folder} could not be made: {error!r}"
        print(visible_lines((cause, "hint: shadowlab suite writes suite.json")), file=sys.stderr)
        return CRASHED
    print(visible_lines((told, f"report: {folder / 'report.html'}")))
    return PASS


def render(folder: Path, content: Mapping[str, Any]) -> str:
    """`content` is suite.json; verdicts are read from the run folders that it names."""
    tasks = [task | {"word": WORDS.get(task.get("counts", -1), "")} for task in content["tasks"]]
    template = templates().get_template("suite.html.j2")
    return template.render(
        suite=content,
        word=WORDS.get(content["code"], "fail"),
        said=SAID.get(content["code"], "fail"),
        line=_line(tasks),
        runs=[task for task in tasks if task["kind"] == "run"],
        comparisons=[task for task in tasks if task["kind"] == "compare"],
        coverage=coverage(folder, tasks),
        statuses=STATUSES,
    )


def coverage(folder: Path, tasks: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, list[Any]]]:
    """Requirement to status to the runs (tasks) that left it so; none where no claim checks it."""
    found: dict[str, dict[str, list[Any]]] = {}
    for task in tasks:
        for name, status in _requirements(folder, task).items():
            of_status = found.setdefault(name, {each: [] for each in STATUSES})
            if status != NOT_CHECKED:
                of_status[status].append(task)
    return {name: found[name] for name in in_order(found)}


def _requirements(folder: Path, task: Mapping[str, Any]) -> dict[str, str]:
    if task["kind"] != "run" or not task.get("verdict"):
        return {}
    try:
        verdict = read_json(folder / task["folder"] / "verdict.json")
        told = verdict["requirements"].items()
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}
    return {name: status for name, status in told if status in (*STATUSES, NOT_CHECKED)}


def _line(tasks: Sequence[Mapping[str, Any]]) -> str:
    """`14 done: 12 as expected, 1 failed, 1 unknown; 2 not done`."""
    done = [task for task in tasks if task["state"] == "done"]
    counts = {code: sum(task["counts"] == code for task in done) for code in (0, 1, 2, 3)}
    names = {0: "as expected", 1: "failed", 2: "unknown", 3: "without a verdict"}
    told = ", ".join(f"{counts[code]} {name}" for code, name in names.items() if counts[code])
    left = len(tasks) - len(done)
    return f"{len(done)} done: {told or 'none'}" + (f"; {left} not done" if left else "")


if __name__ == "__main__":
    sys.exit(guarded(main))
