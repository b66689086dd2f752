"""`python -m bench.multiplied RUN FOLDER --rows 1000000`: a run folder of that many rows.

With `--lines` the same as one batch of a sweep, in Parquet; with `--runs 10000` so many runs of
their own. `--busy par-mbx1` gives that server half of all mail, `--wide 5000` one message so many
recipients. The plan of ten million rows is a document of 400 MB, but for `--short-plan`.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from bench.multiplied.copies import Copies, copies_for
from bench.multiplied.multiply import multiply, run_name
from bench.multiplied.runs import multiply_into_runs
from bench.multiplied.sinks import Folder, LinesFile
from bench.multiplied.template import NotOurs, Recorded, read
from lab.program.errors import ScenarioError
from lab.program.outer_edge import guarded


def main(arguments: list[str]) -> int:
    """Raises OSError, ScenarioError."""
    asked = _asked(arguments)
    try:
        recorded = read(asked.run)
        if asked.runs:
            multiply_into_runs(recorded, asked.folder, asked.runs)
            return 0
        copies = copies_for(
            recorded, asked.rows, busy_server=asked.busy, wide=asked.wide, groups=asked.groups
        )
    except NotOurs as error:
        raise ScenarioError(f"{asked.run}: {error}", "name a run folder of the lab") from error
    if asked.lines:
        as_lines(recorded, copies, asked.folder, plans_messages=not asked.short_plan)
    else:
        multiply(recorded, copies, Folder(asked.folder), plans_messages=not asked.short_plan)
    return 0


def as_lines(
    recorded: Recorded, copies: Copies, folder: Path, *, plans_messages: bool = True
) -> None:
    """A sweep folder of one batch, which is one run. Raises OSError."""
    plan = recorded.plan
    batch = folder / "record" / "batch=00000"
    with LinesFile(batch / "lines.parquet", run_name(recorded), plan["seed"]) as sink:
        multiply(recorded, copies, sink, plans_messages=plans_messages)
    (batch / "_SUCCESS").touch()
    asked = {
        "version": 1, "scenario": plan["scenario"], "first_seed": plan["seed"], "seeds": 1,
        "per_batch": 1, "origin": plan["clock"]["origin"],
    }  # fmt: skip
    (folder / "sweep.json").write_text(json.dumps(asked), encoding="utf-8")


def _asked(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.multiplied", description=__doc__)
    parser.add_argument("run", type=Path, help="a recorded run folder")
    parser.add_argument("folder", type=Path, help="is made")
    parser.add_argument("--rows", type=int, default=100_000, help="tracking rows, at least")
    parser.add_argument("--groups", type=int, default=16, help="organisations side by side")
    parser.add_argument("--busy", default="", metavar="SERVER", help="accepts half of all mail")
    parser.add_argument("--wide", type=int, default=0, help="recipients of one more message")
    parser.add_argument("--short-plan", action="store_true", help="a plan that names no message")
    parser.add_argument("--lines", action="store_true", help="Parquet of a sweep instead of text")
    parser.add_argument("--runs", type=int, default=0, help="so many runs instead of one")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(guarded(lambda: main(sys.argv[1:])))
