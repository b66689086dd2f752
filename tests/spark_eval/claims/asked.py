"""`python -m tests.spark_eval.claims.asked CLAIM [SCENARIO …] [--seeds N]`: what one claim says of
simulated runs of sound nodes, of every scenario where none is named, each under seeds 1 to N (3).

A run takes a second. Prints a line for each run that the claim asks anything, and the first
counter-example; exits with 1 where a run does not hold.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from spark_eval.cases.case import HOLDS
from spark_eval.claims.catalogue import ALL
from spark_eval.claims.claim import Claim
from spark_eval.judging.judge import histories_of, tallies
from spark_eval.judging.results import ClaimResult, result_of
from spark_eval.read.folder.files import MemoryFiles
from tests.lab.hosts.simulator.plans import SCENARIOS
from tests.scenarios.recorded import recorded

BY_NAME = {claim.name: claim for claim in ALL}


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
    found = list[ClaimResult]()
    for name, seed in runs:
        result = _result(BY_NAME[asked.claim], name, seed)
        if result.asked:
            line = f"{f'{name}-{seed}':40} {result.status:8} {result.asked:6} asked"
            print(line, *_example(result), flush=True)
            found.append(result)
    print(f"{len(runs) - len(found)} of {len(runs)} runs: nothing asked")
    return int(any(result.status != HOLDS for result in found))


def _result(claim: Claim, name: str, seed: int) -> ClaimResult:
    files = {file: lines_of(lines) for file, lines in recorded(name, seed).items()}
    return result_of(claim, tallies(histories_of(MemoryFiles(files)), [claim])[claim.name])


def lines_of(texts: Sequence[str]) -> bytes:
    return "".join(f"{text}\n" for text in texts).encode()


def _example(result: ClaimResult) -> list[str]:
    return [f"{each.subject}: {each.detail}" for each in result.examples[:1]]


if __name__ == "__main__":
    raise SystemExit(main())
