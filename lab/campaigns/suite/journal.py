"""What a suite intends, begins and ends, written ahead, so that the same command goes on after it.

`suite.jsonl` is only ever appended to. A line that a killed suite left torn is passed over: what it
would have said was not done, and is done again.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from lab.campaigns.suite.plan import Ask, SuiteTask
from lab.program.errors import VERDICTS, GroundError
from lab.program.processes import ProcessRecord
from lab.record.folder import JsonLines

JOURNAL = "suite.jsonl"


@dataclass(frozen=True, slots=True)
class Ended:
    """What came of a task. `code` is what its program said, `counts` what the suite makes of it;
    `folder` is the run folder, empty where there is none."""

    code: int
    counts: int
    seconds: float
    folder: str = ""
    cause: str = ""

    @property
    def verdict(self) -> str:
        return VERDICTS.get(self.code, "")


@dataclass(slots=True)
class SuiteRecord:
    """A journal as read. `begun` has what was begun and never ended, with its last attempt."""

    ask: Ask = field(default_factory=Ask)
    engine: bool = False
    began: str = ""
    finished: str = ""
    tasks: list[SuiteTask] = field(default_factory=list)
    ended: dict[str, Ended] = field(default_factory=dict)
    begun: dict[str, int] = field(default_factory=dict)
    programs: dict[str, ProcessRecord] = field(default_factory=dict)
    attempts: int = 0
    remarks: list[tuple[str, str]] = field(default_factory=list)

    def take(self, row: Mapping[str, Any]) -> None:
        """One line of the journal."""
        match row["event"]:
            case "intended":
                ask = row["ask"]
                self.ask = Ask(tuple(ask["names"]), ask["tag"], ask["on"])
                self.engine, self.began = row["engine"], row["at"]
                self.tasks = [SuiteTask(**task) for task in row["tasks"]]
            case "begun":
                self.begun[row["task"]] = self.attempts = row["attempt"]
                self.programs.pop(row["task"], None)
            case "started":
                if row["program"] is not None:
                    self.programs[row["task"]] = ProcessRecord(**row["program"])
            case "ended":
                self.begun.pop(row["task"], None)
                self.ended[row["task"]] = Ended(**row["ended"])
            case "remark":
                self.remarks.append((row["at"], row["text"]))
            case "finished":
                self.finished = row["at"]


class Journal:
    """Appends to the journal of one folder, and to its record."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / JOURNAL
        self._lines = JsonLines(self.path)
        self.record = read(folder)
        if self.path.exists() and not self.path.read_bytes().endswith(b"\n"):
            with self.path.open("ab") as file:
                file.write(b"\n")

    def intend(self, ask: Ask, engine: bool, tasks: list[SuiteTask]) -> None:
        told = {"ask": asdict(ask), "engine": engine, "tasks": [asdict(task) for task in tasks]}
        self._write("intended", told)

    def begin(self, task: SuiteTask) -> int:
        """The number of this attempt, for its files."""
        attempt = self.record.attempts + 1
        self._write("begun", {"task": task.name, "attempt": attempt})
        return attempt

    def started(self, task: SuiteTask, program: ProcessRecord | None) -> None:
        self._write("started", {"task": task.name, "program": program and asdict(program)})

    def end(self, task: SuiteTask, ended: Ended) -> None:
        self._write("ended", {"task": task.name, "ended": asdict(ended)})

    def remark(self, text: str) -> None:
        self._write("remark", {"text": text})

    def finish(self, code: int) -> None:
        self._write("finished", {"code": code})

    def _write(self, event: str, told: Mapping[str, object]) -> None:
        at = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
        row = {"event": event, "at": at, **told}
        self._lines.append(row)
        self.record.take(json.loads(json.dumps(row)))


def read(folder: Path) -> SuiteRecord:
    """What the journal of a folder says; nothing where there is none. Raises GroundError."""
    record = SuiteRecord()
    path = folder / JOURNAL
    if not path.is_file():
        return record
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            row = json.loads(line) if line else None
        except ValueError:
            continue
        try:
            if row is not None:
                record.take(row)
        except (KeyError, TypeError) as error:
            cause = f"{path}:{number}: not a line of this version's suites: {error!r}"
            raise GroundError(cause, "name another folder with --folder") from error
    return record
