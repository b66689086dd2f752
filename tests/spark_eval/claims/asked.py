"""`python -m tests.spark_eval.claims.asked CLAIM [SCENARIO …] [--seeds N]`: what one claim says of
simulated runs of sound nodes, of every scenario where none is named, each under seeds 1 to N (3).

Two dozen runs take a minute or two. Prints a line for each run that the claim asks anything, and
the first counter-example; exits with 1 where a run does not hold.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from spark_eval import claims
from spark_eval.claims.claim import HOLDS, Claim, ClaimResult
from spark_eval.expected.tables import Tables
from spark_eval.read.record import Record
from spark_eval.read.run_folder import open_run_folder
from spark_eval.read.source import Folders
from spark_eval.session import using_session
from tests.lab.hosts.simulator.plans import SCENARIOS
from tests.scenarios.recorded import recorded, write_folder

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
    with TemporaryDirectory() as top:
        names = asked.scenarios or SCENARIOS
        runs = [(name, seed) for name in names for seed in range(1, asked.seeds + 1)]
        places = [Path(top) / f"{name}-{seed}" for name, seed in runs]
        for place, (name, seed) in zip(places, runs, strict=True):
            write_folder(place, recorded(name, seed))
        found = results(BY_NAME[asked.claim], places)
    for run, result in sorted(found.items()):
        print(f"{run:40} {result.status:8} {result.asked:6} asked", *_example(result))
    print(f"{len(places) - len(found)} of {len(places)} runs: nothing asked")
    return int(any(result.status != HOLDS for result in found.values()))


def results(claim: Claim, places: Iterable[Path]) -> dict[str, ClaimResult]:
    """By run folder; of those only in which the claim has anything to ask."""
    with using_session("local[2]") as spark:
        tables = Tables(Record(Folders(spark, [open_run_folder(place) for place in places])))
        return claim.check(tables)


def _example(result: ClaimResult) -> list[str]:
    return [f"{each.subject}: {each.detail}" for each in result.examples[:1]]


if __name__ == "__main__":
    raise SystemExit(main())
