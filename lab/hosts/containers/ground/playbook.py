"""ansible-playbook as a program of the lab: in a session of its own, and gone when the lab is.

What it says is kept in the run's ansible.log; what went wrong comes back as one line, the failing
task's own message. A person's ANSIBLE_… variables do not reach it.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from lab.hosts.containers.ground import inventory
from lab.program import processes
from lab.program.death_signal import KILLED_WITH_PARENT
from lab.program.errors import GroundError
from lab.program.sources import PLAYBOOKS

TIMEOUT_S = 300.0
LOG = "ansible.log"
FATAL = re.compile(r"^fatal: \[(?P<host>[^\]]+)\]: \w+!? => (?P<result>\{.*\})$", re.M)
FAILED_ITEM = re.compile(r"^failed: \[(?P<host>[^\]]+)\].* => (?P<result>\{.*\})$", re.M)
ERROR = re.compile(r"^\[ERROR\]: (.*)$", re.M)


def run(
    name: str,
    run_id: str,
    state_dir: Path,
    folder: Path = PLAYBOOKS,
    arguments: Sequence[str] = (),
) -> str:
    """Run <name>.yml on the run's inventory; what it printed. `arguments`: more for
    ansible-playbook, as `--limit`. Raises GroundError.
    """
    log = state_dir / LOG
    start = log.stat().st_size if log.exists() else 0
    with log.open("ab") as written:
        path = folder / f"{name}.yml"
        program = _start(path, run_id, state_dir, written.fileno(), arguments)
        code = _wait(program, name, run_id, log)
    said = log.read_bytes()[start:].decode("utf-8", "replace")
    if code != 0:
        raise GroundError(f"{name}.yml: {cause_of_failure(said)}", f"see {log}")
    return said


def cause_of_failure(said: str) -> str:
    """The first failing task's host and message, out of what ansible-playbook printed."""
    for found in sorted([*FATAL.finditer(said), *FAILED_ITEM.finditer(said)], key=re.Match.start):
        message = _message(found["result"])
        if message:
            return f"{found['host']}: {message}"
    error = ERROR.search(said)
    last = (said.strip().splitlines() or ["it said nothing"])[-1]
    return error[1] if error else last


def _message(result: str) -> str:
    """What a failed task's result says: a program's own complaint before Ansible's."""
    try:
        told = json.loads(result)
    except ValueError:
        return result
    for key in ("stderr", "msg", "stdout"):
        if str(told.get(key) or "").strip():
            return " ".join(str(told[key]).strip().splitlines()[-1:])
    return ""


def _start(
    path: Path, run_id: str, state_dir: Path, output: int, arguments: Sequence[str]
) -> subprocess.Popen[bytes]:
    program = Path(sys.executable).with_name("ansible-playbook")
    if not program.exists():
        raise GroundError(
            f"{program} is not there", "install shadowlab again (in a clone: make venv)"
        )
    own = {key: value for key, value in os.environ.items() if not key.startswith("ANSIBLE_")}
    return subprocess.Popen(
        [program, "-i", state_dir / inventory.FILE, path, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        env=own | _environment(run_id, state_dir),
        start_new_session=True,
        preexec_fn=KILLED_WITH_PARENT,
    )


def _environment(run_id: str, state_dir: Path) -> dict[str, str]:
    return {
        "ANSIBLE_CONFIG": str(PLAYBOOKS / "ansible.cfg"),
        "ANSIBLE_HOME": str(state_dir / "ansible"),
        "ANSIBLE_NOCOLOR": "1",
        "LC_ALL": "C.UTF-8",
        processes.RUN_MARK: run_id,
    }


def _wait(playbook: subprocess.Popen[bytes], name: str, run_id: str, log: Path) -> int:
    with playbook:
        try:
            return playbook.wait(timeout=TIMEOUT_S)
        except subprocess.TimeoutExpired:
            _end(playbook, run_id)
            _raise_late(name, log)
        except BaseException:
            _end(playbook, run_id)
            raise


def _end(playbook: subprocess.Popen[bytes], run_id: str) -> None:
    """End it and its workers, which sit in sessions of their own and carry the run's mark."""
    playbook.kill()
    playbook.wait()
    for leftover in processes.marked_with(run_id):
        processes.end(leftover)


def _raise_late(name: str, log: Path) -> NoReturn:
    raise GroundError(f"{name}.yml did not end within {TIMEOUT_S:.0f} s", f"see {log}")
