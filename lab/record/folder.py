"""The run folder: the only thing that passes from the lab to the evaluation.

`runs/<scenario>/<UTC start>-<seed>/`, with `latest` links beside and above it that lead
to the newest with a verdict. Whole files are
written to a temporary name and renamed; records are JSON lines, each in one write. It holds no
private key: nothing is copied into it but what is named here. It knows no format of a record.
"""

import json
import os
import secrets
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from lab.program.whole_file import append_line, write_whole

STAMP = "%Y%m%dT%H%M%SZ"
STAMP_LENGTH = len("20260105T080000Z")
LATEST = "latest"
BESIDE_SCENARIOS = (LATEST, "suites", "shrunk")  # in runs/, so no scenario may be called so
VERDICT = "verdict.json"


class JsonLines:
    """Appends objects to a file, one a line, from any thread."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()

    def append(self, row: Mapping[str, object]) -> None:
        """On disk as far as this process goes when the call returns. Raises OSError."""
        line = json.dumps(row, ensure_ascii=False, separators=(",", ":"))
        with self._lock:
            descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
            try:
                append_line(descriptor, self._path, line)
            finally:
                os.close(descriptor)


@dataclass(frozen=True, slots=True)
class RunFolder:
    """Paths of one run's record; `run_id` names the run to the engine too."""

    path: Path
    run_id: str

    @classmethod
    def create(cls, root: Path, scenario: str, seed: int, started: datetime) -> "RunFolder":
        """A new folder below `root`; two runs of one second get two. `started` is in UTC."""
        stamp, mark = started.strftime(STAMP), secrets.token_hex(2)
        run_id = f"{scenario}-{stamp}-{seed}-{mark}"
        path = root / scenario / f"{stamp}-{seed}"
        try:
            path.mkdir(parents=True)
        except FileExistsError:
            path = path.with_name(f"{path.name}-{mark}")
            path.mkdir()
        return cls(path, run_id)

    @property
    def faults(self) -> Path:
        return self.path / "faults.jsonl"

    @property
    def operations(self) -> Path:
        return self.path / "operations.jsonl"

    @property
    def probes(self) -> Path:
        return self.path / "probes.jsonl"

    def logs(self, name: str) -> Path:
        """The folder of one server's logs, made when it is asked for."""
        return self._made(self.path / "logs" / name)

    def mailboxes(self, database: str) -> Path:
        return self._made(self.path / "mailboxes") / f"{database}.jsonl"

    def external(self, server: str) -> Path:
        return self._made(self.path / "external") / f"{server}.jsonl"

    def write_json(self, name: str, value: Mapping[str, object]) -> None:
        write_whole(self.path / name, json_text(value))

    def write_text(self, name: str, text: str) -> None:
        write_whole(self.path / name, text)

    def write_lines(self, path: Path, rows: Iterable[Mapping[str, object]]) -> int:
        """A whole file of JSON lines; how many there were."""
        lines = [json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in rows]
        write_whole(path, "".join(f"{line}\n" for line in lines))
        return len(lines)

    def _made(self, folder: Path) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        return folder


def json_text(value: Mapping[str, object]) -> str:
    """A whole file of JSON, for people too."""
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"


def point_latest(folder: Path) -> None:
    """`<scenario>/latest` and `latest` lead to this run, which has a verdict, unless they lead to
    one that began later and has one too. Raises OSError."""
    scenario = folder.parent
    targets = {scenario / LATEST: Path(folder.name)}
    targets[scenario.parent / LATEST] = Path(scenario.name, folder.name)
    for link, target in targets.items():
        if _may_lead_to(link, folder):
            point(link, target)


def _may_lead_to(link: Path, folder: Path) -> bool:
    if link.exists() and not link.is_symlink():
        return False  # somebody's own folder
    now = Path(os.path.realpath(link))
    is_later = now.name[:STAMP_LENGTH] > folder.name[:STAMP_LENGTH]
    return not (is_later and (now / VERDICT).is_file())


def point(link: Path, target: Path) -> None:
    """Make `link` a symbolic link to `target`, in one step."""
    unfinished = link.with_name(f".{link.name}.{secrets.token_hex(4)}")
    unfinished.symlink_to(target)
    unfinished.replace(link)
