"""A run folder: which files it holds and what run it is. Opens nothing but the manifest.

The folder is the only thing that passes from the lab to the evaluation. A folder without a plan is
refused; the tables show anything else that is missing (a log that is not there is damage).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from spark_eval.read.folder.given_json import read_json

# paths within a run folder: JSON Lines that are evidence (the core's inputs and standard error are
# not), and message tracking and connectivity logs, whatever the case of their ending
RECORD_FILE = (
    r"^((ledger|faults|operations|strangers)[.]jsonl|logs/[^/]+/(lifecycle|queues|copies)[.]jsonl"
    r"|(mailboxes|external)/[^/]+[.]jsonl)$"
)
LOG_FILE = r"^logs/[^/]+/(MSGTRK|CONNECTLOG)[^/]*[.][Ll][Oo][Gg]$"
EVALUATION = "evaluation"
URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


class RunFolderError(Exception):
    """The path given is no run folder. Carries the cause and a hint."""

    def __init__(self, cause: str, hint: str) -> None:
        super().__init__(cause)
        self.cause = cause
        self.hint = hint


class UnreadableRecordError(RunFolderError):
    """It may be a sound one; this machine, its Spark or the place that it is in fails."""


@dataclass(frozen=True, slots=True)
class RunFolder:
    """`path` is absolute, without links; `origin_ms` is the start of lab time, epoch ms.
    Where there is a `uri`, the folder is there and `path` is the driver's copy.
    """

    path: Path
    run: str
    scenario: str
    seed: int | str | None
    host: str | None
    origin_ms: int
    uri: str | None = None

    @property
    def root(self) -> str:
        """The folder as Spark names it in a file's path, where it is a file of this machine."""
        return str(self.path) if self.uri is None else re.sub("^file:/+", "/", self.uri)

    def place(self, path: Path) -> Path | str:
        """Where Spark finds what is at `path` for the driver."""
        if self.uri is None:
            return path
        return f"{self.uri}/{path.relative_to(self.path).as_posix()}"

    @property
    def report(self) -> Path | str:
        return self.place(self.path / "report.html")

    @property
    def evaluation(self) -> Path:
        return self.path / EVALUATION

    def records(self) -> list[Path]:
        """Files that `RECORD_FILE` names."""
        return self._named(RECORD_FILE)

    def logs(self) -> list[Path]:
        """Files that `LOG_FILE` names."""
        return self._named(LOG_FILE)

    def evidence(self) -> list[Path]:
        return [*self.records(), *self.logs()]

    def _named(self, pattern: str) -> list[Path]:
        places = ("*", "logs/*/*", "mailboxes/*", "external/*")
        there = [path for place in places for path in self.path.glob(place)]
        named = [p for p in there if re.match(pattern, p.relative_to(self.path).as_posix())]
        return sorted(path for path in named if path.is_file())


def refuse_links(folder: Path, *patterns: str) -> None:
    """What is written below these places of a record that somebody else may have made would be
    written where a link leads, and what is replaced there removed. Raises `RunFolderError`.
    """
    for place in (path for pattern in patterns for path in folder.glob(pattern)):
        if place.is_symlink():
            name = place.relative_to(folder).as_posix()
            cause = f"{folder}: {name} is a link, and what is written there must stay in the folder"
            raise RunFolderError(cause, "remove the link, or put what it leads to in its place")


def is_uri(name: str) -> bool:
    return URI.match(name) is not None


def open_run_folder(path: Path, uri: str | None = None) -> RunFolder:
    """Raises `RunFolderError` where there is no folder or no plan, where what says how to read the
    rest cannot be read, and where what is written there would be written elsewhere.
    """
    folder = path.resolve()
    if not folder.is_dir():
        raise RunFolderError(f"run folder {path}: no such folder", "name a folder below runs/")
    if not (folder / "plan.json").is_file():
        raise RunFolderError(
            f"run folder {path}: no plan.json, so nothing says what should have happened",
            "runs/<scenario>/<UTC start>-<seed>/ is what `shadowlab run` writes",
        )
    refuse_links(folder, EVALUATION, f"{EVALUATION}/*")
    plan = _json_object(folder / "plan.json")
    manifest = _json_object(folder / "manifest.json")
    return RunFolder(
        path=folder,
        run=str(manifest.get("run") or folder.name),
        scenario=str(manifest.get("scenario") or plan.get("scenario") or folder.parent.name),
        seed=manifest.get("seed", plan.get("seed")),
        host=manifest.get("host"),
        origin_ms=_origin_ms(plan, manifest),
        uri=uri,
    )


def _origin_ms(plan: dict[str, Any], manifest: dict[str, Any]) -> int:
    """From the manifest, else from the plan: a hand-made folder may hold nothing but a plan."""
    clock = plan.get("clock")
    planned = clock.get("origin") if isinstance(clock, dict) else None
    written = manifest.get("origin", planned)
    try:
        return round(datetime.fromisoformat(str(written)).timestamp() * 1000)
    except ValueError as error:
        cause = f"the start of lab time is no date: {written!r}"
        hint = "manifest.json says `origin`, or plan.json `clock.origin`, as 2026-01-05T08:00:00Z"
        raise RunFolderError(cause, hint) from error


def _json_object(path: Path) -> dict[str, Any]:
    """Empty where there is no such file."""
    if not path.is_file():
        return {}
    hint = "collect the run again"
    try:
        content = read_json(path)
    except (OSError, ValueError) as error:
        raise RunFolderError(f"{path.name} cannot be read: {error}", hint) from error
    if not isinstance(content, dict):
        raise RunFolderError(f"{path.name} is no JSON object", hint)
    return content
