"""A simulated server: its machine, which outlives its processes.

A process can be killed, lose its power, be paused, stopped and started in virtual time; its disk,
its clock and what the lab holds it at outlive it.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

from lab.hosts.simulator.breakpoints import Holds
from lab.hosts.simulator.connection import Connection
from lab.hosts.simulator.event_loop import MS, World
from lab.hosts.simulator.events import Events
from lab.hosts.simulator.network import Link
from lab.hosts.simulator.process import Process
from lab.hosts.simulator.random_delays import BOOT_US, Chance
from lab.hosts.simulator.server_clock import ServerClock
from lab.hosts.simulator.smtp.inbound import SimulatedInboundSession
from lab.hosts.simulator.spinning import AT_LEAST, Allowance
from lab.hosts.simulator.storage.disk import SimulatedDisk
from lab.hosts.simulator.storage.front_end_disk import SimulatedFrontEndDisk
from lab.hosts.simulator.storage.manager_disk import SimulatedManagerDisk
from lab.hosts.simulator.storage.medium import InMemory, OnFiles
from nodes.core.config.config import NodeConfig
from nodes.core.config.groups import DistributionGroup
from nodes.core.config.mailboxes import Mailbox
from nodes.core.interface.inputs import DirectoryRead, StopRequested
from nodes.shell.logs.files import LogFiles
from nodes.shell.logs.logs import Logs

DISKS: Mapping[str, type[SimulatedDisk]] = {
    "mailbox": SimulatedDisk,
    "frontend": SimulatedFrontEndDisk,
    "active_manager": SimulatedManagerDisk,
}
STOP_US = 3_000 * MS
STOPPED, CRASHED, KILLED = 0, 70, 137


class SimulatedServer:
    """A server of the organisation. It is down until `start`."""

    def __init__(
        self,
        world: World,
        config: NodeConfig,
        files: LogFiles,
        seed: int,
        holds: Holds,
        *,
        allowed: Allowance = AT_LEAST,
        keeps_inputs: bool = True,
        events: Events | None = None,
        medium: InMemory | OnFiles | None = None,
    ) -> None:
        self.name, self.config = config.me.name, config
        self.events, self.allowed = events, allowed
        self.disk = DISKS[config.me.role](world, self.name, seed, medium)
        self.disk.volume_bytes = config.server.queue_database_volume_bytes
        if events is not None:
            self.disk.when_writing = lambda w: events.at_disk(self.name, w, world.now_ms())
        self.holds = holds
        self.links: Mapping[tuple[str, str], Link] = {}
        self._world, self._files, self._keeps_inputs = world, files, keeps_inputs
        self._chance = Chance(seed, "server", self.name)
        self.exit_code: int | None = None
        self.crashes: list[str] = []
        self._process: Process | None = None
        self._boots, self._is_booting = 0, False
        self._skew_ms, self._disk_is_full, self._disk_percent = 0, False, 0
        self._first_skew_ms: int | None = None
        self.directory: DirectoryRead | None = None
        self.is_lost = self._loses_disk = False

    @property
    def is_running(self) -> bool:
        """The process is there, whether it listens yet or not."""
        return self._process is not None or self._is_booting

    @property
    def listens(self) -> bool:
        return self._process is not None

    @property
    def is_paused(self) -> bool:
        return self._process is not None and self._process.is_paused

    def start(self) -> None:
        """It listens after a drawn time."""
        self._boots, self._is_booting = self._boots + 1, True
        self._world.after(self._chance.mostly_short(*BOOT_US), self._booted, self._boots)

    def start_at_once(self) -> None:
        if self._process is None:
            clock = ServerClock(self._world, self._kept_skew_ms())
            clock.skew(self._skew_ms)
            logs = Logs(self._files, self.config, {}, clock)
            self._process = Process(
                self, self._world, self._chance, clock, logs, self._keeps_inputs
            )
            self._process.begin()

    def _kept_skew_ms(self) -> int:
        """What its first process went by: the machine is never booted anew (nodes.shell.uptime)."""
        if self._first_skew_ms is None:
            self._first_skew_ms = self._skew_ms
        return self._first_skew_ms

    def _booted(self, boot: int) -> None:
        if self._is_booting and boot == self._boots:
            self._is_booting = False
            self.start_at_once()

    def kill(self) -> int:
        """SIGKILL; the exit code."""
        self._is_booting = False
        self._fall(KILLED)
        return KILLED

    def lose_power(self) -> int:
        """As by SIGKILL, and the operating system loses what it had not made durable."""
        self._is_booting = False
        self._fall(KILLED, self.disk.lose_power)
        return KILLED

    def crash(self, said: str) -> None:
        """A mistake of the node's own ends its process."""
        self.crashes.append(said)
        self._fall(CRASHED)

    def _fall(self, exit_code: int, end: Callable[[], None] | None = None) -> None:
        """`end`: what becomes of the disk, a kill by default."""
        if self._process is not None:
            process, self._process = self._process, None
            self.exit_code = exit_code
            process.end()
            (end or self.disk.pull_plug)()
            process.drop_sessions()

    def stop(self, stopped: Callable[[], None] = lambda: None) -> None:
        """SIGTERM: what is under way gets a short time; `stopped` is called when it is down."""
        process = self._process
        if process is None:
            stopped()
            return
        process.resume()
        process.give(StopRequested())
        self._world.after(10 * MS, self._stop_when_quiet, process, self._world.now_us, stopped)

    def _stop_when_quiet(
        self, process: Process, since_us: int, stopped: Callable[[], None]
    ) -> None:
        if self._process is not process:
            stopped()
        elif process.is_busy and self._world.now_us < since_us + STOP_US:
            self._world.after(10 * MS, self._stop_when_quiet, process, since_us, stopped)
        else:
            self._process, self.exit_code = None, STOPPED
            process.part()
            self.disk.pull_plug()
            self._lose_disk()
            stopped()

    def lose(self) -> None:
        """Nothing is left of it, once it is down."""
        self.is_lost = self._loses_disk = True
        if self._process is None:
            self._lose_disk()

    def _lose_disk(self) -> None:
        """If it is to be lost."""
        if self._loses_disk:
            self._loses_disk, self._first_skew_ms = False, None
            self.disk.lose_everything()

    def make_anew(self, databases: tuple[str, ...]) -> None:
        """A new server of that name; of these databases it has copies, and they exist already."""
        known = self.directory or DirectoryRead(None, at_start=True)
        self.is_lost, self.directory = False, replace(known, databases=databases)

    def pause(self) -> None:
        if self._process is not None:
            self._process.is_paused = True

    def resume(self) -> None:
        if self._process is not None:
            self._process.resume()

    def fill_disk(self, is_full: bool) -> None:
        self._disk_is_full = is_full
        self.disk.fill(is_full)

    def use_disk(self, percent: int) -> None:
        """Of the volume of the queue database. A process that is there hears of it."""
        self._disk_percent = percent
        if self.config.me.role == "mailbox":
            self.disk.use(percent)
            if self._process is not None:
                self._process.disk.measure()

    def skew_clock(self, by_ms: int) -> None:
        """The clock is the machine's, so that it stays wrong over a restart."""
        self._skew_ms = by_ms
        if self._process is not None:
            self._process.clock.skew(by_ms)

    def change_directory(
        self,
        groups: tuple[DistributionGroup, ...],
        mailboxes: tuple[Mailbox, ...],
        inactive: tuple[str, ...] = (),
        not_authenticating: tuple[str, ...] = (),
    ) -> None:
        """Active Directory has these now: a server that runs hears of it, one that is down reads it
        at its start.
        """
        created = self.directory.databases if self.directory is not None else ()
        self.directory = DirectoryRead(
            groups, True, created, mailboxes, inactive, not_authenticating
        )
        if self._process is not None:
            process = self._process
            process.when_awake(process.give, replace(self.directory, at_start=False))

    def machine(self) -> Mapping[str, object]:
        """How the server finds its machine; nothing while it is down."""
        if self._process is None:
            return {}
        return {
            "disk_is_full": self._disk_is_full,
            "skew_ms": self._skew_ms,
            "disk_percent": self._disk_percent,
        }

    def accept(self, connection: Connection, _opener: str) -> SimulatedInboundSession:
        assert self._process is not None, "nobody listens"
        return self._process.inbound.accept(connection)
