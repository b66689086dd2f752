"""A small organisation of real nodes on loopback: processes, mutual TLS and SQLite, no containers.

For measurements of the node itself. Lab time runs as fast as the wall's.
"""

import contextlib
import json
import os
import signal
import smtplib
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from lab.hosts.containers.ground import certificates as authority
from lab.program.errors import GroundError
from nodes.shell.ask import ask

DOMAIN = "shadowlab.example"
START_S = 20.0
ORIGIN = datetime(2026, 1, 5, 8, tzinfo=UTC)
ORIGIN_MS = int(ORIGIN.timestamp() * 1000)


class Organisation:
    """Mailbox servers in one site and one DAG; DB1, with `user@shadowlab.example`, on the last.

    `folder` gets the files of all of them. `ports` maps each name to its port on 127.0.0.1. Lab
    time goes `speed` times as fast as the wall's.
    """

    USER = f"user@{DOMAIN}"

    def __init__(
        self, folder: Path, names: Sequence[str] = ("a", "b", "c"), speed: float = 1.0
    ) -> None:
        self.folder, self.names, self.speed = folder, tuple(names), speed
        self.ports = {name: free_port() for name in self.names}
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._zero_ns = 0

    def start(self) -> None:
        """Every node, to its first banner. Raises GroundError with what a node said."""
        authority.issue(self.folder, {name: f"{name}.{DOMAIN}" for name in self.names})
        clock = self.folder / "start.json"
        self._zero_ns = time.monotonic_ns()
        clock.write_text(json.dumps({"monotonic_zero_ns": self._zero_ns}))
        for name in self.names:
            self._start(name, clock)
        for name in self.names:
            self._await_banner(name)

    def pid(self, name: str) -> int:
        return self._processes[name].pid

    def lab_ms(self, monotonic_ns: int) -> float:
        """Lab time, in epoch ms, at that moment of time.monotonic_ns()."""
        return ORIGIN_MS + (monotonic_ns - self._zero_ns) / 1e6 * self.speed

    def ask(self, name: str, line: str) -> tuple[int, str]:
        """What a server replies to an administrator on its own machine. Raises GroundError."""
        config = json.loads((self.folder / "servers" / name / "config.json").read_text())
        try:
            return ask(config | {"Fqdn": f"{name}.{DOMAIN}"}, line)
        except (OSError, smtplib.SMTPException) as error:
            raise GroundError(f"node {name} does not answer {line!r}: {error}") from error

    def stop(self) -> None:
        for process in self._processes.values():
            process.send_signal(signal.SIGTERM)
        for process in self._processes.values():
            process.wait(10)

    def _start(self, name: str, clock: Path) -> None:
        config = self.folder / "servers" / name / "config.json"
        config.write_text(json.dumps(self._document(name, clock)))
        words = (config.parent / "stderr.log").open("wb")
        command = [sys.executable, "-m", "nodes.shell.runner", str(config)]
        self._processes[name] = subprocess.Popen(command, stderr=words, stdout=words)
        words.close()

    def _document(self, name: str, clock: Path) -> dict[str, Any]:
        own = self.folder / "servers" / name
        tls = own / "etc" / "tls"
        others = [other for other in self.names if other != name]
        return {
            "Name": name,
            "AcceptedDomain": DOMAIN,
            "LabClock": {
                "Origin": f"{ORIGIN:%Y-%m-%dT%H:%M:%SZ}",
                "Speed": self.speed,
                "StartFile": str(clock),
            },
            "Servers": [_server(each) for each in self.names],
            "Databases": [{"Name": "DB1", "Server": self.names[-1]}],
            "Mailboxes": [{"Address": self.USER, "Database": "DB1"}],
            "Links": {other: {"smtp": f"127.0.0.1:{self.ports[other]}"} for other in others},
            "Listen": {"smtp": f"127.0.0.1:{self.ports[name]}"},
            "Tls": {
                "Certificate": str(tls / "server.pem"),
                "Key": str(tls / "server.key"),
                "Authority": str(tls / "authority.pem"),
            },
            "Data": str(own / "data"),
            "Logs": str(own / "logs"),
        }

    def _await_banner(self, name: str) -> None:
        deadline = time.monotonic() + START_S
        if greets(self.ports[name], deadline, lambda: self._processes[name].poll() is None):
            return
        words = (self.folder / "servers" / name / "stderr.log").read_text().strip()
        raise GroundError(f"node {name} gave no banner: {words or 'it said nothing'}", "")


@contextlib.contextmanager
def organisation(
    folder: Path, names: Sequence[str] = ("a", "b", "c"), speed: float = 1.0
) -> Iterator[Organisation]:
    """Up on entry, down on exit."""
    nodes = Organisation(folder, names, speed)
    try:
        nodes.start()
        yield nodes
    finally:
        nodes.stop()


def greets(port: int, deadline: float, lives: Callable[[], bool] = lambda: True) -> bool:
    """Whether a banner is seen there before the deadline (of time.monotonic()), or it dies."""
    while time.monotonic() < deadline and lives():
        with (
            contextlib.suppress(OSError),
            socket.create_connection(("127.0.0.1", port), 1) as connection,
        ):
            if connection.recv(3) == b"220":
                return True
        time.sleep(0.05)
    return False


def resident_mib(pid: int) -> float:
    """Resident memory of a process, from /proc."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / (1 << 20)


def _server(name: str) -> dict[str, Any]:
    return {
        "Name": name,
        "Fqdn": f"{name}.{DOMAIN}",
        "Role": "mailbox",
        "Site": "here",
        "DatabaseAvailabilityGroup": "DAG1",
        "Domain": None,
    }


def free_port() -> int:
    """A port of 127.0.0.1 that nobody listens on now."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])
