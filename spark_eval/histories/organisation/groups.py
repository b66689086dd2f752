"""Distribution groups over time: who is in them, as each server knows it (TP-5, SN-11), and which
server alone expands one (RT-3).

A change reaches every server that runs before the operation is over, one that is paused as soon as
it goes on, and one that is down when it starts. While a change is under way a server may go by
either.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, TypeAlias

from spark_eval.histories.organisation.server import Server
from spark_eval.intervals.interval import FOREVER_MS, Interval
from spark_eval.read.operation_kinds import Membership
from spark_eval.read.plan import PlannedGroup, PlannedOperation
from spark_eval.read.rows import OperationRow

Members = Mapping[str, tuple[str, ...]]
Servers: TypeAlias = frozenset[str] | None


class Change(NamedTuple):
    """Of the members of `group`, an address; `under_way`, from when it was intended to when every
    server that ran was seen to go by it.
    """

    under_way: Interval
    group: str
    add: tuple[str, ...]
    remove: tuple[str, ...]


class Expansion(NamedTuple):
    """What stands for the names of an envelope: `through`, by recipient, the group that led there,
    or None where he is named himself; `groups` that were expanded, each once, with their members.
    A group that is to be expanded elsewhere is a recipient.
    """

    through: Mapping[str, str | None]
    groups: Members


@dataclass(frozen=True, eq=False)
class Groups:
    """`first`: by address, the members at the beginning; `servers`: by address, the expansion
    server of those that have one; `changes` in order.
    """

    first: Members
    changes: Sequence[Change] = ()
    servers: Mapping[str, str] = field(default_factory=dict)
    _known: dict[tuple[int, Servers, tuple[str, ...]], Expansion] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.first)

    @cached_property
    def versions(self) -> tuple[Members, ...]:
        """One after each change."""
        found: list[Members] = [self.first]
        for change in self.changes:
            before = found[-1].get(change.group, ())
            kept = tuple(each for each in before if each not in change.remove)
            after = tuple(dict.fromkeys((*kept, *change.add)))
            found.append({**found[-1], change.group: after})
        return tuple(found)

    def expansions(
        self,
        names: Iterable[str],
        server: Server | None,
        start_ms: int,
        end_ms: int,
        by: Servers = None,
    ) -> list[Expansion]:
        """What the names may stand for at that server at some moment of [start, end]; one, unless a
        change was under way. Without a server: by what is in Active Directory. `by`: for which
        servers it expands, None for all.
        """
        wanted, possible = tuple(names), self._possible(server, start_ms, end_ms)
        return [self._expanded(each, by, wanted) for each in possible]

    def _possible(self, server: Server | None, start_ms: int, end_ms: int) -> list[int]:
        begun = [each.under_way.lo for each in self.changes]
        slack_ms = server.slack_ms if server is not None else 0
        over = [each.under_way.hi + slack_ms for each in self.changes]
        return [
            number
            for number in range(len(self.changes) + 1)
            if (number == 0 or begun[number - 1] <= end_ms)
            and (number == len(over) or over[number] >= start_ms)
        ]

    def _expanded(self, version: int, by: Servers, names: tuple[str, ...]) -> Expansion:
        key = version, by, names
        if key not in self._known:
            self._known[key] = expanded(names, self._members(version, by))
        return self._known[key]

    def _members(self, version: int, by: Servers) -> Members:
        every = self.versions[version]
        if by is None or not self.servers:
            return every
        mine = (*by, None)
        return {group: m for group, m in every.items() if self.servers.get(group) in mine}


def expanded(names: Iterable[str], members: Members) -> Expansion:
    """Every group once, so that loops end."""
    through: dict[str, str | None] = dict.fromkeys(names)
    met: dict[str, tuple[str, ...]] = {}
    waiting = list(through)
    for name in waiting:
        if name in members:
            met[name] = members[name]
            for member in members[name]:
                if member not in through:
                    through[member] = name
                    waiting.append(member)
    return Expansion({who: by for who, by in through.items() if who not in met}, met)


def groups_of(
    planned: Iterable[PlannedGroup],
    operations: Iterable[PlannedOperation],
    rows: Sequence[OperationRow],
) -> Groups:
    """Changes that were begun, in order."""
    planned = list(planned)
    addresses = {each.name: (each.address or "").lower() for each in planned}
    changes = []
    for each in operations:
        own = [row for row in rows if row.operation == each.id and row.at_ms is not None]
        if isinstance(each.keys, Membership) and own and each.keys.group in addresses:
            begun_ms = min(row.at_ms or 0 for row in own)
            seen = [row.at_ms or 0 for row in own if row.took_effect]
            under_way = Interval(begun_ms, max(seen, default=FOREVER_MS))
            add, remove = _lower(each.keys.add), _lower(each.keys.remove)
            changes.append(Change(under_way, addresses[each.keys.group], add, remove))
    servers = {
        (each.address or "").lower(): each.expansion_server.lower()
        for each in planned
        if each.expansion_server is not None
    }
    return Groups(members_of(planned), tuple(sorted(changes)), servers)


def _lower(addresses: Iterable[str] | None) -> tuple[str, ...]:
    return tuple(each.lower() for each in addresses or ())


def members_of(planned: Iterable[PlannedGroup]) -> Members:
    return {
        each.address.lower(): _lower(each.members) for each in planned if each.address is not None
    }
