"""Faults of links in a plan: what each kind does to them, and how it is called.

`done` is what a link is meanwhile, `effect` how Toxiproxy makes it so, `words` what happens at the
start and at the end. The fields are those of plan.json, times lab ms since the start.

A new kind is a class here, named in `LinkFault`, its entry in a scenario file
(`lab.scenario.link_faults`) and what the evaluation makes of it (`spark_eval.fault_kinds`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

from lab.plan.effects import DOWN, UP, Effect, both_ways, one_way
from lab.plan.quantities import format_byte_rate, format_latency, format_size
from lab.plan.topology import LinkName
from lab.plan.when import When

HEALED = "healed"
CutKind = Literal["refuse", "blackhole", "stall", "reset", "ack-lost"]

# all but a refusal lets a connection be opened; what each does then is measured in the self-test of
# the lab (tests/integration)
CUTS: Mapping[CutKind, Effect] = {
    "refuse": Effect(enabled=False),
    "blackhole": both_ways("timeout", timeout=0),
    "stall": both_ways("bandwidth", rate=0),
    "reset": one_way("reset_peer", DOWN, timeout=0),
    "ack-lost": one_way("timeout", DOWN, timeout=0),
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
    """Links on which every byte comes late, by `latency_ms` give or take `jitter_ms`."""

    done: ClassVar = "slowed"

    id: str
    kind: Literal["slow"]
    start_ms: int
    end_ms: int
    latency_ms: int
    jitter_ms: int
    links: tuple[LinkName, ...]
    when: When | None = None

    @property
    def effect(self) -> Effect:
        return both_ways("latency", latency=self.latency_ms, jitter=self.jitter_ms)

    def words(self) -> tuple[str, str]:
        jitter = f", jitter {format_latency(self.jitter_ms)}" if self.jitter_ms else ""
        return f"slow (latency {format_latency(self.latency_ms)}{jitter})", HEALED


@dataclass(frozen=True, slots=True)
class SlowReplies:
    """Links on which what the opener says passes at once, and every answer `latency_ms` late."""

    done: ClassVar = "slow to answer"

    id: str
    kind: Literal["slow_replies"]
    start_ms: int
    end_ms: int
    latency_ms: int
    links: tuple[LinkName, ...]
    when: When | None = None

    @property
    def effect(self) -> Effect:
        return one_way("latency", DOWN, latency=self.latency_ms, jitter=0)

    def words(self) -> tuple[str, str]:
        return f"slow_replies (latency {format_latency(self.latency_ms)})", HEALED


@dataclass(frozen=True, slots=True)
class SlowRequests:
    """Links on which what the opener says comes `latency_ms` late, and every answer at once."""

    done: ClassVar = "slow to be asked"

    id: str
    kind: Literal["slow_requests"]
    start_ms: int
    end_ms: int
    latency_ms: int
    links: tuple[LinkName, ...]
    when: When | None = None

    @property
    def effect(self) -> Effect:
        return one_way("latency", UP, latency=self.latency_ms, jitter=0)

    def words(self) -> tuple[str, str]:
        return f"slow_requests (latency {format_latency(self.latency_ms)})", HEALED


@dataclass(frozen=True, slots=True)
class Throttle:
    """Links that carry so many bytes per second of lab time, in each direction, and no more."""

    done: ClassVar = "throttled"

    id: str
    kind: Literal["throttle"]
    start_ms: int
    end_ms: int
    bytes_per_second: int
    links: tuple[LinkName, ...]
    when: When | None = None

    @property
    def effect(self) -> Effect:
        return both_ways("bandwidth", rate=self.bytes_per_second)

    def words(self) -> tuple[str, str]:
        return f"throttle ({format_byte_rate(self.bytes_per_second)})", HEALED


@dataclass(frozen=True, slots=True)
class ThrottleReplies:
    """Links that carry so many bytes per second of lab time of what is answered, and at once all
    that the opener says.
    """

    done: ClassVar = "throttled in its answers"

    id: str
    kind: Literal["throttle_replies"]
    start_ms: int
    end_ms: int
    bytes_per_second: int
    links: tuple[LinkName, ...]
    when: When | None = None

    @property
    def effect(self) -> Effect:
        return one_way("bandwidth", DOWN, rate=self.bytes_per_second)

    def words(self) -> tuple[str, str]:
        return f"throttle_replies ({format_byte_rate(self.bytes_per_second)})", HEALED


@dataclass(frozen=True, slots=True)
class ThrottleRequests:
    """Links that carry so many bytes per second of lab time of what the opener says, and every
    answer at once.
    """

    done: ClassVar = "throttled one way"

    id: str
    kind: Literal["throttle_requests"]
    start_ms: int
    end_ms: int
    bytes_per_second: int
    links: tuple[LinkName, ...]
    when: When | None = None

    @property
    def effect(self) -> Effect:
        return one_way("bandwidth", UP, rate=self.bytes_per_second)

    def words(self) -> tuple[str, str]:
        return f"throttle_requests ({format_byte_rate(self.bytes_per_second)})", HEALED


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
        return both_ways("limit_data", bytes=self.limit_bytes)

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
        return both_ways(
            "slicer", average_size=self.piece_bytes, size_variation=0, delay=self.pause_ms
        )

    def words(self) -> tuple[str, str]:
        pieces, pause = format_size(self.piece_bytes), format_latency(self.pause_ms)
        return f"slice (pieces of {pieces}, pause {pause})", HEALED


@dataclass(frozen=True, slots=True)
class Drip:
    """Links that carry little, and every byte of it late, in each direction: a bad satellite."""

    done: ClassVar = "dripping"

    id: str
    kind: Literal["drip"]
    start_ms: int
    end_ms: int
    latency_ms: int
    bytes_per_second: int
    links: tuple[LinkName, ...]
    when: When | None = None

    @property
    def effect(self) -> Effect:
        late = both_ways("latency", latency=self.latency_ms, jitter=0)
        little = both_ways("bandwidth", rate=self.bytes_per_second)
        return Effect((*late.toxics, *little.toxics))

    def words(self) -> tuple[str, str]:
        latency, rate = format_latency(self.latency_ms), format_byte_rate(self.bytes_per_second)
        return f"drip (latency {latency}, {rate})", HEALED


@dataclass(frozen=True, slots=True)
class DripReplies:
    """Links that carry little of what is answered, and every byte of it late, and at once all that
    the opener says.
    """

    done: ClassVar = "dripping in its answers"

    id: str
    kind: Literal["drip_replies"]
    start_ms: int
    end_ms: int
    latency_ms: int
    bytes_per_second: int
    links: tuple[LinkName, ...]
    when: When | None = None

    @property
    def effect(self) -> Effect:
        late = one_way("latency", DOWN, latency=self.latency_ms, jitter=0)
        little = one_way("bandwidth", DOWN, rate=self.bytes_per_second)
        return Effect((*late.toxics, *little.toxics))

    def words(self) -> tuple[str, str]:
        latency, rate = format_latency(self.latency_ms), format_byte_rate(self.bytes_per_second)
        return f"drip_replies (latency {latency}, {rate})", HEALED


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
        return one_way("reset_peer", DOWN, timeout=self.after_ms)

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
        return both_ways("slow_close", delay=self.delay_ms)

    def words(self) -> tuple[str, str]:
        return f"slow_close (delay {format_latency(self.delay_ms)})", HEALED


LinkFault: TypeAlias = (
    Cut | Slow | SlowReplies | SlowRequests | Throttle | ThrottleReplies | ThrottleRequests
    | LimitData | Slice | Drip | DripReplies | ResetAfter | SlowClose
)  # fmt: skip
