"""`python -m tests.scenarios.judging FOLDER`: judge batches as a sweep does, and write down every
case of the claims that have a second opinion, from the same tables.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial, reduce
from pathlib import Path
from unittest.mock import patch

from pyspark.sql import DataFrame

from bench.second_opinion.opinion import CLAIMS
from spark_eval import claims
from spark_eval.claims.claim import Claim
from spark_eval.evaluation.program import purpose_of_sweeps
from spark_eval.expected.tables import Tables
from spark_eval.judging.judge import judge
from spark_eval.judging.judged import Judgement
from spark_eval.session import session
from spark_eval.sweep import batch
from spark_eval.sweep.folder import open_sweep

CASES = "cases"


def main(folder: Path) -> None:
    sweep = open_sweep(folder)
    spark = session("local[2]", "shadowlab tests", purpose_of_sweeps([sweep]))
    for name in sweep.complete_batches():
        judging = partial(judged_with_cases, folder / CASES / f"{name}.parquet")
        with patch.object(batch, "judge", judging):
            batch.judge_batch(spark, sweep, name)
    spark.stop()


def judged_with_cases(
    path: Path, tables: Tables, runs: Sequence[str], checks: Sequence[Claim]
) -> dict[str, Judgement]:
    found = judge(tables, runs, checks)
    asked = [each.asked(tables) for each in claims.ALL if each.name in CLAIMS]
    cases = reduce(DataFrame.unionByName, filter(None, asked))
    told = cases.where("status IS NOT NULL").select("claim", "run", "subject", "status")
    told.write.parquet(str(path))
    return found


if __name__ == "__main__":
    main(Path(sys.argv[1]))
