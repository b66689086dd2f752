"""What a run leaves behind, brought from the state directory and the engine into the run folder.

Servers stand still when this happens, so files are complete. Only what is named here is copied,
never configuration, and no private key. Whatever cannot be brought is a complaint and keeps
nothing else from being brought; what was never written is missing in the record too, for an empty
file would say that nothing happened.
The databases are read by `nodes.store.dump`, from copies.
"""

import shutil
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import docker
import requests
from docker.errors import DockerException

from lab.clock import parse_origin
from lab.hosts.containers.engine import RUN_LABEL
from lab.hosts.containers.ground import confinement
from lab.hosts.containers.ground.server_files import require_file
from lab.hosts.containers.nodes import LAST_WORDS
from lab.plan.plan import Plan
from lab.plan.topology import Database
from lab.record.folder import RunFolder
from lab.workload.stranger_record import STRANGERS_FILE
from nodes.shell.storage.directory import read_directory
from nodes.store.dump import (
    copy_rows,
    mailbox_files,
    mailbox_rows,
    queue_rows,
    shown_to_users,
    standing,
)

QUEUE_DATABASE = "queue.db"
RECEIVED = "received.jsonl"
LEDGER = "ledger.jsonl"


@dataclass(frozen=True, slots=True)
class Collection:
    """Collects one run from its state directory; `complaints` grows with what cannot be had."""

    plan: Plan
    state_dir: Path
    client: docker.DockerClient
    folder: RunFolder
    complaints: list[str]

    def collect(self) -> None:
        """Bring everything; raises nothing but what it cannot foresee."""
        for server in self.plan.topology.servers:
            self._try(f"logs of {server.name}", partial(self._logs, server.name))
            if server.role == "mailbox":
                self._try(f"queues of {server.name}", partial(self._queues, server.name))
                self._try(f"copies of {server.name}", partial(self._copies, server.name))
            elif server.role == "external":
                self._try(f"mail at {server.name}", partial(self._external, server.name))
        for database in self.plan.topology.databases:
            self._try(f"mailboxes of {database.name}", partial(self._mailboxes, database))
        self._try("the ledger", self._ledger)
        self._try("what strangers heard", self._strangers)
        self._try("the ground's logs", self._ground)
        self._try("what the containers said", self._words)
        self._try("whether memory was enough", self._memory)

    def _try(self, what: str, act: Callable[[], None]) -> None:
        try:
            act()
        except (OSError, sqlite3.Error, DockerException, requests.RequestException) as error:
            self.complaints.append(f"{what}: {' '.join(str(error).split())}")

    def _logs(self, server: str) -> None:
        logs = self._of(server) / "logs"
        if logs.exists():
            shutil.copytree(logs, self.folder.logs(server), dirs_exist_ok=True, ignore=_links)

    def _queues(self, server: str) -> None:
        path = self._of(server) / "data" / QUEUE_DATABASE
        if _is_there(path):
            rows = queue_rows(path, self._origin_ms())
            self.folder.write_lines(self.folder.logs(server) / "queues.jsonl", rows)

    def _copies(self, server: str) -> None:
        """Where its copies of mailbox databases stand; nothing, where it never ran."""
        data = self._of(server) / "data"
        if (data / QUEUE_DATABASE).exists():
            paths = filter(_is_there, mailbox_files(data).values())
            rows = copy_rows(paths, self._origin_ms())
            self.folder.write_lines(self.folder.logs(server) / "copies.jsonl", rows)

    def _mailboxes(self, database: Database) -> None:
        """Of the copy that recipients see; nothing, where servers ran and none has made one yet."""
        folders = [self._of(copy.server) / "data" for copy in database.copies]
        files = [
            found[database.name]
            for found in map(mailbox_files, folders)
            if database.name in found and _is_there(found[database.name])
        ]
        copies = {(copy := standing(path)).server: (copy, path) for path in files}
        shown = shown_to_users(copy for copy, _ in copies.values())
        if shown is not None:
            rows = mailbox_rows(copies[shown][1], self._origin_ms(), _moved(folders[0]))
            self.folder.write_lines(self.folder.mailboxes(database.name), rows)
        elif not files and all(_is_there(folder / QUEUE_DATABASE) for folder in folders):
            self.folder.write_lines(self.folder.mailboxes(database.name), ())

    def _external(self, server: str) -> None:
        _copy(self._of(server) / "data" / RECEIVED, self.folder.external(server))

    def _ledger(self) -> None:
        _copy(self.state_dir / "workload" / LEDGER, self.folder.path / LEDGER)

    def _strangers(self) -> None:
        source = self.state_dir / "workload" / STRANGERS_FILE
        _copy(source, self.folder.path / STRANGERS_FILE)

    def _ground(self) -> None:
        """What provisioning wrote: `*.log` of the state directory, as `logs/ground/`."""
        for log in sorted(self.state_dir.glob("*.log")):
            shutil.copyfile(log, self.folder.logs("ground") / log.name)

    def _words(self) -> None:
        """What every container of the run wrote to its standard streams, as `stderr.log`."""
        label = f"{RUN_LABEL}={self.folder.run_id}"
        for container in self.client.containers.list(all=True, filters={"label": label}):
            name = str(container.name).removeprefix(f"{self.folder.run_id}-")
            words = container.logs(stdout=True, stderr=True)
            (self.folder.logs(name) / "stderr.log").write_bytes(self._last_words(name) + words)
        for server in self.plan.topology.servers:
            path = self.folder.logs(server.name) / "stderr.log"
            if not path.exists() and (words := self._last_words(server.name)):
                path.write_bytes(words)

    def _last_words(self, name: str) -> bytes:
        """What a container said that was removed with its server."""
        path = self._of(name) / LAST_WORDS
        return path.read_bytes() if _is_there(path) else b""

    def _memory(self) -> None:
        """A container that ran out of memory was killed by no fault of the plan."""
        label = f"{RUN_LABEL}={self.folder.run_id}"
        for container in self.client.containers.list(all=True, filters={"label": label}):
            if container.attrs["State"]["OOMKilled"]:
                name = str(container.name).removeprefix(f"{self.folder.run_id}-")
                limit_mib = container.attrs["HostConfig"]["Memory"] // confinement.MIB
                self.complaints.append(
                    f"{name} ran out of memory and was killed: its limit is {limit_mib} MiB"
                )

    def _of(self, server: str) -> Path:
        return self.state_dir / "servers" / server

    def _origin_ms(self) -> int:
        return round(parse_origin(self.plan.clock.origin).timestamp() * 1000)


def _copy(source: Path, target: Path) -> None:
    if _is_there(source):
        shutil.copyfile(source, target)


def _is_there(path: Path) -> bool:
    try:
        require_file(path)
    except FileNotFoundError:
        return False
    return True


def _links(folder: str, names: list[str]) -> list[str]:
    return [name for name in names if (Path(folder) / name).is_symlink()]


def _moved(data: Path) -> dict[str, str]:
    """Mailboxes by what Active Directory has, which lies in the data folder of each server. Raises
    OSError.
    """
    try:
        directory = read_directory(data)
    except ValueError as error:
        raise OSError(str(error)) from error
    return {each.address: each.database for each in directory.mailboxes} if directory else {}
