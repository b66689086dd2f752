"""What an administrator does, as a person writes it: an entry of `operations:`.

One row of `OPERATION_KINDS` a kind: the other keys that it takes, and what they name. A new key is
a field of the model. Whether what is named exists is asked in `lab.validation.operation_names`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import Literal

from pydantic import Field, model_validator

from lab.plan.operations import (
    ActivateLagged,
    ChangeGroup,
    ChangeRequest,
    Failover,
    MoveMailbox,
    Operation,
    RedirectMessages,
    Resubmit,
    SetComponentState,
    SetReceiveConnector,
    ShowQueues,
    Switchover,
)
from lab.scenario.quantities import Instant, Names
from lab.scenario.strict import Strict
from lab.scenario.topology import members_of
from nodes.core.config.error import ConfigurationError


class Noun(Enum):
    """What a key of an operation names."""

    DATABASE = "a mailbox database"
    COPIED_DATABASE = "a mailbox database with several copies"
    ITS_COPY = "a server that has a copy of it"
    ITS_LAGGED_COPY = "a server that has a copy of it with a ReplayLagTime"
    GROUP = "a distribution group"
    MEMBER = "an address, or `group sales`"
    MAILBOX = "an address, db1-user01@shadowlab.example"
    ITS_NEXT_DATABASE = "a mailbox database of the same boundary, without lagged copies"
    MAILBOX_SERVER = "a mailbox server"
    COMPONENT_STATE = "Active or Inactive"
    AUTH_MECHANISM = "ExchangeServer or Tls"


class OperationModel(Strict):
    """One thing that is asked at a moment."""

    at: Instant = Field(description="when it is asked")
    failover: str | None = Field(
        default=None, description="a database whose other copy is to be active, whatever it lacks"
    )
    switchover: str | None = Field(
        default=None, description="the same, as soon as the other copy lacks nothing"
    )
    activate_lagged: str | None = Field(
        default=None, description="a database whose lagged copy is to be active"
    )
    before: Instant | None = Field(
        default=None,
        description="the copy is to have what the database took before this moment, and no more; "
        "by default what it has replayed",
    )
    resubmit: str | None = Field(
        default=None, description="a database whose mail Safety Nets are to give back"
    )
    disable_resubmit: str | None = Field(
        default=None, description="a database whose last resubmit before this gives nothing back"
    )
    enable_resubmit: str | None = Field(
        default=None, description="the same, and it goes on where it stood"
    )
    remove_resubmit: str | None = Field(
        default=None, description="the same, and there is no such request any more"
    )
    change_group: str | None = Field(
        default=None, description="a distribution group whose members change"
    )
    add: Names = Field(default_factory=list, description="members that join the group")
    remove: Names = Field(default_factory=list, description="members that leave the group")
    move_mailbox: str | None = Field(
        default=None, description="a mailbox that moves to another mailbox database"
    )
    redirect_messages: str | None = Field(
        default=None, description="a server whose delivery queues another one is to take"
    )
    set_component_state: str | None = Field(
        default=None, description="a server whose component HubTransport changes its state"
    )
    state: Literal["Active", "Inactive"] | None = Field(
        default=None,
        description="Inactive: it refuses mail and shadow messages, also after a restart, until "
        "it is Active again",
    )
    set_receive_connector: str | None = Field(
        default=None, description="a server whose Receive connector authenticates otherwise"
    )
    auth_mechanism: Literal["ExchangeServer", "Tls"] | None = Field(
        default=None,
        description="Tls: no other server can authenticate there until it has ExchangeServer again",
    )
    show_queues: str | None = Field(
        default=None, description="a server at whose queues somebody looks"
    )
    to: str | None = Field(
        default=None,
        description="the server of that copy, or that takes the messages; of a failover, by "
        "default Active Manager chooses; of a mailbox, the database that it moves to",
    )

    start: Instant | None = Field(
        default=None, description="when the oldest mail of a resubmit was delivered"
    )
    end: Instant | None = Field(
        default=None, description="the newest was delivered before this; not after at"
    )

    @model_validator(mode="after")
    def _is_one_operation(self) -> "OperationModel":
        given = [kind for kind in OPERATION_KINDS if getattr(self, kind) is not None]
        if len(given) != 1:
            *most, last = OPERATION_KINDS
            rule = f"an operation is one of {', '.join(most)} and {last}"
            raise ConfigurationError(rule, "give each operation an entry of its own")
        row = OPERATION_KINDS[given[0]]
        for key in (key for key in row.needs if getattr(self, key) is None):
            what = row.names[key].value if key in row.names else "a moment"
            raise ConfigurationError(f"{given[0]} takes {key}", f"add {key}:, {what}")
        for key in self.model_fields_set - {"at", given[0], *row.takes}:
            kinds = [kind for kind, other in OPERATION_KINDS.items() if key in other.takes]
            raise ConfigurationError(f"{key} belongs to {' and '.join(kinds)}", f"remove {key}:")
        if row.check is not None:
            row.check(self)
        return self

    @property
    def kind(self) -> str:
        """Which of `OPERATION_KINDS` it is."""
        return next(kind for kind in OPERATION_KINDS if getattr(self, kind) is not None)

    @property
    def subject(self) -> str:
        """What the kind's own key names."""
        return str(getattr(self, self.kind))

    @property
    def names(self) -> Mapping[str, Noun]:
        """What each of its keys names."""
        return OPERATION_KINDS[self.kind].names

    def planned(self, identity: str) -> Operation:
        """The operation of the plan."""
        return OPERATION_KINDS[self.kind].planned(identity, self)


@dataclass(frozen=True, slots=True)
class OperationKind:
    """`needs` and `may` are keys beside its own and `at`; `names`, which of all these name what.
    `check` raises ConfigurationError for what cannot be.
    """

    planned: Callable[[str, OperationModel], Operation]
    names: Mapping[str, Noun]
    needs: tuple[str, ...] = ()
    may: tuple[str, ...] = ()
    check: Callable[[OperationModel], None] | None = None

    @property
    def takes(self) -> tuple[str, ...]:
        return self.needs + self.may


def _check_interval(model: OperationModel) -> None:
    """As Add-ResubmitRequest has it (F§4.1)."""
    assert model.start is not None
    assert model.end is not None
    if model.start >= model.end:
        raise ConfigurationError("end is not after start", "write a later end, or an earlier start")
    if model.end > model.at:
        rule = "end is after at, and a resubmit is of what was delivered"
        raise ConfigurationError(rule, "ask later, or write an earlier end")


def _check_point_in_time(model: OperationModel) -> None:
    if model.before is not None and model.before > model.at:
        rule = "before is after at, and a copy goes back in time"
        raise ConfigurationError(rule, "write an earlier moment, or ask later")


def _check_change(model: OperationModel) -> None:
    if not (model.add or model.remove):
        raise ConfigurationError("changes nothing", "add add: or remove:, with members")


def _check_redirection(model: OperationModel) -> None:
    if model.to == model.redirect_messages:
        rule = "to is the server itself, whose messages go to another one"
        raise ConfigurationError(rule, "name another mailbox server")


CHANGES_OF_REQUESTS = ("disable_resubmit", "enable_resubmit", "remove_resubmit")
OPERATION_KINDS: Mapping[str, OperationKind] = {
    "failover": OperationKind(
        lambda name, m: Failover(name, "failover", m.at, m.subject, m.to),
        {"failover": Noun.COPIED_DATABASE, "to": Noun.ITS_COPY},
        may=("to",),
    ),
    "switchover": OperationKind(
        lambda name, m: Switchover(name, "switchover", m.at, m.subject, str(m.to)),
        {"switchover": Noun.COPIED_DATABASE, "to": Noun.ITS_COPY},
        needs=("to",),
    ),
    "activate_lagged": OperationKind(
        lambda name, m: ActivateLagged(
            name, "activate_lagged", m.at, m.subject, str(m.to), m.before
        ),
        {"activate_lagged": Noun.COPIED_DATABASE, "to": Noun.ITS_LAGGED_COPY},
        needs=("to",),
        may=("before",),
        check=_check_point_in_time,
    ),
    "resubmit": OperationKind(
        lambda name, m: Resubmit(name, "resubmit", m.at, m.subject, m.start or 0, m.end or 0),
        {"resubmit": Noun.DATABASE},
        needs=("start", "end"),
        check=_check_interval,
    ),
    **{
        kind: OperationKind(
            lambda name, m: ChangeRequest(name, m.kind, m.at, m.subject, ""),  # type: ignore[arg-type]  # one of these words
            {kind: Noun.DATABASE},
        )
        for kind in CHANGES_OF_REQUESTS
    },
    "change_group": OperationKind(
        lambda name, m: ChangeGroup(
            name,
            "change_group",
            m.at,
            m.subject,
            members_of(m.add, ()),
            members_of(m.remove, ()),
        ),
        {"change_group": Noun.GROUP, "add": Noun.MEMBER, "remove": Noun.MEMBER},
        may=("add", "remove"),
        check=_check_change,
    ),
    "move_mailbox": OperationKind(
        lambda name, m: MoveMailbox(name, "move_mailbox", m.at, m.subject.lower(), str(m.to)),
        {"move_mailbox": Noun.MAILBOX, "to": Noun.ITS_NEXT_DATABASE},
        needs=("to",),
    ),
    "redirect_messages": OperationKind(
        lambda name, m: RedirectMessages(name, "redirect_messages", m.at, m.subject, str(m.to)),
        {"redirect_messages": Noun.MAILBOX_SERVER, "to": Noun.MAILBOX_SERVER},
        needs=("to",),
        check=_check_redirection,
    ),
    "set_component_state": OperationKind(
        lambda name, m: SetComponentState(
            name, "set_component_state", m.at, m.subject, m.state or "Active"
        ),
        {"set_component_state": Noun.MAILBOX_SERVER, "state": Noun.COMPONENT_STATE},
        needs=("state",),
    ),
    "set_receive_connector": OperationKind(
        lambda name, m: SetReceiveConnector(
            name, "set_receive_connector", m.at, m.subject, m.auth_mechanism or "ExchangeServer"
        ),
        {"set_receive_connector": Noun.MAILBOX_SERVER, "auth_mechanism": Noun.AUTH_MECHANISM},
        needs=("auth_mechanism",),
    ),
    "show_queues": OperationKind(
        lambda name, m: ShowQueues(name, "show_queues", m.at, m.subject),
        {"show_queues": Noun.MAILBOX_SERVER},
    ),
}


def resolve_operations(operations: list[OperationModel]) -> tuple[Operation, ...]:
    """In the order of time, numbered o1, o2 … in the order of the file."""
    found = [each.planned(f"o{number}") for number, each in enumerate(operations, start=1)]
    ordered = sorted(found, key=lambda operation: operation.at_ms)
    return tuple(_with_its_request(each, ordered) for each in ordered)


def _with_its_request(operation: Operation, ordered: list[Operation]) -> Operation:
    """The id of the last resubmit of its database before it."""
    if not isinstance(operation, ChangeRequest):
        return operation
    earlier = (
        each.id
        for each in reversed(ordered)
        if isinstance(each, Resubmit)
        and each.database == operation.database
        and each.at_ms < operation.at_ms
    )
    return replace(operation, request=next(earlier, ""))
