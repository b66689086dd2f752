"""One run on the simulator: a plan in, a run folder with a verdict out, without an engine.

The record has the same files as that of a run on containers, and the same plan gives the same bytes
of it; what differs from run to run is in host.json and evaluation/ alone. The evaluation gets ready
while the simulation goes on.
"""

import platform
import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial

from lab.hosts.simulator.events import Events
from lab.hosts.simulator.random_delays import CLOCK_RESOLUTION_MS
from lab.hosts.simulator.record_in_memory import RecordInMemory
from lab.hosts.simulator.simulation import simulate
from lab.plan.plan import Plan
from lab.program.errors import INTERRUPTED, LabError
from lab.program.progress import waiting
from lab.program.watchdog import Interrupted, Watchdog
from lab.record.first_files import Identity, open_record
from lab.record.folder import RunFolder
from lab.run.durations import Durations
from lab.run.judgement import evaluation_of
from lab.run.outcome import (
    BeginEvaluation,
    Ending,
    RunOptions,
    RunOutcome,
    Say,
    bug,
    conclude,
    refused,
    say_to_stderr,
    span,
)

SIMULATOR = "simulator"


def run_simulated(
    plan: Plan,
    options: RunOptions,
    begin_evaluation: BeginEvaluation | None = None,
    say: Say = say_to_stderr,
    events: Events | None = None,
) -> RunOutcome:
    """Run a plan to its verdict in virtual time, in the main thread. Causes go to stderr; raises
    nothing of its own, but OSError where not even a run folder can be made. `events` says which
    faults of the plan begin at an event.
    """
    started = datetime.now(UTC)
    folder = RunFolder.create(options.runs, plan.scenario, plan.seed, started)
    open_record(folder, plan, Identity(run_name(plan), SIMULATOR, options.scenario))
    options.tell_folder(folder.path)
    durations = Durations(options.runs)
    steps = ("simulation", "evaluation")
    about = span(sum(durations.expected(step, plan.scenario) for step in steps))
    say(f"{folder.path}: simulated, {span(plan.duration_ms / 1000)} of lab time, about {about}")
    begin = begin_evaluation or partial(evaluation_of, to_stderr=options.summary_to_stderr)
    evaluation = begin(folder.path)
    simulation = partial(simulate, plan, events=events)
    ending, record = _simulate(plan.scenario, simulation, folder, durations, say)
    if ending.exit_code != 0:
        evaluation.abandon()
    write_host(folder, started, ending, record)
    return conclude(folder.path, ending, evaluation, say)


def run_name(plan: Plan) -> str:
    """What a simulated run is called in every table: the same for the same plan."""
    return f"{plan.scenario}-{plan.seed}"


def _simulate(
    scenario: str,
    simulation: Callable[[], RecordInMemory],
    folder: RunFolder,
    durations: Durations,
    say: Say,
) -> tuple[Ending, RecordInMemory]:
    """Everything up to the whole record; every way to end it, as a value."""
    began = time.monotonic()
    try:
        about = durations.expected("simulation", scenario)
        with Watchdog(say), waiting("simulating", about):
            record = simulation()
            record.write(folder.path)
    except Interrupted as signal_name:
        hint = "a simulation has no half record"
        return Ending(INTERRUPTED, f"ended by {signal_name}", hint), RecordInMemory()
    except LabError as error:
        return Ending(error.exit_code, error.cause, error.hint), RecordInMemory()
    except OSError as error:
        return refused(error), RecordInMemory()
    except Exception as error:
        cause = f"a bug, of the lab or of a node: {type(error).__name__}: {error}"
        return bug(folder, cause), RecordInMemory()
    seconds = time.monotonic() - began
    durations.note(seconds, "simulation", scenario)
    say(f"simulated in {seconds:.1f} s")
    for server, crashes in record.crashes.items():
        say(f"{server} crashed: {crashes[0].strip().splitlines()[-1]}")
    return Ending(), record


def write_host(
    folder: RunFolder, started: datetime, ending: Ending, record: RecordInMemory
) -> None:
    """Raises OSError."""
    folder.write_json(
        "host.json",
        {
            "monotonic_zero_ns": 0,
            "wall_start": started.isoformat(timespec="milliseconds"),
            "versions": {"python": platform.python_version()},
            "images": {},
            "clock_resolution_ms": CLOCK_RESOLUTION_MS,
            "server_exit_codes": record.exit_codes,
            "exit": ending.exit_code,
            "cause": ending.cause,
        },
    )
