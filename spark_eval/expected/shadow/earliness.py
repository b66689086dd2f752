"""Whether a shadow message was promoted before its cause, without one, or after its discard."""

from __future__ import annotations

from typing import NamedTuple

from spark_eval.cases.case import HOLDS, UNKNOWN, VIOLATED, Status
from spark_eval.cases.words import stamp
from spark_eval.expected.shadow.promotions import Promotion
from spark_eval.expected.shadow.shadow_copies import is_coarse, too_coarse
from spark_eval.histories.run import Run
from spark_eval.read.rows import TrackingRow

SPURIOUS, EARLY = "spurious", "early"


class Earliness(NamedTuple):
    """`kind` of a violation: `spurious`, without a cause, or `early`."""

    status: Status
    kind: str = ""
    reason: str = ""


def earliness(promotion: Promotion, run: Run) -> Earliness | None:
    """None of what is not asked: not promoted, its primary never out of reach."""
    copy = promotion.copy
    if copy.promoted is None:
        return Earliness(HOLDS) if promotion.was_tempted else None
    who = f"{copy.server.name} promoted at {stamp(copy.promoted.at_ms)}: "
    if copy.shadow.promotions > 1:
        return Earliness(VIOLATED, SPURIOUS, f"{who}promoted {copy.shadow.promotions} times")
    if _was_let_go(copy.discard, copy.promoted):
        came = stamp(copy.discard_ms)
        return Earliness(VIOLATED, SPURIOUS, f"{who}its discard notification had come at {came}")
    if promotion.by_database:
        return _by_database(promotion, who, run)
    return _by_span(promotion, who, copy.promoted.at_ms, run)


def _was_let_go(discard: TrackingRow | None, promoted: TrackingRow) -> bool:
    if discard is None:
        return False
    if discard.mono_ns is not None and promoted.mono_ns is not None:
        return discard.mono_ns < promoted.mono_ns
    return discard.at_ms < promoted.at_ms


def _by_database(promotion: Promotion, who: str, run: Run) -> Earliness:
    copy, lost_ms = promotion.copy, promotion.copy.primary_lost_ms
    if not copy.era_known:
        had = f"{who}nothing tells which database {copy.primary_name} had"
        return Earliness(UNKNOWN, "", had)
    if lost_ms is None:
        had = f"{who}{copy.primary_name} still had the database it was made under"
        return Earliness(VIOLATED, SPURIOUS, had)
    if (copy.promoted_ms or 0) < lost_ms - run.finest_ms:
        return Earliness(VIOLATED, EARLY, f"{who}the new database came at {stamp(lost_ms)}")
    return Earliness(HOLDS)


def _by_span(promotion: Promotion, who: str, at_ms: int, run: Run) -> Earliness:
    in_reach = Earliness(
        VIOLATED, SPURIOUS, f"{who}{promotion.copy.primary_name} was not out of reach"
    )
    span_ms = run.config.span_ms
    if is_coarse(span_ms, run):
        return Earliness(UNKNOWN, "", too_coarse("the resubmit time span", span_ms, run))
    if promotion.outage is None and promotion.contact_ms is None:
        return in_reach
    over_ms, surely_ms = promotion.span_over_ms, promotion.span_surely_over_ms
    if over_ms is not None and at_ms < over_ms - run.finest_ms:
        last, not_before = stamp(promotion.contact_lo_ms), stamp(over_ms)
        reason = f"{who}last contact {last}, so not before {not_before}"
        return Earliness(VIOLATED, EARLY, reason)
    if promotion.outage is None:
        return in_reach
    if surely_ms is not None and at_ms < surely_ms - run.finest_ms:
        lo, hi = stamp(promotion.contact_lo_ms), stamp(promotion.contact_hi_ms)
        return Earliness(UNKNOWN, "", f"{who}last contact lies between {lo} and {hi}")
    return Earliness(HOLDS)
