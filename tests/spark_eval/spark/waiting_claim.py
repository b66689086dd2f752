"""Judges a run folder on a master, by all claims and one that waits in its task for a file: so a
test knows what is under way, and where.

`python -m tests.spark_eval.spark.waiting_claim MASTER WAITING RUN LARGE_BYTES`; the task writes its
process id to WAITING, and goes on when WAITING.go is there. A run above LARGE_BYTES is judged
message by message.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from unittest.mock import patch

from spark_eval.cases.case import Case
from spark_eval.claims.catalogue import ALL
from spark_eval.claims.claim import Claim
from spark_eval.evaluation import evaluation
from spark_eval.evaluation.program import opened
from spark_eval.histories.message import Message
from spark_eval.histories.run import Run
from spark_eval.session import session


def waits(waiting: Path, _message: Message, _run: Run) -> Iterator[Case]:
    go = waiting.with_suffix(".go")
    if not go.exists():
        waiting.write_text(str(os.getpid()))
    while not go.exists():
        time.sleep(0.05)
    return iter(())


def main(master: str, waiting: str, run: str, large_bytes: str) -> None:
    spark = session(master)
    last = Claim("waits", (), of_message=partial(waits, Path(waiting)))
    with patch.object(evaluation, "LARGE_BYTES", int(large_bytes)), opened(spark, [run]) as folders:
        [judged] = evaluation.evaluate(spark, folders, [*ALL, last])
    print(judged.verdict.verdict)
    spark.stop()


if __name__ == "__main__":
    # what is broadcast, workers find by the name of its module
    from tests.spark_eval.spark import waiting_claim

    waiting_claim.main(*sys.argv[1:])
