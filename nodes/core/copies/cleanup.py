"""The background clean-up of DeliveredTo: each copy of a mailbox database here loses what no window
covers any more, every `Background Cleanup` (DD-5).

It decides nothing about duplicates: an entry counts as gone when its window is over (DD-2). So each
copy does this by itself, passive ones too, and no log says it.
"""

from __future__ import annotations

from collections import Counter

from nodes.core.config.config import NodeConfig
from nodes.core.engine.work import Work
from nodes.core.interface.effects import CleanUpDeliveredTo, LogLifecycle
from nodes.core.interface.inputs import DeliveredToCleanedUp

PAGE = 10_000
"""Rows a transaction: deliveries wait for no more than that."""


class BackgroundCleanup:
    def __init__(self, config: NodeConfig, work: Work) -> None:
        self._config = config
        self._work = work
        self._removed: Counter[str] = Counter()

    def opened(self) -> None:
        """After a start: the first is due after a whole interval."""
        me = self._config.me.name
        for database, copies in sorted(self._config.copies.items()):
            if any(copy.server == me for copy in copies):
                self._wait(database)

    def _wait(self, database: str) -> None:
        due_ms = self._work.now_ms + self._config.cleanup_intervals_ms[database]
        self._work.at(due_ms, lambda: self._begin(database))

    def _begin(self, database: str) -> None:
        self._removed[database] = 0
        self._ask(database)
        self._wait(database)

    def _ask(self, database: str) -> None:
        """An entry as old as the window still counts."""
        before_ms = self._work.now_ms - self._config.duplicate_windows_ms[database]
        self._work.emit(CleanUpDeliveredTo(database, before_ms, PAGE))

    def cleaned_up(self, answer: DeliveredToCleanedUp) -> None:
        self._removed[answer.database] += answer.removed
        if answer.failure:
            self._log("cleanup-failed", answer.database, ("reason", answer.failure))
        elif answer.more:
            self._ask(answer.database)
        else:
            removed = self._removed[answer.database]
            self._log(
                "delivered-to-cleaned-up",
                answer.database,
                ("removed", removed),
                ("left", answer.left),
            )

    def _log(self, event: str, database: str, *fields: tuple[str, str | int]) -> None:
        self._work.emit(LogLifecycle(event, (("database", database), *fields)))
