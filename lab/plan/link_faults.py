"""Faults of links in a plan: what each kind does to them, and how it is called.

`done` is what a link is meanwhile, `effect` how Toxiproxy makes it so, `words` what happens at the
start and at the end. The fields are those of plan.json, times lab ms since the start. What can act
one way alone is `Directed`; a plan that names no direction is of before there were, and means both.

A new kind is a class here, named in `LinkFault`, its entry in a scenario file
(`lab.scenario.link_faults`) and what the evaluation makes of it (`spark_eval.fault_kinds`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

from lab.plan.effects import Direction, Effect, by_toxic
from lab.plan.quantities import format_byte_rate, format_latency, format_size
from lab.plan.topology import LinkName
from lab.plan.when import When

HEALED = "healed"
CutKind = Literal["refuse", "blackhole", "stall", "reset", "ack-lost"]

# all but a refusal lets a connection be opened; what each does then is measured in the self-test of
# the lab (tests/integration)
CUTS: Mapping[CutKind, Effect] = {
    "refuse": Effect(enabled=False),
    "blackhole": by_toxic("timeout", timeout=0),
    "stall": by_toxic("bandwidth", rate=0),
    "reset": by_toxic("reset_peer", "replies", timeout=0),
    "ack-lost": by_toxic("timeout", "replies", timeout=0),
}


@dataclass(frozen=True, slots=True)
class Cut:
    """Links cut from start to end, in one of the five ways."""

    done: ClassVar = "cut"

    id: str
    kind: Literal["cut"]
    start_ms: int
    end_ms: int
    cut_kind: CutKind
    links: tuple[LinkName, ...]
    when: When | None = None

    @property
    def effect(self) -> Effect:
        return CUTS[self.cut_kind]

    def words(self) -> tuple[str, str]:
        return f"cut ({self.cut_kind})", HEALED


@dataclass(frozen=True, slots=True)
class Slow:
    """Links on which every byte of its direction comes `latency_ms` late, give or take
    `jitter_ms`, and all else at once.
    """

    done: ClassVar = "slowed"

    id: str
    kind: Literal["slow"]
    start_ms: int
    end_ms: int
    latency_ms: int
    jitter_ms: int
    links: tuple[LinkName, ...]
    direction: Direction = "both"
    when: When | None = None

    @property
    def effect(self) -> Effect:
        return by_toxic("latency", self.direction, latency=self.latency_ms, jitter=self.jitter_ms)

    def words(self) -> tuple[str, str]:
        jitter = f", jitter {format_latency(self.jitter_ms)}" if self.jitter_ms else ""
        latency = format_latency(self.latency_ms)
        return f"slow (latency {latency}{jitter}{_only(self.direction)})", HEALED


@dataclass(frozen=True, slots=True)
class Throttle:
    """Links that carry so many bytes per second of lab time each way of its direction, and no
    more, and all else at once.
    """

    done: ClassVar = "throttled"

    id: str
    kind: Literal["throttle"]
    start_ms: int
    end_ms: int
    bytes_per_second: int
    links: tuple[LinkName, ...]
    direction: Direction = "both"
    when: When | None = None

    @property
    def effect(self) -> Effect:
        return by_toxic("bandwidth", self.direction, rate=self.bytes_per_second)

    def words(self) -> tuple[str, str]:
        rate = format_byte_rate(self.bytes_per_second)
        return f"throttle ({rate}{_only(self.direction)})", HEALED


@dataclass(frozen=True, slots=True)
class LimitData:
    """Links on which every session ends when it has carried so many bytes in one direction."""

    done: ClassVar = "limited"

    id: str
    kind: Literal["limit_data"]
    start_ms: int
    end_ms: int
    limit_bytes: int
    links: tuple[LinkName, ...]
    when: When | None = None

    @property
    def effect(self) -> Effect:
        return by_toxic("limit_data", bytes=self.limit_bytes)

    def words(self) -> tuple[str, str]:
        return f"limit_data ({format_size(self.limit_bytes)})", HEALED


@dataclass(frozen=True, slots=True)
class Slice:
    """Links that carry everything in pieces of `piece_bytes` at most, with a pause after each."""

    done: ClassVar = "sliced"

    id: str
    kind: Literal["slice"]
    start_ms: int
    end_ms: int
    piece_bytes: int
    pause_ms: int
    links: tuple[LinkName, ...]
    when: When | None = None

    @property
    def effect(self) -> Effect:
        return by_toxic(
            "slicer", average_size=self.piece_bytes, size_variation=0, delay=self.pause_ms
        )

    def words(self) -> tuple[str, str]:
        pieces, pause = format_size(self.piece_bytes), format_latency(self.pause_ms)
        return f"slice (pieces of {pieces}, pause {pause})", HEALED


@dataclass(frozen=True, slots=True)
class Drip:
    """Links that carry little each way of its direction, and every byte of it late, as over a bad
    satellite, and all else at once.
    """

    done: ClassVar = "dripping"

    id: str
    kind: Literal["drip"]
    start_ms: int
    end_ms: int
    latency_ms: int
    bytes_per_second: int
    links: tuple[LinkName, ...]
    direction: Direction = "both"
    when: When | None = None

    @property
    def effect(self) -> Effect:
        late = by_toxic("latency", self.direction, latency=self.latency_ms, jitter=0)
        little = by_toxic("bandwidth", self.direction, rate=self.bytes_per_second)
        return Effect((*late.toxics, *little.toxics))

    def words(self) -> tuple[str, str]:
        latency, rate = format_latency(self.latency_ms), format_byte_rate(self.bytes_per_second)
        return f"drip (latency {latency}, {rate}{_only(self.direction)})", HEALED


@dataclass(frozen=True, slots=True)
class ResetAfter:
    """Links that accept connections, answer nothing, and reset each `after_ms` after its opening.

    Toxiproxy counts from the first bytes of a direction, and loses them. Towards the opener these
    are the banner, which comes at the opening; of an older session, its next reply.
    """

    done: ClassVar = "reset"

    id: str
    kind: Literal["reset_after"]
    start_ms: int
    end_ms: int
    after_ms: int
    links: tuple[LinkName, ...]
    when: When | None = None

    @property
    def effect(self) -> Effect:
        return by_toxic("reset_peer", "replies", timeout=self.after_ms)

    def words(self) -> tuple[str, str]:
        return f"reset_after ({format_latency(self.after_ms)})", HEALED


@dataclass(frozen=True, slots=True)
class SlowClose:
    """Links on which every byte passes at once, and the end of a session `delay_ms` late.

    Whoever hangs up, the other side hears of it so much later.
    """

    done: ClassVar = "slow to close"

    id: str
    kind: Literal["slow_close"]
    start_ms: int
    end_ms: int
    delay_ms: int
    links: tuple[LinkName, ...]
    when: When | None = None

    @property
    def effect(self) -> Effect:
        return by_toxic("slow_close", delay=self.delay_ms)

    def words(self) -> tuple[str, str]:
        return f"slow_close (delay {format_latency(self.delay_ms)})", HEALED


Directed: TypeAlias = Slow | Throttle | Drip
LinkFault: TypeAlias = Cut | Slow | Throttle | LimitData | Slice | Drip | ResetAfter | SlowClose


def _only(direction: Direction) -> str:
    return "" if direction == "both" else f", {direction} only"
