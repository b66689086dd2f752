"""Whether a shadow message was promoted by when its promotion was due (SM-6, SM-7)."""

from __future__ import annotations

from typing import NamedTuple

from spark_eval.cases.case import HOLDS, UNKNOWN, VIOLATED, Status
from spark_eval.cases.forms import bound
from spark_eval.cases.words import stamp
from spark_eval.expected.shadow.earliness import SPURIOUS, earliness
from spark_eval.expected.shadow.promotions import Promotion
from spark_eval.expected.shadow.shadow_copies import (
    exchange_ms,
    is_coarse,
    near_ms,
    too_coarse,
)
from spark_eval.histories.run import Run
from spark_eval.intervals.interval import FOREVER_MS

LATE, MISSING = "late", "missing"


class Timeliness(NamedTuple):
    """`kind` of a violation: `late` or `missing`; `status` is None where nothing is asked."""

    status: Status | None
    kind: str = ""
    reason: str = ""


_NOT_ASKED, _IN_TIME = Timeliness(None), Timeliness(HOLDS)


def timeliness(promotion: Promotion, run: Run) -> Timeliness:
    if promotion.copy.promoted is None:
        return _missing(promotion, run)
    early = earliness(promotion, run)
    by_ms, at_ms = promotion.not_after_ms, promotion.copy.promoted.at_ms
    if (early is not None and early.kind == SPURIOUS) or by_ms is None:
        return _NOT_ASKED
    if (coarse := _coarse(run)) is not None:
        return coarse
    who = f"{promotion.copy.server.name} promoted at {stamp(at_ms)}: "
    if bound(at_ms, None, by_ms) == VIOLATED:
        return Timeliness(VIOLATED, LATE, f"{who}due by {stamp(by_ms)}: {promotion.cause}")
    prompt_ms = by_ms - exchange_ms(run)
    if promotion.by_database and at_ms > prompt_ms + near_ms(run):
        due = f"due by {stamp(prompt_ms)}, and nothing tells how long its question took"
        return Timeliness(UNKNOWN, "", who + due)
    return _IN_TIME


def _coarse(run: Run) -> Timeliness | None:
    heartbeat_ms = run.config.heartbeat_ms
    if not is_coarse(heartbeat_ms, run):
        return None
    return Timeliness(UNKNOWN, "", too_coarse("a heartbeat", heartbeat_ms, run))


def _missing(promotion: Promotion, run: Run) -> Timeliness:
    copy, server = promotion.copy, promotion.copy.server
    by_ms = promotion.changed_by_ms if promotion.changed_surely else None
    if by_ms is None and promotion.spent is not None:
        by_ms = promotion.spent.by_ms
    if promotion.is_expected and by_ms is not None:
        in_a_hole = not server.shows(copy.held_ms or 0, by_ms)
        if copy.kept.as_primary:
            loaded_ms = FOREVER_MS if copy.kept.loaded_ms is None else copy.kept.loaded_ms
            shown = f"the store of {server.name} shows it promoted, its log does not say when"
            is_known = loaded_ms <= by_ms or in_a_hole
            return _IN_TIME if is_known else Timeliness(UNKNOWN, "", shown)
        if copy.kept.in_safety_net and in_a_hole:
            # let go before a kill that came between its commit and its row
            return _NOT_ASKED
        never = f"{server.name} never promoted it; due by {stamp(by_ms)}: {promotion.cause}"
        return _coarse(run) or Timeliness(VIOLATED, MISSING, never)
    if _may_be_due(promotion, run):
        due = stamp(promotion.changed_by_ms)
        return Timeliness(UNKNOWN, "", f"the run ended before it was surely due, at {due}")
    return _NOT_ASKED


def _may_be_due(promotion: Promotion, run: Run) -> bool:
    copy, reach_ms, end_ms = promotion.copy, promotion.changed_reach_ms, run.end_ms
    if not promotion.changed or reach_ms is None or end_ms is None:
        return False
    asks_by_ms = reach_ms + run.config.heartbeat_ms + copy.slack_ms
    stays_ms = FOREVER_MS if copy.stays_until_ms is None else copy.stays_until_ms
    is_there = copy.discard is None and copy.own_lost_ms is None and not copy.kept.as_primary
    return asks_by_ms <= end_ms < stays_ms and is_there
