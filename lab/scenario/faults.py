"""Faults as a person writes them: links cut, slowed or throttled, servers killed, paused, stopped,
machines whose disk is full or whose clock is wrong.

The models hold the shape of an entry of `faults:` only. Whether names exist is asked in
`lab.validation.scenario_names`, whether faults can hold together in `lab.validation.timeline`; what
a random schedule draws is in `lab.planning.random_schedule`. Times are milliseconds of lab time
once read.
"""

from collections.abc import Iterator
from typing import Any

from pydantic import Field, ValidationError, model_validator

from lab.plan.faults import (
    FOR_GOOD,
    LINK_KINDS,
    LOSES_SERVER,
    MACHINE_KINDS,
    SERVER_KINDS,
    ReturnsWith,
)
from lab.scenario.link_faults import FaultOfLinksModel, LinksModel
from lab.scenario.quantities import Duration, Instant, Names, Skew
from lab.scenario.random_faults import RandomModel
from lab.scenario.strict import Strict
from nodes.core.config.error import ConfigurationError
from nodes.shell.chaos.places import Place

NTH_MAX = 99_999
_SERVERS = "a server, `site NAME`, or a list of these,"
TIMES_MAX = 99_999
_OF_SERVERS = (*SERVER_KINDS, *MACHINE_KINDS)
OF_MAILBOX_SERVERS = ("corrupt", *MACHINE_KINDS)  # of a site, its mailbox servers
REPEATING_KEYS = ("every", "times", "until")
INSTANTS = ("restart", "corrupt_mailboxes")
KINDS = (*LINK_KINDS, *_OF_SERVERS, "corrupt_mailboxes", "random")


class WhenModel(Strict):
    """A breakpoint, instead of a time."""

    server: str = Field(description="a mailbox server")
    at: Place = Field(description="the breakpoint that it reaches")
    nth: int = Field(default=1, ge=1, le=NTH_MAX, description="at which time, the first by default")
    after: Instant = Field(default=0, description="counted from this moment on")


class FaultModel(FaultOfLinksModel):
    """A fault with its start and its length, or a schedule of such that is drawn.

    Healing is derived, never written.
    """

    at: Instant | None = Field(default=None, description="when it starts")
    when: WhenModel | None = Field(
        default=None, description="where in the protocol it starts, instead of a time"
    )
    for_ms: Duration | None = Field(default=None, alias="for", description="how long it lasts")
    every: Duration | None = Field(
        default=None, description="it begins again after so long, each time a fault of its own"
    )
    times: int | None = Field(
        default=None, ge=1, le=TIMES_MAX, description="how many times in all; with every"
    )
    until: Instant | None = Field(
        default=None, description="instead of times: none of them lasts past this moment"
    )
    kill: Names | None = Field(
        default=None, description=f"{_SERVERS} that die at once, as by SIGKILL"
    )
    returns_with: ReturnsWith = Field(
        default="same-queue-database",
        description="what a killed server finds when it is started again; new-server: a server of"
        " the same name and nothing else; never: it is not started again, no for. Of kill and stop",
    )
    power_loss: Names | None = Field(
        default=None,
        description=f"{_SERVERS} that die at once, and lose what no disk was made to keep; "
        "in the simulator only",
    )
    corrupt: Names | None = Field(
        default=None,
        description=f"{_SERVERS} that are killed, and find their queue databases damaged when they"
        " return",
    )
    pause: Names | None = Field(
        default=None, description=f"{_SERVERS} that stand still, as by SIGSTOP"
    )
    stop: Names | None = Field(default=None, description=f"{_SERVERS} that end in good order")
    restart: Names | None = Field(
        default=None,
        description=f"{_SERVERS} that end in good order and are started at once: no for",
    )

    corrupt_mailboxes: str | None = Field(
        default=None,
        description="a database with several copies, whose mailboxes lose what they show: no for",
    )
    fill_disk: Names | None = Field(
        default=None, description=f"{_SERVERS} whose databases cannot grow"
    )
    disk_use: Names | None = Field(
        default=None, description=f"{_SERVERS} whose volume for the queue database is used up"
    )
    percent: int | None = Field(
        default=None, ge=1, le=100, description="how much of that volume is in use; with disk_use"
    )
    skew_clock: Names | None = Field(default=None, description=f"{_SERVERS} whose clocks are wrong")
    by: Skew | None = Field(default=None, description="by how much a clock is ahead, or behind")
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
        self._returns_in_some_way()
        self._has_its_measure("skew_clock", "by", "write by: 5m, or by: -5m")
        self._has_its_measure("disk_use", "percent", "write percent: 97")
        if self.restart is not None and self.for_ms is not None:
            raise ConfigurationError("a restart is an instant", "remove for:, or write stop:")
        if self.corrupt_mailboxes is not None and self._keys() & {"for", "when"}:
            rule = "corrupt_mailboxes is an instant, at a time"
            raise ConfigurationError(rule, "remove for: and when:, and write at:")
        if self.random is not None:
            if self._keys() & {"at", "when", "for", *REPEATING_KEYS}:
                rule = "a random schedule has its times inside"
                raise ConfigurationError(rule, "write during: and for: inside random:")
            return self
        if self.at is not None and self.when is not None:
            rule = "a fault starts at a time or at a place"
            raise ConfigurationError(rule, "remove at:, or when:")
        start = "at" if self.when is None else "when"
        needed = (start,) if self.kind in INSTANTS or self.is_for_good else (start, "for")
        _refuse_missing([key for key in needed if key not in self._keys()])
        self._starts_once_at_a_place()
        self._repeats_in_time()
        return self

    def _returns_in_some_way(self) -> None:
        if self.kill is None and self.stop is None and "returns_with" in self.model_fields_set:
            raise ConfigurationError(
                "returns_with belongs to kill and stop", "remove returns_with:"
            )
        if self.stop is not None and self.returns_with == "new-queue-database":
            rule = "new-queue-database belongs to kill"
            raise ConfigurationError(rule, "write kill:, or returns_with: new-server")
        if self.is_for_good and self._keys() & {"for", *REPEATING_KEYS}:
            rule = "a server that never returns does so once, and for good"
            raise ConfigurationError(rule, "remove for: and every:, or returns_with:")

    def _has_its_measure(self, kind: str, key: str, hint: str) -> None:
        if getattr(self, kind) is not None and getattr(self, key) is None:
            raise ConfigurationError(f"{kind} takes {key}", hint)
        if getattr(self, kind) is None and getattr(self, key) is not None:
            raise ConfigurationError(f"{key} belongs to {kind}", f"remove {key}:")

    def _starts_once_at_a_place(self) -> None:
        several = len(self.servers) > 1 or any(word.startswith("site ") for word in self.servers)
        if self.when is not None and several:
            raise ConfigurationError("a place starts a fault of one server", "name one of them")
        if self.when is not None and self._keys() & {*REPEATING_KEYS}:
            rule = "a fault that repeats starts at a time"
            raise ConfigurationError(rule, "write at:, or remove every:")

    def _repeats_in_time(self) -> None:
        if self.every is None:
            if self._keys() & {*REPEATING_KEYS}:
                raise ConfigurationError("times and until belong to every", "add every:")
            return
        if (self.times is None) == (self.until is None):
            rule = "every takes times or until"
            raise ConfigurationError(rule, "write one of them, such as times: 12")
        if (self.for_ms or 0) >= self.every:
            rule = "for is not shorter than every: it would begin again before it is healed"
            raise ConfigurationError(rule, "make for shorter, or every longer")
        if self.times_in_all < 1:
            rule = "until comes before the first one is healed"
            raise ConfigurationError(rule, "write a later moment, or make for shorter")

    @property
    def is_for_good(self) -> bool:
        """Whether it has no end."""
        return self.returns_with == FOR_GOOD

    @property
    def is_of_mailbox_servers(self) -> bool:
        """Whether it is for mailbox servers alone, also where it names a site."""
        return self.kind in OF_MAILBOX_SERVERS or self.returns_with in LOSES_SERVER

    @property
    def kind(self) -> str:
        """Which of `KINDS` it is."""
        return self._given()[0]

    @property
    def links(self) -> LinksModel | None:
        """The links that it acts on; None for a fault of a server."""
        return next((each for kind in LINK_KINDS if (each := getattr(self, kind))), None)

    @property
    def servers(self) -> list[str]:
        """The words for the servers that it acts on, as written; none for a fault of links."""
        given: Iterator[list[str] | None] = (getattr(self, kind) for kind in _OF_SERVERS)
        return next((each for each in given if each), [])

    @property
    def server(self) -> str:
        """The server that a plain fault acts on."""
        return self.servers[0].removeprefix("server ")

    @property
    def times_in_all(self) -> int:
        """How many times it begins."""
        if self.every is None:
            return 1
        room_ms = (self.until or 0) - self.start_ms - (self.for_ms or 0)
        return self.times or room_ms // self.every + 1

    @property
    def start_ms(self) -> int:
        """When it starts; of a random schedule or a place, the earliest that it may."""
        if self.random is not None:
            return self.random.during.low
        return self.when.after if self.when is not None else self.at or 0

    @property
    def end_ms(self) -> int:
        """When it is healed for the last time, if it starts at `start_ms`; an instant ends where
        it starts.
        """
        if self.random is not None:
            return self.random.during.high
        last_ms = self.start_ms + (self.times_in_all - 1) * (self.every or 0)
        return last_ms + (self.for_ms or 0)

    def _given(self) -> list[str]:
        return [kind for kind in KINDS if getattr(self, kind) is not None]

    def _keys(self) -> set[str]:
        return {"for" if name == "for_ms" else name for name in self.model_fields_set}


def _refuse_missing(keys: list[str]) -> None:
    """Raises what pydantic says of keys that are needed and not there."""
    if keys:
        missing: list[Any] = [{"type": "missing", "loc": (key,), "input": {}} for key in keys]
        raise ValidationError.from_exception_data("fault", missing)
