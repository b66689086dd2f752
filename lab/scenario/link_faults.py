"""Faults of links as a person writes them, and as what of a plan.

A kind's entry says which links, and how they fail. `planned` is the fault of a plan that it
becomes, `drawn` what a random schedule writes beside its links.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar, Literal, Protocol, get_args

from pydantic import Field, model_validator

from lab.plan.link_faults import (
    Cut,
    CutKind,
    Drip,
    DripReplies,
    LimitData,
    LinkFault,
    ResetAfter,
    Slice,
    Slow,
    SlowClose,
    SlowReplies,
    SlowRequests,
    Throttle,
    ThrottleReplies,
    ThrottleRequests,
)
from lab.plan.quantities import format_byte_rate, format_duration, format_latency, format_size
from lab.plan.topology import LinkName
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

    @abstractmethod
    def planned(
        self, fault_id: str, start_ms: int, end_ms: int, links: tuple[LinkName, ...]
    ) -> LinkFault: ...

    @classmethod
    @abstractmethod
    def drawn(cls, draw: Draw) -> Mapping[str, str]: ...


class CutModel(LinksModel):
    """Links cut."""

    noun: ClassVar[str] = "a cut"

    kind: CutKind = Field(description="how the link fails")

    def planned(
        self, fault_id: str, start_ms: int, end_ms: int, links: tuple[LinkName, ...]
    ) -> Cut:
        return Cut(fault_id, "cut", start_ms, end_ms, self.kind, links)

    @classmethod
    def drawn(cls, draw: Draw) -> Mapping[str, str]:
        """Its kind is drawn when it is drawn that there is one."""
        return {}


class SlowModel(LinksModel):
    """Links on which every byte comes late, in both directions."""

    noun: ClassVar[str] = "slow"

    latency: Latency = Field(description="how late, in lab time")
    jitter: Latency = Field(default=0, description="give or take so much")

    @model_validator(mode="after")
    def _jitter_is_the_smaller(self) -> "SlowModel":
        if self.jitter > self.latency:
            raise ConfigurationError("jitter is more than latency", "make jitter the smaller one")
        return self

    def planned(
        self, fault_id: str, start_ms: int, end_ms: int, links: tuple[LinkName, ...]
    ) -> Slow:
        return Slow(fault_id, "slow", start_ms, end_ms, self.latency, self.jitter, links)

    @classmethod
    def drawn(cls, draw: Draw) -> Mapping[str, str]:
        latency_ms = draw(LATENCIES_MS, "latency")
        jitter = format_latency(latency_ms // 5)
        return {"latency": format_latency(latency_ms), "jitter": jitter}


class SlowRepliesModel(LinksModel):
    """Links on which every answer comes late, and what the opener says passes at once."""

    noun: ClassVar[str] = "slow_replies"

    latency: Latency = Field(description="how late every answer is, in lab time")

    def planned(
        self, fault_id: str, start_ms: int, end_ms: int, links: tuple[LinkName, ...]
    ) -> SlowReplies:
        return SlowReplies(fault_id, "slow_replies", start_ms, end_ms, self.latency, links)

    @classmethod
    def drawn(cls, draw: Draw) -> Mapping[str, str]:
        return {"latency": format_latency(draw(LATENCIES_MS, "latency"))}


class SlowRequestsModel(LinksModel):
    """Links on which what the opener says comes late, and every answer passes at once."""

    noun: ClassVar[str] = "slow_requests"

    latency: Latency = Field(description="how late all that the opener says is, in lab time")

    def planned(
        self, fault_id: str, start_ms: int, end_ms: int, links: tuple[LinkName, ...]
    ) -> SlowRequests:
        return SlowRequests(fault_id, "slow_requests", start_ms, end_ms, self.latency, links)

    @classmethod
    def drawn(cls, draw: Draw) -> Mapping[str, str]:
        return {"latency": format_latency(draw(LATENCIES_MS, "latency"))}


class ThrottleModel(LinksModel):
    """Links that carry little, in each direction."""

    noun: ClassVar[str] = "throttle"

    rate: ByteRate = Field(description="how much per second of lab time")

    def planned(
        self, fault_id: str, start_ms: int, end_ms: int, links: tuple[LinkName, ...]
    ) -> Throttle:
        return Throttle(fault_id, "throttle", start_ms, end_ms, self.rate, links)

    @classmethod
    def drawn(cls, draw: Draw) -> Mapping[str, str]:
        return {"rate": format_byte_rate(draw(RATES, "rate"))}


class ThrottleRepliesModel(LinksModel):
    """Links that carry little of every answer, and at once all that the opener says."""

    noun: ClassVar[str] = "throttle_replies"

    rate: ByteRate = Field(description="how much of every answer per second of lab time")

    def planned(
        self, fault_id: str, start_ms: int, end_ms: int, links: tuple[LinkName, ...]
    ) -> ThrottleReplies:
        return ThrottleReplies(fault_id, "throttle_replies", start_ms, end_ms, self.rate, links)

    @classmethod
    def drawn(cls, draw: Draw) -> Mapping[str, str]:
        return {"rate": format_byte_rate(draw(RATES_OF_REPLIES, "rate"))}


class ThrottleRequestsModel(LinksModel):
    """Links that carry little of what the opener says, and every answer at once."""

    noun: ClassVar[str] = "throttle_requests"

    rate: ByteRate = Field(description="how much of what the opener says per second of lab time")

    def planned(
        self, fault_id: str, start_ms: int, end_ms: int, links: tuple[LinkName, ...]
    ) -> ThrottleRequests:
        return ThrottleRequests(fault_id, "throttle_requests", start_ms, end_ms, self.rate, links)

    @classmethod
    def drawn(cls, draw: Draw) -> Mapping[str, str]:
        return {"rate": format_byte_rate(draw(RATES, "rate"))}


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

    def planned(
        self, fault_id: str, start_ms: int, end_ms: int, links: tuple[LinkName, ...]
    ) -> LimitData:
        return LimitData(fault_id, "limit_data", start_ms, end_ms, self.limit_bytes, links)

    @classmethod
    def drawn(cls, draw: Draw) -> Mapping[str, str]:
        return {"bytes": format_size(draw(LIMITS, "bytes"))}


class SliceModel(LinksModel):
    """Links that carry everything, in small pieces with a pause after each, in both directions."""

    noun: ClassVar[str] = "slice"

    piece_bytes: Size = Field(alias="pieces", description="how large a piece is at most")
    pause: Latency = Field(description="how long after each piece, in lab time")

    def planned(
        self, fault_id: str, start_ms: int, end_ms: int, links: tuple[LinkName, ...]
    ) -> Slice:
        return Slice(fault_id, "slice", start_ms, end_ms, self.piece_bytes, self.pause, links)

    @classmethod
    def drawn(cls, draw: Draw) -> Mapping[str, str]:
        pause = format_latency(draw(PAUSES_MS, "pause"))
        return {"pieces": format_size(draw(PIECES, "pieces")), "pause": pause}


class DripModel(LinksModel):
    """Links that carry little, and that late, in both directions."""

    noun: ClassVar[str] = "drip"

    latency: Latency = Field(description="how late every byte is, in lab time")
    rate: ByteRate = Field(description="how much per second of lab time")

    def planned(
        self, fault_id: str, start_ms: int, end_ms: int, links: tuple[LinkName, ...]
    ) -> Drip:
        return Drip(fault_id, "drip", start_ms, end_ms, self.latency, self.rate, links)

    @classmethod
    def drawn(cls, draw: Draw) -> Mapping[str, str]:
        latency = format_latency(draw(LATENCIES_MS, "latency"))
        return {"latency": latency, "rate": format_byte_rate(draw(RATES, "rate"))}


class DripRepliesModel(LinksModel):
    """Links that carry little of every answer, and late, and at once all that the opener says."""

    noun: ClassVar[str] = "drip_replies"

    latency: Latency = Field(description="how late every answer is, in lab time")
    rate: ByteRate = Field(description="how much of every answer per second of lab time")

    def planned(
        self, fault_id: str, start_ms: int, end_ms: int, links: tuple[LinkName, ...]
    ) -> DripReplies:
        return DripReplies(
            fault_id, "drip_replies", start_ms, end_ms, self.latency, self.rate, links
        )

    @classmethod
    def drawn(cls, draw: Draw) -> Mapping[str, str]:
        latency = format_latency(draw(LATENCIES_MS, "latency"))
        return {"latency": latency, "rate": format_byte_rate(draw(RATES_OF_REPLIES, "rate"))}


class ResetAfterModel(LinksModel):
    """Links that reset each connection a while after its opening, and answer nothing before."""

    noun: ClassVar[str] = "reset_after"

    after: Latency = Field(description="how long after its opening, in lab time")

    @model_validator(mode="after")
    def _heals_soon(self) -> "ResetAfterModel":
        if self.after > MOST_AFTER_MS:
            rule = f"after is more than {format_duration(MOST_AFTER_MS)}, and a heal waits as long"
            raise ConfigurationError(rule, "make it shorter, or write cut: with kind: blackhole")
        return self

    def planned(
        self, fault_id: str, start_ms: int, end_ms: int, links: tuple[LinkName, ...]
    ) -> ResetAfter:
        return ResetAfter(fault_id, "reset_after", start_ms, end_ms, self.after, links)

    @classmethod
    def drawn(cls, draw: Draw) -> Mapping[str, str]:
        return {"after": format_latency(draw(AFTERS_MS, "after"))}


class SlowCloseModel(LinksModel):
    """Links on which the end of a session comes late, whoever ends it."""

    noun: ClassVar[str] = "slow_close"

    delay: Latency = Field(description="how late the end of a session is, in lab time")

    def planned(
        self, fault_id: str, start_ms: int, end_ms: int, links: tuple[LinkName, ...]
    ) -> SlowClose:
        return SlowClose(fault_id, "slow_close", start_ms, end_ms, self.delay, links)

    @classmethod
    def drawn(cls, draw: Draw) -> Mapping[str, str]:
        return {"delay": format_latency(draw(DELAYS_MS, "delay"))}


class FaultOfLinksModel(Strict):
    """One of these at most."""

    cut: CutModel | None = Field(default=None, description="links that carry nothing")
    slow: SlowModel | None = Field(default=None, description="links that carry all of it late")
    slow_replies: SlowRepliesModel | None = Field(
        default=None, description="links that carry answers late"
    )
    slow_requests: SlowRequestsModel | None = Field(
        default=None, description="links that carry late what the opener says"
    )
    throttle: ThrottleModel | None = Field(default=None, description="links that carry little")
    throttle_replies: ThrottleRepliesModel | None = Field(
        default=None, description="links that carry little of every answer"
    )
    throttle_requests: ThrottleRequestsModel | None = Field(
        default=None, description="links that carry little of what the opener says"
    )
    limit_data: LimitDataModel | None = Field(
        default=None, description="links that end each session after so much"
    )
    slice: SliceModel | None = Field(default=None, description="links that carry it in pieces")
    drip: DripModel | None = Field(default=None, description="links that carry little, and late")
    drip_replies: DripRepliesModel | None = Field(
        default=None, description="links that carry little of every answer, and late"
    )
    reset_after: ResetAfterModel | None = Field(
        default=None, description="links that reset each connection after so long"
    )
    slow_close: SlowCloseModel | None = Field(
        default=None, description="links that carry the end of a session late"
    )


LINK_MODELS: Mapping[str, type[LinksModel]] = {
    kind: get_args(field.annotation)[0] for kind, field in FaultOfLinksModel.model_fields.items()
}
