"""Faults as a person writes them: links cut, slowed or throttled, servers killed, paused, stopped,
machines whose disk is full or whose clock is wrong.

The models hold the shape of an entry of `faults:` only. Whether names exist is asked in
`lab.scenario_check`, whether faults can hold together in `lab.timeline`; what a random schedule
draws is in `lab.random_faults`. Times are milliseconds of lab time once read.
"""

from typing import Any, ClassVar, Literal

from pydantic import Field, ValidationError, model_validator

from lab.plan_parts import CutKind, ReturnsWith
from lab.quantities import ByteRate, Duration, Instant, Latency, Names, Skew
from lab.scenario_random import RandomModel
from lab.settings import Strict
from nodes.core.parameters import ConfigurationError
from nodes.shell.places import Place

NTH_MAX = 99_999
_ENDPOINT = "a server, `site NAME`, `workload`, or a list of these"
LINK_KINDS = ("cut", "slow", "throttle")
SERVER_KINDS = ("kill", "corrupt", "pause", "stop", "restart")
MACHINE_KINDS = ("fill_disk", "skew_clock")
_OF_SERVERS = (*SERVER_KINDS, *MACHINE_KINDS)
KINDS = (*LINK_KINDS, *_OF_SERVERS, "random")


class LinksModel(Strict):
    """Links: sessions opened by `from` towards `to`, or by either of `between`."""

    noun: ClassVar[str] = "a fault of links"

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


class CutModel(LinksModel):
    """Links cut."""

    noun: ClassVar[str] = "a cut"

    kind: CutKind = Field(description="how the link fails")


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


class ThrottleModel(LinksModel):
    """Links that carry little, in each direction."""

    noun: ClassVar[str] = "throttle"

    rate: ByteRate = Field(description="how much per second of lab time")


class WhenModel(Strict):
    """A place in the protocol, instead of a time."""

    server: str = Field(description="a mailbox server")
    at: Place = Field(description="the place in the protocol that it reaches")
    nth: int = Field(default=1, ge=1, le=NTH_MAX, description="at which time, the first by default")
    after: Instant = Field(default=0, description="counted from this moment on")


class FaultModel(Strict):
    """A fault with its start and its length, or a schedule of such that is drawn.

    Healing is derived, never written.
    """

    at: Instant | None = Field(default=None, description="when it starts")
    when: WhenModel | None = Field(
        default=None, description="where in the protocol it starts, instead of a time"
    )
    for_ms: Duration | None = Field(default=None, alias="for", description="how long it lasts")
    cut: CutModel | None = Field(default=None, description="links that carry nothing")
    slow: SlowModel | None = Field(default=None, description="links that carry all of it late")
    throttle: ThrottleModel | None = Field(default=None, description="links that carry little")
    kill: str | None = Field(default=None, description="a server that dies at once, as by SIGKILL")
    returns_with: ReturnsWith = Field(
        default="same-queue-database",
        description="what a killed server finds when it is started again",
    )
    corrupt: str | None = Field(
        default=None,
        description="a server that is killed, and whose queue database is damaged when it returns",
    )
    pause: str | None = Field(default=None, description="a server that stands still, as by SIGSTOP")
    stop: str | None = Field(default=None, description="a server that ends in good order")
    restart: str | None = Field(
        default=None, description="a server that ends in good order and is started at once: no for"
    )

    fill_disk: str | None = Field(default=None, description="a server whose databases cannot grow")
    skew_clock: str | None = Field(default=None, description="a server whose clock is wrong")
    by: Skew | None = Field(default=None, description="by how much its clock is ahead, or behind")
    random: RandomModel | None = Field(
        default=None, description="a schedule that is drawn: no at, no for"
    )

    @model_validator(mode="after")
    def _is_one_fault(self) -> "FaultModel":
        if len(self._given()) != 1:
            words = f"{', '.join(KINDS[:-1])} and {KINDS[-1]}"
            raise ConfigurationError(
                f"a fault is one of {words}", "give each fault an entry of its own"
            )
        if self.kill is None and "returns_with" in self.model_fields_set:
            raise ConfigurationError("returns_with belongs to kill", "remove returns_with:")
        if (self.skew_clock is None) != (self.by is None):
            if self.by is None:
                raise ConfigurationError("skew_clock takes by", "write by: 5m, or by: -5m")
            raise ConfigurationError("by belongs to skew_clock", "remove by:")
        if self.restart is not None and self.for_ms is not None:
            raise ConfigurationError("a restart is an instant", "remove for:, or write stop:")
        if self.random is not None:
            if self._keys() & {"at", "when", "for"}:
                rule = "a random schedule has its times inside"
                raise ConfigurationError(rule, "write during: and for: inside random:")
            return self
        if self.at is not None and self.when is not None:
            rule = "a fault starts at a time or at a place"
            raise ConfigurationError(rule, "remove at:, or when:")
        start = "at" if self.when is None else "when"
        needed = (start,) if self.restart is not None else (start, "for")
        _refuse_missing([key for key in needed if key not in self._keys()])
        return self

    @property
    def kind(self) -> str:
        """Which of `KINDS` it is."""
        return self._given()[0]

    @property
    def links(self) -> LinksModel | None:
        """The links that it acts on; None for a fault of a server."""
        return self.cut or self.slow or self.throttle

    @property
    def server(self) -> str | None:
        """The server that it acts on; None for a fault of links."""
        return next((getattr(self, kind) for kind in _OF_SERVERS if getattr(self, kind)), None)

    @property
    def start_ms(self) -> int:
        """When it starts; of a random schedule or a place, the earliest that it may."""
        if self.random is not None:
            return self.random.during.low
        return self.when.after if self.when is not None else self.at or 0

    @property
    def end_ms(self) -> int:
        """When it is healed, if it starts at `start_ms`; an instant ends where it starts."""
        return self.random.during.high if self.random else self.start_ms + (self.for_ms or 0)

    def _given(self) -> list[str]:
        return [kind for kind in KINDS if getattr(self, kind) is not None]

    def _keys(self) -> set[str]:
        return {"for" if name == "for_ms" else name for name in self.model_fields_set}


def _refuse_missing(keys: list[str]) -> None:
    """Raises what pydantic says of keys that are needed and not there."""
    if keys:
        missing: list[Any] = [{"type": "missing", "loc": (key,), "input": {}} for key in keys]
        raise ValidationError.from_exception_data("fault", missing)
