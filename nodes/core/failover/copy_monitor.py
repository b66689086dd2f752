"""What Active Manager sees of the copies: each is asked every few seconds where it stands (TP-6).

Only what was answered lately counts. Three misses in a row, and the copy is silent: its server is
gone, or the link to it; from here the two look alike.
"""

from __future__ import annotations

from dataclasses import dataclass

from nodes.core.config.config import NodeConfig
from nodes.core.engine.waiting import Waiting
from nodes.core.engine.work import Work
from nodes.core.failover.events import CopySeen
from nodes.core.failover.managed_databases import managed_databases
from nodes.core.failover.management_calls import ManagementCalls
from nodes.core.interface.copy_commands import AskCopyStatus
from nodes.core.interface.effects import LogLifecycle
from nodes.core.interface.inputs import CopyStatusAnswered
from nodes.core.model.database_copy import CopyStatus
from nodes.core.sessions.outbound_session import CopyAnswer

WATCH_MS = 15_000
MISSES = 3


@dataclass(slots=True)
class Seen:
    """One copy. `status` is the last that was reported, None before the first and while silent.
    `is_void`: the answer that is awaited is out of date.
    """

    status: CopyStatus | None = None
    last_log: int = 0
    misses: int = 0
    reason: str = ""
    is_asked: bool = False
    is_void: bool = False

    @property
    def is_silent(self) -> bool:
        return self.misses >= MISSES


@dataclass(frozen=True, slots=True)
class StatusQuestion(Waiting):
    """Where does that copy stand?"""

    monitor: CopyMonitor
    database: str
    server: str

    def answered(self, answer: CopyAnswer) -> None:
        self.monitor.answered(self.database, self.server, answer)

    def failed(self, reason: str) -> None:
        self.monitor.missed(self.database, self.server, reason)

    def __str__(self) -> str:
        return f"looks whether {self.database} has an active copy"


@dataclass(frozen=True, slots=True)
class AllCopies(Waiting):
    monitor: CopyMonitor

    def __call__(self) -> None:
        self.monitor.begin()

    def __str__(self) -> str:
        return "asks every copy where it stands"


class CopyMonitor:
    def __init__(self, config: NodeConfig, work: Work, calls: ManagementCalls) -> None:
        self._work = work
        self._calls = calls
        self._seen = {
            (name, copy.server): Seen()
            for name in managed_databases(config)
            for copy in config.copies[name]
        }

    def begin(self) -> None:
        for database, server in self._seen:
            self.look(database, server)
        if self._seen:
            self._work.at(self._work.now_ms + WATCH_MS, AllCopies(self))

    def seen(self, database: str, server: str) -> Seen:
        return self._seen[(database, server)]

    def forget(self, database: str) -> None:
        """Another copy is active, or was to be: nothing seen before counts."""
        for (name, _), seen in self._seen.items():
            if name == database:
                seen.status, seen.misses, seen.is_void = None, 0, seen.is_asked

    def look(self, database: str, server: str) -> None:
        """Ask now, unless an answer is awaited."""
        seen = self._seen[(database, server)]
        if seen.is_asked:
            return
        seen.is_asked = True
        question = StatusQuestion(self, database, server)
        self._calls.say(
            server,
            AskCopyStatus(database),
            question.answered,
            question.failed,
        )

    def answered(self, database: str, server: str, answer: CopyAnswer) -> None:
        if not isinstance(answer, CopyStatusAnswered):
            self.missed(database, server, _refusal(answer))
            return
        seen = self._seen[(database, server)]
        if self._was_void(database, server):
            return
        if seen.is_silent:
            self._log("copy-reachable", database, server, "")
        seen.is_asked, seen.misses, seen.status = False, 0, answer.status
        seen.last_log = answer.status.last_log
        self._work.report(CopySeen(database))

    def missed(self, database: str, server: str, reason: str) -> None:
        seen = self._seen[(database, server)]
        if self._was_void(database, server):
            return
        seen.is_asked, seen.reason = False, reason
        seen.misses += 1
        if seen.misses == MISSES:
            seen.status = None
            self._log("copy-silent", database, server, reason)
        self._work.report(CopySeen(database))

    def _was_void(self, database: str, server: str) -> bool:
        """Then it is asked again at once."""
        seen = self._seen[(database, server)]
        was_void, seen.is_void = seen.is_void, False
        if was_void:
            seen.is_asked = False
            self.look(database, server)
        return was_void

    def _log(self, event: str, database: str, server: str, reason: str) -> None:
        fields = (("database", database), ("server", server), ("reason", reason))
        self._work.emit(LogLifecycle(event, fields))


def _refusal(answer: CopyAnswer) -> str:
    code, text = getattr(answer, "code", ""), getattr(answer, "text", "")
    return f"{code} {text}".strip() or "another answer"
