"""A run of so many tracking rows, for the measurements of large runs.

SHADOWLAB_BENCH_ROWS says how large the largest is: 1,000,000 rows take some minutes to judge and
1.1 GB of disk; ten times that, less than ten times both. Its plan names no messages, as no plan of
so many would: it is one document, read by one task.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.judged_run import judged_run
from bench.multiplied.copies import copies_for
from bench.multiplied.multiply import multiply
from bench.multiplied.sinks import Folder
from bench.multiplied.template import read

SMALLEST_ROWS = 100_000
LARGEST_ROWS = int(os.environ.get("SHADOWLAB_BENCH_ROWS", "1000000"))


@contextmanager
def multiplied_run(rows: int) -> Iterator[Path]:
    """Its folder, as long as the context lasts."""
    with judged_run() as run:
        recorded, folder = read(run), run.parent / "multiplied"
        multiply(recorded, copies_for(recorded, rows), Folder(folder), plans_messages=False)
        yield folder
