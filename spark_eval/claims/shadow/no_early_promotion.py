"""no_early_promotion: nothing is promoted before its cause, without one, or after its discard.

Asks every promotion, and every shadow held while its primary was out of reach, which is where an
impatient server would promote (SM-6, SM-7, SM-8, SR-10); those that were held while their server's
clock was wrong are asked for SM-18 too. Where `expect.promotions` is given, a promotion that no
entry names is a violation as well.
"""

from __future__ import annotations

from collections.abc import Iterator

from spark_eval.cases.case import HOLDS, VIOLATED, Case, asked, refs
from spark_eval.claims.claim import Claim
from spark_eval.expected.shadow.earliness import Earliness, earliness
from spark_eval.expected.shadow.promotions import Promotion, promotions_of, while_held
from spark_eval.expected.totals import Totals
from spark_eval.fault_kinds import AWAY_KINDS
from spark_eval.histories.message import Message
from spark_eval.histories.run import Run
from spark_eval.intervals.interval import touches
from spark_eval.read.plan import TRACKING


def _cases(message: Message, run: Run) -> Iterator[Case]:
    for each in message.with_dsns:
        for promotion in promotions_of(each, run):
            if (early := earliness(promotion, run)) is not None:
                yield from _case(each, promotion, early, run)


def _case(message: Message, promotion: Promotion, early: Earliness, run: Run) -> Iterator[Case]:
    copy, at_ms = promotion.copy, promotion.copy.promoted_ms
    before_ms = promotion.not_before_ms
    yield from asked(
        early.status, message.message_id, _requirements(promotion, early, run), early.reason,
        copy.held_ms if at_ms is None else at_ms, copy.promoted, copy.held, copy.discard,
        weight=before_ms - at_ms if before_ms is not None and at_ms is not None else 0,
        server=copy.server.name,
    )  # fmt: skip


def _requirements(promotion: Promotion, early: Earliness, run: Run) -> tuple[str, ...]:
    copy, held = promotion.copy, while_held(promotion.copy, run)
    away = copy.primary.away(*AWAY_KINDS) if copy.primary else ()
    wrong = touches(run.wrong_clocks.get(copy.server.name, ()), *held)
    by_cause = _by_cause(promotion, early, was_away=touches(away, *held))
    return (*by_cause, *(("SM-18",) if wrong else ()))


def _by_cause(promotion: Promotion, early: Earliness, *, was_away: bool) -> tuple[str, ...]:
    if promotion.by_database:
        return ("SM-7",)
    if promotion.copy.promoted is not None:
        came_back = early.status == VIOLATED and not promotion.changed and was_away
        return ("SM-6", "SM-8") if came_back else ("SM-6",)
    if was_away:
        return ("SM-7",) if promotion.changed else ("SM-8",)
    return ("SM-6",)


def _unexpected(run: Run, totals: Totals) -> Iterator[Case]:
    """What no entry of `expect.promotions` names."""
    if run.expect.promotions is None:
        return
    entries = {((entry.of or "").lower(), entry.cause) for entry in run.expect.promotions}
    strays = [each for each in totals.promoted if (each.primary, each.cause) not in entries]
    first = min(strays, key=lambda each: (each.at_ms, each.message_id, each.ref), default=None)
    detail = ""
    if first is not None:
        detail = (
            f"{len(strays)} promotions that no entry names, the first by {first.server} of "
            f"{first.primary}, {first.cause}"
        )
    yield Case(
        VIOLATED if strays else HOLDS, "expect.promotions", (), detail, first.at_ms if first else 0,
        refs(first), expected=True,
    )  # fmt: skip


CLAIM = Claim(
    "no_early_promotion",
    ("SM-6", "SM-7", "SM-8", "SM-18"),
    needs=frozenset({TRACKING}),
    of_message=_cases,
    of_run=_unexpected,
)
