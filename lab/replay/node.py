"""One node of a run again: its inputs through `nodes.core`, its logs compared (design decision 1).

Each life gets a new `Node` with the configuration of plan.json, hears what the node heard at the
same lab times, and must log the same rows in the same order, field by field but for the clock's.
Only a kill in the middle of the last input of a life leaves rows out. The ground's address of a
peer (`server-ip`) is learned from its first row. Disk and network are not replayed: what they said
is among the inputs.
"""

import json
from bdb import BdbQuit
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path

from lab.hosts.node_config import node_config
from lab.program.errors import ScenarioError
from lab.replay.node_record import Heard, Log, RecordedLife, Row, Values, parsed, read_lives
from lab.replay.recorded_plan import PLAN, plan_of
from nodes.core.config.config import NodeConfig
from nodes.core.config.error import ConfigurationError
from nodes.core.engine.waiting import Wait
from nodes.core.interface.effects import Effect, LogConnectivity, LogLifecycle, LogTracking
from nodes.core.interface.inputs import DatabaseOpened, ManagerOpened
from nodes.shell.core_loop import CORES
from nodes.shell.logs.exchange import Stamp, Writer, connectivity_row, tracking_row


@dataclass(frozen=True, slots=True)
class Expected:
    """A row that the replay logs, and the input that it follows."""

    heard: Heard
    values: Values


@dataclass(frozen=True, slots=True)
class Divergence:
    """Where replay and node part. `expected` None: the replay logs nothing there; `found` None: the
    node did not. `reason` says what no row says."""

    life: int
    heard: Heard
    log: Log | None = None
    expected: Values | None = None
    found: Row | None = None
    reason: str = ""


@dataclass(slots=True)
class Replay:
    """What was driven and compared: counts, crashes that came again, and the first divergence.
    `waits`: what the node waited for after `last`, the last input that it was given.
    """

    lives: int = 0
    inputs: int = 0
    rows: int = 0
    crashes: list[str] = field(default_factory=list)
    divergence: Divergence | None = None
    last: Heard | None = None
    waits: tuple[Wait, ...] = ()


def replay_node(
    folder: Path, server: str, until: int | None = None, look: Callable[[], None] | None = None
) -> Replay:
    """Drive the node of that run folder again, up to and with line `until` of its inputs.

    `look` is called in the frame that gives the core that last input, before it does; a BdbQuit of
    it goes through. Raises ScenarioError for a record that cannot be replayed, and for a server
    without a core.
    """
    config = _configuration(folder, server)
    lives = read_lives(folder / "logs" / server)
    last = lives[-1].heard[-1].line
    if until is not None and not 1 <= until <= last:
        raise ScenarioError(f"--until {until}: {server} heard {last} lines", "name one of them")
    outcome = Replay()
    for life in lives:
        if until is not None and life.heard[0].line > until:
            break
        _LifeAgain(config, life, until, look, outcome).compare()
        if outcome.divergence is not None:
            break
    return outcome


def _configuration(folder: Path, server: str) -> NodeConfig:
    plan = plan_of(folder)
    with_core = [each for each in plan.topology.servers if each.role in CORES]
    try:
        for each in with_core:
            if each.name == server:
                return node_config(plan, each)
    except ConfigurationError as error:
        raise ScenarioError(f"{folder / PLAN}: {error.message}", error.hint) from error
    known = ", ".join(each.name for each in with_core)
    raise ScenarioError(
        f"--node {server}: is no server of the run with a core", f"known are {known}"
    )


class _LifeAgain:
    """One life again: driven first, compared then."""

    def __init__(
        self,
        config: NodeConfig,
        life: RecordedLife,
        until: int | None,
        look: Callable[[], None] | None,
        outcome: Replay,
    ) -> None:
        self._node = CORES[config.me.role](config)
        self._addresses: dict[str, str] = {}
        self._writer = Writer(config, "", self._addresses)
        self._life, self._until, self._look, self._outcome = life, until, look, outcome
        self._expected: dict[Log, list[Expected]] = {log: [] for log in Log}
        self._is_whole = True  # every input was given to the core

    def compare(self) -> None:
        self._outcome.lives += 1
        failed = self._drive()
        self._outcome.waits = self._node.waits()
        self._outcome.rows += sum(map(len, self._expected.values()))
        parted = [failed] if failed else []
        parted += [found for log in Log if (found := self._difference(log)) is not None]
        self._outcome.divergence = min(parted, key=lambda one: one.heard.line, default=None)

    def _drive(self) -> Divergence | None:
        for heard in self._life.heard:
            if self._until is not None and heard.line > self._until:
                self._is_whole = False
                return None
            try:
                effects = self._handle(heard)
            except BdbQuit:
                raise
            except Exception as error:  # whatever our own mistake is
                self._is_whole = False
                return self._failed(heard, error)
            self._outcome.inputs += 1
            for effect in effects:
                self._note(heard, effect)
        return None

    def _handle(self, heard: Heard) -> tuple[Effect, ...]:
        node, happened, now_ms = self._node, heard.happened, heard.now_ms
        self._outcome.last = heard
        if isinstance(happened, DatabaseOpened | ManagerOpened):
            self._writer = Writer(self._writer.config, happened.database_id, self._addresses)
        if self._look is not None and heard.line == self._until:
            self._look()
        return node.handle(happened, now_ms)

    def _failed(self, heard: Heard, error: Exception) -> Divergence | None:
        """The core crashes: as it did then, if that is how the life ended."""
        said = f"the core fails with {error!r}"
        if self._life.last_word == "crashed" and heard is self._life.heard[-1]:
            self._outcome.crashes.append(f"life {self._life.number}, line {heard.line}: {said}")
            return None
        return Divergence(self._life.number, heard, reason=f"{said}, and the node went on")

    def _note(self, heard: Heard, effect: Effect) -> None:
        stamp = Stamp(heard.now_ms, heard.mono_ns, heard.ahead_ms)
        if isinstance(effect, LogTracking):
            self._learn(effect)
            self._expect(heard, Log.tracking, tracking_row(effect, self._writer, stamp))
        elif isinstance(effect, LogConnectivity):
            self._expect(heard, Log.connectivity, connectivity_row(effect, stamp))
        elif isinstance(effect, LogLifecycle):
            text = json.dumps({"event": effect.event, **dict(effect.fields)})
            self._expect(heard, Log.lifecycle, text)

    def _expect(self, heard: Heard, log: Log, text: str) -> None:
        values, _ = parsed(log, text)
        self._expected[log].append(Expected(heard, values))

    def _learn(self, row: LogTracking) -> None:
        """The address of the row's peer, from the row that the node wrote at the same place."""
        written = self._life.rows[Log.tracking]
        at = len(self._expected[Log.tracking])
        found = written[at].values if at < len(written) else None
        if row.server and found is not None:
            self._addresses.setdefault(row.server, str(found["server-ip"]))

    def _difference(self, log: Log) -> Divergence | None:
        for expected, found in self._pairs(log):
            if expected is None and not self._is_whole:
                return None
            if expected is None and found is not None and not self._is_torn_word(log, found):
                heard = self._heard_before(found)
                return Divergence(self._life.number, heard, log, None, found)
            if expected is not None and not self._agree(log, expected, found):
                values = expected.values
                return Divergence(self._life.number, expected.heard, log, values, found)
        return None

    def _pairs(self, log: Log) -> Iterator[tuple[Expected | None, Row | None]]:
        return zip_longest(self._expected[log], self._life.rows[log])

    def _agree(self, log: Log, expected: Expected, found: Row | None) -> bool:
        if found is not None and found.values is not None:
            return found.values == expected.values
        is_last_row = found is None or found is self._life.rows[log][-1]
        is_last_input = expected.heard is self._life.heard[-1]
        return is_last_row and is_last_input and self._life.last_word != "stopped"

    def _is_torn_word(self, log: Log, found: Row) -> bool:
        """A last line of the lifecycle log that cannot be read may have been the shell's own."""
        return log is Log.lifecycle and found.values is None and found is self._life.rows[log][-1]

    def _heard_before(self, found: Row) -> Heard:
        before = [each for each in self._life.heard if each.mono_ns <= found.mono_ns]
        return before[-1] if before else self._life.heard[0]
