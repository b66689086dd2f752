"""The Docker engine: reached by every part of the lab, and installed where there is none.

`connect` is the one way to the engine. `make engine` runs this module as a program: on a Debian
machine, as root, it installs Debian's own engine and starts it, by the service manager where there
is one, else by itself. It never touches an engine that answers already, and stops only one that it
started itself. What it says no to: other systems, users that are not root, remote engines.
"""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import docker
import requests
from docker.errors import DockerException

from lab.program import processes
from lab.program.errors import GroundError, ScenarioError
from lab.program.outer_edge import guarded

RUN_LABEL = "shadowlab.run"
ROLE_LABEL = "shadowlab.role"
STATE_LABEL = "shadowlab.state"
"""On everything the lab creates: the run id, what it is, and the run's state directory."""

DAEMON_LOG = Path("/var/log/shadowlab-dockerd.log")
DAEMON_RECORD = Path("/var/run/shadowlab-dockerd.json")
START_TIMEOUT_S = 60.0
CALL_TIMEOUT_S = 60


def connect() -> docker.DockerClient:
    """A client of the engine that DOCKER_HOST names, by default the local one.

    Raises GroundError when none answers.
    """
    try:
        client = docker.from_env(timeout=CALL_TIMEOUT_S)
        client.ping()
    except (DockerException, requests.RequestException, OSError, ValueError) as error:
        if "permission denied" in str(error).lower():
            hint = "this user may not use the engine; add it to the group docker, or run as root"
            raise GroundError("the Docker engine refuses this user", hint) from error
        where = os.environ.get("DOCKER_HOST", "the local socket")
        hint = "make engine (on Debian, as root, it installs one and starts it)"
        raise GroundError(f"no Docker engine answers at {where}", hint) from error
    return client


def answers() -> bool:
    """Whether an engine answers and this user may use it."""
    try:
        connect().close()
    except GroundError:
        return False
    return True


def start(report: Callable[[str], None]) -> None:
    """Have an engine answer: install and start one where needed. GroundError when it cannot."""
    if answers():
        report("a Docker engine answers already")
        return
    if os.environ.get("DOCKER_HOST"):
        raise GroundError("DOCKER_HOST names an engine that does not answer", "unset DOCKER_HOST")
    if shutil.which("dockerd") is None:
        _install(report)
    if Path("/run/systemd/system").is_dir():
        report("starting the engine with systemctl")
        _call(["systemctl", "start", "docker"])
        _wait_until_it_answers(None)
    else:
        report(f"starting dockerd; its log is {DAEMON_LOG}")
        _start_daemon()
    report("a Docker engine answers")


def stop(report: Callable[[str], None]) -> None:
    """Stop the engine if `start` started it by itself; any other is left alone."""
    record = processes.read(DAEMON_RECORD)
    if record is None or not processes.is_alive(record):
        report("no engine to stop: make engine started none")
        return
    processes.end(record, patience_s=30)
    DAEMON_RECORD.unlink(missing_ok=True)
    report("the Docker engine is stopped")


def require_debian_root(what: str) -> None:
    """GroundError unless packages can be installed here: Debian's, as root."""
    if shutil.which("apt-get") is None:
        raise GroundError(f"{what}, and this is no Debian machine", "install it by hand")
    if os.geteuid() != 0:
        raise GroundError(f"{what}, and this user may not install it", "run as root")


def install_packages(*names: str) -> None:
    """Install Debian packages without questions; GroundError with apt's own complaint."""
    _call(["apt-get", "update", "-q"])
    _call(["apt-get", "install", "-q", "-y", "--no-install-recommends", *names])


def _install(report: Callable[[str], None]) -> None:
    require_debian_root("there is no Docker engine")
    report("installing the engine: docker.io")
    install_packages("docker.io", "iptables")


def _call(command: list[str]) -> None:
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if done.returncode != 0:
        complaint = (done.stderr.strip() or done.stdout.strip() or "no word why").splitlines()[-1]
        raise GroundError(f"{' '.join(command[:2])} failed: {complaint}")


def _start_daemon() -> None:
    with DAEMON_LOG.open("ab") as log:
        daemon = subprocess.Popen(
            ["dockerd"], stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
        )
    processes.write(DAEMON_RECORD, daemon.pid)
    _wait_until_it_answers(daemon)


def _wait_until_it_answers(daemon: subprocess.Popen[bytes] | None) -> None:
    deadline = time.monotonic() + START_TIMEOUT_S
    while not answers():
        if daemon is not None and daemon.poll() is not None:
            raise GroundError(f"dockerd ended at once: {_last_words()}", f"see {DAEMON_LOG}")
        if time.monotonic() > deadline:
            raise GroundError(
                f"the engine was started and does not answer after {START_TIMEOUT_S:.0f} s",
                f"see {DAEMON_LOG}" if daemon else "see journalctl -u docker",
            )
        time.sleep(0.1)


def _last_words() -> str:
    """What dockerd says of its end, which may go on over several lines, else its last line."""
    lines = DAEMON_LOG.read_text(errors="replace").splitlines() or ["it wrote no log"]
    return next((line for line in reversed(lines) if "failed to start daemon" in line), lines[-1])


def main(arguments: list[str]) -> int:
    """`start` (the default) or `stop`; progress to stderr, exit code 0, or 4 for any other word.
    Raises GroundError."""
    if arguments not in ([], ["start"], ["stop"]):
        raise ScenarioError(f"{' '.join(arguments)!r} is no word of this program", "start or stop")

    def report(line: str) -> None:
        print(line, file=sys.stderr)

    (stop if arguments == ["stop"] else start)(report)
    return 0


if __name__ == "__main__":
    sys.exit(guarded(lambda: main(sys.argv[1:])))
