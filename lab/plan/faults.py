"""The faults of a plan: of links, of servers, of the machines that servers run on, of mailbox
databases.

The fields are those of plan.json, times lab ms since the start. `done` is what a server, or its
disk or clock, is meanwhile; `words` what happens at the start and at the end, of which nothing is
left for an instant. A new kind of fault of a server is a class here, its entry in a scenario file
(`lab.scenario.faults`), what does it (`lab.faults`) and what the evaluation makes of it
(`spark_eval.fault_kinds`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Final, Literal, TypeAlias, get_args, get_type_hints

from lab.plan.link_faults import Directed, LinkFault
from lab.plan.quantities import format_skew
from lab.plan.when import When

ReturnsWith = Literal["same-queue-database", "new-queue-database", "new-server", "never"]
NEW_SERVER: Final = "new-server"
FOR_GOOD: Final = "never"
LOSES_SERVER: Final = (NEW_SERVER, FOR_GOOD)
"""Nothing of the server is left: no disk with a queue database, no copies."""
FOR_GOOD_MS: Final = 10**12
"""The end of a fault that has none, until a plan knows the end of the run."""


@dataclass(frozen=True, slots=True)
class Kill:
    """A server killed at the start and started again at the end; one that never returns has the end
    of the run as its `end_ms`.
    """

    done: ClassVar = "killed"

    id: str
    kind: Literal["kill"]
    start_ms: int
    end_ms: int
    server: str
    returns_with: ReturnsWith
    when: When | None = None

    def words(self) -> tuple[str, str]:
        return f"kill {self.server}{_for_good(self)}", _return_words(self)


@dataclass(frozen=True, slots=True)
class PowerLoss:
    """A server whose power goes at the start: killed, and what was not durable may be gone when it
    is started at the end.
    """

    done: ClassVar = "without power"

    id: str
    kind: Literal["power_loss"]
    start_ms: int
    end_ms: int
    server: str
    when: When | None = None

    def words(self) -> tuple[str, str]:
        return f"cut the power of {self.server}", f"start {self.server} with what is durable"


@dataclass(frozen=True, slots=True)
class Corrupt:
    """A server killed at the start, whose queue database is damaged before it is started again."""

    done: ClassVar = "killed"

    id: str
    kind: Literal["corrupt"]
    start_ms: int
    end_ms: int
    server: str
    when: When | None = None

    def words(self) -> tuple[str, str]:
        return f"kill {self.server}", f"start {self.server} with a damaged queue database"


@dataclass(frozen=True, slots=True)
class Pause:
    """A server that stands still from start to end, its connections open, its clock going on."""

    done: ClassVar = "paused"

    id: str
    kind: Literal["pause"]
    start_ms: int
    end_ms: int
    server: str
    when: When | None = None

    def words(self) -> tuple[str, str]:
        return f"pause {self.server}", f"resume {self.server}"


@dataclass(frozen=True, slots=True)
class Stop:
    """A server that ends in good order and is started at the end, with all that it had; or a new
    one, or none.
    """

    done: ClassVar = "stopped"

    id: str
    kind: Literal["stop"]
    start_ms: int
    end_ms: int
    server: str
    when: When | None = None
    returns_with: ReturnsWith = "same-queue-database"

    def words(self) -> tuple[str, str]:
        return f"stop {self.server}{_for_good(self)}", _return_words(self)


@dataclass(frozen=True, slots=True)
class Restart:
    """A server that ends in good order and is started at once: `end_ms` is `start_ms`."""

    done: ClassVar = "restarted"

    id: str
    kind: Literal["restart"]
    start_ms: int
    end_ms: int
    server: str
    when: When | None = None

    def words(self) -> tuple[str, str]:
        return f"restart {self.server}", ""


@dataclass(frozen=True, slots=True)
class FillDisk:
    """A server whose databases cannot grow from start to end."""

    done: ClassVar = "full"

    id: str
    kind: Literal["fill_disk"]
    start_ms: int
    end_ms: int
    server: str
    when: When | None = None

    def words(self) -> tuple[str, str]:
        return f"the disk of {self.server} is full", f"{self.server} has room again"


@dataclass(frozen=True, slots=True)
class DiskUse:
    """A server of which `percent` of the volume with its queue database are in use from start to
    end, by whatever else lies there: back pressure follows (TL-8).
    """

    done: ClassVar = "used up"

    id: str
    kind: Literal["disk_use"]
    start_ms: int
    end_ms: int
    server: str
    percent: int
    when: When | None = None

    def words(self) -> tuple[str, str]:
        used = f"{self.percent} % of the queue database's volume of {self.server} are in use"
        return used, f"{self.server} has its volume to itself"


@dataclass(frozen=True, slots=True)
class SkewClock:
    """A server whose clock shows `by_ms` more than lab time from start to end."""

    done: ClassVar = "wrong"

    id: str
    kind: Literal["skew_clock"]
    start_ms: int
    end_ms: int
    server: str
    by_ms: int
    when: When | None = None

    def words(self) -> tuple[str, str]:
        skewed = f"the clock of {self.server} is wrong by {format_skew(self.by_ms)}"
        return skewed, f"the clock of {self.server} is right"


@dataclass(frozen=True, slots=True)
class CorruptMailboxes:
    """A mailbox database whose mailboxes lose what they show, by the active copy's own log, so that
    every copy that replays it does the same: `end_ms` is `start_ms`.
    """

    done: ClassVar = "corrupted"

    id: str
    kind: Literal["corrupt_mailboxes"]
    start_ms: int
    end_ms: int
    database: str
    when: When | None = None

    def words(self) -> tuple[str, str]:
        return f"corrupt the mailboxes of {self.database}", ""


def is_for_good(fault: object) -> bool:
    """Whether it has no end: its server never returns (TP-8)."""
    return isinstance(fault, Kill | Stop) and fault.returns_with == FOR_GOOD


def _for_good(fault: "Kill | Stop") -> str:
    return " for good" if is_for_good(fault) else ""


def _return_words(fault: "Kill | Stop") -> str:
    """Nothing where it never returns."""
    match fault.returns_with:
        case "never":
            return ""
        case "new-server":
            return f"start a new server as {fault.server}"
        case "same-queue-database" if isinstance(fault, Stop):
            return f"start {fault.server}"
        case database:
            return f"start {fault.server} with its {database.replace('-', ' ')}"


ServerFault: TypeAlias = Kill | PowerLoss | Corrupt | Pause | Stop | Restart  # it is away
# it is there, on a machine that is out of order
MachineFault: TypeAlias = FillDisk | DiskUse | SkewClock
DatabaseFault: TypeAlias = CorruptMailboxes  # a mailbox database, whoever has its copies
Fault: TypeAlias = LinkFault | ServerFault | MachineFault | DatabaseFault


def kinds_of(faults: object) -> Mapping[str, type]:
    """The classes of one of these unions by the kind that plan.json gives them, in their order."""
    return {
        str(kind): each
        for each in get_args(faults)
        for kind in get_args(get_type_hints(each)["kind"])
    }


LINK_KINDS = tuple(kinds_of(LinkFault))
DIRECTED_KINDS = tuple(kinds_of(Directed))
SERVER_KINDS = tuple(kinds_of(ServerFault))
MACHINE_KINDS = tuple(kinds_of(MachineFault))
