"""promotion_on_time: what should have been promoted was, and by when it was due (SM-6, SM-7).

Asks every shadow whose promotion was surely due and every promotion that happened;
`expect.promotions` narrows: each entry must have happened, and only between `after` and `after +
within`.
"""

from __future__ import annotations

from collections.abc import Iterator

from spark_eval.cases.case import HOLDS, UNKNOWN, VIOLATED, Case, Status, refs
from spark_eval.cases.words import stamp
from spark_eval.claims.claim import Claim
from spark_eval.expected.shadow.earliness import SPURIOUS, earliness
from spark_eval.expected.shadow.promotions import Promotion, promotions_of
from spark_eval.expected.shadow.shadow_copies import (
    exchange_ms,
    is_coarse,
    near_ms,
    too_coarse,
)
from spark_eval.expected.totals import Totals
from spark_eval.histories.message import Message
from spark_eval.histories.run import Run
from spark_eval.intervals.interval import FOREVER_MS, touches
from spark_eval.read.plan import TRACKING

LATE, MISSING = "late", "missing"


def _cases(message: Message, run: Run) -> Iterator[Case]:
    for each in (message, *message.dsns):
        for promotion in promotions_of(each, run):
            if (judged := timeliness(promotion, run)) is not None:
                status, _, detail = judged
                at_ms, by_ms = promotion.copy.promoted_ms, promotion.not_after_ms
                late_ms = at_ms - by_ms if at_ms is not None and by_ms is not None else 1e12
                promoted, held = promotion.copy.promoted, promotion.copy.held
                yield Case(
                    status,
                    each.message_id,
                    ("SM-7" if promotion.by_database else "SM-6",),
                    detail,
                    by_ms if at_ms is None else at_ms,
                    refs(promoted.ref if promoted else None, held.ref if held else None),
                    weight=late_ms,
                    server=promotion.copy.server.name,
                )


def timeliness(promotion: Promotion, run: Run) -> tuple[Status, str, str] | None:
    """Status, kind and reason; None where it is not asked."""
    if promotion.copy.promoted is None:
        return _missing(promotion, run)
    early = earliness(promotion, run)
    by_ms, at_ms = promotion.not_after_ms, promotion.copy.promoted.at_ms
    if (early is not None and early.kind == SPURIOUS) or by_ms is None:
        return None
    heartbeat_ms = run.config.heartbeat_ms
    if is_coarse(heartbeat_ms, run):
        return UNKNOWN, "", too_coarse("a heartbeat", heartbeat_ms, run)
    who = f"{promotion.copy.server.name} promoted at {stamp(at_ms)}: "
    if at_ms > by_ms:
        return VIOLATED, LATE, f"{who}due by {stamp(by_ms)}: {promotion.cause}"
    prompt_ms = by_ms - exchange_ms(run)
    if promotion.by_database and at_ms > prompt_ms + near_ms(run):
        return (
            UNKNOWN,
            "",
            (f"{who}due by {stamp(prompt_ms)}, and nothing tells how long its question took"),
        )
    return HOLDS, "", ""


def _missing(promotion: Promotion, run: Run) -> tuple[Status, str, str] | None:
    copy, server = promotion.copy, promotion.copy.server
    by_ms = promotion.changed_by_ms if promotion.changed_surely else None
    if by_ms is None and promotion.spent is not None:
        by_ms = promotion.spent.by_ms
    if promotion.is_expected and by_ms is not None:
        in_a_hole = touches(server.holes, copy.held_ms or 0, by_ms)
        if copy.kept.as_primary:
            loaded_ms = FOREVER_MS if copy.kept.loaded_ms is None else copy.kept.loaded_ms
            if loaded_ms <= by_ms or in_a_hole:
                return HOLDS, "", ""
            return (
                UNKNOWN,
                "",
                (f"the store of {server.name} shows it promoted, its log does not say when"),
            )
        if copy.kept.in_safety_net and in_a_hole:
            # let go before a kill that came between its commit and its row
            return None
        heartbeat_ms = run.config.heartbeat_ms
        if is_coarse(heartbeat_ms, run):
            return UNKNOWN, "", too_coarse("a heartbeat", heartbeat_ms, run)
        due = stamp(by_ms)
        detail = f"{server.name} never promoted it; due by {due}: {promotion.cause}"
        return VIOLATED, MISSING, detail
    if _may_be_due(promotion, run):
        due = stamp(promotion.changed_by_ms)
        return UNKNOWN, "", f"the run ended before it was surely due, at {due}"
    return None


def _may_be_due(promotion: Promotion, run: Run) -> bool:
    copy, reach_ms, end_ms = promotion.copy, promotion.changed_reach_ms, run.end_ms
    if not promotion.changed or reach_ms is None or end_ms is None:
        return False
    asks_by_ms = reach_ms + run.config.heartbeat_ms + copy.slack_ms
    stays_ms = FOREVER_MS if copy.stays_until_ms is None else copy.stays_until_ms
    is_there = copy.discard is None and copy.own_lost_ms is None and not copy.kept.as_primary
    return asks_by_ms <= end_ms < stays_ms and is_there


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
            HOLDS if seen and not strays else VIOLATED,
            f"expect.promotions of {primary}",
            (),
            f"{len(seen)} promotions by {entry.cause}, {len(strays)} of them outside "
            f"{stamp(after_ms)} to {by}",
            first.at_ms if first else after_ms,
            refs(first.ref if first else None),
            weight=len(strays),
            expected=True,
        )


CLAIM = Claim(
    "promotion_on_time",
    ("SM-6", "SM-7"),
    needs=frozenset({TRACKING}),
    of_message=_cases,
    of_run=_as_expected,
)
