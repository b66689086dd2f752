"""A node that spins: it goes on at one moment, or tries again without a pause, for ever.

Counted are steps: what a process is given and what it does, a row of a log among that. No scenario
of the library has a server make more than some thousands in a lab hour. Bounds far above that end a
process that would keep the simulator busy, and the judge after it, for minutes. They grow with the
mail, and with how often a server may do the same again: for each other server and each message a
round of its shortest interval.
"""

from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

from lab.plan.plan import Plan
from nodes.core.config.config import NodeConfig
from nodes.core.interface.effects import Effect
from nodes.core.interface.inputs import Input

IN_AN_INSTANT, IN_A_MINUTE, IN_AN_HOUR = 5_000, 20_000, 25_000
PER_RECIPIENT = 100  # at one moment: all that a server holds may be due
IN_A_ROUND = 12  # a session with one question, or an attempt that is refused, and its rows
MINUTE_US = 60_000_000
HOUR_US = 60 * MINUTE_US
SHOWN = 60


class SpinningError(Exception):
    """The node's own mistake; the text names the loop."""


@dataclass(frozen=True, slots=True)
class Allowance:
    """How many steps a process may make in an instant, in a lab minute and in a lab hour."""

    in_an_instant: int = IN_AN_INSTANT
    in_a_minute: int = IN_A_MINUTE
    in_an_hour: int = IN_AN_HOUR


AT_LEAST = Allowance()


def allowance(plan: Plan, config: NodeConfig) -> Allowance:
    """What a server of that plan needs at the very most."""
    parties = len(plan.topology.servers) + len(plan.messages) + len(plan.strangers)
    often_ms = min(_intervals_ms(plan, config))
    in_a_minute = parties * IN_A_ROUND * (MINUTE_US // 1000) // often_ms
    at_once = PER_RECIPIENT * sum(len(message.recipients) for message in plan.messages)
    return Allowance(
        IN_AN_INSTANT + at_once,
        IN_A_MINUTE + at_once + in_a_minute,
        IN_AN_HOUR + at_once + 60 * in_a_minute,
    )


def _intervals_ms(plan: Plan, config: NodeConfig) -> Iterable[int]:
    """After how long something is done again; a minute where all of it waits for longer."""
    yield MINUTE_US // 1000
    yield config.transport.shadow_heartbeat_frequency_ms
    yield config.server.queue_glitch_retry_interval_ms
    yield config.server.transient_failure_retry_interval_ms
    yield config.server.outbound_connection_failure_retry_interval_ms
    yield config.server.message_retry_interval_ms
    yield config.server.queue_max_idle_time_ms
    yield from {message.retry_ms for message in plan.messages}


class StepBounds:
    """Counts the steps of one process."""

    def __init__(self, allowed: Allowance) -> None:
        self._spans = (
            _Span("instant", 1, allowed.in_an_instant),
            _Span("lab minute", MINUTE_US, allowed.in_a_minute),
            _Span("lab hour", HOUR_US, allowed.in_an_hour),
        )
        self._inputs, self._steps = deque[str](maxlen=SHOWN), deque[str](maxlen=SHOWN)

    def given(self, happened: Input, now_us: int) -> None:
        """Raises SpinningError."""
        self._inputs.append(type(happened).__name__)
        self._note(type(happened).__name__, now_us)

    def did(self, effect: Effect, now_us: int) -> None:
        """Raises SpinningError."""
        self._note(type(effect).__name__, now_us)

    def _note(self, step: str, now_us: int) -> None:
        self._steps.append(step)
        for span in self._spans:
            if not span.holds(now_us):
                raise SpinningError(
                    f"more than {span.most} steps in one {span.name}; {self._loop()}"
                )

    def last_inputs(self) -> str:
        """The latest at the end, the same ones in a row once."""
        return " ".join(name for name, _ in groupby(self._inputs))

    def _loop(self) -> str:
        loop = ", ".join(f"{count} {name}" for name, count in Counter(self._steps).most_common())
        return f"of the last {len(self._steps)}: {loop}"


@dataclass(slots=True)
class _Span:
    """At most so many in each span of that length."""

    name: str
    length_us: int
    most: int
    number: int = -1
    count: int = 0

    def holds(self, now_us: int) -> bool:
        if now_us // self.length_us != self.number:
            self.number, self.count = now_us // self.length_us, 0
        self.count += 1
        return self.count <= self.most
