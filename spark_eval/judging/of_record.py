"""The judge's door: from the bytes of a record to its judgement. Needs no Spark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from spark_eval.claims.catalogue import ALL
from spark_eval.claims.claim import Claim
from spark_eval.histories.run import Run
from spark_eval.judging import verdict
from spark_eval.judging.asked import asked_of
from spark_eval.judging.judge import Also, Histories, histories_of, nothing, tallies
from spark_eval.judging.judged import Judgement
from spark_eval.judging.results import crashed as result_crashed
from spark_eval.judging.results import result_of
from spark_eval.judging.tally import Tally
from spark_eval.judging.uncollected import uncollected
from spark_eval.read.folder.files import Files


@dataclass(frozen=True, slots=True)
class JudgedRecord(Judgement):
    """With the histories that it was judged by."""

    histories: Histories


def judge(files: Files, claims: Sequence[Claim] = ALL, also: Also = nothing) -> JudgedRecord:
    """Of one whole record. Raises `NoPlanError`, `OSError`."""
    with uncollected():
        histories = histories_of(files)
        judged = judgement(tallies(histories, claims, also), histories.run, claims)
    return JudgedRecord(judged.results, judged.verdict, histories)


def judgement(found: Mapping[str, Tally], run: Run, claims: Sequence[Claim]) -> Judgement:
    """`found`: by claim, of all cases."""
    results = {claim.name: result_of(claim, found[claim.name]) for claim in claims}
    asked = asked_of(run)
    return Judgement(verdict.applied(results, asked), verdict.reach(results, asked))


def crashed(said: str, claims: Sequence[Claim] = ALL) -> Judgement:
    """Of a record that the judge itself broke at, before any claim was asked."""
    results = {claim.name: result_crashed(claim, said) for claim in claims}
    asked = verdict.Asked(proves=(), faults={}, too_coarse="", expected=verdict.PASS)
    return Judgement(results, verdict.reach(results, asked))
