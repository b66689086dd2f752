"""What a plan says of each kind of operation, and how pages say it.

One row a kind, so that a new one is a class of its keys here. Data and no judgement; it needs no
Spark.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple, TypeAlias


class Activation(NamedTuple):
    """Of another copy of a database, by Active Manager; `to` is None where that chooses."""

    database: str | None
    to: str | None

    def words(self, kind: str) -> str:
        return f"{kind} of {self.database}" + (f" to {self.to}" if self.to else "")


class LaggedActivation(NamedTuple):
    """Of the lagged copy of a database on `to`, as it stands, or as the database was at
    `before_ms`, lab ms.
    """

    database: str | None
    to: str | None
    before_ms: int | None

    def words(self, kind: str) -> str:
        at = "" if self.before_ms is None else f" as of {_time(self.before_ms)}"
        return f"activation of the lagged copy of {self.database} on {self.to}{at}"


class Resubmit(NamedTuple):
    """By Safety Nets, of what was delivered into a database in [start, end), lab ms."""

    database: str | None
    start_ms: int | None
    end_ms: int | None

    def words(self, kind: str) -> str:
        return f"{kind} of {self.database}, {_time(self.start_ms)} to {_time(self.end_ms)}"


class RequestChange(NamedTuple):
    """Of a resubmit request by its id, which is that of the operation that asked for it."""

    database: str | None
    request: str | None

    def words(self, kind: str) -> str:
        return f"{kind.partition('_')[0]} the resubmit of {self.database}"


class Membership(NamedTuple):
    """Of a distribution group by its name; members by address."""

    group: str | None
    add: tuple[str, ...] | None
    remove: tuple[str, ...] | None

    def words(self, kind: str) -> str:
        both = (("add", self.add), ("remove", self.remove))
        what = " and ".join(f"{verb} {_some(whom)}" for verb, whom in both if whom)
        return f"change of {self.group}: {what}"


class Move(NamedTuple):
    """Of a mailbox, by its address, to the mailbox database `to`."""

    mailbox: str | None
    to: str | None

    def words(self, kind: str) -> str:
        return f"move of {self.mailbox} to {self.to}"


class Redirection(NamedTuple):
    """Of what is in the delivery queues of a server, to another one."""

    server: str | None
    to: str | None

    def words(self, kind: str) -> str:
        return f"messages of {self.server} redirected to {self.to}"


class ComponentState(NamedTuple):
    """Of the component HubTransport of a server: `Active` or `Inactive` from then on."""

    server: str | None
    state: str | None

    def words(self, kind: str) -> str:
        return f"HubTransport of {self.server} set {self.state}"


class ReceiveConnector(NamedTuple):
    """Of a server: its AuthMechanism, `ExchangeServer` or `Tls`, from then on."""

    server: str | None
    auth_mechanism: str | None

    def words(self, kind: str) -> str:
        return f"AuthMechanism of {self.server} set to {self.auth_mechanism}"


class Looked(NamedTuple):
    """At the queues of a server."""

    server: str | None

    def words(self, kind: str) -> str:
        return f"look at the queues of {self.server}"


def _some(addresses: tuple[str, ...]) -> str:
    return addresses[0] if len(addresses) == 1 else f"{len(addresses)} members"


Keys: TypeAlias = (
    Activation
    | LaggedActivation
    | Resubmit
    | RequestChange
    | Membership
    | Move
    | Redirection
    | ComponentState
    | ReceiveConnector
    | Looked
)

KINDS: Final[Mapping[str, type[Keys]]] = {
    "failover": Activation,
    "switchover": Activation,
    "activate_lagged": LaggedActivation,
    "resubmit": Resubmit,
    "disable_resubmit": RequestChange,
    "enable_resubmit": RequestChange,
    "remove_resubmit": RequestChange,
    "change_group": Membership,
    "move_mailbox": Move,
    "redirect_messages": Redirection,
    "set_component_state": ComponentState,
    "set_receive_connector": ReceiveConnector,
    "show_queues": Looked,
}


def _time(ms: int | None) -> str:
    """`0:10:00` hours, minutes and seconds since the start of lab time."""
    if ms is None:
        return "?"
    seconds = ms // 1000
    return f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"
