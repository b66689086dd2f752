"""The nouns of a topology file: what its servers, sites, databases and domains are called.

Taken from the file's plain data, so that they are known even where something else in the
topology is wrong; then no server is called unknown only because its line has a slip in it.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from lab.scenario.topology import (
    FOLDERS,
    MAILBOXES_IN_ALL_MAX,
    MAILBOXES_MAX,
    USER,
    mailbox_addresses,
)
from lab.validation.yaml_document import Document, Trail

GROUP = "group"
ONE_SERVER = "name one server for both, or take one group out of the other"


@dataclass(frozen=True, slots=True)
class TopologyNames:
    """The nouns of one topology, in the order of the file; `copies`: database -> servers, and
    `lagged` those of them whose copy has a ReplayLagTime; `journaled`: databases that have a
    journal mailbox; `nested`: group -> the groups among its members, `expansion_servers`: group ->
    the server that alone expands it; `boundaries`: server -> its DAG, or the site of one that is in
    none.
    """

    sites: tuple[str, ...]
    outside_sites: tuple[str, ...]
    mailbox_servers: tuple[str, ...]
    front_ends: tuple[str, ...]
    external_servers: tuple[str, ...]
    active_managers: tuple[str, ...]
    dags: tuple[str, ...]
    databases: tuple[str, ...]
    copies: Mapping[str, tuple[str, ...]]
    lagged: Mapping[str, tuple[str, ...]]
    journaled: frozenset[str]
    domains: tuple[str, ...]
    mailboxes: tuple[str, ...]
    public_folders: tuple[str, ...]
    groups: tuple[str, ...]
    nested: Mapping[str, tuple[str, ...]]
    expansion_servers: Mapping[str, str]
    boundaries: Mapping[str, str]

    def database_of(self, mailbox: str) -> str | None:
        """The mailbox database that an address is in at first."""
        kinds = (USER, FOLDERS)
        return next(
            (
                database
                for database in self.databases
                if mailbox.startswith(tuple(f"{database.lower()}-{kind}" for kind in kinds))
            ),
            None,
        )

    def boundary_of(self, database: str) -> str | None:
        """Transport high availability's, where a database has its copies (TP-3)."""
        return next((self.boundaries.get(each) for each in self.copies.get(database, ())), None)

    @property
    def recipients(self) -> tuple[str, ...]:
        """All that read mail inside."""
        return self.mailboxes + self.public_folders

    @property
    def servers(self) -> tuple[str, ...]:
        """All servers."""
        return self.called + self.external_servers + self.active_managers

    @property
    def called(self) -> tuple[str, ...]:
        """The servers that clients call, and that have settings."""
        return self.mailbox_servers + self.front_ends


def names_of(document: Document, base: Trail = ()) -> TopologyNames:
    """The nouns of the topology that stands at `base` in a document."""
    sites = _mapping(document.at((*base, "sites")))
    servers = _mapping(document.at((*base, "servers")))
    external, front_ends = (
        [name for name, server in servers.items() if _get(server, "role") == role]
        for role in ("external", "frontend")
    )
    databases = _mapping(document.at((*base, "databases")))
    groups = _mapping(document.at((*base, "groups")))
    counts = _mapping(document.at((*base, "mailboxes")))
    folders = _mapping(document.at((*base, "public_folders")))
    return TopologyNames(
        sites=tuple(sites),
        outside_sites=tuple(name for name, site in sites.items() if _get(site, "outside") is True),
        mailbox_servers=tuple(name for name in servers if name not in (*external, *front_ends)),
        front_ends=tuple(front_ends),
        external_servers=tuple(external),
        active_managers=tuple(_active_managers(_mapping(document.at((*base, "dags"))))),
        dags=tuple(_mapping(document.at((*base, "dags")))),
        databases=tuple(databases),
        copies={name: _copies(_get(database, "copies")) for name, database in databases.items()},
        lagged={name: _lagged(_get(database, "copies")) for name, database in databases.items()},
        journaled=frozenset(name for name, each in databases.items() if _get(each, "journal")),
        domains=tuple(str(_get(servers[name], "domain")) for name in external),
        mailboxes=tuple(islice(_mailboxes(counts, USER), MAILBOXES_IN_ALL_MAX)),
        public_folders=tuple(islice(_mailboxes(folders, FOLDERS), MAILBOXES_IN_ALL_MAX)),
        groups=tuple(groups),
        nested={name: _groups_among(_get(group, "members")) for name, group in groups.items()},
        expansion_servers={
            name: str(server)
            for name, group in groups.items()
            if (server := _get(group, "expansion_server")) is not None
        },
        boundaries={
            name: f"DAG {_get(each, 'dag')}" if _get(each, "dag") else f"site {_get(each, 'site')}"
            for name, each in servers.items()
        },
    )


def _mailboxes(counts: Mapping[str, Any], what: str) -> Iterator[str]:
    for database, count in counts.items():
        yield from mailbox_addresses(database, _count(count), what)


def _active_managers(dags: Mapping[str, Any]) -> list[str]:
    names = (_get(_get(dag, "active_manager"), "name") for dag in dags.values())
    return [name for name in names if isinstance(name, str)]


def _copies(found: Any) -> tuple[str, ...]:
    """A copy is its server's name, or says it."""
    entries = found if isinstance(found, list) else []
    return tuple(str(_get(entry, "server") or entry) for entry in entries)


def _lagged(found: Any) -> tuple[str, ...]:
    entries = found if isinstance(found, list) else []
    return _copies([entry for entry in entries if _get(entry, "ReplayLagTime")])


def groups_among(words: Iterable[str]) -> tuple[str, ...]:
    """The names of the groups that members name, as `group sales`."""
    parted = (word.rpartition(" ") for word in words)
    return tuple(name for noun, _, name in parted if noun == GROUP)


def handed_round(
    group: str, nested: Mapping[str, Collection[str]], names: TopologyNames
) -> str | None:
    """The group between whose expansion server and its own a group's mail would go round, since
    they lead to each other.
    """
    own = names.expansion_servers[group]
    for other, server in names.expansion_servers.items():
        is_round = server != own and other in _led_to(group, nested)
        if is_round and group in _led_to(other, nested):
            return other
    return None


def is_on_the_way(
    group: str | None, added: Collection[str], of: str, nested: Mapping[str, Collection[str]]
) -> bool:
    """Whether a way from a group back to itself leads over what another one has added to it."""
    is_led_here = group == of or group in _led_to(of, nested)
    return is_led_here and any(of == each or of in _led_to(each, nested) for each in added)


def _led_to(group: str, nested: Mapping[str, Collection[str]]) -> set[str]:
    found: set[str] = set()
    waiting = [group]
    while waiting:
        new = set(nested.get(waiting.pop(), ())) - found
        found |= new
        waiting += new
    return found


def _groups_among(found: Any) -> tuple[str, ...]:
    words = found if isinstance(found, list) else [found]
    return groups_among(word for word in words if isinstance(word, str))


def _mapping(found: Any) -> Mapping[str, Any]:
    return found if isinstance(found, Mapping) else {}


def _get(found: Any, key: str) -> Any:
    return found.get(key) if isinstance(found, Mapping) else None


def _count(found: Any) -> int:
    return min(found, MAILBOXES_MAX) if isinstance(found, int) and found > 0 else 0
