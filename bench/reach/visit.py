"""`python -m bench.reach.visit FOLDER PART PARTS SEEDS`: simulate a part of all runs, and leave in
the folder what they took. Prints a line for each run.
"""

from __future__ import annotations

import sys
from pathlib import Path

import coverage

SOURCES = ("nodes/core", "nodes/store")
DATA = ".coverage"


def main(folder: Path, part: int, parts: int, seeds: int) -> None:
    recording = coverage.Coverage(
        data_file=str(folder / f"{DATA}.{part}"), branch=True, source=SOURCES, config_file=False
    )
    recording.start()  # before anything of the node is imported
    from bench.reach.worlds import simulate_one, worlds

    for number, world in enumerate(worlds(seeds)):
        if number % parts == part:
            simulate_one(world)
            print(f"{world.scenario} {world.seed}", flush=True)
    recording.stop()
    recording.save()


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:]))
