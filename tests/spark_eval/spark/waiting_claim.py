"""Judges run folders on a master, by all claims and one that waits in its task for a file: so a
test knows what is under way, and where.

`python -m tests.spark_eval.spark.waiting_claim MASTER WAITING RUN`; the task writes its process id
to WAITING, and goes on when WAITING.go is there.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from spark_eval.evaluation.evaluation import evaluate
from spark_eval.next.cases.case import Case
from spark_eval.next.claims.catalogue import ALL
from spark_eval.next.claims.claim import Claim
from spark_eval.next.expected.totals import Totals
from spark_eval.next.histories.run import Run
from spark_eval.read.run_folder import open_run_folder
from spark_eval.session import session


def waits(waiting: Path, _run: Run, _totals: Totals) -> Iterator[Case]:
    waiting.write_text(str(os.getpid()))
    while not waiting.with_suffix(".go").exists():
        time.sleep(0.05)
    return iter(())


def main(master: str, waiting: str, run: str) -> None:
    spark = session(master)
    last = Claim("waits", (), of_run=partial(waits, Path(waiting)))
    [judged] = evaluate(spark, [open_run_folder(Path(run))], [*ALL, last])
    print(judged.verdict.verdict)
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
