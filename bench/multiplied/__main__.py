"""`python -m bench.multiplied RUN FOLDER --rows 1000000`: a run folder of that many rows.

`--busy par-mbx1` gives that server half of all mail, `--wide 5000` one message so many recipients.
The plan of ten million rows is a document of 400 MB, but for `--short-plan`.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from bench.multiplied.copies import copies_for
from bench.multiplied.multiply import multiply
from bench.multiplied.sinks import Folder
from bench.multiplied.template import NotOurs, read
from lab.program.errors import ScenarioError
from lab.program.outer_edge import guarded


def main(arguments: list[str]) -> int:
    """Raises OSError, ScenarioError."""
    asked = _asked(arguments)
    try:
        recorded = read(asked.run)
        copies = copies_for(
            recorded, asked.rows, busy_server=asked.busy, wide=asked.wide, groups=asked.groups
        )
    except NotOurs as error:
        raise ScenarioError(f"{asked.run}: {error}", "name a run folder of the lab") from error
    multiply(recorded, copies, Folder(asked.folder), plans_messages=not asked.short_plan)
    return 0


def _asked(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.multiplied", description=__doc__)
    parser.add_argument("run", type=Path, help="a recorded run folder")
    parser.add_argument("folder", type=Path, help="is made")
    parser.add_argument("--rows", type=int, default=100_000, help="tracking rows, at least")
    parser.add_argument("--groups", type=int, default=16, help="organisations side by side")
    parser.add_argument("--busy", default="", metavar="SERVER", help="accepts half of all mail")
    parser.add_argument("--wide", type=int, default=0, help="recipients of one more message")
    parser.add_argument("--short-plan", action="store_true", help="a plan that names no message")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(guarded(lambda: main(sys.argv[1:])))
