"""The run folder of a run that was simulated in memory: whole, or not there at all."""

import secrets
import shutil
from datetime import UTC, datetime
from pathlib import Path

from lab.hosts.simulator.record_in_memory import RecordInMemory
from lab.plan.plan import Plan
from lab.record.file_list import write_file_list
from lab.record.first_files import Identity, open_record
from lab.record.folder import RunFolder
from lab.run.outcome import Ending
from lab.run.simulated import SIMULATOR, run_name, write_host


def write_run_folder(
    path: Path, plan: Plan, record: RecordInMemory, scenario: str | None = None
) -> None:
    """As `shadowlab run` leaves it, but for what judging adds; in place of one that was there, as
    of a task that is done again. `scenario` as authored. Raises OSError.
    """
    started = datetime.now(UTC)
    unfinished = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    unfinished.mkdir(parents=True)
    try:
        folder = RunFolder(unfinished, path.name)
        open_record(folder, plan, Identity(run_name(plan), SIMULATOR, scenario))
        record.write(unfinished)
        write_host(folder, started, Ending(), record)
        write_file_list(unfinished)
        shutil.rmtree(path, ignore_errors=True)
        unfinished.rename(path)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
