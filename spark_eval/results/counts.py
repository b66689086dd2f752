"""The counts of verdict.json: sums over messages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from spark_eval.expected.mail.deliveries import DELIVERED, EXCUSED, LOST, deliveries
from spark_eval.expected.mail.duplicates import shown_by_promise
from spark_eval.expected.safety_net.lagged_copies import at_risk
from spark_eval.expected.shadow.earliness import EARLY, SPURIOUS, earliness
from spark_eval.expected.shadow.in_queues import SINGLE_COPY
from spark_eval.expected.shadow.promotions import Promotion, promotions_of
from spark_eval.expected.shadow.timeliness import LATE, MISSING, timeliness
from spark_eval.histories.message import Message
from spark_eval.histories.run import Run
from spark_eval.histories.sending import IN_DOUBT, REJECTED
from spark_eval.results.failovers import Returns

_OF_DELIVERY = (
    "expected", "delivered", "lost", "excused", "visible_duplicates", "promised_duplicates",
    "suppressed_duplicates",
    "rejected", "in_doubt", "single_copies",
)  # fmt: skip
_OF_PROMOTION = ("expected", "observed", "missing", "spurious", "early", "late")


@dataclass(slots=True)
class Counts:
    """`delivery` and `promotion` by name; `delays_ms` of promotions after their causes.

    `visible_duplicates` are copies beyond the first, in mailboxes and at recipients outside;
    `promised_duplicates` those of them that DD-4 names;
    `rejected` and `in_doubt` are messages that no attempt got acknowledged; `single_copies`,
    whose shadow vanished with a queue database (SM-17).
    """

    delivery: Counter[str] = field(default_factory=Counter)
    promotion: Counter[str] = field(default_factory=Counter)
    delays_ms: Counter[int] = field(default_factory=Counter)

    def add(self, other: Counts) -> None:
        self.delivery.update(other.delivery)
        self.promotion.update(other.promotion)
        self.delays_ms.update(other.delays_ms)

    def count(self, message: Message, run: Run) -> None:
        self._count_deliveries(message, run)
        if message.attempts:
            self.delivery["rejected"] += message.fate == REJECTED
            self.delivery["in_doubt"] += message.fate == IN_DOUBT
        for row in message.of_event("DUPLICATEDELIVER"):
            self.delivery["suppressed_duplicates"] += len(row.recipients or ())
        self.delivery["single_copies"] += any(
            row.outcome == SINGLE_COPY for each in message.with_dsns for row in each.tracking
        )
        for promotion in promotions_of(message, run):
            self._count_promotion(promotion, run)

    def _count_deliveries(self, message: Message, run: Run) -> None:
        counts = self.delivery
        for each in deliveries(message, run):
            counts["expected"] += each.promised
            counts["delivered"] += each.promised and each.outcome == DELIVERED
            counts["lost"] += each.outcome == LOST
            counts["excused"] += each.outcome == EXCUSED
            counts["visible_duplicates"] += max(len(each.copies) - 1, 0)
            counts["promised_duplicates"] += shown_by_promise(each.copies, run)

    def _count_promotion(self, promotion: Promotion, run: Run) -> None:
        counts, promoted_ms = self.promotion, promotion.copy.promoted_ms
        on_time, early = timeliness(promotion, run), earliness(promotion, run)
        early_kind, late_kind = early.kind if early else "", on_time.kind
        is_legal = promoted_ms is not None and early_kind != SPURIOUS
        counts["expected"] += promotion.is_expected or is_legal
        counts["observed"] += promoted_ms is not None
        counts["missing"] += late_kind == MISSING
        counts["spurious"] += early_kind == SPURIOUS
        counts["early"] += early_kind == EARLY
        counts["late"] += late_kind == LATE
        if promoted_ms is not None and promotion.due_ms is not None:
            self.delays_ms[promoted_ms - promotion.due_ms] += 1

    def numbers(self, returns: Returns, run: Run) -> dict[str, dict[str, Any]]:
        """`delivery`, `promotion` and `safety_net` as verdict.json has them; delays in seconds."""
        seconds = _seconds(self.delays_ms)
        return {
            "delivery": {name: self.delivery[name] for name in _OF_DELIVERY},
            "promotion": {name: self.promotion[name] for name in _OF_PROMOTION}
            | {"delay_seconds": seconds},
            "safety_net": {**returns.numbers(run), "at_risk": at_risk(run)},
        }


def _seconds(delays_ms: Mapping[int, int]) -> dict[str, float | None]:
    told = sorted(Counter(delays_ms).elements())
    if not told:
        return dict.fromkeys(("min", "median", "max"))
    return {
        "min": round(told[0] / 1000, 3),
        "median": round(median(each / 1000 for each in told), 3),
        "max": round(told[-1] / 1000, 3),
    }


# of a run that could not be judged
NO_DELIVERY = dict.fromkeys(
    _OF_DELIVERY, 0
)  # fmt: skip
NO_SAFETY_NET = {
    **dict.fromkeys(
        ("requests", "expected", "resubmitted", "missing", "outside", "from_primary",
         "from_shadow"), 0,
    ),
    "at_risk": [],
}  # fmt: skip
NO_PROMOTION = {
    **dict.fromkeys(("expected", "observed", "missing", "spurious", "early", "late"), 0),
    "delay_seconds": {"min": None, "median": None, "max": None},
}
