"""A process that the lab started, written down so that it can be found again and never mistaken.

A pid alone names nothing: it is used again. With the start time that the kernel keeps, and the
boot, it names one process for ever. This module only reads /proc and sends signals to what was
written down; it never looks a process up by name. Where there is no /proc (not Linux) nothing is
ever found alive.
"""

import json
import os
import signal
import subprocess
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from lab.program.whole_file import write_whole

RUN_MARK = "SHADOWLAB_RUN"
"""Environment variable that every program a lab starts carries: the run id."""


@dataclass(frozen=True, slots=True)
class ProcessRecord:
    """One process: pid, start in clock ticks since boot (/proc/<pid>/stat, field 22), boot id."""

    pid: int
    start_ticks: int
    boot: str


def describe(pid: int) -> ProcessRecord | None:
    """The record of a running process, None when there is none (a zombie has ended)."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return None
    fields = stat.rpartition(")")[2].split()
    return None if fields[0] in "ZX" else ProcessRecord(pid, int(fields[19]), boot)


def write(path: Path, pid: int | None = None) -> None:
    """Write the record of `pid`, by default of this process, in one step."""
    record = describe(os.getpid() if pid is None else pid)
    write_whole(path, json.dumps(asdict(record) if record else None) + "\n")


def read(path: Path) -> ProcessRecord | None:
    """The record in `path`; None when it is missing, torn, or holds no process."""
    try:
        if path.exists() and not path.is_file():
            return None  # a pipe would be waited for
        return ProcessRecord(**json.loads(path.read_text()))
    except (FileNotFoundError, NotADirectoryError, ValueError, TypeError):
        return None


def is_alive(record: ProcessRecord | None) -> bool:
    """Whether that very process still runs."""
    return record is not None and describe(record.pid) == record


def marked_with(run_id: str) -> list[ProcessRecord]:
    """Programs that carry the run's mark in their environment, except this process."""
    mark = f"{RUN_MARK}={run_id}".encode()
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            carries = mark in (folder / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        record = describe(int(folder.name)) if carries else None
        if record and record.pid != os.getpid():
            found.append(record)
    return found


def end(record: ProcessRecord, patience_s: float = 5.0) -> bool:
    """Ask that process to end, then make it; True when it was alive and is gone afterwards."""
    if not is_alive(record):
        return False
    for number, wait_s in ((signal.SIGTERM, patience_s), (signal.SIGKILL, 5.0)):
        try:
            os.kill(record.pid, number)
        except ProcessLookupError:
            return True
        if gone_within(record, wait_s):
            return True
    return False


def ended_within(program: subprocess.Popen[bytes], wait_s: float) -> bool:
    """Wait up to `wait_s` seconds for a child to end; `exit_code` reaps it. Unlike Popen.wait they
    take no lock, which a signal that raises there would leave taken for ever."""
    deadline = time.monotonic() + wait_s
    while program.returncode is None:
        try:
            if os.waitid(os.P_PID, program.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
                return True
        except ChildProcessError:
            return True  # reaped already
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def exit_code(program: subprocess.Popen[bytes]) -> int:
    """Of a child that has ended; negative: a signal. Raises ChildProcessError where it was lost
    between two signals."""
    if program.returncode is None:
        _, status = os.waitpid(program.pid, 0)
        program.returncode = os.waitstatus_to_exitcode(status)
    return program.returncode


def gone_within(record: ProcessRecord, wait_s: float) -> bool:
    """Wait up to `wait_s` seconds for that process to end."""
    deadline = time.monotonic() + wait_s
    while is_alive(record):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True
