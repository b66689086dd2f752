"""The protocol of a claim: a plain function from a history to cases.

A claim names its requirements and the histories that it asks; each case holds, is violated or is
unknown. A claim that finds nothing to ask yields nothing. Refuses to count: `judging` does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from spark_eval.cases.case import Case
from spark_eval.expected.totals import Totals
from spark_eval.histories.message import Message
from spark_eval.histories.organisation.server import Server
from spark_eval.histories.run import Run
from spark_eval.read.plan import Evidence


@dataclass(frozen=True, slots=True)
class Claim:
    """`of_message`, `of_server` and `of_run` are asked of each history of that grain; of a run with
    the totals of its messages. `needs`: what the record of a server has to be able to show; of one
    that lacks any of it nothing is asked (`judging.evidence`).
    """

    name: str
    requirements: tuple[str, ...]
    needs: frozenset[Evidence] = frozenset()
    of_message: Callable[[Message, Run], Iterator[Case]] | None = None
    of_server: Callable[[Server, Run], Iterator[Case]] | None = None
    of_run: Callable[[Run, Totals], Iterator[Case]] | None = None
