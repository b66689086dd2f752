"""Many scenarios, one run at a time: the nightly suite. Nothing that a run does ends it.

Every run is a program of its own, ended by its own watchdog or, where that fails, by a bound here;
what it leaves is healed by `shadowlab down` for that run alone. The journal is written ahead, so
the same command goes on where a killed suite ended. What a run means is the evaluation's to say;
here is only counted whether it ended as its scenario expects.
"""

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lab.campaigns.suite.engine import WAIT_SECONDS, Engine
from lab.campaigns.suite.folder import alone_in
from lab.campaigns.suite.journal import Ended, Journal
from lab.campaigns.suite.plan import COMPARE, CONTAINERS, Ask, SuiteTask, round_a_run, tasks_of
from lab.campaigns.suite.program import PATIENCE_SECONDS, SHADOWLAB, Finished, run_program
from lab.campaigns.suite.result import write_result
from lab.campaigns.suite.run import announced_folder, run_id, surprises, why
from lab.program import processes
from lab.program.errors import (
    FAIL,
    GROUND_FAILED,
    INTERRUPTED,
    PASS,
    UNKNOWN,
    VERDICTS,
    worst,
)
from lab.program.progress import waiting
from lab.program.watchdog import Interrupted, Watchdog
from lab.run.durations import Durations
from lab.run.judge import Judge
from lab.run.outcome import Say, say_to_stderr, span
from lab.validation.library import RUNS

HANGS_AFTER = 2.0  # times the timeline, on containers; and
LONGEST_SECONDS = {CONTAINERS: 4800.0, "simulator": 1800.0, "": 900.0}
DOWN_SECONDS = 300.0


@dataclass(frozen=True, slots=True)
class Means:
    """What a suite acts through. `program` stands for `shadowlab`; `at_most_seconds` bounds every
    run, by default beyond what its own watchdog allows; `judges`: in one session for all runs."""

    program: Sequence[str] = SHADOWLAB
    engine_answers: Callable[[], bool] = lambda: False
    at_most_seconds: float | None = None
    patience_seconds: float = PATIENCE_SECONDS
    engine_wait_seconds: float = WAIT_SECONDS
    say: Say = say_to_stderr
    page_to_stderr: bool = False
    judges: bool = False
    durations: Durations = field(default_factory=lambda: Durations(RUNS))


def counted(code: int, expected: str) -> int:
    """What an exit code counts for: 0 where the run ended as its scenario expects."""
    verdict = VERDICTS.get(code)
    if verdict is None:
        return GROUND_FAILED
    if verdict == expected:
        return PASS
    return UNKNOWN if code == UNKNOWN else FAIL


@dataclass(slots=True)
class Suite:
    """One suite in `folder`; `run` it in the main thread."""

    ask: Ask
    folder: Path
    means: Means
    journal: Journal = field(init=False)
    engine: Engine = field(init=False)
    judge: Judge = field(init=False)

    def run(self) -> int:
        """The worst of what everything counts for: 0, 1, 2 or 3; 130 when a person ended it.

        Raises LabError before anything is started.
        """
        with alone_in(self.folder):
            self.journal = Journal(self.folder)
            self.engine = Engine(
                self.means.engine_answers, self._remark, self.means.engine_wait_seconds
            )
            if not self.journal.record.tasks:
                self._intend()
            self._predict()
            self.judge = Judge(self.folder / "logs" / "judge.log", self._remark)
            with Watchdog(self.means.say), self.judge:
                code = self._everything()
            said = sys.stderr if self.means.page_to_stderr else None
            write_result(self.folder, self.journal.record, code, self.means.say, said)
            return code

    def _intend(self) -> None:
        answers = self.engine.answers()
        tasks = tasks_of(self.ask, answers, self.means.durations)
        if not answers and self.ask.on is None:
            self.means.say("no Docker engine answers: every run is simulated")
        self.journal.intend(self.ask, answers, tasks)

    def _predict(self) -> None:
        record, left = self.journal.record, self._left()
        again = f", {len(record.ended)} are done" if record.ended else ""
        lasts = span(sum(task.seconds for task in left))
        self.means.say(f"{self.folder}: {len(record.tasks)} to do{again}; about {lasts}")

    def _left(self) -> list[SuiteTask]:
        record = self.journal.record
        return [task for task in record.tasks if task.name not in record.ended]

    def _everything(self) -> int:
        try:
            self._after_a_death()
            for task in self._left():
                self._one(task)
        except Interrupted as signal_name:
            self.means.say(f"ended by {signal_name}; the same command goes on from here")
            return INTERRUPTED
        code = worst([ended.counts for ended in self.journal.record.ended.values()])
        self.journal.finish(code)
        return code

    def _after_a_death(self) -> None:
        """What was under way when an earlier suite died is ended, healed, and done again."""
        record = self.journal.record
        for task in self._left():
            if (attempt := record.begun.get(task.name)) is None:
                continue
            self._remark(f"{task.name} was under way when the suite ended; it is done again")
            program = record.programs.get(task.name)
            if program is not None:
                processes.end(program, self.means.patience_seconds)
            self._heal(task, attempt)

    def _one(self, task: SuiteTask) -> None:
        where = self.journal.record.tasks.index(task) + 1
        self.means.say(f"{where} of {len(self.journal.record.tasks)}: {task.name}")
        with waiting(task.name, task.seconds):
            ended = self._compare(task) if task.kind == COMPARE else self._run(task)
        self._remember(task, ended)
        self.journal.end(task, ended)
        said = ended.verdict if task.kind != COMPARE else ""
        told = ended.cause or said or ("they agree" if ended.code == PASS else "they disagree")
        self.means.say(f"  {told}, {span(ended.seconds)}")

    def _remember(self, task: SuiteTask, ended: Ended) -> None:
        """How long what went its whole way took, for the next suite."""
        step = "comparison" if task.kind == COMPARE else round_a_run(task.host)
        timeline = task.timeline_seconds if task.host == CONTAINERS else 0.0
        if ended.code in VERDICTS and ended.seconds > 0:
            self.means.durations.note(ended.seconds - timeline, step, task.scenario)

    def _run(self, task: SuiteTask) -> Ended:
        ended = self._attempt(task)
        if task.host == CONTAINERS and ended.code == GROUND_FAILED and not self.engine.answers():
            self._remark(f"the Docker engine went away under {task.name}; it is done again")
            ended = self._attempt(task)
        return ended

    def _attempt(self, task: SuiteTask) -> Ended:
        if task.host == CONTAINERS and not self.engine.wait(f"before {task.name}"):
            return Ended(GROUND_FAILED, GROUND_FAILED, 0.0, cause="no Docker engine answered")
        attempt, began = self.journal.begin(task), time.monotonic()
        words = ["run", task.path, "--on", task.host, "--seed", str(task.seed)]
        words += ["--announce", str(self._announcement(attempt))]
        try:
            done = self._program(task, attempt, words)
        except BaseException:
            self._heal(task, attempt)
            raise
        seconds = time.monotonic() - began
        if done.hung:
            self._remark(f"{task.name} hung and was ended after {span(seconds)}")
        if done.hung or done.code not in VERDICTS:
            self._heal(task, attempt)
        folder = announced_folder(self._announcement(attempt))
        return self._ended(task, done, seconds, folder, self._log(attempt))

    def _ended(
        self, task: SuiteTask, done: Finished, seconds: float, folder: Path | None, log: Path
    ) -> Ended:
        code = GROUND_FAILED if done.hung else done.code
        cause = why(done, log) if code not in VERDICTS else ""
        counts = counted(code, task.expected)
        if code == FAIL and counts == PASS and (told := surprises(folder)):
            counts, cause = FAIL, f"not as expected: {told[0]}"
        return Ended(code, counts, seconds, str(folder or ""), cause)

    def _compare(self, task: SuiteTask) -> Ended:
        record = self.journal.record
        both = [
            record.ended[each.name]
            for each in record.tasks
            if each.kind != COMPARE and each.path == task.path
        ]
        if any(each.code not in VERDICTS or not each.folder for each in both):
            return Ended(UNKNOWN, UNKNOWN, 0.0, cause="not compared: a run has no verdict")
        attempt, began = self.journal.begin(task), time.monotonic()
        out = self.folder / "compared" / task.scenario
        words = ["compare", both[0].folder, both[1].folder, "--out", str(out)]
        done = self._program(task, attempt, words)
        code = GROUND_FAILED if done.hung else done.code
        cause = why(done, self._log(attempt)) if code not in (PASS, FAIL) else ""
        as_expected = all(each.counts == PASS for each in both) and task.expected == "unknown"
        counts = PASS if code == UNKNOWN and as_expected else counted(code, "pass")
        return Ended(code, counts, time.monotonic() - began, str(out), cause)

    def _program(self, task: SuiteTask, attempt: int, words: Sequence[str]) -> Finished:
        own = LONGEST_SECONDS[task.host] + HANGS_AFTER * task.timeline_seconds
        done = run_program(
            [*self.means.program, *words],
            self._log(attempt),
            self.means.at_most_seconds or own,
            lambda program: self.journal.started(task, program),
            self.means.patience_seconds,
            self.judge.environment() if self.means.judges else {},
        )
        if done.hung:  # it may be the judge that hangs
            self.judge.end()
        return done

    def _heal(self, task: SuiteTask, attempt: int) -> None:
        """Remove what that run left, and nothing else; only containers outlive their program."""
        folder = announced_folder(self._announcement(attempt))
        if task.host != CONTAINERS or folder is None or (run := run_id(folder)) is None:
            return
        words = [*self.means.program, "down", run]
        done = run_program(words, self._log(attempt), DOWN_SECONDS)
        if done.hung or done.code != PASS:
            self._remark(f"shadowlab down {run} ended with {done.code}; see {self._log(attempt)}")

    def _log(self, attempt: int) -> Path:
        return self.folder / "logs" / f"{attempt:03}.log"

    def _announcement(self, attempt: int) -> Path:
        return self.folder / "logs" / f"{attempt:03}.run"

    def _remark(self, text: str) -> None:
        self.journal.remark(text)
        self.means.say(text)
