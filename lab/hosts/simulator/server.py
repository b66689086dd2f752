"""A simulated mailbox server: the real core, driven as `nodes.shell.runner` drives it, by virtual
time.

Inputs one at a time, written down, their effects carried out in order; the core's next deadline
becomes an event, late by a drawn slack. A process can be killed, paused, stopped and started; its
disk outlives it. No decision of a transport server is made here.
"""

import sqlite3
import traceback
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

from lab.hosts.simulator.breakpoints import Holds
from lab.hosts.simulator.event_loop import MS, World
from lab.hosts.simulator.events import Events
from lab.hosts.simulator.network import Connection, Link
from lab.hosts.simulator.random_delays import BOOT_US, TIMER_SLACK_US, Chance
from lab.hosts.simulator.smtp.inbound import InboundSession, InboundSessions
from lab.hosts.simulator.smtp.outbound import OutboundSessions
from lab.hosts.simulator.spinning import InputBounds
from lab.hosts.simulator.storage.disk import Disk, Life
from lab.hosts.simulator.storage.manager_disk import ManagerDisk
from lab.hosts.simulator.storage.medium import InMemory, OnFiles
from nodes.core.active_manager import ActiveManager
from nodes.core.config.config import NodeConfig
from nodes.core.interface import effects
from nodes.core.interface.effects import Effect, LogLifecycle
from nodes.core.interface.inputs import DeadlineReached, Input, StopRequested
from nodes.core.interface.replies import R421_STOPPING
from nodes.core.model.message import BodyHandle
from nodes.core.node import Node
from nodes.shell.chaos.breakpoints import Breakpoints, LetGo, nowhere
from nodes.shell.logs.files import LogFiles
from nodes.shell.logs.logs import Logs
from nodes.shell.storage.bodies import Bodies

STOP_US = 3_000 * MS
STOPPED, CRASHED, KILLED = 0, 70, 137
# what comes of rows of which a power loss has left some
UNREADABLE = (sqlite3.Error, LookupError, TypeError, ValueError)


class ServerClock:
    """The two clocks of one process, as `nodes.shell.clock` has them; `skew_ms`: at its start."""

    def __init__(self, world: World, skew_ms: int) -> None:
        self._world, self.skew_ms = world, skew_ms
        self.ahead_ms = 0
        self.mono_ns = world.mono_ns

    @property
    def origin_ms(self) -> int:
        return self._world.origin_ms

    def now_ms(self) -> int:
        return self._world.origin_ms + self._world.now_us // MS + self.skew_ms

    def date_ms(self) -> int:
        return self.now_ms() + self.ahead_ms

    def stamp(self) -> tuple[int, int]:
        return self.date_ms(), self.mono_ns()

    def skew(self, skew_ms: int) -> None:
        self.ahead_ms = skew_ms - self.skew_ms


class SimulatedServer:
    """A mailbox server of the plan. It is down until `start`."""

    def __init__(
        self,
        world: World,
        config: NodeConfig,
        files: LogFiles,
        seed: int,
        holds: Holds,
        *,
        messages: int = 0,
        keeps_inputs: bool = True,
        events: Events | None = None,
        medium: InMemory | OnFiles | None = None,
    ) -> None:
        self.name, self.config = config.me.name, config
        self.events, self.messages = events, messages
        is_manager = config.me.role == "active_manager"
        self.disk = (ManagerDisk if is_manager else Disk)(world, self.name, seed, medium)
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
        self._skew_ms, self._disk_is_full = 0, False
        self._first_skew_ms: int | None = None

    # -------------------------------------------------------------- its life

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
        self, process: "Process", since_us: int, stopped: Callable[[], None]
    ) -> None:
        if self._process is not process:
            stopped()
        elif process.is_busy and self._world.now_us < since_us + STOP_US:
            self._world.after(10 * MS, self._stop_when_quiet, process, since_us, stopped)
        else:
            self._process, self.exit_code = None, STOPPED
            process.part()
            self.disk.pull_plug()
            stopped()

    def pause(self) -> None:
        if self._process is not None:
            self._process.is_paused = True

    def resume(self) -> None:
        if self._process is not None:
            self._process.resume()

    def fill_disk(self, is_full: bool) -> None:
        self._disk_is_full = is_full
        self.disk.fill(is_full)

    def skew_clock(self, by_ms: int) -> None:
        """The clock is the machine's, so that it stays wrong over a restart."""
        self._skew_ms = by_ms
        if self._process is not None:
            self._process.clock.skew(by_ms)

    def machine(self) -> Mapping[str, object]:
        """How the server finds its machine; nothing while it is down."""
        if self._process is None:
            return {}
        return {"disk_is_full": self._disk_is_full, "skew_ms": self._skew_ms}

    def accept(self, connection: Connection, _opener: str) -> InboundSession:
        assert self._process is not None, "nobody listens"
        return self._process.inbound.accept(connection)


class Process:
    """One life of a server: everything that a SIGKILL takes away."""

    def __init__(
        self,
        server: SimulatedServer,
        world: World,
        chance: Chance,
        clock: ServerClock,
        logs: Logs,
        keeps_inputs: bool,
    ) -> None:
        self.name, self.config = server.name, server.config
        self.is_paused = False
        self.clock, self.now_ms = clock, clock.now_ms
        self._server, self._world, self._chance, self._logs = server, world, chance, logs
        self._keeps_inputs = keeps_inputs
        is_manager = server.config.me.role == "active_manager"
        self._node = (ActiveManager if is_manager else Node)(server.config)
        self._waiting: deque[Input] = deque()
        self._asleep: deque[tuple[Callable[..., None], tuple[Any, ...]]] = deque()
        self._is_handling = self._is_over = False
        self._wakes_us: int | None = None
        self._bounds = InputBounds(server.messages)
        self._life: Life
        self.outbound = OutboundSessions(self, server.links)
        self.inbound: InboundSessions
        self._table = self._effect_table()
        self._breakpoints = self._make_breakpoints()

    def begin(self) -> None:
        self._logs.lifecycle(LogLifecycle("configured"))
        self.inbound = InboundSessions(self)
        in_group = nowhere if self._breakpoints is None else self._breakpoints.in_group
        self._server.disk.in_group = in_group
        try:
            self._life, opened = self._server.disk.plug_in(
                self._give_from_disk, self._crash, self.now_ms()
            )
        except UNREADABLE as error:
            self._crash(error)
            return
        self.inbound.database_id = opened.database_id
        self._logs.name_database(opened.database_id)
        self.give(opened)
        self._logs.lifecycle(LogLifecycle("started", (("database_id", opened.database_id),)))

    def end(self) -> None:
        """Nothing is heard or done any more."""
        self._is_over = True
        self._waiting.clear()
        self._asleep.clear()

    def drop_sessions(self) -> None:
        """The system closes what a process that is gone had open."""
        self.inbound.drop_all()
        self.outbound.close_all()

    def part(self) -> None:
        """The end of a stop in good order."""
        self.end()
        self.inbound.close_all(R421_STOPPING)
        self.outbound.close_all()
        self._logs.lifecycle(LogLifecycle("stopped"))

    @property
    def is_busy(self) -> bool:
        return self._life.is_busy or self.inbound.await_answers

    def resume(self) -> None:
        """What came meanwhile is taken up, in order."""
        self.is_paused = False
        while self._asleep and not self.is_paused and not self._is_over:
            act, arguments = self._asleep.popleft()
            act(*arguments)

    # -------------------------------------------------------------- breakpoints

    def _make_breakpoints(self) -> Breakpoints | None:
        """None but where the plan asks for them, as in `nodes.shell.runner`."""
        holds, world = self._server.holds, self._world
        if not holds.planned:
            return None

        def held(names: tuple[str, ...], let_go: LetGo) -> None:
            holds.held(names, lambda: self.when_awake(let_go))

        return Breakpoints(holds.planned, holds.reached, world.now_ms, self._take, self._do, held)

    # -------------------------------------------------------------- what the parts need

    @property
    def bodies(self) -> Bodies:
        return self._life.bodies

    def read(self, handle: BodyHandle) -> bytes:
        return self._life.read(handle)

    def when_awake(self, act: Callable[..., None], *arguments: Any) -> None:
        """A stopped process hears nothing until it goes on; one that is gone never."""
        if self._is_over:
            return
        if self.is_paused:
            self._asleep.append((act, arguments))
        else:
            act(*arguments)

    def _give_from_disk(self, happened: Input) -> None:
        self.when_awake(self.give, happened)

    # -------------------------------------------------------------- the core

    def give(self, happened: Input) -> None:
        """Something happened."""
        if self._breakpoints is None:
            self._take(happened)
        else:
            self._breakpoints.give(happened)

    def _take(self, happened: Input) -> None:
        """Hand it to the core, carry out what it wants, in order."""
        if self._is_over:
            return
        self._waiting.append(happened)
        if self._is_handling:
            return
        self._is_handling = True
        try:
            while self._waiting:
                self._handle(self._waiting.popleft())
            self._set_timer()
        except Exception as error:
            self._crash(error)
        self._is_handling = False

    def _crash(self, error: Exception) -> None:
        said = "".join(traceback.format_exception(error))
        fields = (("reason", said), ("last_inputs", self._bounds.last_inputs()))
        self._logs.lifecycle(LogLifecycle("crashed", fields))
        self._server.crash(said)

    def _handle(self, happened: Input) -> None:
        if self._is_struck(happened):
            return
        self._bounds.note(happened, self._world.now_us)
        now_ms = self.now_ms()
        if self._keeps_inputs:
            self._logs.input(happened, now_ms)
        for effect in self._node.handle(happened, now_ms):
            if self._breakpoints is None:
                self._do(effect)
            else:
                self._breakpoints.carry_out(effect)

    def _is_struck(self, happened: Input) -> bool:
        """A fault that begins at this event has ended the process before it."""
        events = self._server.events
        if events is not None:
            events.at_door(self.name, happened, self._world.now_ms())
        return self._is_over

    def _do(self, effect: Effect) -> None:
        self._table[type(effect)](effect)

    def _set_timer(self) -> None:
        due_ms = self._node.next_deadline_ms()
        if due_ms is None:
            return
        due_us = (due_ms - self.clock.origin_ms - self.clock.skew_ms) * MS
        due_us = max(due_us, self._world.now_us)
        if self._wakes_us is None or due_us < self._wakes_us:
            self._wakes_us = due_us
            slack_us = self._chance.mostly_short(*TIMER_SLACK_US)
            self._world.at(due_us + slack_us, self._wake, due_us)

    def _wake(self, due_us: int) -> None:
        if self._wakes_us == due_us:
            self._wakes_us = None
            self.when_awake(self._reach_deadline)

    def _reach_deadline(self) -> None:
        due_ms = self._node.next_deadline_ms()
        if due_ms is not None and due_ms <= self.now_ms():
            self.give(DeadlineReached())
        else:
            self._look_again()

    def _look_again(self) -> None:
        """It is to be woken later after all; a node may put that off for ever."""
        try:
            self._bounds.note(DeadlineReached(), self._world.now_us)
            self._set_timer()
        except Exception as error:
            self._crash(error)

    def _effect_table(self) -> dict[type[Effect], Callable[[Any], None]]:
        """What is asked of whom."""
        logs, outbound = self._logs, self.outbound
        return {
            effects.LogTracking: logs.tracking,
            effects.LogConnectivity: logs.connectivity,
            effects.LogLifecycle: logs.lifecycle,
            effects.Commit: lambda e: self._life.write(e),
            effects.ExpireSafetyNet: lambda e: self._life.write(e),
            effects.ReadSafetyNet: lambda e: self._life.write(e),
            effects.DeliverToMailboxes: lambda e: self._life.deliver(e),
            effects.ChangeCopy: lambda e: self._life.deliver(e),
            effects.DropBody: lambda e: self.bodies.drop(e.body),
            effects.SendReply: lambda e: self.inbound.reply(e.session, e.reply),
            effects.CloseSession: lambda e: self.inbound.close(e.session, e.reply),
            effects.OpenSession: outbound.open,
            effects.Transmit: outbound.transmit,
            effects.AskDiscard: outbound.ask_discard,
            effects.RequestResubmit: outbound.request_resubmit,
            effects.ManageCopy: outbound.manage_copy,
            effects.HangUp: lambda e: outbound.hang_up(e.session),
        }
