"""Whether the names and roles of a topology fit together.

Takes a topology as read (whatever of it could be read) and gives back mistakes; the shape is
`lab.validation.model_reader`'s business. Nothing is looked up outside the file.
"""

from collections.abc import Collection, Iterator
from typing import Any

from lab.scenario.topology import (
    ACCEPTED_DOMAIN,
    MAILBOXES_IN_ALL_MAX,
    MEMBERS_IN_ALL_MAX,
    RESERVED_NAMES,
    SERVERS_MAX,
    CopyModel,
    DatabaseModel,
    ServerModel,
    TopologyModel,
    group_address,
)
from lab.validation.mistakes import Mistake
from lab.validation.model_reader import Read
from lab.validation.topology_names import ONE_SERVER, TopologyNames, handed_round
from lab.validation.yaml_document import Trail
from nodes.core.config.error import suggestion
from nodes.core.config.parameters import REPLAY_LAG_MAX_MS
from nodes.core.config.units import format_timespan

NOUNS = {"mailbox": "mailbox server", "frontend": "front end", "external": "external server"}
NEAR_AMONG = 500  # names to look for the nearest in


def check_topology(read: Read[TopologyModel], names: TopologyNames) -> Iterator[Mistake]:
    """Every mistake of a topology that its shape alone does not show."""
    if read.model is None:
        return
    yield from _site_links(read, read.model, names)
    yield from _joined(read, read.model, names)
    yield from _hubs(read, read.model, names)
    yield from _send_connectors(read, read.model, names)
    for name, server in read.model.servers.items():
        yield from _server(read, name, server, names, read.model)
    yield from _domains(read, read.model)
    yield from _dags(read, read.model)
    yield from _active_managers(read, read.model, names)
    yield from _databases(read, read.model, names)
    for key, counts in (
        ("mailboxes", read.model.mailboxes), ("public_folders", read.model.public_folders),
    ):  # fmt: skip
        for database in counts:
            if database not in names.databases:
                trail = (key, database)
                yield unknown(read, trail, "database", database, names.databases, of_key=True)
    mailboxes = sum((*read.model.mailboxes.values(), *read.model.public_folders.values()))
    if mailboxes > MAILBOXES_IN_ALL_MAX:
        rule = f"mailboxes in all, and {MAILBOXES_IN_ALL_MAX} is the most of a topology"
        yield read.mistake(("mailboxes",), str(mailboxes), rule, "give databases fewer mailboxes")
    yield from _groups(read, read.model, names)
    if not names.mailbox_servers:
        yield read.mistake(("servers",), "", "has no mailbox server", "add one: role: mailbox")


def unknown(
    read: Read[TopologyModel],
    path: Trail,
    noun: str,
    name: str,
    known: tuple[str, ...],
    *,
    of_key: bool = False,
) -> Mistake:
    """A name that the topology does not have."""
    hint = suggestion(name, set(known)) if known else f"the topology has no {noun}"
    return read.mistake(path, name, f"is no {noun} of the topology", hint, of_key=of_key)


def _site_links(
    read: Read[TopologyModel], model: TopologyModel, names: TopologyNames
) -> Iterator[Mistake]:
    seen: set[frozenset[str]] = set()
    for index, link in enumerate(model.site_links):
        for end, site in enumerate(link.between):
            if site not in names.sites:
                yield unknown(
                    read, ("site_links", index, "between", end), "site", site, names.sites
                )
        pair, trail = frozenset(link.between), ("site_links", index, "between")
        if pair in seen:
            yield read.mistake(trail, " and ".join(link.between), "is joined twice", "keep one")
        seen.add(pair)


def _joined(
    read: Read[TopologyModel], model: TopologyModel, names: TopologyNames
) -> Iterator[Mistake]:
    """Every site that a link names is reached from every other such site; those that none names
    are on the default link.
    """
    groups: list[set[str]] = []
    for link in model.site_links:
        touching = [group for group in groups if group & set(link.between)]
        groups = [group for group in groups if group not in touching]
        groups.append(set(link.between).union(*touching))
    if len(groups) > 1 and all(group <= set(names.sites) for group in groups):
        one, other = (" and ".join(sorted(group)) for group in groups[:2])
        rule = f"join {one}, and {other}, which no link joins to them"
        yield read.mistake(("site_links",), "", rule, "add a link between the two")


def _hubs(
    read: Read[TopologyModel], model: TopologyModel, names: TopologyNames
) -> Iterator[Mistake]:
    taken = _sites_of_mailbox_servers(model)
    for name, site in model.sites.items():
        if site.hub and name not in taken and read.whole:
            rule = "is a hub site and has no mailbox server"
            yield read.mistake(("sites", name, "hub"), name, rule, "add a server, or remove hub:")


def _sites_of_mailbox_servers(model: TopologyModel) -> set[str]:
    return {server.site for server in model.servers.values() if server.role == "mailbox"}


def _send_connectors(
    read: Read[TopologyModel], model: TopologyModel, names: TopologyNames
) -> Iterator[Mistake]:
    for name, connector in model.send_connectors.items():
        here: Trail = ("send_connectors", name)
        if connector.to not in names.external_servers:
            yield unknown(
                read, (*here, "to"), "external server", connector.to, names.external_servers
            )
        for index, server in enumerate(connector.source):
            trail = (*here, "source", index)
            if server not in names.mailbox_servers:
                yield unknown(read, trail, "mailbox server", server, names.mailbox_servers)
            if server in connector.source[:index]:
                yield read.mistake(trail, server, "is named twice", "keep one of them")


def _server(
    read: Read[TopologyModel],
    name: str,
    server: ServerModel,
    names: TopologyNames,
    model: TopologyModel,
) -> Iterator[Mistake]:
    here: Trail = ("servers", name)
    yield from _reserved(read, here, name, of_key=True)
    if server.site not in names.sites:
        yield unknown(read, (*here, "site"), "site", server.site, names.sites)
    elif (server.site in names.outside_sites) != (server.role == "external"):
        where = "outside" if server.site in names.outside_sites else "inside"
        rule = f"lies {where}, where no {NOUNS[server.role]} stands"
        yield read.mistake((*here, "site"), server.site, rule, "choose another site")
    if server.dag is not None and server.dag not in names.dags:
        yield unknown(read, (*here, "dag"), "DAG", server.dag, names.dags)
    is_before_some = server.site in _sites_of_mailbox_servers(model)
    if server.role == "frontend" and read.whole and not is_before_some:
        rule = "has no mailbox server that a front end there could pass sessions on to"
        hint = "add one: role: mailbox, or choose another site"
        yield read.mistake((*here, "site"), server.site, rule, hint)


def _reserved(
    read: Read[TopologyModel], here: Trail, name: str, *, of_key: bool = False
) -> Iterator[Mistake]:
    if name in RESERVED_NAMES:
        rule = "is a word of the lab and no name for a server"
        yield read.mistake(here, name, rule, "choose another name", of_key=of_key)


def _domains(read: Read[TopologyModel], model: TopologyModel) -> Iterator[Mistake]:
    seen = {ACCEPTED_DOMAIN: "the organisation itself"}
    for name, server in model.servers.items():
        if server.domain is None:
            continue
        if server.domain in seen:
            rule = f"is the domain of {seen[server.domain]} already"
            trail = ("servers", name, "domain")
            yield read.mistake(trail, server.domain, rule, "choose another domain")
        seen.setdefault(server.domain, name)


def _dags(read: Read[TopologyModel], model: TopologyModel) -> Iterator[Mistake]:
    members = {server.dag for server in model.servers.values()}
    for dag in model.dags:
        if dag not in members and read.whole:
            hint = f"add dag: {dag} to servers, or remove it"
            yield read.mistake(("dags", dag), dag, "has no member", hint, of_key=True)


def _active_managers(
    read: Read[TopologyModel], model: TopologyModel, names: TopologyNames
) -> Iterator[Mistake]:
    found = [(dag, each.active_manager) for dag, each in model.dags.items() if each.active_manager]
    of: dict[str, str] = {}
    for dag, manager in found:
        here: Trail = ("dags", dag, "active_manager")
        yield from _reserved(read, (*here, "name"), manager.name)
        if manager.name in model.servers:
            yield read.mistake((*here, "name"), manager.name, "is a server already", "rename it")
        if manager.name in of:
            rule = f"is the Active Manager of {of[manager.name]} already"
            yield read.mistake((*here, "name"), manager.name, rule, "each DAG has one of its own")
        of.setdefault(manager.name, dag)
        if manager.site not in names.sites:
            yield unknown(read, (*here, "site"), "site", manager.site, names.sites)
        elif manager.site in names.outside_sites:
            rule = "lies outside, where no Active Manager stands"
            yield read.mistake((*here, "site"), manager.site, rule, "choose another site")
    if found and len(model.servers) + len(found) > SERVERS_MAX:
        beside = f"{_counted(len(found), 'Active Manager')} beside {len(model.servers)} servers"
        rule = f"no room for {beside}: {SERVERS_MAX} is the most in all"
        yield read.mistake(("servers",), "", rule, "leave a server out")


def _counted(count: int, noun: str) -> str:
    return noun if count == 1 else f"{count} {noun}s"


def _databases(
    read: Read[TopologyModel], model: TopologyModel, names: TopologyNames
) -> Iterator[Mistake]:
    lowered: dict[str, str] = {}
    for name, database in model.databases.items():
        here: Trail = ("databases", name)
        if name.lower() in lowered:
            rule = f"differs from {lowered[name.lower()]} in case alone"
            yield read.mistake(here, name, rule, "choose another name", of_key=True)
        lowered.setdefault(name.lower(), name)
        for index, copy in enumerate(database.copies):
            trail: Trail = (*here, "copies", index)
            yield from _copy(read, trail, copy, names)
            if copy.server in [before.server for before in database.copies[:index]]:
                yield read.mistake(trail, copy.server, "has a copy already", "name another server")
        if database.journal is not None and database.journal.lower() not in names.recipients:
            rule = "is no mailbox of the topology"
            hint = "write the address of one, as db2-user01@shadowlab.example"
            yield read.mistake((*here, "journal"), database.journal, rule, hint)
        if len(database.copies) > 1 and read.whole:
            yield from _several_copies(read, (*here, "copies"), database, model)


def _members_of(word: str, model: TopologyModel) -> int:
    """How many a member stands for."""
    database = word.rpartition(" ")[2]
    held = model.mailboxes.get(database, 0) + model.public_folders.get(database, 0)
    return held or 1


def _groups(
    read: Read[TopologyModel], model: TopologyModel, names: TopologyNames
) -> Iterator[Mistake]:
    addresses, total = set(names.recipients), 0
    for name, group in model.groups.items():
        counts = [_members_of(word, model) for word in group.members]
        total += sum(counts)
        if total > MEMBERS_IN_ALL_MAX:
            rule = f"members of groups so far, and {MEMBERS_IN_ALL_MAX} is the most of a topology"
            yield read.mistake(("groups", name), str(total), rule, "leave some out", of_key=True)
            return
        here: Trail = ("groups", name)
        if group_address(name) in addresses:
            rule = "is the name of a mailbox already"
            yield read.mistake(here, name, rule, "choose another name", of_key=True)
        for index, word in enumerate(group.members):
            yield from unknown_member(read, (*here, "members", index), word, names, addresses)
        if group.expansion_server is not None:
            trail: Trail = (*here, "expansion_server")
            yield from _expansion_server(read, trail, group.expansion_server, names)
            if (other := handed_round(name, names.nested, names)) is not None:
                led = f"expands {name}, which leads to {other} and back"
                rule = f"{led}, and {names.expansion_servers[other]} expands that"
                yield read.mistake(trail, group.expansion_server, rule, ONE_SERVER)


def _expansion_server(
    read: Read[TopologyModel], here: Trail, server: str, names: TopologyNames
) -> Iterator[Mistake]:
    if server in names.servers and server not in names.mailbox_servers:
        rule = f"{_strangers(names)[server]} and expands no group"
        yield read.mistake(here, server, rule, "name a mailbox server")
    elif server not in names.servers:
        yield unknown(read, here, "mailbox server", server, names.mailbox_servers)
    if names.journaled:
        rule = f"expands a group, and {min(names.journaled)} is journaled: reports are not asked"
        yield read.mistake(here, server, rule, "remove journal:, or expansion_server:")


def unknown_member(
    read: Read[Any], here: Trail, word: str, names: TopologyNames, mailboxes: Collection[str]
) -> Iterator[Mistake]:
    """A member of a group that nothing stands for: `database DB1`, `group sales`, an address."""
    noun, _, name = word.rpartition(" ")
    known = {"database": names.databases, "group": names.groups}.get(noun)
    if known is not None:
        if name not in known:
            hint = suggestion(name, set(known)) if known else f"the topology has no {noun}"
            yield read.mistake(here, word, f"names no {noun} of the topology", hint)
        return
    address = word.lower()
    if address in mailboxes or address.rpartition("@")[2] in names.domains:
        return
    if not noun and word in (*names.groups, *names.databases):
        noun = "group" if word in names.groups else "database"
        yield read.mistake(here, word, "is no member", f"write {noun} {word}")
        return
    near = suggestion(address, {*names.recipients[:NEAR_AMONG]}) if "@" in word else ""
    hint = near if near.startswith("did") else "write database DB1, group sales, or an address"
    yield read.mistake(here, word, "is no database, group, mailbox or outside user", hint)


def _several_copies(
    read: Read[TopologyModel], here: Trail, database: DatabaseModel, model: TopologyModel
) -> Iterator[Mistake]:
    """They are copies within one DAG, and its Active Manager decides over them."""
    servers = [copy.server for copy in database.copies]
    dags = [model.servers[name].dag for name in servers if name in model.servers]
    for index, dag in enumerate(dags):
        if dag is None or dag != dags[0]:
            rule = f"is not in the DAG of {servers[0]}" if dags[0] else "is in no DAG"
            hint = "copies of a database lie within one DAG"
            yield read.mistake((*here, index), servers[index], rule, hint)
            return
    group = model.dags.get(dags[0] or "") if dags else None
    if group is not None and group.active_manager is None:
        rule = f"several copies, and {dags[0]} has no Active Manager"
        hint = f"write {dags[0]}: {{active_manager: {{name: am1, site: {_inside_site(model)}}}}}"
        yield read.mistake(here, "", rule, hint)


def _inside_site(model: TopologyModel) -> str:
    """A site inside."""
    return next((name for name, site in model.sites.items() if not site.outside), "NAME")


def _strangers(names: TopologyNames) -> dict[str, str]:
    """What the servers are that are no mailbox servers."""
    return {
        **dict.fromkeys(names.external_servers, "is an external server"),
        **dict.fromkeys(names.front_ends, "is a front end"),
        **dict.fromkeys(names.active_managers, "is Active Manager"),
    }


def _copy(
    read: Read[TopologyModel], here: Trail, copy: CopyModel, names: TopologyNames
) -> Iterator[Mistake]:
    strangers = _strangers(names)
    if copy.server in strangers:
        rule = f"{strangers[copy.server]} and holds no database"
        yield read.mistake(here, copy.server, rule, "name a mailbox server")
    elif copy.server not in names.servers:
        yield unknown(read, here, "server", copy.server, names.mailbox_servers)
    yield from _lag(read, (*here, "ReplayLagTime"), copy.ReplayLagTime, is_first=here[-1] == 0)


def _lag(
    read: Read[TopologyModel], here: Trail, lag_ms: int, *, is_first: bool
) -> Iterator[Mistake]:
    """Of a passive copy, 14 days at the most (TP-4, F§3.4)."""
    said = format_timespan(lag_ms)
    if lag_ms > REPLAY_LAG_MAX_MS:
        most = format_timespan(REPLAY_LAG_MAX_MS)
        yield read.mistake(here, said, f"is more than {most}", "write a shorter one")
    if lag_ms and is_first:
        rule = "of the copy that is active first, and an active copy does not lag"
        yield read.mistake(here, said, rule, "name another copy first")
