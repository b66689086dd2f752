"""The servers of a run as containers, through the engine: killed, paused, stopped, started.

Only containers of this run are touched, by the names that the ground gave them. What a server
keeps lies in the run's state directory, so its queue database is moved by renaming files while
the server is down. Nothing here knows why.
"""

import shutil
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import docker
import requests
from docker.errors import DockerException, NotFound
from docker.models.containers import Container

from lab.faults.damage import damaged
from lab.hosts.containers.ground import provision
from lab.hosts.containers.ground.inventory import CONFIG
from lab.hosts.containers.ground.provision import Ground
from lab.hosts.containers.ground.server_files import require_file, require_folder
from lab.hosts.node_config import as_document
from lab.plan.directory import Directory
from lab.program.errors import GroundError
from nodes.shell.chaos.control_files import FOLDER, GO, LAPSED, REACHED, control_file
from nodes.shell.chaos.machine import ORDERED, Machine, order_machine, read_found, read_machine
from nodes.shell.storage.directory import DIRECTORY, change_directory, goes_by_it, note_created
from nodes.shell.storage.shared_files import read_shared, write_shared

T = TypeVar("T")

LAST_WORDS = "last-words"
NOT_ITS_OWN = (FOLDER, ORDERED, DIRECTORY)
KILL_SECONDS = 20
GRACE_SECONDS = 15
SMTP_PORT = 2525
LOOK_INSIDE = (
    "import socket; "
    f"c = socket.create_connection(('127.0.0.1', {SMTP_PORT}), 2); c.settimeout(2); "
    "print(c.recv(512).decode())"
)


class ContainerNodes:
    """Servers by name. Every method raises GroundError."""

    def __init__(self, client: docker.DockerClient, ground: Ground) -> None:
        self._client, self._ground = client, ground

    def kill(self, server: str) -> int:
        """SIGKILL; the exit code that the engine saw."""

        def act(container: Container) -> int:
            container.kill("SIGKILL")
            return int(container.wait(timeout=KILL_SECONDS)["StatusCode"])

        return self._on(server, "kill", act)

    def lose_power(self, server: str) -> int:
        """A kernel keeps what a container that is killed has written."""
        raise GroundError(f"a container cannot lose its power: {server}", "run on the simulator")

    def is_running(self, server: str) -> bool:
        if self.is_lost(server):
            return False
        return self._on(server, "look at", lambda container: container.status == "running")

    def stop(self, server: str) -> int:
        """SIGTERM, SIGKILL when that is not enough; the exit code that the engine saw."""
        return self._on(server, "stop", _stop)

    def restart(self, server: str) -> int:
        exit_code = self.stop(server)
        self.start(server)
        return exit_code

    def pause(self, server: str) -> None:
        self._on(server, "pause", lambda container: container.pause())

    def resume(self, server: str) -> None:
        """It is notified now of what it could not read meanwhile: a signal to a container that is
        paused may let it go on.
        """
        self._on(server, "resume", lambda container: container.unpause())
        if not self.goes_by_directory(server):
            self._on(server, "signal", _signal)

    def is_paused(self, server: str) -> bool:
        return self._on(server, "look at", lambda container: container.status == "paused")

    def set_aside_queue_database(self, server: str, fault_id: str) -> Sequence[str]:
        """Move `data/queue.db*`, of Active Manager `data/manager.db*`, to
        `data/set-aside-<fault>/`; the names of what was moved.
        """
        data = self.data(server)
        aside = data / f"set-aside-{fault_id}"
        try:
            aside.mkdir(exist_ok=True)
            require_folder(aside)
            files = sorted([*data.glob("queue.db*"), *data.glob("manager.db*")])
            for file in files:
                file.rename(aside / file.name)
        except OSError as error:
            raise GroundError(f"the queue database of {server} stays: {error}") from error
        return [file.name for file in files]

    def lose(self, server: str) -> None:
        """The container is removed, and what its server kept; what it said last stays, and by which
        files lab and machine inform each other.
        """
        said = self._on(server, "hear", lambda container: container.logs(stdout=True, stderr=True))
        self._on(server, "remove", lambda container: container.remove(v=True, force=True))
        try:
            with (self.data(server).parent / LAST_WORDS).open("ab") as words:
                words.write(said)
            _empty(self.data(server))
        except OSError as error:
            raise GroundError(f"the disk of {server} stays: {error}") from error

    def make_anew(self, server: str, databases: Sequence[str]) -> None:
        try:
            note_created(self.data(server), databases)
        except (OSError, ValueError) as error:
            raise GroundError(f"cannot make a new {server}: {error}") from error
        provision.make_anew(self._ground, server)

    def is_lost(self, server: str) -> bool:
        """Whether it has no container any more."""
        try:
            self._client.containers.get(self.container(server))
        except NotFound:
            return True
        except (DockerException, requests.RequestException) as error:
            raise GroundError(f"cannot look at {server}: {_first_line(error)}") from error
        return False

    @property
    def left(self) -> list[str]:
        """The servers that are there, running or not."""
        return [server for server in self._ground.containers if not self.is_lost(server)]

    def damage_queue_database(self, server: str) -> Sequence[str]:
        """Overwrite the beginning of `queue.db` and of its journal."""
        files = sorted(self.data(server).glob("queue.db*"))
        try:
            for file in files:
                require_file(file)
                file.write_bytes(damaged(file.read_bytes()))
        except OSError as error:
            raise GroundError(f"the disk of {server} stays whole: {error}") from error
        return [file.name for file in files]

    def start(self, server: str) -> None:
        self._on(server, "start", lambda container: container.start())

    def ask(self, server: str, line: str) -> Callable[[], str]:
        """Said when what comes back is called, so that nothing else waits for it."""

        def act(container: Container) -> str:
            command = ["python3", "-m", "nodes.shell.ask", CONFIG, *line.split(" ")]
            output = container.exec_run(command, stderr=False).output
            return output.decode("ascii", "replace").strip() if isinstance(output, bytes) else ""

        def reply() -> str:
            try:
                return self._on(server, "ask", act)
            except GroundError:  # it is down, so it does not answer
                return ""

        return reply

    def answers(self, server: str) -> bool:
        """Whether a connection from inside the container sees a banner."""

        def act(container: Container) -> bool:
            code, output = container.exec_run(["python3", "-c", LOOK_INSIDE])
            return code == 0 and isinstance(output, bytes) and output.startswith(b"220")

        return self._on(server, "look into", act)

    def reached(self, server: str, fault_id: str) -> Mapping[str, object] | None:
        path = control_file(self.data(server), fault_id, REACHED)
        try:
            return read_shared(path)
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise GroundError(f"cannot read where {server} is held: {error}") from error

    def let_go(self, server: str, fault_id: str) -> bool:
        data = self.data(server)
        try:
            write_shared(control_file(data, fault_id, GO), "")
        except FileNotFoundError:
            return True  # it never started, so it holds nothing
        except OSError as error:
            raise GroundError(f"cannot let {server} go on: {error}") from error
        return not control_file(data, fault_id, LAPSED).exists()

    def fill_disk(self, server: str, *, is_full: bool) -> None:
        self._order(server, lambda now: replace(now, disk_is_full=is_full))

    def use_disk(self, server: str, percent: int) -> None:
        self._order(server, lambda now: replace(now, disk_percent=percent))

    def skew_clock(self, server: str, by_ms: int) -> None:
        self._order(server, lambda now: replace(now, skew_ms=by_ms))

    def machine(self, server: str) -> Mapping[str, object]:
        data = self.data(server)
        try:
            found = read_found(data)
            return found if found.get("order") == read_machine(data).order else {}
        except (OSError, ValueError) as error:
            raise GroundError(f"cannot read the machine of {server}: {error}") from error

    def change_directory(self, server: str, directory: Directory) -> None:
        try:
            change_directory(self.data(server), as_document(directory))
            if self.is_running(server):
                self._on(server, "signal", _signal)
        except (OSError, ValueError) as error:
            raise GroundError(f"cannot change the directory of {server}: {error}") from error

    def goes_by_directory(self, server: str) -> bool:
        try:
            return goes_by_it(self.data(server))
        except (OSError, ValueError) as error:
            raise GroundError(f"cannot read the directory of {server}: {error}") from error

    def _order(self, server: str, change: Callable[[Machine], Machine]) -> None:
        """Notify the server of what has become of its machine; one that starts looks by itself."""
        data = self.data(server)
        try:
            now = read_machine(data)
            order_machine(data, change(replace(now, order=now.order + 1)))
            if self.is_running(server):
                self._on(server, "signal", _signal)
        except (OSError, ValueError) as error:
            raise GroundError(f"cannot change the machine of {server}: {error}") from error

    def stop_all(self) -> dict[str, int]:
        """SIGTERM to every server that is left, at once, and time to end; exit codes by server."""

        servers = self.left
        with ThreadPoolExecutor(max(1, len(servers))) as pool:
            return dict(zip(servers, pool.map(self.stop, servers), strict=True))

    def container(self, server: str) -> str:
        """The name of its container."""
        return self._ground.containers[server]

    def data(self, server: str) -> Path:
        return self._ground.state_dir / "servers" / server / "data"

    def _on(self, server: str, verb: str, act: Callable[[Container], T]) -> T:
        try:
            return act(self._client.containers.get(self.container(server)))
        except (DockerException, requests.RequestException) as error:
            raise GroundError(f"cannot {verb} {server}: {_first_line(error)}") from error


def _empty(data: Path) -> None:
    """All but what the lab itself has written: how the machine is, where it holds a server, what
    Active Directory has.
    """
    for path in data.iterdir():
        if path.name in NOT_ITS_OWN:
            continue
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


def _signal(container: Container) -> None:
    container.kill("SIGUSR1")


def _stop(container: Container) -> int:
    container.stop(timeout=GRACE_SECONDS)
    return int(container.wait(timeout=KILL_SECONDS)["StatusCode"])


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
