"""promotion_on_time: what should have been promoted was, and by when it was due (SM-6, SM-7), also
where the primary server is gone for good or came anew (TP-8).

Asks every shadow whose promotion was surely due and every promotion that happened;
`expect.promotions` narrows: each entry must have happened, and only between `after` and `after +
within`.
"""

from __future__ import annotations

from collections.abc import Iterator

from spark_eval.cases.case import HOLDS, VIOLATED, Case, asked, refs
from spark_eval.cases.words import stamp
from spark_eval.claims.claim import Claim
from spark_eval.expected.shadow.promotions import Promotion, promotions_of
from spark_eval.expected.shadow.timeliness import timeliness
from spark_eval.expected.totals import Totals
from spark_eval.histories.message import Message
from spark_eval.histories.run import Run
from spark_eval.read.plan import TRACKING


def _cases(message: Message, run: Run) -> Iterator[Case]:
    for each in message.with_dsns:
        for promotion in promotions_of(each, run):
            status, _, detail = timeliness(promotion, run)
            at_ms, by_ms = promotion.copy.promoted_ms, promotion.not_after_ms
            yield from asked(
                status, each.message_id, tuple(_requirements(promotion)), detail,
                by_ms if at_ms is None else at_ms, promotion.copy.promoted, promotion.copy.held,
                weight=at_ms - by_ms if at_ms is not None and by_ms is not None else 1e12,
                server=promotion.copy.server.name,
            )  # fmt: skip


def _requirements(promotion: Promotion) -> Iterator[str]:
    yield "SM-7" if promotion.by_database else "SM-6"
    primary = promotion.copy.primary
    if primary is not None and primary.disks_lost:
        yield "TP-8"


def _as_expected(run: Run, totals: Totals) -> Iterator[Case]:
    """Each entry of `expect.promotions`."""
    for entry in run.expect.promotions or ():
        primary, after_ms = (entry.of or "").lower(), entry.after_ms or 0
        until_ms = None if entry.within_ms is None else after_ms + entry.within_ms
        seen = [
            each for each in totals.promoted if (each.primary, each.cause) == (primary, entry.cause)
        ]
        strays = [
            each
            for each in seen
            if each.at_ms < after_ms - run.finest_ms
            or (until_ms is not None and each.at_ms > until_ms + run.finest_ms)
        ]
        first = min(strays, key=lambda each: (each.at_ms, each.ref), default=None)
        by = stamp(run.end_ms if until_ms is None else until_ms)
        yield Case(
            HOLDS if seen and not strays else VIOLATED, f"expect.promotions of {primary}", (),
            f"{len(seen)} promotions by {entry.cause}, {len(strays)} of them outside "
            f"{stamp(after_ms)} to {by}",
            first.at_ms if first else after_ms, refs(first), len(strays),
            expected=True,
        )  # fmt: skip


CLAIM = Claim(
    "promotion_on_time",
    ("SM-6", "SM-7", "TP-8"),
    needs=frozenset({TRACKING}),
    of_message=_cases,
    of_run=_as_expected,
)
