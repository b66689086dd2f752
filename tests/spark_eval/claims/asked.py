"""`python -m tests.spark_eval.claims.asked CLAIM [SCENARIO …] [--seeds N]`: what one claim says of
simulated runs of sound nodes, of every scenario where none is named, each under seeds 1 to N (3).

Two dozen runs, which are judged at once, take a minute or two. Prints a line for each run that the
claim asks anything, and the first counter-example; exits with 1 where a run does not hold.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from pyspark.sql import SparkSession

from spark_eval import claims
from spark_eval.claims.claim import Claim
from spark_eval.expected.tables import Tables
from spark_eval.next.cases.case import HOLDS
from spark_eval.next.judging.results import ClaimResult
from spark_eval.read.record import Record
from spark_eval.read.run_folder import open_run_folder
from spark_eval.read.source import Folders
from spark_eval.session import using_session
from spark_eval.spark.released import released
from tests.lab.hosts.simulator.plans import SCENARIOS
from tests.scenarios.recorded import recorded, write_folder

AT_ONCE = 24
BY_NAME = {claim.name: claim for claim in claims.ALL}


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.spark_eval.claims.asked")
    parser.add_argument("claim", choices=BY_NAME, metavar="CLAIM")
    parser.add_argument("scenarios", nargs="*", metavar="SCENARIO", help="by default all")
    parser.add_argument("--seeds", type=int, default=3, metavar="N")
    asked = parser.parse_args(words)
    unknown = set(asked.scenarios) - set(SCENARIOS)
    if unknown:
        parser.error(f"no such scenario: {', '.join(sorted(unknown))}")
    names = asked.scenarios or SCENARIOS
    runs = [(name, seed) for name in names for seed in range(1, asked.seeds + 1)]
    found = dict[str, ClaimResult]()
    with using_session("local[2]") as spark:
        for first in range(0, len(runs), AT_ONCE):
            told = _results(spark, BY_NAME[asked.claim], runs[first : first + AT_ONCE])
            for run, result in sorted(told.items()):
                line = f"{run:40} {result.status:8} {result.asked:6} asked"
                print(line, *_example(result), flush=True)
            found |= told
    print(f"{len(runs) - len(found)} of {len(runs)} runs: nothing asked")
    return int(any(result.status != HOLDS for result in found.values()))


def _results(
    spark: SparkSession, claim: Claim, runs: Iterable[tuple[str, int]]
) -> dict[str, ClaimResult]:
    """By run; of those only in which the claim has anything to ask."""
    with TemporaryDirectory() as top, released(spark):
        places = [
            write_folder(Path(top) / f"{name}-{seed}", recorded(name, seed)) for name, seed in runs
        ]
        tables = Tables(Record(Folders(spark, [open_run_folder(place) for place in places])))
        return claim.check(tables)


def _example(result: ClaimResult) -> list[str]:
    return [f"{each.subject}: {each.detail}" for each in result.examples[:1]]


if __name__ == "__main__":
    raise SystemExit(main())
