"""Whether what an operation names exists: a check for each noun of the grammar."""

from collections.abc import Callable, Iterator, Mapping, Set
from typing import TypeAlias

from lab.scenario.operations import CHANGES_OF_REQUESTS, Noun, OperationModel
from lab.scenario.scenario import ScenarioModel
from lab.validation.mistakes import Mistake
from lab.validation.model_reader import Read
from lab.validation.topology import unknown_member
from lab.validation.topology_names import (
    ONE_SERVER,
    TopologyNames,
    groups_among,
    handed_round,
    is_on_the_way,
)
from lab.validation.yaml_document import Trail
from nodes.core.config.error import suggestion

ScenarioRead = Read[ScenarioModel]
Wrong: TypeAlias = tuple[str, str]
"""Rule and hint."""


def check_operation(
    read: ScenarioRead, here: Trail, operation: OperationModel, names: TopologyNames
) -> Iterator[Mistake]:
    """Each name that nothing stands for."""
    for key, noun in operation.names.items():
        if noun is Noun.MEMBER:
            for index, word in enumerate(getattr(operation, key)):
                trail = (*here, key, index)
                yield from unknown_member(read, trail, word, names, names.recipients)
            continue
        name = getattr(operation, key)
        if name is not None and (wrong := _CHECKS[noun](name, operation, names)) is not None:
            rule, hint = wrong
            yield read.mistake((*here, key), name, rule, hint)


def changes_of_nothing(read: ScenarioRead, scenario: ScenarioModel) -> Iterator[Mistake]:
    """Each change of a resubmit request that nobody has asked for by then."""
    for index, operation in enumerate(scenario.operations):
        earlier = {each.resubmit for each in scenario.operations if each.at < operation.at}
        if operation.kind in CHANGES_OF_REQUESTS and operation.subject not in earlier:
            trail = ("operations", index, operation.kind)
            rule = "has no resubmit before this"
            yield read.mistake(trail, operation.subject, rule, "add a resubmit of it, earlier")


def changes_in_a_circle(
    read: ScenarioRead, scenario: ScenarioModel, names: TopologyNames
) -> Iterator[Mistake]:
    """Each change of a group by which its mail may go round between expansion servers, whatever
    else has changed by then.
    """
    nested = dict(names.nested)
    for each in scenario.operations:
        if each.change_group is not None:
            before = nested.get(each.change_group, ())
            nested[each.change_group] = (*before, *groups_among(each.add))
    servers, known = names.expansion_servers, names.nested
    found = {each: handed_round(each, nested, names) for each in servers}
    new = {each: to for each, to in found.items() if to and not handed_round(each, known, names)}
    for index, operation in enumerate(scenario.operations):
        for number, word in enumerate(operation.add if operation.change_group else ()):
            for group, other in new.items():
                if is_on_the_way(operation.change_group, groups_among([word]), group, nested):
                    between = f"{servers[group]} and {servers[other]}"
                    rule = f"by which mail for {group} and {other} goes round between {between}"
                    trail = ("operations", index, "add", number)
                    yield read.mistake(trail, word, rule, ONE_SERVER)
                    break


def moves_in_vain(
    read: ScenarioRead, scenario: ScenarioModel, senders: Set[str]
) -> Iterator[Mistake]:
    """Each move of a mailbox that has moved already, or of one of `senders`, whose clients would go
    on looking for its Outbox where it was.
    """
    moved = set[str]()
    for index, operation in enumerate(scenario.operations):
        address = operation.move_mailbox
        if address is None:
            continue
        trail = ("operations", index, operation.kind)
        if address in moved:
            yield read.mistake(trail, address, "moves twice", "move another one, too")
        elif address in senders:
            hint = "name other senders in from: of internal mail, or move another one"
            yield read.mistake(trail, address, "sends internal mail", hint)
        moved.add(address)


def no_database(name: str, names: TopologyNames) -> Wrong | None:
    """Why it is no mailbox database."""
    if name in names.databases:
        return None
    return "is no database of the topology", suggestion(name, set(names.databases))


def not_copied(name: str, names: TopologyNames) -> Wrong | None:
    """Why it is no database that can fail over."""
    if (wrong := no_database(name, names)) is not None:
        return wrong
    if len(names.copies[name]) < 2:
        return "has one copy and nowhere to go", "give it a second copy in the topology"
    return None


def _no_copy(name: str, operation: OperationModel, names: TopologyNames) -> Wrong | None:
    copies = names.copies.get(operation.subject)
    if copies is None or name in copies:  # a database that is not there is a mistake of its own
        return None
    return f"has no copy of {operation.subject}", suggestion(name, set(copies))


def _no_copy_for(name: str, operation: OperationModel, names: TopologyNames) -> Wrong | None:
    """A lagged copy is activated as one: by a failover it would lose its whole lag unasked."""
    if (wrong := _no_copy(name, operation, names)) is not None:
        return wrong
    if name in names.lagged.get(operation.subject, ()):
        return f"has a lagged copy of {operation.subject}", "write activate_lagged:"
    return None


def _not_lagged(name: str, operation: OperationModel, names: TopologyNames) -> Wrong | None:
    if (wrong := _no_copy(name, operation, names)) is not None:
        return wrong
    lagged = names.lagged.get(operation.subject)
    if lagged is None or name in lagged:
        return None
    hint = f"name {lagged[0]}" if lagged else "give a copy a ReplayLagTime in the topology"
    return f"has no lagged copy of {operation.subject}", hint


def _no_group(name: str, names: TopologyNames) -> Wrong | None:
    if name in names.groups:
        return None
    known = set(names.groups)
    return "is no group of the topology", suggestion(name, known) if known else "it has none"


def _no_mailbox_server(name: str, names: TopologyNames) -> Wrong | None:
    if name in names.mailbox_servers:
        return None
    return "is no mailbox server of the topology", suggestion(name, set(names.mailbox_servers))


def _no_mailbox(name: str, names: TopologyNames) -> Wrong | None:
    if name in names.recipients:
        return None
    return "is no mailbox of the topology", suggestion(name, set(names.recipients))


def _not_next(name: str, operation: OperationModel, names: TopologyNames) -> Wrong | None:
    """Why a mailbox cannot move to that database."""
    if (wrong := no_database(name, names)) is not None:
        return wrong
    left = names.database_of(operation.subject)
    if left == name:
        return f"has {operation.subject} already", "name another database"
    if names.lagged.get(name):
        rule = "has a lagged copy, which would not have the mailbox for as long"
        return rule, "name a database without lagged copies"
    if names.journaled & {name, left}:
        rule = f"is journaled, or {left} is, and who journals what on the way is not asked"
        return rule, "name databases without journal:"
    if left is not None and names.boundary_of(left) != names.boundary_of(name):
        rule = f"is in {names.boundary_of(name)}, and {left} in {names.boundary_of(left)}"
        return rule, "a mailbox moves within its boundary"
    return None


_CHECKS: Mapping[Noun, Callable[[str, OperationModel, TopologyNames], Wrong | None]] = {
    Noun.DATABASE: lambda name, _, names: no_database(name, names),
    Noun.COPIED_DATABASE: lambda name, _, names: not_copied(name, names),
    Noun.ITS_COPY: _no_copy_for,
    Noun.ITS_LAGGED_COPY: _not_lagged,
    Noun.GROUP: lambda name, _, names: _no_group(name, names),
    Noun.MAILBOX: lambda name, _, names: _no_mailbox(name, names),
    Noun.ITS_NEXT_DATABASE: _not_next,
    Noun.MAILBOX_SERVER: lambda name, _, names: _no_mailbox_server(name, names),
    Noun.COMPONENT_STATE: lambda name, _, names: None,  # the grammar has its words
    Noun.AUTH_MECHANISM: lambda name, _, names: None,
}
