"""Faults of links as a person writes them, and as what of a plan.

A kind's entry says which links, and how they fail. Its own fields are called as those of the fault
of a plan (`lab.plan.link_faults`) that it becomes; `drawn` is what a random schedule writes beside
its links.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal, Protocol, get_args

from pydantic import Field, model_validator

from lab.plan.effects import Direction
from lab.plan.link_faults import CutKind
from lab.plan.quantities import format_byte_rate, format_duration, format_latency, format_size
from lab.scenario.quantities import ByteRate, Latency, Names, Size
from lab.scenario.strict import Strict
from nodes.core.config.error import ConfigurationError
from nodes.core.config.units import MINUTE_MS

_ENDPOINT = "a server, `site NAME`, `workload`, or a list of these"
LATENCIES_MS = (200, 500, 1000, 2000, 5000)
RATES = (1024, 4 * 1024, 16 * 1024)
RATES_OF_REPLIES = (128, 256, 1024)  # an answer is short
LEAST_LIMIT_BYTES = 8 * 1024  # TLS and greetings, with certificates on both sides
LIMITS = (8 * 1024, 16 * 1024, 64 * 1024)
PIECES = (256, 1024, 4 * 1024)
PAUSES_MS = (10, 50, 200)
MOST_AFTER_MS = MINUTE_MS  # a heal waits as long, for sessions that are to be reset
AFTERS_MS = (5_000, 30_000, MOST_AFTER_MS)
DELAYS_MS = (5_000, 30_000, 2 * MINUTE_MS)


class Draw(Protocol):
    """A draw by name."""

    def __call__(self, choices: Sequence[int], name: str) -> int: ...


class LinksModel(Strict, ABC):
    """Links: sessions opened by `from` towards `to`, or by either of `between`."""

    noun: ClassVar[str]

    source: Names = Field(default_factory=list, alias="from", description=_ENDPOINT)
    to: Names = Field(default_factory=list, description=_ENDPOINT)
    between: list[Names] = Field(
        default_factory=list, max_length=2, description="two of them: sessions opened by either"
    )
    service: Literal["smtp", "replication", "management"] | None = Field(
        default=None, description="one service, by default all"
    )

    @model_validator(mode="after")
    def _has_two_ends(self) -> "LinksModel":
        one_way = (bool(self.source), bool(self.to))
        if len(self.between) == 2 and one_way == (False, False):
            return self
        if not self.between and one_way == (True, True):
            return self
        raise ConfigurationError(
            f"{self.noun} takes from and to, or between with two ends", "write from: X, to: Y"
        )

    def directions(self) -> list[tuple[list[str], list[str]]]:
        """(openers, targets) of each direction that is concerned, as the file names them."""
        if not self.between:
            return [(self.source, self.to)]
        one, other = self.between
        return [(one, other), (other, one)]

    def own(self) -> Mapping[str, Any]:
        """How they fail, by the names of the plan's fields."""
        names = type(self).model_fields.keys() - LinksModel.model_fields.keys()
        return {name: getattr(self, name) for name in names}

    @classmethod
    @abstractmethod
    def drawn(cls, draw: Draw, way: str) -> Mapping[str, str]:
        """`way` is that of the drawn word: `stall` of `cut-stall`, `replies` of `slow-replies`."""


class CutModel(LinksModel):
    """Links cut."""

    noun: ClassVar[str] = "a cut"

    cut_kind: CutKind = Field(alias="kind", description="how the link fails")

    @classmethod
    def drawn(cls, draw: Draw, way: str) -> Mapping[str, str]:
        return {"kind": way}


class DirectedModel(LinksModel):
    """Links that fail in both directions, or in one alone."""

    direction: Direction = Field(
        default="both",
        description="what is concerned: `requests`, all that `from` says, `replies`, every answer,"
        " or both, by default",
    )


class SlowModel(DirectedModel):
    """Links on which every byte comes late."""

    noun: ClassVar[str] = "slow"

    latency_ms: Latency = Field(alias="latency", description="how late, in lab time")
    jitter_ms: Latency = Field(default=0, alias="jitter", description="give or take so much")

    @model_validator(mode="after")
    def _jitter_is_the_smaller(self) -> "SlowModel":
        if self.jitter_ms > self.latency_ms:
            raise ConfigurationError("jitter is more than latency", "make jitter the smaller one")
        return self

    @classmethod
    def drawn(cls, draw: Draw, way: str) -> Mapping[str, str]:
        latency_ms = draw(LATENCIES_MS, "latency")
        jitter = format_latency(latency_ms // 5)
        return {"latency": format_latency(latency_ms), "jitter": jitter, "direction": way}


class ThrottleModel(DirectedModel):
    """Links that carry little."""

    noun: ClassVar[str] = "throttle"

    bytes_per_second: ByteRate = Field(alias="rate", description="how much per second of lab time")

    @classmethod
    def drawn(cls, draw: Draw, way: str) -> Mapping[str, str]:
        return {"rate": _rate(draw, way), "direction": way}


class LimitDataModel(LinksModel):
    """Links that end each session when it has carried so much, in either direction."""

    noun: ClassVar[str] = "limit_data"

    limit_bytes: Size = Field(alias="bytes", description="how much a session carries each way")

    @model_validator(mode="after")
    def _greetings_pass(self) -> "LimitDataModel":
        if self.limit_bytes < LEAST_LIMIT_BYTES:
            rule = f"a session needs some of {format_size(LEAST_LIMIT_BYTES)} to greet"
            raise ConfigurationError(rule, "limit it to more, or write cut:")
        return self

    @classmethod
    def drawn(cls, draw: Draw, way: str) -> Mapping[str, str]:
        return {"bytes": format_size(draw(LIMITS, "bytes"))}


class SliceModel(LinksModel):
    """Links that carry everything, in small pieces with a pause after each, in both directions."""

    noun: ClassVar[str] = "slice"

    piece_bytes: Size = Field(alias="pieces", description="how large a piece is at most")
    pause_ms: Latency = Field(alias="pause", description="how long after each piece, in lab time")

    @classmethod
    def drawn(cls, draw: Draw, way: str) -> Mapping[str, str]:
        pause = format_latency(draw(PAUSES_MS, "pause"))
        return {"pieces": format_size(draw(PIECES, "pieces")), "pause": pause}


class DripModel(DirectedModel):
    """Links that carry little, and that late."""

    noun: ClassVar[str] = "drip"

    latency_ms: Latency = Field(alias="latency", description="how late every byte is, in lab time")
    bytes_per_second: ByteRate = Field(alias="rate", description="how much per second of lab time")

    @classmethod
    def drawn(cls, draw: Draw, way: str) -> Mapping[str, str]:
        latency = format_latency(draw(LATENCIES_MS, "latency"))
        return {"latency": latency, "rate": _rate(draw, way), "direction": way}


class ResetAfterModel(LinksModel):
    """Links that reset each connection a while after its opening, and answer nothing before."""

    noun: ClassVar[str] = "reset_after"

    after_ms: Latency = Field(alias="after", description="how long after its opening, in lab time")

    @model_validator(mode="after")
    def _heals_soon(self) -> "ResetAfterModel":
        if self.after_ms > MOST_AFTER_MS:
            rule = f"after is more than {format_duration(MOST_AFTER_MS)}, and a heal waits as long"
            raise ConfigurationError(rule, "make it shorter, or write cut: with kind: blackhole")
        return self

    @classmethod
    def drawn(cls, draw: Draw, way: str) -> Mapping[str, str]:
        return {"after": format_latency(draw(AFTERS_MS, "after"))}


class SlowCloseModel(LinksModel):
    """Links on which the end of a session comes late, whoever ends it."""

    noun: ClassVar[str] = "slow_close"

    delay_ms: Latency = Field(
        alias="delay", description="how late the end of a session is, in lab time"
    )

    @classmethod
    def drawn(cls, draw: Draw, way: str) -> Mapping[str, str]:
        return {"delay": format_latency(draw(DELAYS_MS, "delay"))}


class FaultOfLinksModel(Strict):
    """One of these at most."""

    cut: CutModel | None = Field(default=None, description="links that carry nothing")
    slow: SlowModel | None = Field(default=None, description="links that carry all of it late")
    throttle: ThrottleModel | None = Field(default=None, description="links that carry little")
    limit_data: LimitDataModel | None = Field(
        default=None, description="links that end each session after so much"
    )
    slice: SliceModel | None = Field(default=None, description="links that carry it in pieces")
    drip: DripModel | None = Field(default=None, description="links that carry little, and late")
    reset_after: ResetAfterModel | None = Field(
        default=None, description="links that reset each connection after so long"
    )
    slow_close: SlowCloseModel | None = Field(
        default=None, description="links that carry the end of a session late"
    )


def _rate(draw: Draw, way: str) -> str:
    return format_byte_rate(draw(RATES_OF_REPLIES if way == "replies" else RATES, "rate"))


LINK_MODELS: Mapping[str, type[LinksModel]] = {
    kind: get_args(field.annotation)[0] for kind, field in FaultOfLinksModel.model_fields.items()
}
