"""One run: a plan in, a run folder with a verdict out, and nothing left standing.

Ground, steady state, clock, faults, settling; then the take-down, which happens whatever went
wrong before: heal, stop, collect, remove; then the evaluation, as a program of its own. A person
ends a run with Ctrl-C (exit code 130) and a watchdog ends one that hangs (exit code 3); both are
healed, collected and taken down like any other. Progress goes to stderr. What a run means is not
decided here.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial

from lab.clock import LabClock, parse_origin
from lab.faults import faults_of
from lab.faults.observer.target import RunningLab
from lab.hosts.containers.host import ContainerHost
from lab.hosts.host import Host, Means, Say
from lab.plan.plan import Plan
from lab.program.errors import GROUND_FAILED, INTERRUPTED, GroundError, LabError
from lab.program.progress import waiting
from lab.program.watchdog import Interrupted, TimeIsUp, Watchdog
from lab.record.first_files import Identity, open_record
from lab.record.folder import JsonLines, RunFolder
from lab.run.clock_resolution import ClockResolution
from lab.run.durations import Durations
from lab.run.judgement import evaluation_of
from lab.run.outcome import (
    BeginEvaluation,
    Ending,
    Judging,
    RunOptions,
    RunOutcome,
    bug,
    conclude,
    refused,
    say_to_stderr,
    span,
)
from lab.run.steady_state import SteadyState
from lab.schedule.journal import Journal
from lab.schedule.operations import operations_of
from lab.schedule.schedule import Schedule
from lab.workload.agent import AgentError

GROUND_AT_MOST_SECONDS = 3600  # images may have to be built
HANGS_AFTER = 2.0  # times the plan's wall time …
ALLOWANCE_SECONDS = 180  # … and this
TICK_SECONDS = 10.0
UNANSWERED_TICKS = 3


def run(
    plan: Plan,
    options: RunOptions,
    host: Host | None = None,
    begin_evaluation: BeginEvaluation | None = None,
    say: Say | None = None,
) -> RunOutcome:
    """Run a plan to its verdict, in the main thread. Causes go to stderr; raises nothing of its
    own, but OSError where not even a run folder can be made."""
    tell = say or say_to_stderr
    started = datetime.now(UTC)
    folder = RunFolder.create(options.runs, plan.scenario, plan.seed, started)
    where = host or ContainerHost(options.state)
    begin = begin_evaluation or partial(evaluation_of, to_stderr=options.summary_to_stderr)
    one = LiveRun(plan, options, where, folder, started, tell, begin)
    ending = one.go()
    return conclude(folder.path, ending, one.evaluation, tell)


@dataclass(slots=True)
class LiveRun:
    """One of them; `go` once. What its timeline is may be another's (`lab.standing`)."""

    plan: Plan
    options: RunOptions
    host: Host
    folder: RunFolder
    started: datetime
    say: Say
    begin_evaluation: BeginEvaluation
    evaluation: Judging | None = None
    clock: LabClock | None = None
    lab: RunningLab | None = None
    schedule: Schedule | None = None
    resolution: ClockResolution = field(default_factory=ClockResolution)
    server_exits: dict[str, int] = field(default_factory=dict)
    unanswered: int = 0
    next_tick_ns: int = 0

    def go(self) -> Ending:
        self._open_folder()
        self.say(self._predict())
        with Watchdog(self.say) as watchdog:
            ending = self._work(watchdog)
            if ending.exit_code == 0:
                ending = self._begin_evaluation()
            with self._timed("taking the lab down", "take-down"):
                complaints = self._take_down(watchdog, ending)
        for complaint in complaints:
            self.say(f"take-down: {complaint}")
        if complaints and ending.exit_code == 0:
            hint = "the record may not be whole; shadowlab down removes what is left"
            ending = Ending(GROUND_FAILED, complaints[0], hint)
        if self.evaluation is not None and ending.exit_code != 0:
            self.evaluation.abandon()
        self._write_host(ending)
        return ending

    @contextmanager
    def _timed(self, words: str, step: str) -> Iterator[None]:
        """A step with its bar; how long it took is remembered for the next run."""
        durations, began = Durations(self.options.runs), time.monotonic()
        with waiting(words, durations.expected(step, self.plan.scenario)):
            yield
        durations.note(time.monotonic() - began, step, self.plan.scenario)

    def _predict(self) -> str:
        durations, timeline = Durations(self.options.runs), wall_seconds(self.plan)
        steps = ("ground", "take-down", "evaluation")
        around = sum(durations.expected(step, self.plan.scenario) for step in steps)
        about = f"about {span(timeline + around)}, of which {span(timeline)} for the timeline"
        return f"{self.folder.path}: {about}"

    def _begin_evaluation(self) -> Ending:
        """A lab is taken down also where nothing can be started to judge it."""
        try:
            self.evaluation = self.begin_evaluation(self.folder.path)
        except OSError as error:
            return refused(error)
        return Ending()

    def _work(self, watchdog: Watchdog) -> Ending:
        """Everything up to the end of the timeline; every way to end it, as a value."""
        try:
            try:
                self._sequence(watchdog)
            finally:
                watchdog.take_down()
        except Interrupted as signal_name:
            return Ending(INTERRUPTED, f"ended by {signal_name}", "what was recorded is kept")
        except TimeIsUp:
            return Ending(GROUND_FAILED, "the run hung and was ended by the watchdog")
        except LabError as error:
            return Ending(error.exit_code, error.cause, error.hint)
        except OSError as error:
            return refused(error)
        except Exception as error:
            return bug(self.folder, f"a bug of the lab: {type(error).__name__}: {error}")
        return Ending()

    def _sequence(self, watchdog: Watchdog) -> None:
        watchdog.bound(GROUND_AT_MOST_SECONDS)
        with self._timed("provisioning", "ground"):
            means = self.host.up(self.plan, self.folder, self.say)
        watchdog.bound(HANGS_AFTER * wall_seconds(self.plan) + ALLOWANCE_SECONDS)
        record = JsonLines(self.folder.probes)
        steady = SteadyState(self.plan, self.folder.run_id, means.links, means.traffic, record)
        self.say(f"steady state: {steady.check()} links carry mail")
        with self.resolution:
            lab = self._begin(means)
            self._timeline(lab, means)

    def _begin(self, means: Means) -> RunningLab:
        """Lab time goes on from here."""
        plan = self.plan
        self.clock = LabClock(
            parse_origin(plan.clock.origin), plan.clock.speed, self.host.start_clock()
        )
        self.lab = RunningLab(
            plan, self.clock, means.links, means.proxies, means.servers, means.traffic
        )
        self.next_tick_ns = time.monotonic_ns() + round(TICK_SECONDS * 1e9)
        return self.lab

    def _timeline(self, lab: RunningLab, means: Means) -> None:
        asked = operations_of(self.plan, lab)
        journal = Journal(
            JsonLines(self.folder.faults),
            lab.clock,
            operations=[each.id for each in asked],
            operation_lines=JsonLines(self.folder.operations) if asked else None,
        )
        acts = [*faults_of(self.plan, lab), *asked]
        self.schedule = Schedule(acts, journal, lab.clock, self.say)
        with waiting("the timeline", wall_seconds(self.plan)):
            self.schedule.run(lambda at_ms: self._wait_until(at_ms, means))
            self._wait_until(self.plan.duration_ms, means)

    def _wait_until(self, at_ms: float, means: Means) -> None:
        """Sleep to a lab time, looking at the workload and saying how far things are."""
        assert self.clock is not None
        due_ns = self.clock.mono_ns_at(at_ms)
        while (left := (due_ns - time.monotonic_ns()) / 1e9) > 0:
            time.sleep(min(left, TICK_SECONDS))
            if time.monotonic_ns() >= self.next_tick_ns:
                self.next_tick_ns = time.monotonic_ns() + round(TICK_SECONDS * 1e9)
                self._tick(means, self.clock.lab_ms(time.monotonic_ns()))

    def _tick(self, means: Means, now_ms: int) -> None:
        try:
            status = means.traffic.status()
        except AgentError as error:
            self.unanswered += 1
            if self.unanswered >= UNANSWERED_TICKS:
                raise GroundError(f"the workload does not answer: {error}") from error
            return
        self.unanswered = 0
        if status.crashed:
            cause = f"the workload crashed: {status.crashed.strip().splitlines()[-1]}"
            raise GroundError(cause, "see logs/workload/stderr.log in the run folder")
        self.say(
            f"lab time {self._how_far(now_ms)}, "
            f"{status.acknowledged} of {status.planned} messages acknowledged"
        )

    def _how_far(self, now_ms: int) -> str:
        return f"{span(now_ms / 1000)} of {span(self.plan.duration_ms / 1000)}"

    def _take_down(self, watchdog: Watchdog, ending: Ending) -> list[str]:
        """Heal, stop, collect, remove; each step bounded, none skipped; what went wrong."""
        complaints: list[str] = []
        if self.schedule is not None:
            self._heal(watchdog, self.schedule, complaints, patience=60 if not ending.cause else 5)
        with watchdog.step("stopping the workload", 30, complaints):
            self.host.stop_workload()
        with watchdog.step("stopping the servers", 60, complaints):
            self.server_exits = dict(self.host.stop_servers())
        with watchdog.step("collecting", 180, complaints):
            complaints += self.host.collect()
        if self.options.keep:
            with watchdog.step("starting the servers again", 60, complaints):
                self.say(f"the lab is left standing; {self.host.keep()}")
            return complaints
        with watchdog.step("removing the lab", 180, complaints):
            self.host.down()
        return complaints

    def _heal(
        self, watchdog: Watchdog, schedule: Schedule, complaints: list[str], patience: float
    ) -> None:
        with watchdog.step("healing", 60, complaints):
            schedule.heal()
        with watchdog.step("looking at what was healed", patience + 10, complaints):
            schedule.finish(patience)
        for complaint in schedule.complaints:
            self.say(complaint)

    def _open_folder(self) -> None:
        identity = Identity(self.folder.run_id, self.host.name, self.options.scenario)
        open_record(self.folder, self.plan, identity)
        self.options.tell_folder(self.folder.path)

    def _write_host(self, ending: Ending) -> None:
        self.folder.write_json(
            "host.json",
            {
                "monotonic_zero_ns": self.clock.zero_ns if self.clock else None,
                "wall_start": self.started.isoformat(timespec="milliseconds"),
                "versions": {},
                "images": {},
                **self.host.describe(),
                "clock_resolution_ms": self.resolution.lab_ms(self.plan.clock.speed),
                "server_exit_codes": self.server_exits,
                "exit": ending.exit_code,
                "cause": ending.cause,
            },
        )


def wall_seconds(plan: Plan) -> float:
    """How long its timeline takes."""
    return plan.duration_ms / plan.clock.speed / 1000
