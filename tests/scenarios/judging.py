"""One set of records, judged as a campaign judges them; beside the results every case of the claims
that have a second opinion, from the same histories, and the lines that the second one reads.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from bench.second_opinion.lines import Lines
from bench.second_opinion.opinion import CLAIMS
from lab.campaigns.run import Result
from spark_eval.cases.case import Case
from spark_eval.claims.catalogue import ALL
from spark_eval.claims.claim import Claim
from spark_eval.expected.totals import totals_of
from spark_eval.judging.judge import Histories
from spark_eval.read.folder.files import MemoryFiles
from spark_eval.sweep.result import covered, told
from tests.spark_eval.spread.in_parts import differences


class JudgedCase(NamedTuple):
    claim: str
    run: str
    subject: str
    status: str


class JudgedSet(NamedTuple):
    """`differences` of the first run, judged in parts."""

    results: list[Result]
    cases: list[JudgedCase]
    differences: list[str]


def judged_set(
    name: str, records: Sequence[tuple[int, Mapping[str, bytes]]], path: Path
) -> JudgedSet:
    """Each run is named `<set>/<number>`; its seed and its files. `path` of lines is written."""
    results, cases, found, lines = list[Result](), list[JudgedCase](), list[str](), Lines()
    for number, (seed, files) in enumerate(records):
        run = f"{name}/{number}"
        for file, content in files.items():
            lines.add(run, file, content.decode().split("\n")[:-1])
        judged, coverage = covered(MemoryFiles(files))
        results.append(told(run, seed, judged, coverage))
        if number == 0:
            found = differences(judged, MemoryFiles(files))
        cases += [
            JudgedCase(claim.name, run, case.subject, case.status)
            for claim in ALL
            if claim.name in CLAIMS
            for case in _cases(claim, judged.histories)
        ]
    lines.write(path)
    return JudgedSet(results, cases, found)


def _cases(claim: Claim, histories: Histories) -> Iterator[Case]:
    messages, run = histories
    if claim.of_message is not None:
        for message in messages:
            yield from claim.of_message(message, run)
    if claim.of_server is not None:
        for server in run.servers.values():
            yield from claim.of_server(server, run)
    if claim.of_run is not None:
        yield from claim.of_run(run, totals_of(messages, run))
