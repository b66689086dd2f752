"""What a story needs to know of its run: plan, lab clock, and when each server lived.

Files that are missing or damaged leave their part of the story out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from spark_eval.read.folder.given_json import read_json
from spark_eval.read.folder.run_folder import RunFolder
from spark_eval.story.clock import Lifetime, RunClock, lives, run_clock
from spark_eval.story.lines import FolderLines, Line
from spark_eval.story.row import objects, said

LIFECYCLE = r"/lifecycle\.jsonl$"


@dataclass(frozen=True, slots=True)
class RunRecord:
    """`lifecycle` has each line with its row; `lives` is by server."""

    lines: FolderLines
    plan: Mapping[str, Any]
    clock: RunClock
    lifecycle: Sequence[tuple[Line, Mapping[str, Any]]]
    lives: Mapping[str, Sequence[Lifetime]]

    def planned(self, part: str) -> dict[str, Mapping[str, Any]]:
        """`faults` or `operations` of the plan, by id."""
        return {said(row, "id"): row for row in objects(self.plan, part)}


def read_record(folder: RunFolder) -> RunRecord:
    lines = FolderLines(folder)
    plan = _object(folder, "plan.json")
    clock = run_clock(folder.origin_ms, plan, _object(folder, "host.json"), folder.host)
    lifecycle = [(line, line.json_object()) for line in lines.journal(LIFECYCLE)]
    by_server = defaultdict(list)
    for line, row in lifecycle:
        by_server[line.server].append(row)
    known = {server: lives(clock, rows) for server, rows in by_server.items()}
    return RunRecord(lines, plan, clock, lifecycle, known)


def _object(folder: RunFolder, name: str) -> dict[str, Any]:
    try:
        content = read_json(folder.path / name)
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}
