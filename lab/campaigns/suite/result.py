"""What a suite leaves for programs, CI and people: suite.json, junit.xml and report.html.

The page is made by the evaluation, as a program, from suite.json and the verdict.json of each run.
Written at every end of a suite, also where a person ended it half way.
"""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any, TextIO

from lab.campaigns.suite.journal import Ended, SuiteRecord
from lab.campaigns.suite.junit import junit_xml
from lab.campaigns.suite.plan import COMPARE, SuiteTask
from lab.program.death_signal import KILLED_WITH_PARENT
from lab.program.whole_file import write_whole
from lab.record.folder import json_text
from lab.run.outcome import Say

PAGE = (sys.executable, "-m", "spark_eval.report.suite")
REPORTS = {"run": "report.html", COMPARE: "compare.html"}


def write_result(
    folder: Path, record: SuiteRecord, code: int, say: Say, said: TextIO | None = None
) -> None:
    """The three files; a page that cannot be made is said, and does not end the suite. What is
    printed of it goes to `said`, by default to stdout."""
    content = suite_content(folder, record, code)
    write_whole(folder / "suite.json", json_text(content))
    write_whole(folder / "junit.xml", junit_xml(folder, content))
    page = [*PAGE, str(folder)]
    done = subprocess.run(page, check=False, stdout=said, preexec_fn=KILLED_WITH_PARENT)
    if done.returncode != 0:
        say(f"the page of the suite could not be made; see {folder}/suite.json")


def suite_content(folder: Path, record: SuiteRecord, code: int) -> dict[str, Any]:
    """suite.json. Folders and reports are named as seen from the suite's folder."""
    return {
        "version": 1,
        "ask": {"names": list(record.ask.names), "tag": record.ask.tag, "on": record.ask.on},
        "engine": record.engine,
        "began": record.began,
        "finished": record.finished or None,
        "code": code,
        "remarks": [{"at": at, "text": text} for at, text in record.remarks],
        "tasks": [_task(folder, task, record.ended.get(task.name)) for task in record.tasks],
    }


def _task(folder: Path, task: SuiteTask, ended: Ended | None) -> dict[str, Any]:
    told = {
        "name": task.name,
        "kind": task.kind,
        "scenario": task.scenario,
        "host": task.host,
        "seed": task.seed,
        "foretold": task.expected,
    }
    if ended is None:
        return told | {"state": "not done"}
    where = Path(ended.folder) if ended.folder else None
    report = where / REPORTS[task.kind] if where else None
    return told | {
        "state": "done",
        "code": ended.code,
        "counts": ended.counts,
        "verdict": ended.verdict if task.kind != COMPARE else None,
        "seconds": round(ended.seconds, 1),
        "folder": os.path.relpath(where, folder) if where else None,
        "report": os.path.relpath(report, folder) if report and report.is_file() else None,
        "cause": ended.cause,
    }
