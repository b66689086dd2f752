"""Every mailbox server of the boundary is informed which copy is active, until it says from when on
it knows (TP-4).

That time ends the interval that its Safety Net is asked for: what it brought to the copy before
until then may be lost with that copy (SN-4). Who missed one failover is informed of the next alone.
Who knows is reminded all the same: a server keeps it in its queue database, and may lose that.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

from nodes.core.engine.waiting import Waiting
from nodes.core.engine.work import Work
from nodes.core.failover.events import ServerTold
from nodes.core.failover.management_calls import ManagementCalls
from nodes.core.failover.records import Changes, ManagerRecords, Writing
from nodes.core.interface.copy_commands import NameActiveCopy
from nodes.core.interface.effects import LogLifecycle
from nodes.core.interface.inputs import ActiveCopyAnswered
from nodes.core.interface.manager_changes import SetAsking, SetTelling
from nodes.core.model.failover import Telling
from nodes.core.model.resubmit_request import SafetyNetSource
from nodes.core.sessions.outbound_session import CopyAnswer

TELL_AGAIN_MS = 60_000
REMIND_MS = 300_000

Key: TypeAlias = tuple[str, str]
"""Database and server."""


@dataclass(frozen=True, slots=True)
class Announcement(Waiting):
    """A server is informed."""

    announcements: Announcements
    telling: Telling

    def answered(self, answer: CopyAnswer) -> None:
        self.announcements.answered(self.telling, answer)

    def failed(self, reason: str) -> None:
        self.announcements.again(key_of(self.telling))

    def __str__(self) -> str:
        return f"writes down since when {self.telling.server} knows"


@dataclass(frozen=True, slots=True)
class Learnt(Writing):
    """It knows, with the end of what its Safety Net is asked for."""

    announcements: Announcements
    telling: Telling

    def changes(self) -> Changes:
        return self.announcements.changes(self.telling)

    def written(self, changes: Changes) -> None:
        self.announcements.told(self.telling)

    def refused(self, reason: str) -> None:
        self.announcements.again(key_of(self.telling))

    def __str__(self) -> str:
        return f"asks what {self.telling.server} delivered to {self.telling.database} before"


@dataclass(frozen=True, slots=True)
class NextAnnouncement(Waiting):
    announcements: Announcements
    key: Key

    def __call__(self) -> None:
        self.announcements.over(self.key)

    def __str__(self) -> str:
        database, server = self.key
        return f"informs {server} which copy of {database} is active, if it is not yet"


@dataclass(frozen=True, slots=True)
class Reminder(Waiting):
    """A server is reminded of what it knows, unless it forgot."""

    announcements: Announcements
    telling: Telling

    def answered(self, answer: CopyAnswer) -> None:
        self.announcements.reminded(self.telling, answer)

    def failed(self, reason: str) -> None:
        self.announcements.reminded_once(key_of(self.telling))

    def __str__(self) -> str:
        return f"reminds {self.telling.server} of {self.telling.database} again later"


@dataclass(frozen=True, slots=True)
class NextReminder(Waiting):
    announcements: Announcements
    key: Key

    def __call__(self) -> None:
        self.announcements.remind(self.key)

    def __str__(self) -> str:
        database, server = self.key
        return f"reminds {server} which copy of {database} is active"


class Announcements:
    def __init__(self, work: Work, calls: ManagementCalls, records: ManagerRecords) -> None:
        self._work = work
        self._calls = calls
        self._records = records
        self._under_way: set[Key] = set()
        self._reminded: set[Key] = set()
        self._learnt_anew: dict[Key, int] = {}

    def begin(self) -> None:
        """Inform everybody who is to be informed and is not being informed."""
        for key in sorted(self._records.tellings):
            self._tell(key)
            self._remind_later(key)

    def _tell(self, key: Key) -> None:
        telling = self._records.tellings[key]
        if telling.learnt_ms is not None or key in self._under_way:
            return
        self._under_way.add(key)
        announcement = Announcement(self, telling)
        self._calls.say(
            telling.server,
            NameActiveCopy(telling.database, telling.target, telling.epoch),
            announcement.answered,
            announcement.failed,
        )

    def answered(self, telling: Telling, answer: CopyAnswer) -> None:
        if not isinstance(answer, ActiveCopyAnswered):
            self.again(key_of(telling))
            return
        self._records.change(Learnt(self, replace(telling, learnt_ms=answer.learnt_ms)))

    def changes(self, told: Telling) -> Changes:
        """With the end of what its Safety Net is asked for."""
        if self._records.tellings[key_of(told)].epoch == told.epoch:
            return (SetTelling(told), *self._ends(told))
        self._work.at(self._work.now_ms, NextAnnouncement(self, key_of(told)))
        return ()

    def _ends(self, told: Telling) -> list[SetAsking]:
        return [
            SetAsking(replace(asking, end_ms=told.learnt_ms, silent_since_ms=self._work.now_ms))
            for asking in self._records.askings.values()
            if (asking.database, asking.server) == key_of(told)
            and asking.source is SafetyNetSource.PRIMARY
            and asking.end_ms is None
        ]

    def told(self, told: Telling) -> None:
        self._log("active-copy-told", told)
        self.over(key_of(told))
        self._work.report(ServerTold(told.database))

    def _remind_later(self, key: Key) -> None:
        if key not in self._reminded:
            self._reminded.add(key)
            self._work.at(self._work.now_ms + REMIND_MS, NextReminder(self, key))

    def remind(self, key: Key) -> None:
        telling = self._records.tellings[key]
        if telling.learnt_ms is None:  # it is being informed
            self.reminded_once(key)
            return
        reminder = Reminder(self, telling)
        self._calls.say(
            telling.server,
            NameActiveCopy(telling.database, telling.target, telling.epoch),
            reminder.answered,
            reminder.failed,
        )

    def reminded(self, telling: Telling, answer: CopyAnswer) -> None:
        """One that learnt it just now had forgotten it."""
        key = key_of(telling)
        if isinstance(answer, ActiveCopyAnswered) and answer.learnt_ms != telling.learnt_ms:
            if self._learnt_anew.get(key) != answer.learnt_ms:
                self._log("active-copy-forgotten", replace(telling, learnt_ms=answer.learnt_ms))
            self._learnt_anew[key] = answer.learnt_ms
        self.reminded_once(key)

    def reminded_once(self, key: Key) -> None:
        self._reminded.discard(key)
        self._remind_later(key)

    def again(self, key: Key) -> None:
        self._work.again(TELL_AGAIN_MS, NextAnnouncement(self, key))

    def over(self, key: Key) -> None:
        """This time is over; whether there is more to announce is seen now."""
        self._under_way.discard(key)
        self._tell(key)

    def _log(self, event: str, told: Telling) -> None:
        fields = (
            ("database", told.database),
            ("epoch", told.epoch),
            ("active", told.target),
            ("server", told.server),
            ("learnt_ms", told.learnt_ms or 0),
        )
        self._work.emit(LogLifecycle(event, fields))


def key_of(telling: Telling) -> Key:
    return (telling.database, telling.server)
