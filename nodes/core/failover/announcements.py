"""Every mailbox server of the boundary is informed which copy is active, until it says from when on
it knows (TP-4).

That time ends the interval that its Safety Net is asked for: what it brought to the copy before
until then may be lost with that copy (SN-4). Who missed one failover is informed of the next alone.
Who knows is reminded all the same: a server keeps it in its queue database, and may lose that.
"""

from __future__ import annotations

from dataclasses import replace

from nodes.core.engine.work import Work
from nodes.core.failover.events import ServerTold
from nodes.core.failover.management_calls import ManagementCalls
from nodes.core.failover.records import Changes, ManagerRecords
from nodes.core.interface.copy_commands import NameActiveCopy
from nodes.core.interface.effects import LogLifecycle
from nodes.core.interface.inputs import ActiveCopyAnswered
from nodes.core.interface.manager_changes import SetAsking, SetTelling
from nodes.core.model.failover import Telling
from nodes.core.model.resubmit_request import SafetyNetSource
from nodes.core.sessions.outbound_session import CopyAnswer

TELL_AGAIN_MS = 60_000
REMIND_MS = 300_000


class Announcements:
    def __init__(self, work: Work, calls: ManagementCalls, records: ManagerRecords) -> None:
        self._work = work
        self._calls = calls
        self._records = records
        self._under_way: set[tuple[str, str]] = set()
        self._reminded: set[tuple[str, str]] = set()
        self._learnt_anew: dict[tuple[str, str], int] = {}

    def begin(self) -> None:
        """Inform everybody who is to be informed and is not being informed."""
        for key in sorted(self._records.tellings):
            self._tell(key)
            self._remind_later(key)

    def _tell(self, key: tuple[str, str]) -> None:
        telling = self._records.tellings[key]
        if telling.learnt_ms is not None or key in self._under_way:
            return
        self._under_way.add(key)
        self._calls.say(
            telling.server,
            NameActiveCopy(telling.database, telling.target, telling.epoch),
            lambda answer: self._answered(telling, answer),
            lambda reason: self._again(key),
        )

    def _answered(self, telling: Telling, answer: CopyAnswer) -> None:
        key = (telling.database, telling.server)
        if not isinstance(answer, ActiveCopyAnswered):
            self._again(key)
            return
        told = replace(telling, learnt_ms=answer.learnt_ms)
        self._records.change(
            lambda: self._changes(told),
            lambda: self._told(told),
            lambda reason: self._again(key),
        )

    def _changes(self, told: Telling) -> Changes:
        """With the end of what its Safety Net is asked for."""
        if self._records.tellings[(told.database, told.server)].epoch == told.epoch:
            return (SetTelling(told), *self._ends(told))
        self._work.at(self._work.now_ms, lambda: self._over((told.database, told.server)))
        return ()

    def _ends(self, told: Telling) -> list[SetAsking]:
        return [
            SetAsking(replace(asking, end_ms=told.learnt_ms, silent_since_ms=self._work.now_ms))
            for asking in self._records.askings.values()
            if (asking.database, asking.server) == (told.database, told.server)
            and asking.source is SafetyNetSource.PRIMARY
            and asking.end_ms is None
        ]

    def _told(self, told: Telling) -> None:
        self._log("active-copy-told", told)
        self._over((told.database, told.server))
        self._work.report(ServerTold(told.database))

    def _remind_later(self, key: tuple[str, str]) -> None:
        if key not in self._reminded:
            self._reminded.add(key)
            self._work.at(self._work.now_ms + REMIND_MS, lambda: self._remind(key))

    def _remind(self, key: tuple[str, str]) -> None:
        telling = self._records.tellings[key]
        if telling.learnt_ms is None:  # it is being informed
            self._reminded_once(key)
            return
        self._calls.say(
            telling.server,
            NameActiveCopy(telling.database, telling.target, telling.epoch),
            lambda answer: self._reminded_of(telling, answer),
            lambda reason: self._reminded_once(key),
        )

    def _reminded_of(self, telling: Telling, answer: CopyAnswer) -> None:
        """One that learnt it just now had forgotten it."""
        key = (telling.database, telling.server)
        if isinstance(answer, ActiveCopyAnswered) and answer.learnt_ms != telling.learnt_ms:
            if self._learnt_anew.get(key) != answer.learnt_ms:
                self._log("active-copy-forgotten", replace(telling, learnt_ms=answer.learnt_ms))
            self._learnt_anew[key] = answer.learnt_ms
        self._reminded_once(key)

    def _reminded_once(self, key: tuple[str, str]) -> None:
        self._reminded.discard(key)
        self._remind_later(key)

    def _again(self, key: tuple[str, str]) -> None:
        self._work.again(TELL_AGAIN_MS, lambda: self._over(key))

    def _over(self, key: tuple[str, str]) -> None:
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
