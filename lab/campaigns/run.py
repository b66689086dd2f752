"""One run of a campaign, in whatever process it lands: simulated, and judged by the bytes it wrote.

The record stays in memory. Only what somebody will look at becomes a run folder, the one that
`shadowlab run` would leave. What a run means is the evaluation's to say.
"""

import json
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from lab.campaigns.run_folder import write_run_folder
from lab.hosts.simulator.random_delays import CLOCK_RESOLUTION_MS
from lab.hosts.simulator.record_in_memory import RecordInMemory, file_bytes
from lab.plan.plan import Plan
from lab.program.errors import PASS
from lab.record.first_files import Identity, manifest
from lab.run.simulated import SIMULATOR, run_name
from spark_eval.sweep.result import result_of, unjudged

Result: TypeAlias = dict[str, Any]
"""As a sweep keeps it: `run`, `seed`, `verdict`, `exit_code`, `reasons`, `claims`, ..."""

ENOUGH = 100
"""Run folders of a campaign, some megabytes each."""


class Simulate(Protocol):
    def __call__(self, *, keeps_inputs: bool) -> RecordInMemory: ...


def is_no_pass(result: Result) -> bool:
    return bool(result["exit_code"] != PASS)


def always(_: Result) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Keeping:
    """Where the run folders of a campaign are, which of its runs leave one, and the scenario as
    authored, which lies in it.
    """

    folder: Path
    scenario: str | None = None
    keeps: Callable[[Result], bool] = is_no_pass


def keeping_in(
    campaign: Path, scenario: str | None = None, keeps: Callable[[Result], bool] = is_no_pass
) -> Keeping | None:
    """Below the campaign's folder; None where it has enough of them: where all runs of a thousand
    fail, the others are shown by their commands.
    """
    folder = campaign / "runs"
    has_enough = keeps is not always and len(list(folder.glob("*"))) >= ENOUGH
    return None if has_enough else Keeping(folder, scenario, keeps)


@dataclass(frozen=True, slots=True)
class Run:
    """What a person calls it, its name in the results, its plan; `settings` are those that may be
    drawn, as sweep.json names them.
    """

    called: str
    name: str
    plan: Plan
    simulate: Simulate
    keeping: Keeping | None = None
    settings: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Carried:
    """`crashes`: server and the last line of its traceback; `bug`: the traceback of a run that
    could not be simulated at all.
    """

    result: Result
    crashes: tuple[tuple[str, str], ...] = ()
    bug: str = ""


def carry(run: Run) -> Carried:
    """A run that leaves its folder is simulated once more, with the inputs of cores, as `shadowlab
    run` does it: by these its times differ in nanoseconds. Raises OSError where the folder cannot
    be written.
    """
    try:
        record = run.simulate(keeps_inputs=False)
    except Exception as error:
        why = f"the lab could not simulate it: {type(error).__name__}: {first_line(str(error))}"
        result = unjudged(run.name, run.plan.seed, why)
        return Carried(result, bug=traceback.format_exc())
    result = result_of(run.name, run.plan.seed, bytes_of(run.plan, record), run.settings)
    keeping = run.keeping
    if keeping is not None and keeping.keeps(result):
        with suppress(TimeoutError):  # of a defect that took nearly as long as it may
            whole = run.simulate(keeps_inputs=True)
            write_run_folder(keeping.folder / run.name, run.plan, whole, keeping.scenario)
    return Carried(result, tuple(_crashes(record)))


def first_line(said: str) -> str:
    return said.strip().partition("\n")[0]


def last_line(said: str) -> str:
    return said.strip().splitlines()[-1]


def files_of(plan: Plan, record: RecordInMemory) -> Iterator[tuple[str, list[str]]]:
    """The files of a run folder that are judged, each with its lines."""
    identity = Identity(run_name(plan), SIMULATOR, None)
    host = {"monotonic_zero_ns": 0, "clock_resolution_ms": CLOCK_RESOLUTION_MS}
    yield "plan.json", [plan.to_line()]
    yield "manifest.json", [json.dumps(manifest(plan, identity))]
    yield "host.json", [json.dumps(host)]
    yield from record.files.items()


def bytes_of(plan: Plan, record: RecordInMemory) -> dict[str, bytes]:
    return {file: file_bytes(lines) for file, lines in files_of(plan, record)}


def _crashes(record: RecordInMemory) -> Iterator[tuple[str, str]]:
    for server, tracebacks in record.crashes.items():
        for said in tracebacks:
            yield server, last_line(said)
