"""Four claims of one large run: the evaluation beside DuckDB (`bench.second_opinion`).

Both read the same text files and give how many cases have which status; each is a program of its
own, start included. `python -m bench.rows.evaluation_vs_duckdb FOLDER` is the evaluation's.
"""

import subprocess
import sys
import time
from pathlib import Path

import duckdb

from bench.multiplied_run import LARGEST_ROWS, multiplied_run
from bench.result import Result, beside
from bench.second_opinion import opinion, sources
from lab.program.errors import GroundError
from spark_eval.claims.catalogue import ALL
from spark_eval.evaluation.program import purpose_of
from spark_eval.read.folder.run_folder import open_run_folder
from spark_eval.session import using_session
from spark_eval.spread import by_message


def measure() -> Result:
    """Seconds of wall time; aim of the ratio: 2. Raises GroundError."""
    with multiplied_run(LARGEST_ROWS) as folder:
        ours, theirs = _program_seconds(folder), _duckdb_seconds(folder)
    against = f"DuckDB, the same four claims of {LARGEST_ROWS:,} rows; aim 2"
    return beside("evaluation_vs_duckdb", ours, theirs, "s", against)


def _program_seconds(folder: Path) -> float:
    command = [sys.executable, "-m", "bench.rows.evaluation_vs_duckdb", str(folder)]
    began = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise GroundError("the claims were not judged", done.stderr.strip()[-500:])
    return time.monotonic() - began


def _duckdb_seconds(folder: Path) -> float:
    began = time.monotonic()
    with duckdb.connect() as connection:
        sources.from_folders(connection, {"run": folder})
        opinion.judge(connection)
        opinion.counts(connection)
    return time.monotonic() - began


def _judge_here(folder: str) -> None:
    four = [claim for claim in ALL if claim.name in opinion.CLAIMS]
    with using_session(purpose=purpose_of([folder])) as spark:
        found = by_message.judged(spark, open_run_folder(Path(folder)), four).judgement
    crashed = [result.reason for result in found.results.values() if result.crashed]
    if crashed:
        raise GroundError(crashed[0])


if __name__ == "__main__":
    _judge_here(sys.argv[1])
