"""Defects of lifecycle logs: steps of promotions, failovers and resubmissions that are not logged,
or otherwise (TL-4).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from defects.defect import Defect
from defects.door import Core, Door, behind
from nodes.core.active_manager import ActiveManager
from nodes.core.interface.effects import Effect, LogLifecycle
from nodes.core.node import Node


class PassesOver(Door):
    """Rows of `event`; `instead` says what is logged."""

    event = "promotion-begun"

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        if isinstance(effect, LogLifecycle) and effect.event == self.event:
            return self.instead(effect)
        return (effect,)

    def instead(self, row: LogLifecycle) -> Iterable[Effect]:
        return ()


class LogsItselfAsThePrimary(PassesOver):
    def instead(self, row: LogLifecycle) -> Iterable[Effect]:
        fields = {**dict(row.fields), "primary": self.me}
        return (replace(row, fields=tuple(fields.items())),)


class LogsNoActiveCopy(PassesOver):
    event = "active-copy"


class LogsTheEpochBefore(LogsNoActiveCopy):
    def instead(self, row: LogLifecycle) -> Iterable[Effect]:
        fields = dict(row.fields)
        fields["epoch"] = max(0, int(fields["epoch"]) - 1)
        return (replace(row, fields=tuple(fields.items())),)


class LogsNoMount(PassesOver):
    event = "failover-mounted"


class LogsNoCompletion(PassesOver):
    event = "resubmit-completed"


class LogsACompletionAnHourLate(LogsNoCompletion):
    def instead(self, row: LogLifecycle) -> Iterable[Effect]:
        self.hold_back(row, 3_600_000)
        return ()


def _defect(
    name: str, summary: str, scenario: str, door: type[Door], core: type[Core] = Node
) -> Defect:
    return Defect(name, summary, "TL-4", scenario, ("steps_logged",), lambda: behind(door, core))


PROMOTED, DIES, LOSSY = "primary-returns-after-promotion", "active-copy-dies", "lossy-failover"
DEFECTS = (
    _defect(
        "logs-no-promotion-that-begins",
        "A server does not log that a promotion begins.",
        PROMOTED, PassesOver,
    ),
    _defect(
        "logs-itself-as-the-primary-of-a-promotion",
        "That a promotion begins is logged with the name of the server that promotes.",
        PROMOTED, LogsItselfAsThePrimary,
    ),
    _defect(
        "logs-no-active-copy-that-it-learns-of",
        "A server does not log that it learns which copy is active.",
        DIES, LogsNoActiveCopy,
    ),
    _defect(
        "logs-an-active-copy-under-the-epoch-before",
        "Which copy is active is logged under the epoch before.",
        DIES, LogsTheEpochBefore,
    ),
    _defect(
        "active-manager-logs-no-copy-that-is-mounted",
        "Active Manager does not log that the new copy is mounted.",
        DIES, LogsNoMount, ActiveManager,
    ),
    _defect(
        "logs-no-request-that-it-completes",
        "A Safety Net does not log that it completed a request.",
        LOSSY, LogsNoCompletion,
    ),
    _defect(
        "logs-a-completed-request-an-hour-late",
        "That a request is complete is logged an hour later.",
        LOSSY, LogsACompletionAnHourLate,
    ),
)  # fmt: skip
