"""Safety Nets are asked for what the new active copy may lack, each until it has given it all back
(SN-4, SN-6, SN-7).

Asked again with the same id it is the same request there, so a lost answer costs nothing. A primary
that has not answered for 12 h, counted on disk, is stood in for by every other server of its
boundary, once; it is asked all the same when it is back, for what it delivered since. Nobody is
asked for longer than a Safety Net can hold what is asked for.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

from nodes.core.config.config import NodeConfig
from nodes.core.engine.waiting import Waiting
from nodes.core.engine.work import Work
from nodes.core.failover.events import AskingClosed
from nodes.core.failover.management_calls import ManagementCalls
from nodes.core.failover.records import Changes, ManagerRecords, Writing
from nodes.core.interface.effects import LogLifecycle
from nodes.core.interface.inputs import ResubmitAnswered, ResubmitRefused
from nodes.core.interface.manager_changes import InsertAsking, SetAsking
from nodes.core.model.failover import Asking, AskingState
from nodes.core.model.lab_time import iso
from nodes.core.model.resubmit_request import ResubmitState, SafetyNetSource
from nodes.core.routing.boundary import members
from nodes.core.sessions.outbound_session import ResubmitAnswer

ASK_AGAIN_MS = 60_000
SILENCE_MS = 12 * 3_600_000
"""How long a primary is waited for before the others are asked in its place (SN-7)."""

Key: TypeAlias = tuple[str, str]
"""Request id and server."""


@dataclass(frozen=True, slots=True)
class SafetyNetCall(Waiting):
    """A Safety Net is asked."""

    requests: SafetyNetRequests
    key: Key

    def answered(self, answer: ResubmitAnswer) -> None:
        self.requests.answered(self.key, answer)

    def failed(self, reason: str) -> None:
        self.requests.again(self.key)

    def __str__(self) -> str:
        return "writes down what it resubmitted, or asks again"


@dataclass(frozen=True, slots=True)
class NextCall(Waiting):
    requests: SafetyNetRequests
    key: Key

    def __call__(self) -> None:
        self.requests.ask_again(self.key)

    def __str__(self) -> str:
        request_id, server = self.key
        return f"asks the Safety Net of {server} for {request_id} again"


@dataclass(frozen=True, slots=True)
class Look(Waiting):
    requests: SafetyNetRequests
    key: Key

    def __call__(self) -> None:
        self.requests.look(self.key)

    def __str__(self) -> str:
        request_id, server = self.key
        return f"looks whether {server} is silent of {request_id}"


@dataclass(frozen=True, slots=True)
class RequestWriting(Writing):
    requests: SafetyNetRequests
    key: Key


@dataclass(frozen=True, slots=True)
class Heard(RequestWriting):
    """A Safety Net has answered."""

    answer: ResubmitAnswered

    @property
    def is_complete(self) -> bool:
        return self.answer.state is ResubmitState.COMPLETED

    def changes(self) -> Changes:
        return self.requests.of_answer(self.key, self.answer, is_complete=self.is_complete)

    def written(self, changes: Changes) -> None:
        if self.is_complete:
            self.requests.closed(self.key)
        else:
            self.requests.again(self.key)

    def refused(self, reason: str) -> None:
        self.requests.again(self.key)

    def __str__(self) -> str:
        return f"has done with {self.key[1]}" if self.is_complete else f"asks {self.key[1]} again"


@dataclass(frozen=True, slots=True)
class NoMore(RequestWriting):
    """Its Safety Net holds nothing of it any more."""

    def changes(self) -> Changes:
        return self.requests.of_end(self.key)

    def written(self, changes: Changes) -> None:
        self.requests.closed(self.key)

    def __str__(self) -> str:
        return f"asks {self.key[1]} no more"


@dataclass(frozen=True, slots=True)
class Broadcast(RequestWriting):
    """The others are asked in the place of one that is silent."""

    def changes(self) -> Changes:
        return self.requests.of_broadcast(self.key)

    def written(self, changes: Changes) -> None:
        self.requests.begin()

    def __str__(self) -> str:
        return f"asks the others in the place of {self.key[1]}"


class SafetyNetRequests:
    def __init__(
        self, config: NodeConfig, work: Work, calls: ManagementCalls, records: ManagerRecords
    ) -> None:
        self._config = config
        self._work = work
        self._calls = calls
        self._records = records
        self._under_way: set[Key] = set()
        self._watched: set[Key] = set()

    def begin(self) -> None:
        """Ask everybody who is to be asked, can be, and is not being asked."""
        for key in sorted(self._records.askings):
            self._watch(key)
            self._ask(key)

    def _ask(self, key: Key) -> None:
        asking = self._records.askings.get(key)
        if asking is None or asking.end_ms is None or key in self._under_way:
            return
        self._under_way.add(key)
        call = SafetyNetCall(self, key)
        self._calls.ask(asking.server, asking.demand, call.answered, call.failed)

    def answered(self, key: Key, answer: ResubmitAnswer) -> None:
        if isinstance(answer, ResubmitRefused):
            self._log("safety-net-refused", key, (("reason", f"{answer.code} {answer.text}"),))
            self.again(key)
            return
        self._records.change(Heard(self, key, answer))

    def of_answer(self, key: Key, answer: ResubmitAnswered, *, is_complete: bool) -> Changes:
        asking = self._records.askings.get(key)
        if asking is None:
            return ()
        state = AskingState.COMPLETED if is_complete else AskingState.OPEN
        count, now_ms = answer.resubmitted, self._work.now_ms
        heard = replace(asking, state=state, silent_since_ms=now_ms, resubmitted=count)
        if is_complete:
            self._log("safety-net-completed", key, (("resubmitted", count),))
        return (SetAsking(heard),)

    def again(self, key: Key) -> None:
        self._work.again(ASK_AGAIN_MS, NextCall(self, key))

    def ask_again(self, key: Key) -> None:
        self._under_way.discard(key)
        self._ask(key)

    def closed(self, key: Key) -> None:
        self._under_way.discard(key)
        self._work.report(AskingClosed(key[0].partition(":")[0]))

    def _watch(self, key: Key) -> None:
        """See to it that its silence, or its end, is noticed."""
        if key not in self._watched:
            self._watched.add(key)
            self._look_later(key)

    def _look_later(self, key: Key, wait_ms: int = 1) -> None:
        """When there is something to see, and not before `wait_ms`."""
        asking = self._records.askings.get(key)
        if asking is None:
            self._watched.discard(key)
            return
        due_ms = self._gives_up_ms(asking)
        if _may_be_stood_in_for(asking):
            due_ms = min(due_ms, asking.silent_since_ms + SILENCE_MS)
        self._work.at(max(due_ms, self._work.now_ms + wait_ms), Look(self, key))

    def look(self, key: Key) -> None:
        asking = self._records.askings.get(key)
        if asking is not None and self._gives_up_ms(asking) <= self._work.now_ms:
            self._records.change(NoMore(self, key))
        elif asking is not None and self._is_silent(asking):
            self._records.change(Broadcast(self, key))
        self._look_later(key, ASK_AGAIN_MS)

    def _is_silent(self, asking: Asking) -> bool:
        silent_ms = self._work.now_ms - asking.silent_since_ms
        return _may_be_stood_in_for(asking) and silent_ms >= SILENCE_MS

    def _gives_up_ms(self, asking: Asking) -> int:
        """Its Safety Net holds nothing of the interval any more."""
        until_ms = asking.silent_since_ms if asking.end_ms is None else asking.end_ms
        hold_ms = self._config.transport.safety_net_hold_time_ms
        return until_ms + hold_ms + self._config.server.message_expiration_timeout_ms

    def of_end(self, key: Key) -> Changes:
        asking = self._records.askings.get(key)
        if asking is None or self._gives_up_ms(asking) > self._work.now_ms:
            return ()
        self._log("safety-net-given-up", key)
        return (SetAsking(replace(asking, state=AskingState.GIVEN_UP)),)

    def of_broadcast(self, key: Key) -> Changes:
        """Everybody else in its boundary may have shadow copies of what it has (SN-7)."""
        asking, now_ms = self._records.askings.get(key), self._work.now_ms
        silent = self._config.server_named(key[1])
        if asking is None or silent is None or not self._is_silent(asking):
            return ()
        others = [
            Asking(
                f"{asking.request_id}/{asking.server}",
                other.name,
                asking.database,
                asking.epoch,
                SafetyNetSource.SHADOW,
                asking.server,
                asking.start_ms,
                now_ms,
                now_ms,
            )
            for other in members(self._config, silent)
        ]
        self._log("safety-net-broadcast", key, (("to", ",".join(o.server for o in others)),))
        return (SetAsking(replace(asking, broadcast_ms=now_ms)), *map(InsertAsking, others))

    def _log(self, event: str, key: Key, more: tuple[tuple[str, str | int], ...] = ()) -> None:
        asking = self._records.askings.get(key)
        if asking is None:
            return
        end = "" if asking.end_ms is None else iso(asking.end_ms)
        fields = (
            ("request_id", asking.request_id),
            ("database", asking.database),
            ("server", asking.server),
            ("safety_net", asking.source.value),
            ("start", iso(asking.start_ms)),
            ("end", end),
        )
        self._work.emit(LogLifecycle(event, (*fields, *more)))


def _may_be_stood_in_for(asking: Asking) -> bool:
    return asking.source is SafetyNetSource.PRIMARY and asking.broadcast_ms is None
