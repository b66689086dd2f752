"""The timeline of faults: starts and stops each at its lab time, in order, and heals in any case.

One thread acts, in the order of lab time (at the same time stops come before starts), so that
the journal shows what really followed what. What takes long, ending a server, probing and waiting
for a banner, runs beside it and delays no other fault; a fault is stopped when it has started. A
fault that was intended is stopped at the end whatever happened, last one first, but for what is for
good; an error while healing one keeps none of the others from being healed.

An operation is an instant like a restart, and over with its answer.

A fault that waits for a breakpoint is looked for between events. When its server is held
there, the fault is applied, read back, and the server goes on; its end counts from then.
"""

import threading
import time
from bisect import insort
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace

from lab.clock import LabClock
from lab.faults.at_breakpoint import AtPlace
from lab.faults.fault import Fault
from lab.faults.observer.evidence import Evidence, unseen
from lab.faults.server_down import Away
from lab.program.errors import GroundError
from lab.schedule.breakpoint_waits import Waiting
from lab.schedule.journal import Journal, Phase
from lab.workload.agent import AgentError

MOST_BESIDE = 32
BESIDE_SECONDS = 90.0
LOOK_EVERY_SECONDS = 0.01  # whether a server is held
HEAL_AFTER_SECONDS = 5.0  # of a fault whose start hangs, at the end of the run
GIVE_UP_SECONDS = 0.5  # a server that is held at the last moment is seen in that time

Say = Callable[[str], None]
WaitUntil = Callable[[float], None]
"""Returns at a lab time, or raises what ends the run early."""


@dataclass(frozen=True, slots=True)
class Event:
    """A start or a stop of the fault at `index`."""

    at_ms: int
    is_start: bool
    index: int
    ends_an_instant: bool = False


class Schedule:
    """Runs the faults of one run. Use `run`, then always `heal`, then `finish`.

    Where faults come while the lab runs: `add`, and `act_on_what_is_due` instead of `run`.
    """

    def __init__(
        self,
        faults: Sequence[Fault | AtPlace],
        journal: Journal,
        clock: LabClock,
        say: Say,
        monotonic_ns: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        self._faults = [fault for fault in faults if not isinstance(fault, AtPlace)]
        self._waiting, self._late = Waiting(faults, journal), set[str]()
        self._events = events_of(self._faults)
        self._journal, self._clock, self._say = journal, clock, say
        self._monotonic_ns = monotonic_ns
        self._begun: list[Fault] = []
        self._stopping: set[str] = set()
        self._beside = ThreadPoolExecutor(MOST_BESIDE, thread_name_prefix="fault")
        self._running: list[Future[None]] = []
        self._servers = ThreadPoolExecutor(MOST_BESIDE, thread_name_prefix="server")
        self._ending: dict[str, Future[None]] = {}
        self._failed: list[Exception] = []
        self._stop_lock = threading.Lock()
        self.complaints: list[str] = []

    def run(self, wait_until: WaitUntil) -> None:
        """Every start and stop in its time. Raises GroundError, and whatever `wait_until` does."""
        self._waiting.arm()
        while (event := self._next_event(wait_until)) is not None:
            self._act(event)

    def add(self, fault: Fault) -> None:
        """One more, which starts after now."""
        self._faults.append(fault)
        for event in events_of([fault]):
            insort(self._events, replace(event, index=len(self._faults) - 1), key=_turn)

    def act_on_what_is_due(self) -> None:
        """Instead of `run`, again and again. Raises GroundError."""
        while self._is_due():
            self._act(self._events.pop(0))
        if self._failed:
            raise self._failed.pop()

    def stop_now(self, fault_id: str) -> bool:
        """End one before its time; False where none of that id has begun and not ended, or nothing
        can end it.
        """
        ending = (each for each in self._begun if not is_for_good(each))
        begun = next((each for each in ending if each.id == fault_id), None)
        if begun is not None:
            self._end(begun)
        return begun is not None

    @property
    def standing(self) -> dict[str, str]:
        """What acts now: ids, and what each is."""
        return {each.id: each.describe() for each in self._begun}

    def _act(self, event: Event) -> None:
        fault = self._faults[event.index]
        if event.is_start:
            self._start(fault)
        else:
            self._end(fault)

    def _end(self, fault: Fault) -> None:
        if fault.id in self._ending and not self._ending[fault.id].done():
            self._running.append(self._servers.submit(self._stop_when_ended, fault))
        else:
            self._stop(fault)

    def heal(self) -> None:
        """Stop what was begun and not stopped, last first; errors become `complaints`."""
        self.complaints += self._waiting.let_all_go()
        for fault in reversed([each for each in self._begun if not is_for_good(each)]):
            try:
                begun = [self._ending[fault.id]] if fault.id in self._ending else []
                wait(begun, timeout=HEAL_AFTER_SECONDS)
                self._stop(fault)
            except Exception as error:
                self.complaints.append(f"{fault.describe()} is not healed: {error}")

    def settle(self, seconds: float = BESIDE_SECONDS) -> int:
        """Wait for what runs beside; how many did not end in time."""
        deadline = time.monotonic() + seconds
        while left := [each for each in self._futures() if not each.done()]:
            if not wait(left, timeout=max(0, deadline - time.monotonic())).done:
                break
        return len(left)

    def _futures(self) -> list[Future[None]]:
        """One that has ended may have begun another before."""
        return [*self._ending.values(), *self._running]

    def finish(self, seconds: float = BESIDE_SECONDS) -> None:
        """The last call: wait, so that the journal is whole, and let nothing more begin."""
        late = self.settle(seconds)
        if late:
            self.complaints.append(f"{late} probes of faults did not end in {seconds:.0f} s")
        self.complaints += map(str, self._failed)
        for threads in (self._servers, self._beside):
            threads.shutdown(wait=False, cancel_futures=True)

    def _next_event(self, wait_until: WaitUntil) -> Event | None:
        """Wait for it; what reaches its place in the meantime begins."""
        while not self._waiting.is_over and not self._is_due():
            for reached in self._waiting.reached():
                self._begin(reached)
            now_ms = self._now_ms()
            for lost in self._waiting.give_up(now_ms - self._lab_ms(GIVE_UP_SECONDS)):
                self._say(f"{_at(now_ms)}  {lost.id} never starts, so it shows nothing")
            soon_ms = now_ms + self._lab_ms(LOOK_EVERY_SECONDS)
            wait_until(min([soon_ms, *(event.at_ms for event in self._events[:1])]))
        if self._events:
            wait_until(self._events[0].at_ms)
        else:
            wait(self._ending.values())  # nothing begins after the last event
        if self._failed:
            raise self._failed.pop()
        return self._events.pop(0) if self._events else None

    def _is_due(self) -> bool:
        return bool(self._events) and self._events[0].at_ms <= self._now_ms()

    def _begin(self, waiting: AtPlace) -> None:
        """Its server is held: apply it, then let the server go on."""
        fault = waiting.begin(self._now_ms())
        self._faults.append(fault)
        if not is_for_good(fault):
            end = Event(fault.end_ms, False, len(self._faults) - 1, _is_instant(fault))
            insort(self._events, end, key=_turn)
        try:
            self._apply(fault)
        finally:
            if not waiting.let_go():
                self._late.add(fault.id)
        self._running.append(self._beside.submit(self._witness, fault))

    def _start(self, fault: Fault) -> None:
        ends_its_server = isinstance(fault, Away)
        if ends_its_server:
            self._intend(fault)
            self._ending[fault.id] = self._servers.submit(self._end_server, fault)
        else:
            self._apply(fault)
            self._running.append(self._beside.submit(self._witness, fault))

    def _end_server(self, fault: Fault) -> None:
        """Beside the schedule; an error ends the run at the next event."""
        try:
            self._carry_out(fault)
        except Exception as error:
            self._failed.append(error)
            return
        self._running.append(self._beside.submit(self._witness, fault))

    def _apply(self, fault: Fault) -> None:
        self._intend(fault)
        self._carry_out(fault)

    def _intend(self, fault: Fault) -> None:
        self._begun.append(fault)
        self._journal.write(fault.id, Phase.INTENDED, fault.intent())

    def _carry_out(self, fault: Fault) -> None:
        details = fault.start()
        self._journal.write(fault.id, Phase.APPLIED, details)
        self._say(f"{_at(fault.start_ms)}  {fault.id} starts: {fault.describe()}")

    def _stop(self, fault: Fault) -> None:
        """Once: the end of the run may come while it is under way."""
        with self._stop_lock:
            if fault not in self._begun:
                return
            self._stopping.add(fault.id)
            self._journal.write(fault.id, Phase.HEAL_INTENDED, {})
            fault.stop()
            self._begun.remove(fault)
        if not self._journal.is_of_operation(fault.id):
            self._running.append(self._beside.submit(self._see_it_healed, fault))

    def _stop_when_ended(self, fault: Fault) -> None:
        """Its time was over before its server had ended: as soon as it has."""
        wait([self._ending[fault.id]])
        try:
            self._stop(fault)
        except Exception as error:
            self._failed.append(error)

    def _witness(self, fault: Fault) -> None:
        seen = self._looked_in_time(fault)
        self._journal.write(fault.id, Phase.EVIDENCE, seen.row())
        if self._journal.is_of_operation(fault.id):
            self._say(f"{_at(self._now_ms())}  {fault.id}: {seen.reason}")

    def _looked_in_time(self, fault: Fault) -> Evidence:
        """Evidence gathered while the fault lasted; what was seen after its end says nothing, so
        that what was said when it was applied has to do.

        An instant lasts no time, so its evidence is not looked for in time.
        """
        seen = _look(fault.evidence)
        if fault.id in self._late:
            reason = "its server had gone on from the place before it was applied"
            return Evidence(None, seen.observations, reason)
        if fault.id not in self._stopping or _is_instant(fault):
            return seen
        return unseen(fault.confirmed())

    def _see_it_healed(self, fault: Fault) -> None:
        try:
            details = fault.healed()
        except (GroundError, AgentError) as error:
            self._journal.write(fault.id, Phase.HEALED, {"error": str(error)})
            self._journal.write(
                fault.id, Phase.EVIDENCE_HEALED, Evidence(False, (), str(error)).row()
            )
            self.complaints.append(str(error))
            return
        self._journal.write(fault.id, Phase.HEALED, details)
        self._say(f"{_at(self._now_ms())}  {fault.id} is healed: {fault.describe()}")
        self._journal.write(fault.id, Phase.EVIDENCE_HEALED, _look(fault.evidence_healed).row())

    def _now_ms(self) -> int:
        return self._clock.lab_ms(self._monotonic_ns())

    def _lab_ms(self, seconds: float) -> float:
        return self._clock.lab_span_ms(seconds)


def events_of(faults: Sequence[Fault]) -> list[Event]:
    """Starts and stops in the order in which they have to happen; an instant's stop comes last, and
    what is for good has none.
    """
    starts = [Event(fault.start_ms, True, index) for index, fault in enumerate(faults)]
    stops = [
        Event(fault.end_ms, False, index, ends_an_instant=_is_instant(fault))
        for index, fault in enumerate(faults)
        if not is_for_good(fault)
    ]
    return sorted(starts + stops, key=_turn)


def _turn(event: Event) -> tuple[int, int, int]:
    return event.at_ms, 2 if event.ends_an_instant else int(event.is_start), event.index


def is_for_good(fault: Fault) -> bool:
    """Whether nothing ends it, the end of the run neither (TP-8)."""
    return isinstance(fault, Away) and fault.is_for_good


def _is_instant(fault: Fault) -> bool:
    return fault.start_ms == fault.end_ms


def _look(evidence: Callable[[], Evidence]) -> Evidence:
    """Evidence, or the reason why there is none: a probe that fails must not end the run."""
    try:
        return evidence()
    except Exception as error:
        return Evidence(None, (), f"could not be observed: {error}")


def _at(lab_ms: float) -> str:
    seconds = round(lab_ms / 1000)
    return f"t={seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"
