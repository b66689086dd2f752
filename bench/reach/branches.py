"""What the runs took, of what there is: branches by their line and where they lead to."""

from __future__ import annotations

import json
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import coverage

from bench.reach.visit import DATA, SOURCES


class Branch(NamedTuple):
    """A way that the program may go on from a line. `line` and `leads_to` are texts of the file;
    the latter is `exit` at the end of a function.
    """

    path: str
    line: str
    leads_to: str


@dataclass(frozen=True, slots=True)
class Reach:
    """How many branches there are, which were not taken and where each begins, and lines of other
    code that were never run, as `path:number`.
    """

    branches: int
    missing: Mapping[Branch, int]
    lines: tuple[str, ...]

    @property
    def percent(self) -> float:
        return 100 * (1 - len(self.missing) / self.branches) if self.branches else 0.0


@dataclass(frozen=True, slots=True)
class Reason:
    """Why no run takes a branch."""

    branch: Branch
    why: str


def reach_of(folder: Path, root: Path) -> Reach:
    """Of all that was left in the folder; paths are relative to `root`."""
    found = coverage.Coverage(
        data_file=str(folder / DATA), branch=True, source=SOURCES, config_file=False
    )
    found.combine([str(folder)], keep=True)
    report = folder / "reach.json"
    found.json_report(outfile=str(report))
    return read_report(json.loads(report.read_text(encoding="utf-8")), root)


def read_report(report: Mapping[str, Any], root: Path) -> Reach:
    """Of a coverage.py report."""
    missing: dict[Branch, int] = {}
    lines: list[str] = []
    for path, file in sorted(report["files"].items()):
        texts = (root / path).read_text(encoding="utf-8").splitlines()
        for start, end in file["missing_branches"]:
            leads_to = texts[end - 1].strip() if end > 0 else "exit"
            missing[Branch(path, texts[start - 1].strip(), leads_to)] = start
        starts = {start for start, _ in file["missing_branches"]}
        lines += (f"{path}:{number}" for number in file["missing_lines"] if number not in starts)
    return Reach(int(report["totals"]["num_branches"]), missing, tuple(lines))


def read_reasons(path: Path) -> list[Reason]:
    """Raises ValueError for an entry without a sentence."""
    content = tomllib.loads(path.read_text(encoding="utf-8"))
    reasons = [
        Reason(Branch(each["path"], each["line"], each["leads_to"]), each["why"])
        for each in content.get("branch", ())
    ]
    for reason in reasons:
        if not reason.why.strip().endswith("."):
            raise ValueError(f"{reason.branch.path}: {reason.branch.line}: no sentence says why")
    return reasons


def unexplained(reach: Reach, reasons: Iterable[Reason]) -> list[Branch]:
    """Branches that no run takes and no sentence is about."""
    known = {reason.branch for reason in reasons}
    return [branch for branch in reach.missing if branch not in known]


def outdated(reach: Reach, reasons: Iterable[Reason]) -> list[Branch]:
    """Sentences about branches that are taken, or are gone."""
    return [reason.branch for reason in reasons if reason.branch not in reach.missing]


def by_file(branches: Iterable[Branch]) -> Counter[str]:
    return Counter(branch.path for branch in branches)
