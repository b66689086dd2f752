"""A small organisation for tests: three mailbox servers in one DAG over two sites, one server
outside, certificates of an authority of its own, and node configuration files on loopback.
"""

from __future__ import annotations

import json
import socket
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.certificates import Authority

DOMAIN = "shadowlab.example"
ORIGIN = "2026-01-05T08:00:00Z"
ORIGIN_MS = 1_767_600_000_000
SITES = {"par-mbx1": "paris", "par-mbx2": "paris", "lyo-mbx1": "lyon"}
DATABASES = {"DB1": "par-mbx1", "DB2": "par-mbx2"}
MAILBOXES = {"db1-user01": "DB1", "db1-user02": "DB1", "db2-user01": "DB2"}


def fqdn(server: str) -> str:
    return f"{server}.{DOMAIN}"


@dataclass
class Organisation:
    """Everything below `folder`: `tls/`, and for each server `data/`, `logs/`, `config.json`."""

    folder: Path
    speed: float = 60.0
    ports: dict[str, int] = field(default_factory=dict)
    sections: dict[str, Any] = field(default_factory=dict)
    links: dict[str, list[str]] = field(default_factory=dict)
    services: tuple[str, ...] = ("smtp",)
    managers: tuple[str, ...] = ()
    front_ends: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self.authority = Authority(self.folder / "tls")
        self.start_file = self.folder / "start.json"

    def data(self, server: str) -> Path:
        return self.folder / server / "data"

    def logs(self, server: str) -> Path:
        return self.folder / server / "logs"

    def document(self, server: str) -> dict[str, Any]:
        """The node configuration of a server; `links` says whom it can reach."""
        outside = server == "ext1"
        linked = self.links.get(server, [])
        links = {
            peer: dict.fromkeys(self.services, f"127.0.0.1:{self.ports[peer]}") for peer in linked
        }
        return {
            "Version": 1,
            **self._server(server),
            "LabClock": {
                "Origin": ORIGIN,
                "Speed": self.speed,
                "SkewMs": 0,
                "StartFile": str(self.start_file),
            },
            "AcceptedDomain": DOMAIN,
            "Servers": [
                _server(name, is_front_end=name in self.front_ends) for name in self._names()
            ],
            "Databases": [{"Name": n, "Server": s} for n, s in DATABASES.items()],
            "Mailboxes": [
                {"Address": f"{user}@{DOMAIN}", "Database": database}
                for user, database in MAILBOXES.items()
            ],
            "Links": links,
            "Listen": {"smtp": f"127.0.0.1:{self.ports.get(server, 0)}"},
            "Tls": None if outside else self._tls(server),
            "Data": str(self.data(server)),
            "Logs": str(self.logs(server)),
            **self.sections,
        }

    def _server(self, name: str) -> dict[str, Any]:
        return _server(name, is_front_end=name in self.front_ends)

    def _names(self) -> tuple[str, ...]:
        return *SITES, "ext1", *self.managers, *self.front_ends

    def write_config(self, server: str) -> Path:
        path = self.folder / server / "config.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(self.document(server)))
        return path

    def start_lab_time(self, zero_ns: int) -> None:
        partial = self.start_file.with_suffix(".partial")
        partial.write_text(json.dumps({"monotonic_zero_ns": zero_ns}))
        partial.rename(self.start_file)

    def _tls(self, server: str) -> dict[str, str]:
        certificate, key = self.authority.issue(fqdn(server))
        files = {"Certificate": certificate, "Key": key, "Authority": self.authority.file}
        return {name: str(path) for name, path in files.items()}


def _server(name: str, *, is_front_end: bool) -> dict[str, Any]:
    if is_front_end:
        described = {"Name": name, "Fqdn": fqdn(name), "Role": "frontend", "Site": "paris"}
        return described | {"DatabaseAvailabilityGroup": None, "Domain": None}
    if name == "ext1":
        described = {"Name": name, "Fqdn": "mx.partner.example", "Role": "external"}
        return described | {
            "Site": "internet",
            "DatabaseAvailabilityGroup": None,
            "Domain": "partner.example",
        }
    role = "mailbox" if name in SITES else "active_manager"
    described = {"Name": name, "Fqdn": fqdn(name), "Role": role}
    return described | {
        "Site": SITES.get(name, "lyon"),
        "DatabaseAvailabilityGroup": "DAG1",
        "Domain": None,
    }


def free_port() -> int:
    """A port of loopback that nobody had a moment ago."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])
