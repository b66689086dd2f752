"""One process of a simulated server: the real core, driven as `nodes.shell.runner` drives it.

Inputs one at a time, written down, their effects carried out in order by the same table; the core's
next deadline becomes an event, late by a drawn slack. No decision of a transport server is made
here.
"""

import sqlite3
import traceback
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from lab.hosts.simulator.breakpoints import Holds
from lab.hosts.simulator.event_loop import MS, World
from lab.hosts.simulator.events import Events
from lab.hosts.simulator.network import Link
from lab.hosts.simulator.random_delays import TIMER_SLACK_US, Chance
from lab.hosts.simulator.server_clock import ServerClock
from lab.hosts.simulator.smtp.front_end import SimulatedFrontEndSession
from lab.hosts.simulator.smtp.inbound import SimulatedInboundSession, SimulatedInboundSessions
from lab.hosts.simulator.smtp.outbound import SimulatedOutboundSessions
from lab.hosts.simulator.spinning import Allowance, StepBounds
from lab.hosts.simulator.storage.disk import OpenDatabases, SimulatedDisk
from lab.hosts.simulator.storage.manager_disk import SimulatedManagerDisk
from nodes.core.config.config import NodeConfig
from nodes.core.interface.effects import Effect, LogLifecycle
from nodes.core.interface.inputs import DeadlineReached, DirectoryRead, FrontEndStarted, Input
from nodes.core.interface.replies import R421_STOPPING
from nodes.core.model.message import BodyHandle
from nodes.shell.chaos.breakpoints import Breakpoints, LetGo, nowhere
from nodes.shell.core_loop import CORES
from nodes.shell.effect_table import effect_table
from nodes.shell.logs.logs import Logs
from nodes.shell.one_at_a_time import OneAtATime
from nodes.shell.storage.bodies import Bodies

# what comes of rows of which a power loss has left some
UNREADABLE = (sqlite3.Error, LookupError, TypeError, ValueError)


class Machine(Protocol):
    """What outlives a process, and what it needs of that. `crash` ends the process with a mistake
    of its own.
    """

    name: str
    config: NodeConfig
    allowed: Allowance
    disk: SimulatedDisk | SimulatedManagerDisk
    holds: Holds
    links: Mapping[tuple[str, str], Link]
    events: Events | None
    directory: DirectoryRead | None

    def crash(self, said: str) -> None: ...


class Process:
    """One life of a server: everything that a SIGKILL takes away."""

    def __init__(
        self,
        server: Machine,
        world: World,
        chance: Chance,
        clock: ServerClock,
        logs: Logs,
        keeps_inputs: bool,
    ) -> None:
        self.name, self.config = server.name, server.config
        self.is_paused = False
        self.clock, self.now_ms = clock, clock.now_ms
        self._server, self._world, self._chance, self.logs = server, world, chance, logs
        self._keeps_inputs = keeps_inputs
        role = server.config.me.role
        self._node = CORES[role](server.config)
        self._kind = SimulatedFrontEndSession if role == "frontend" else SimulatedInboundSession
        self._inputs = OneAtATime(self._handle, self._set_timer, self._crash)
        self._asleep: deque[tuple[Callable[..., None], tuple[Any, ...]]] = deque()
        self._wakes_us: int | None = None
        self._bounds = StepBounds(server.allowed)
        self.disk: OpenDatabases
        self.outbound = SimulatedOutboundSessions(self, server.links)
        self.inbound: SimulatedInboundSessions
        self._table = effect_table(self)
        self._breakpoints = self._make_breakpoints()

    def begin(self) -> None:
        self.logs.lifecycle(LogLifecycle("configured", (("settings", self.config.settings),)))
        self.inbound = SimulatedInboundSessions(self, self._kind)
        if self._server.directory is not None:
            self.give(self._server.directory)
        in_group = nowhere if self._breakpoints is None else self._breakpoints.in_group
        self._server.disk.in_group = in_group
        try:
            self.disk, opened = self._server.disk.plug_in(
                self._give_from_disk, self._crash, self.now_ms()
            )
        except UNREADABLE as error:
            self._crash(error)
            return
        database_id = "" if isinstance(opened, FrontEndStarted) else opened.database_id
        self.inbound.database_id = database_id
        self.logs.name_database(database_id)
        self.give(opened)
        if self._inputs.is_over:
            return  # it crashed
        named = (("database_id", database_id),) if database_id else ()
        self.logs.lifecycle(LogLifecycle("started", named))

    def end(self) -> None:
        """Nothing is heard or done any more."""
        self._inputs.end()
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
        in_hand = (("count", len(self.bodies)),) if self.config.me.role == "frontend" else ()
        self.logs.lifecycle(LogLifecycle("stopped", in_hand))

    @property
    def is_busy(self) -> bool:
        return self.disk.is_busy or self.inbound.await_answers

    def resume(self) -> None:
        """What came meanwhile is taken up, in order."""
        self.is_paused = False
        while self._asleep and not self.is_paused and not self._inputs.is_over:
            act, arguments = self._asleep.popleft()
            act(*arguments)

    def _make_breakpoints(self) -> Breakpoints | None:
        """None but where the plan asks for them, as in `nodes.shell.runner`."""
        holds, world = self._server.holds, self._world
        if not holds.planned:
            return None

        def held(names: tuple[str, ...], let_go: LetGo) -> None:
            holds.held(names, lambda: self.when_awake(let_go))

        return Breakpoints(
            holds.planned, holds.reached, world.now_ms, self._inputs.give, self._do, held
        )

    @property
    def bodies(self) -> Bodies:
        return self.disk.bodies

    def read(self, handle: BodyHandle) -> bytes:
        return self.disk.read(handle)

    def when_awake(self, act: Callable[..., None], *arguments: Any) -> None:
        """A stopped process hears nothing until it goes on; one that is gone never."""
        if self._inputs.is_over:
            return
        if self.is_paused:
            self._asleep.append((act, arguments))
        else:
            act(*arguments)

    def _give_from_disk(self, happened: Input) -> None:
        self.when_awake(self.give, happened)

    def give(self, happened: Input) -> None:
        """Something happened."""
        if self._breakpoints is None:
            self._inputs.give(happened)
        else:
            self._breakpoints.give(happened)

    def _crash(self, error: Exception) -> None:
        said = "".join(traceback.format_exception(error))
        fields = (("reason", said), ("last_inputs", self._bounds.last_inputs()))
        self.logs.lifecycle(LogLifecycle("crashed", fields))
        self._server.crash(said)

    def _handle(self, happened: Input) -> None:
        if self._is_struck(happened):
            return
        now_us = self._world.now_us
        self._bounds.given(happened, now_us)
        now_ms = self.now_ms()
        if self._keeps_inputs:
            self.logs.input(happened, now_ms)
        for effect in self._node.handle(happened, now_ms):
            self._bounds.did(effect, now_us)
            if self._breakpoints is None:
                self._do(effect)
            else:
                self._breakpoints.carry_out(effect)

    def _is_struck(self, happened: Input) -> bool:
        """A fault that begins at this event has ended the process before it."""
        events = self._server.events
        if events is not None:
            events.at_door(self.name, happened, self._world.now_ms())
        return self._inputs.is_over

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
            self._bounds.given(DeadlineReached(), self._world.now_us)
            self._set_timer()
        except Exception as error:
            self._crash(error)
