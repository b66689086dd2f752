"""`make reach`: list what no run takes. Exit code 0 where at least 98 of 100 branches are taken,
and a sentence says why of each other one, else 1; 3 where a run ended by an error.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.reach.branches import Reach, outdated, reach_of, read_reasons, unexplained
from bench.reach.worlds import worlds
from lab.program.errors import FAIL, PASS, GroundError, ScenarioError
from lab.program.outer_edge import guarded

ROOT = Path(__file__).parents[2]
REASONS = Path(__file__).with_name("unreached.toml")
LEAST_PERCENT = 98.0
SEEDS = 50
EVERY = 50


def main() -> int:
    seeds = _seeds(sys.argv[1:])
    with tempfile.TemporaryDirectory(prefix="shadowlab-reach-") as name:
        folder = Path(name)
        _visit(folder, seeds)
        reach = reach_of(folder, ROOT)
    return report(reach)


def report(reach: Reach) -> int:
    """Print it; the exit code."""
    reasons = read_reasons(REASONS)
    left, old = unexplained(reach, reasons), outdated(reach, reasons)
    for branch in left:
        where = f"{branch.path}:{reach.missing[branch]}"
        print(f"{where}: {branch.line}  ->  {branch.leads_to}")
    for branch in old:
        print(f"{REASONS.name}: taken now, or gone: {branch.path}: {branch.line}")
    taken, without = reach.branches - len(reach.missing), len(left)
    print(f"{taken} of {reach.branches} branches are taken, {reach.percent:.1f} %")
    print(f"of the others {len(reach.missing) - without} have a sentence, {without} have none")
    return PASS if reach.percent >= LEAST_PERCENT and not left and not old else FAIL


def _visit(folder: Path, seeds: int) -> None:
    parts, many = os.cpu_count() or 1, sum(1 for _ in worlds(seeds))
    print(f"{many} runs, in {parts} processes", file=sys.stderr)
    programs = [_visitor(folder, part, parts, seeds) for part in range(parts)]
    done = 0
    for program in programs:
        assert program.stdout is not None
        for _ in program.stdout:
            done += 1
            if done % EVERY == 0:
                print(f"{done} of {many} runs", file=sys.stderr, flush=True)
    codes = [program.wait() for program in programs]
    if any(codes):
        raise GroundError("a run ended by an error; what it said stands above")


def _visitor(folder: Path, part: int, parts: int, seeds: int) -> subprocess.Popen[str]:
    words = [str(folder), str(part), str(parts), str(seeds)]
    return subprocess.Popen(
        [sys.executable, "-m", "bench.reach.visit", *words],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        text=True,
    )


def _seeds(words: list[str]) -> int:
    if not words:
        return SEEDS
    if len(words) > 1 or not words[0].isascii() or not words[0].isdigit():
        raise ScenarioError(f"{' '.join(words)!r} is no number of seeds", "make reach SEEDS=50")
    return int(words[0])


if __name__ == "__main__":
    sys.exit(guarded(main))
