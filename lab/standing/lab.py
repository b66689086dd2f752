"""A lab at which somebody works: provisioned and verified as a run is, its mail going on, what is
done by hand done at once, and judged when it is taken down.

It is a run whose timeline comes line by line: a call says what is to be done, and when it is over.
Then nothing new is sent, everything is healed and settles, and what was done is written down as the
run's plan and scenario.
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from lab.faults import fault_of
from lab.faults.observer.target import RunningLab
from lab.hosts.containers.ground.provision import Ground
from lab.hosts.host import Host, Means
from lab.plan.plan import Plan
from lab.program.errors import GroundError, LabError, ScenarioError
from lab.record.first_files import Identity, open_record
from lab.record.folder import JsonLines, RunFolder
from lab.run.judgement import evaluation_of
from lab.run.live import TICK_SECONDS, LiveRun
from lab.run.outcome import BeginEvaluation, RunOptions, Say, conclude, span
from lab.schedule.journal import Journal
from lab.schedule.operations import operation_of
from lab.schedule.schedule import Schedule
from lab.standing.control import Call, Control
from lab.standing.hand_scenario import Done, HandScenario, calm
from lab.standing.traffic import Traffic
from lab.workload.agent import AgentError

LEAD_SECONDS = 0.3
"""From a call to what it does, so that nothing begins late."""
AHEAD_SECONDS = 60.0
LOOK_EVERY_SECONDS = 0.05


class StandingHost(Host, Protocol):
    """A host of which more is known than a run needs: where everything is."""

    @property
    def ground(self) -> Ground: ...


@dataclass(slots=True)
class StandingRun(LiveRun):
    """`stands` is called once the lab stands, with how it is reached."""

    hand: HandScenario = field(kw_only=True)
    stands: Callable[[Path, Plan, Ground], None] = field(kw_only=True)
    host: StandingHost
    traffic: Traffic = field(init=False)
    operations: set[str] = field(default_factory=set)
    ending: Call | None = None

    def _predict(self) -> str:
        return f"{self.folder.path}: until shadowlab down {shlex.quote(self.folder.run_id)}"

    def _timeline(self, lab: RunningLab, means: Means) -> None:
        self.traffic = Traffic(self.hand.checked.scenario, self.hand.plan)
        lines = JsonLines(self.folder.operations)
        faults = JsonLines(self.folder.faults)
        journal = Journal(faults, lab.clock, operations=self.operations, operation_lines=lines)
        self.schedule = Schedule([], journal, lab.clock, self.say)
        with Control(self.host.ground.state_dir) as control:
            self.stands(self.folder.path, self.plan, self.host.ground)
            try:
                self._work_at_it(lab, means, self.schedule, control)
            except BaseException:
                self._end(lab, means, self.schedule, settle_ms=0)
                raise
            self._end(lab, means, self.schedule, self.plan.settle_ms)
            self._settle(means)

    def _work_at_it(
        self, lab: RunningLab, means: Means, schedule: Schedule, control: Control
    ) -> None:
        """Until somebody ends it, or it has stood as long as a run may take."""
        while self.ending is None and self._now_ms(lab) < self.plan.duration_ms:
            schedule.act_on_what_is_due()
            self.traffic.go_on(self._now_ms(lab, AHEAD_SECONDS), means.traffic)
            self._tick_in_time(lab, means)
            call = control.next_call(LOOK_EVERY_SECONDS)
            if call is not None:
                self._answer(call, lab, means, schedule)

    def _answer(self, call: Call, lab: RunningLab, means: Means, schedule: Schedule) -> None:
        deeds = {
            "do": partial(self._do, lab, schedule),
            "heal": partial(self._heal_one, lab, schedule),
            "send": partial(self._send, lab, means),
            "status": partial(self._status, lab, means),
        }
        op = str(call.request.get("op"))
        if op == "end":
            self.ending = call
            return
        try:
            if op not in deeds:
                raise ScenarioError(f"{op!r} is no request")
            call.answer(**deeds[op](call.request))
        except LabError as error:
            call.refuse(error)
        except AgentError as error:
            call.refuse(GroundError(str(error)))

    def _do(
        self, lab: RunningLab, schedule: Schedule, request: Mapping[str, Any]
    ) -> dict[str, Any]:
        done = self.hand.add(str(request.get("entry", "")), self._soon_ms(lab))
        lab.plan = self._planned()
        self.operations.update(each.id for each in done.operations)
        for fault in done.faults:
            schedule.add(fault_of(fault, lab))
        for operation in done.operations:
            schedule.add(operation_of(operation, lab))
        return {"ids": done.ids, "words": _words(done)}

    def _heal_one(
        self, lab: RunningLab, schedule: Schedule, request: Mapping[str, Any]
    ) -> dict[str, Any]:
        fault_id, now_ms = str(request.get("fault", "")), self._now_ms(lab)
        if not schedule.stop_now(fault_id):
            standing = ", ".join(schedule.standing) or "none"
            raise ScenarioError(f"no fault {fault_id} acts now", f"there are: {standing}")
        self.hand.healed(fault_id, now_ms)
        lab.plan = self._planned()
        return {}

    def _send(self, lab: RunningLab, means: Means, request: Mapping[str, Any]) -> dict[str, Any]:
        entry, count = str(request.get("entry", "")), int(request.get("count", 1))
        stream = self.hand.mail(entry, count, self._soon_ms(lab))
        sent = self.traffic.send(stream, means.traffic)
        return {"ids": [each.message_id for each in sent]}

    def _status(self, lab: RunningLab, means: Means, _: Mapping[str, Any]) -> dict[str, Any]:
        status = means.traffic.status()
        assert self.schedule is not None
        return {
            "folder": str(self.folder.path),
            "lab_ms": self._now_ms(lab),
            "begun": status.begun,
            "acknowledged": status.acknowledged,
            "faults": list(self.schedule.standing.items()),
            "done": len(self.hand.plan.faults) + len(self.hand.plan.operations),
        }

    def _end(self, lab: RunningLab, means: Means, schedule: Schedule, settle_ms: int) -> None:
        """Nothing new, everything healed, and what was done written down."""
        self._tell("nothing more is sent; healing")
        ended_ms, begun = self.traffic.hush(means.traffic)
        schedule.heal()
        self.plan = lab.plan = self.hand.ended(begun, ended_ms, settle_ms)
        text = self.hand.text(ended_ms)
        open_record(self.folder, self.plan, Identity(self.folder.run_id, self.host.name, text))

    def _settle(self, means: Means) -> None:
        left_ms = self.plan.duration_ms - self.plan.workload_end_ms
        left = span(left_ms / 1000 / self.plan.clock.speed)
        self._tell(f"settling for {left}, then the verdict")
        self._wait_until(self.plan.duration_ms, means)

    def _how_far(self, now_ms: int) -> str:
        return span(now_ms / 1000)

    def _planned(self) -> Plan:
        """What was done so far, for as long as it may go on."""
        return calm(self.hand.plan)

    def _tick_in_time(self, lab: RunningLab, means: Means) -> None:
        if time.monotonic_ns() >= self.next_tick_ns:
            self.next_tick_ns = time.monotonic_ns() + round(TICK_SECONDS * 1e9)
            self._tick(means, self._now_ms(lab))

    def _tell(self, line: str) -> None:
        self.say(line)
        if self.ending is not None:
            self.ending.say(line)

    def _now_ms(self, lab: RunningLab, ahead_seconds: float = 0) -> int:
        ahead_ms = lab.clock.lab_span_ms(ahead_seconds)
        return round(lab.clock.lab_ms(time.monotonic_ns()) + ahead_ms)

    def _soon_ms(self, lab: RunningLab) -> int:
        """A whole second of lab time."""
        return -(-self._now_ms(lab, LEAD_SECONDS) // 1000) * 1000


def stand(
    hand: HandScenario,
    options: RunOptions,
    host: StandingHost,
    stands: Callable[[Path, Plan, Ground], None],
    say: Say,
    begin_evaluation: BeginEvaluation = evaluation_of,
) -> int:
    """Bring a lab up and stand by it until it is ended; the exit code of the verdict, as a run's.
    Causes go to stderr.
    """
    plan, started = calm(hand.plan), datetime.now(UTC)
    folder = RunFolder.create(options.runs, plan.scenario, plan.seed, started)
    one = StandingRun(
        plan, options, host, folder, started, say, begin_evaluation, hand=hand, stands=stands
    )
    ending = one.go()
    ended = conclude(folder.path, ending, one.evaluation, say)
    if one.ending is not None:
        one.ending.answer(
            code=ended.exit_code, folder=str(ended.folder), cause=ending.cause, hint=ending.hint
        )
    return ended.exit_code


def _words(done: Done) -> list[str]:
    return [f"{each.id}: {_said(each.words())}" for each in (*done.faults, *done.operations)]


def _said(words: object) -> str:
    return str(words[0]) if isinstance(words, tuple) else str(words)
