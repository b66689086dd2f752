"""databases_new: a queue database that is made has an id that none had before (SM-7, TP-8).

Asks every row by which a server says that it made one. What had the same id before is in any row of
any server; by the id alone others learn that what a server kept is gone.
"""

from __future__ import annotations

from collections.abc import Iterator

from spark_eval.cases.case import Case, asked, fits
from spark_eval.cases.words import stamp
from spark_eval.claims.claim import Claim
from spark_eval.expected.totals import Totals
from spark_eval.histories.run import Run
from spark_eval.read.plan import LIFECYCLE
from spark_eval.read.rows import LifecycleRow

CREATED = "database-created"


def _cases(run: Run, totals: Totals) -> Iterator[Case]:
    first: dict[str, LifecycleRow] = {}
    for row in sorted(run.lifecycle, key=lambda row: (row.mono_ns or row.at_ms or 0, row.ref)):
        if row.database_id is None:
            continue
        if row.event == CREATED:
            before = first.get(row.database_id)
            wrong = "" if before is None else _wrong(row, before)
            status, detail = fits(wrong)
            yield from asked(
                status, f"{row.server} at {stamp(row.at_ms)}", ("SM-7", "TP-8"), detail, row.at_ms,
                row, before,
            )  # fmt: skip
        first.setdefault(row.database_id, row)


def _wrong(row: LifecycleRow, before: LifecycleRow) -> str:
    return (
        f"{row.server} made a queue database with the id {row.database_id}, which one of "
        f"{before.server} had at {stamp(before.at_ms)} already"
    )


CLAIM = Claim("databases_new", ("SM-7", "TP-8"), needs=frozenset({LIFECYCLE}), of_run=_cases)
