"""The operations of a plan: what an administrator does at a moment of lab time.

The fields are those of plan.json, times lab ms since the start. `names` says which of them name
something of the topology; `asked` gives the servers that it is said to, `words` what it is. A new
kind is a class here, its row in the grammar (`lab.scenario.operations`), its line on the wire
(`lab.schedule.operations`) and what the evaluation reads of it (`spark_eval.read.operation_kinds`).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, TypeAlias

from lab.plan.topology import Group, PlanTopology, Server
from nodes.core.config.units import format_timespan

Names: TypeAlias = Mapping[str, Literal["database", "mailbox server", "group", "mailbox"]]
_OF_ITS_COPIES: Names = {"database": "database", "to": "mailbox server"}


@dataclass(frozen=True, slots=True)
class Failover:
    """Active Manager is to activate another copy at once: on `to`, or where it chooses."""

    names: ClassVar[Names] = _OF_ITS_COPIES

    id: str
    kind: Literal["failover"]
    at_ms: int
    database: str
    to: str | None

    def asked(self, topology: PlanTopology) -> tuple[str, ...]:
        return active_manager_of(self.database, topology)

    def words(self) -> str:
        return f"failover of {self.database}" + (f" to {self.to}" if self.to else "")


@dataclass(frozen=True, slots=True)
class Switchover:
    """Active Manager is to activate the copy on `to` as soon as that lacks nothing."""

    names: ClassVar[Names] = _OF_ITS_COPIES

    id: str
    kind: Literal["switchover"]
    at_ms: int
    database: str
    to: str

    def asked(self, topology: PlanTopology) -> tuple[str, ...]:
        return active_manager_of(self.database, topology)

    def words(self) -> str:
        return f"switchover of {self.database} to {self.to}"


@dataclass(frozen=True, slots=True)
class ActivateLagged:
    """Active Manager is to activate the lagged copy on `to`: as it stands (SN-5), or, where
    `before_ms` is given, with what the database took before that moment (SN-20).
    """

    names: ClassVar[Names] = _OF_ITS_COPIES

    id: str
    kind: Literal["activate_lagged"]
    at_ms: int
    database: str
    to: str
    before_ms: int | None

    def asked(self, topology: PlanTopology) -> tuple[str, ...]:
        return active_manager_of(self.database, topology)

    def words(self) -> str:
        at = "" if self.before_ms is None else f" as of {format_timespan(self.before_ms)}"
        return f"activation of the lagged copy of {self.database} on {self.to}{at}"


@dataclass(frozen=True, slots=True)
class Resubmit:
    """Safety Nets are to give back what was delivered into a database from `start_ms` on and before
    `end_ms`, by the primary's delivery time (SN-8).
    """

    names: ClassVar[Names] = {"database": "database"}

    id: str
    kind: Literal["resubmit"]
    at_ms: int
    database: str
    start_ms: int
    end_ms: int

    def asked(self, topology: PlanTopology) -> tuple[str, ...]:
        """Each mailbox server of the boundary: any of them may have delivered something (SN-6)."""
        return boundary_of(self.database, topology)

    def words(self) -> str:
        times = f"{format_timespan(self.start_ms)} to {format_timespan(self.end_ms)}"
        return f"resubmit of {self.database}, {times}"


@dataclass(frozen=True, slots=True)
class ChangeRequest:
    """A resubmit request is disabled, enabled again or removed, as by Set-ResubmitRequest and
    Remove-ResubmitRequest (SN-16): `request`, the id of the `resubmit`.
    """

    names: ClassVar[Names] = {"database": "database"}

    id: str
    kind: Literal["disable_resubmit", "enable_resubmit", "remove_resubmit"]
    at_ms: int
    database: str
    request: str

    def asked(self, topology: PlanTopology) -> tuple[str, ...]:
        """Who was asked for the resubmit."""
        return boundary_of(self.database, topology)

    def words(self) -> str:
        return f"{self.kind.partition('_')[0]} the resubmit of {self.database}"


@dataclass(frozen=True, slots=True)
class ChangeGroup:
    """The members of a distribution group change in Active Directory: addresses that join it, and
    that leave it.
    """

    names: ClassVar[Names] = {"group": "group"}

    id: str
    kind: Literal["change_group"]
    at_ms: int
    group: str
    add: tuple[str, ...]
    remove: tuple[str, ...]

    def asked(self, topology: PlanTopology) -> tuple[str, ...]:
        """No server: they read it."""
        return ()

    def words(self) -> str:
        both = (("add", self.add), ("remove", self.remove))
        what = " and ".join(f"{verb} {_some(whom)}" for verb, whom in both if whom)
        return f"change of {self.group}: {what}"


@dataclass(frozen=True, slots=True)
class MoveMailbox:
    """New-MoveRequest: a mailbox, by its address, moves to another database (SN-8, DD-3)."""

    names: ClassVar[Names] = {"mailbox": "mailbox", "to": "database"}

    id: str
    kind: Literal["move_mailbox"]
    at_ms: int
    mailbox: str
    to: str

    def asked(self, topology: PlanTopology) -> tuple[str, ...]:
        """Whoever has a copy of the database that it leaves: one of them has the active one. And
        Active Manager, which may know of mail that it is owed there.
        """
        left = topology.database_of(self.mailbox) or ""
        copies = (each.copies for each in topology.databases if each.name == left)
        servers = (copy.server for copy in next(copies, ()))
        return (*servers, *active_manager_of(left, topology))

    def words(self) -> str:
        return f"move of {self.mailbox} to {self.to}"


@dataclass(frozen=True, slots=True)
class RedirectMessages:
    """Redirect-Message: the delivery queues of `server` are to be drained to `to` (F§5.4)."""

    names: ClassVar[Names] = {"server": "mailbox server", "to": "mailbox server"}

    id: str
    kind: Literal["redirect_messages"]
    at_ms: int
    server: str
    to: str

    def asked(self, topology: PlanTopology) -> tuple[str, ...]:
        return (self.server,)

    def words(self) -> str:
        return f"messages of {self.server} redirected to {self.to}"


@dataclass(frozen=True, slots=True)
class SetComponentState:
    """Set-ServerComponentState: the component HubTransport of `server` is to be Active or Inactive
    from now on, as Active Directory has it (TL-5).
    """

    names: ClassVar[Names] = {"server": "mailbox server"}

    id: str
    kind: Literal["set_component_state"]
    at_ms: int
    server: str
    state: Literal["Active", "Inactive"]

    def asked(self, topology: PlanTopology) -> tuple[str, ...]:
        """No server: they read it."""
        return ()

    def words(self) -> str:
        return f"HubTransport of {self.server} set {self.state}"


@dataclass(frozen=True, slots=True)
class SetReceiveConnector:
    """Set-ReceiveConnector: the AuthMechanism of `server` is to have ExchangeServer, or Tls alone,
    and then no other server can authenticate there (TL-6).
    """

    names: ClassVar[Names] = {"server": "mailbox server"}

    id: str
    kind: Literal["set_receive_connector"]
    at_ms: int
    server: str
    auth_mechanism: Literal["ExchangeServer", "Tls"]

    def asked(self, topology: PlanTopology) -> tuple[str, ...]:
        """No server: they read it."""
        return ()

    def words(self) -> str:
        return f"AuthMechanism of {self.server} set to {self.auth_mechanism}"


@dataclass(frozen=True, slots=True)
class ShowQueues:
    """Get-Queue: somebody looks at what the queues of `server` hold (TL-9)."""

    names: ClassVar[Names] = {"server": "mailbox server"}

    id: str
    kind: Literal["show_queues"]
    at_ms: int
    server: str

    def asked(self, topology: PlanTopology) -> tuple[str, ...]:
        return (self.server,)

    def words(self) -> str:
        return f"look at the queues of {self.server}"


Operation: TypeAlias = (
    Failover
    | Switchover
    | ActivateLagged
    | Resubmit
    | ChangeRequest
    | ChangeGroup
    | MoveMailbox
    | RedirectMessages
    | SetComponentState
    | SetReceiveConnector
    | ShowQueues
)


def _some(addresses: tuple[str, ...]) -> str:
    return addresses[0] if len(addresses) == 1 else f"{len(addresses)} members"


def groups_after(change: ChangeGroup, groups: Iterable[Group]) -> tuple[Group, ...]:
    """All groups once that change is made."""
    return tuple(_changed(each, change) if each.name == change.group else each for each in groups)


def _changed(group: Group, change: ChangeGroup) -> Group:
    kept = (member for member in group.members if member not in change.remove)
    return replace(group, members=tuple(dict.fromkeys((*kept, *change.add))))


def boundary_of(database: str, topology: PlanTopology) -> tuple[str, ...]:
    """The mailbox servers of the boundary in which a database has its copies."""
    homes = {each.copies[0].server for each in topology.databases if each.name == database}
    inside = {_boundary(each) for each in topology.servers if each.name in homes}
    servers = (each for each in topology.servers if each.role == "mailbox")
    return tuple(each.name for each in servers if _boundary(each) in inside)


def active_manager_of(database: str, topology: PlanTopology) -> tuple[str, ...]:
    """The Active Manager of the DAG in which a database has its copies (TP-6); nobody, of none."""
    homes = {each.copies[0].server for each in topology.databases if each.name == database}
    dags = {each.dag for each in topology.servers if each.name in homes}
    managers = (each for each in topology.servers if each.role == "active_manager")
    return tuple(each.name for each in managers if each.dag in dags)


def _boundary(server: Server) -> tuple[str, str]:
    """Transport high availability's: the DAG, or the site of a server that is in none (TP-3)."""
    return ("dag", server.dag) if server.dag else ("site", server.site)
