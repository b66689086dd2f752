"""Whether a plan that was read means something: its names, what they refer to, how long it takes.

A plan of this lab's own making always does. One that came with a record may say anything: a name
that is a path would be a file outside the folder that it is replayed into, a server that nobody
knows a mistake in the middle of a simulation. What only a node can say of a setting, the node says.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from lab.clock import parse_origin
from lab.plan.links import WORKLOAD, mesh
from lab.plan.names import DAG, DATABASE, DOMAIN, PATTERN_WORDS, SERVER, SLUG
from lab.plan.parts import Message, Section
from lab.plan.quantities import SIZE_MAX_BYTES
from lab.plan.topology import PlanTopology
from nodes.core.config.parameters import PARAMETERS, format_value, parse_value
from nodes.core.config.units import DAY_MS

if TYPE_CHECKING:
    from lab.plan.plan import Plan

RUN_MAX_MS = 30 * DAY_MS
TIME_MAX_MS = 366 * DAY_MS
ADDRESS = r"[!-?A-~]{1,250}@[!-?A-~]{1,250}"
LINE = r"[ -~]{0,2000}"
ID = r"[A-Za-z0-9][A-Za-z0-9.:_-]{0,199}"
WORDS = {
    ADDRESS: "which is no address",
    LINE: "which is no line of ASCII",
    ID: "use letters, digits, full stops, colons and hyphens, at most 200",
}
CALLED = ("mailbox", "frontend")
"""The roles of servers that clients call."""
TYPES = {"bool": bool, "choice": str}  # of a parameter's value; all others are whole numbers

Found: TypeAlias = Iterator[tuple[str, object, str]]
"""What is wrong: the place below the plan, the value, the rule."""


def check_plan(plan: "Plan") -> None:
    """Raises ValueError with the place of the first that is wrong."""
    for place, value, rule in _wrong(plan):
        raise ValueError(f"Plan.{place} is {str(value)[:80]!r}, {rule}")


def _wrong(plan: "Plan") -> Found:
    yield from _named("scenario", plan.scenario, SLUG)
    yield from _topology(plan.topology)
    yield from _times(plan, "")
    yield from _clock(plan)
    if plan.links != mesh(plan.topology):
        yield "links", plan.links, "wanted the links of its topology"
    for at, message in enumerate(plan.messages):
        yield from _message(f"messages[{at}]", message, _of_role(plan, *CALLED))
    yield from _references(plan)
    yield from _settings(plan)


def _topology(topology: PlanTopology) -> Found:
    servers = [each.name for each in topology.servers]
    sites, dags = [each.name for each in topology.sites], [each.name for each in topology.dags]
    databases = [each.name for each in topology.databases]
    yield from _named("topology.name", topology.name, SLUG)
    yield from _named("topology.accepted_domain", topology.accepted_domain, DOMAIN)
    yield from _all_named("topology.sites", sites, SLUG)
    yield from _all_named("topology.dags", dags, DAG)
    yield from _all_named("topology.servers", servers, SERVER)
    yield from _all_named("topology.databases", databases, DATABASE)
    if WORKLOAD in servers:
        yield "topology.servers", WORKLOAD, "which is no name for a server"
    for at, server in enumerate(topology.servers):
        place = f"topology.servers[{at}]"
        yield from _named(f"{place}.fqdn", server.fqdn, DOMAIN)
        yield from _known(f"{place}.site", server.site, sites)
        yield from _known(f"{place}.dag", server.dag, [None, *dags])
        if server.role == "external":
            yield from _named(f"{place}.domain", server.domain or "", DOMAIN)
        if server.role == "active_manager":
            yield from _known(f"{place}.dag", server.dag, dags)
    for at, link in enumerate(topology.site_links):
        yield from _all_known(f"topology.site_links[{at}].between", link.between, sites)
    for at, connector in enumerate(topology.send_connectors):
        place = f"topology.send_connectors[{at}]"
        yield from _known(f"{place}.to", connector.to, servers)
        yield from _all_known(f"{place}.sources", connector.sources, servers)
    for at, dag in enumerate(topology.dags):
        yield from _all_known(f"topology.dags[{at}].members", dag.members, servers)
    yield from _databases(topology, databases)
    yield from _groups(topology)


def _mailbox_servers(topology: PlanTopology) -> list[str]:
    return [each.name for each in topology.servers if each.role == "mailbox"]


def _databases(topology: PlanTopology, names: Sequence[str]) -> Found:
    servers = _mailbox_servers(topology)
    if not servers:
        yield "topology.servers", servers, "wanted a mailbox server"
    for at, database in enumerate(topology.databases):
        copies = [copy.server for copy in database.copies]
        place = f"topology.databases[{at}].copies"
        yield from _all_known(place, copies, servers)
        if not copies or len(set(copies)) < len(copies):
            yield place, copies, "wanted one copy a server, and one at least"
    for at, mailbox in enumerate(topology.mailboxes):
        yield from _named(f"topology.mailboxes[{at}].address", mailbox.address, ADDRESS)
        yield from _known(f"topology.mailboxes[{at}].database", mailbox.database, names)


def _groups(topology: PlanTopology) -> Found:
    groups = topology.groups
    yield from _all_named("topology.groups", [each.name for each in groups], SLUG)
    addresses = [each.address for each in groups]
    yield from _all_named("topology.groups", addresses, ADDRESS, "address")
    inside = {*addresses, *(each.address for each in topology.mailboxes)}
    domains = {server.domain for server in topology.servers if server.domain is not None}
    servers = _mailbox_servers(topology)
    for at, group in enumerate(groups):
        if group.expansion_server is not None:
            place = f"topology.groups[{at}].expansion_server"
            yield from _known(place, group.expansion_server, servers)
        for number, member in enumerate(group.members):
            if member not in inside and member.rpartition("@")[2] not in domains:
                place = f"topology.groups[{at}].members[{number}]"
                yield place, member, "which the plan's topology has not"


def _all_named(place: str, names: Sequence[str], pattern: str, what: str = "name") -> Found:
    seen = set[str]()
    for at, name in enumerate(names):
        yield from _named(f"{place}[{at}].{what}", name, pattern)
        if name in seen:
            yield f"{place}[{at}].{what}", name, "which is named twice"
        seen.add(name)


def _named(place: str, name: str, pattern: str) -> Found:
    if not re.fullmatch(pattern, name):
        yield place, name, (PATTERN_WORDS | WORDS)[pattern]


def _all_known(place: str, names: Sequence[str], known: Collection[str]) -> Found:
    for at, name in enumerate(names):
        yield from _known(f"{place}[{at}]", name, known)


def _known(place: str, name: object, known: Collection[object]) -> Found:
    if name not in known:
        yield place, name, "which the plan's topology has not"


def _message(place: str, message: Message, servers: Collection[str]) -> Found:
    yield from _named(f"{place}.message_id", message.message_id, LINE)
    yield from _named(f"{place}.sender", message.sender, ADDRESS)
    for at, recipient in enumerate(message.recipients):
        yield from _named(f"{place}.recipients[{at}]", recipient, ADDRESS)
    yield from _all_known(f"{place}.via", message.via, servers)
    if not (message.via and message.recipients):
        yield place, message, "wanted a server to send it to, and a recipient"
    if not 0 < message.size_bytes <= SIZE_MAX_BYTES:
        yield f"{place}.size_bytes", message.size_bytes, f"wanted 1 to {SIZE_MAX_BYTES}"
    if message.retry_ms < 1:
        yield f"{place}.retry_ms", message.retry_ms, "wanted 1 at least"


def _references(plan: "Plan") -> Found:
    """What faults, operations and strangers name."""
    servers, mailbox = [each.name for each in plan.topology.servers], _of_role(plan, "mailbox")
    databases = [each.name for each in plan.topology.databases]
    links = {(link.source, link.target, link.service) for link in plan.links}
    for part in ("faults", "operations", "strangers"):
        yield from _all_named(part, [each.id for each in getattr(plan, part)], ID, "id")
    for at, fault in enumerate(plan.faults):
        place = f"faults[{at}]"
        if hasattr(fault, "server"):
            yield from _known(f"{place}.server", fault.server, servers)
        for number, link in enumerate(getattr(fault, "links", ())):
            name = (link.source, link.target, link.service)
            yield from _known(f"{place}.links[{number}]", name, links)
        if fault.when is not None:
            yield from _known(f"{place}.when.server", fault.when.server, servers)
        if fault.end_ms < fault.start_ms:
            yield f"{place}.end_ms", fault.end_ms, "which is before its start"
    groups = [each.name for each in plan.topology.groups]
    inside = [each.address for each in plan.topology.mailboxes]
    nouns = {
        "database": databases,
        "mailbox server": mailbox,
        "group": groups,
        "mailbox": inside,
    }
    for at, operation in enumerate(plan.operations):
        for field, noun in operation.names.items():
            if (name := getattr(operation, field)) is not None:
                yield from _known(f"operations[{at}].{field}", name, nouns[noun])
    for at, stranger in enumerate(plan.strangers):
        called = _of_role(plan, *CALLED)
        yield from _known(f"strangers[{at}].server", stranger.server, called)
        yield from _known(f"strangers[{at}].certificate", stranger.certificate, [None, *mailbox])
        for number, command in enumerate(stranger.commands):
            yield from _named(f"strangers[{at}].commands[{number}]", command, LINE)
        trickle = stranger.trickle
        if trickle is not None and trickle.for_ms and not trickle.every_ms:
            yield f"strangers[{at}].trickle.every_ms", 0, "wanted 1 at least, or all at once"


def _of_role(plan: "Plan", *roles: str) -> list[str]:
    return [server.name for server in plan.topology.servers if server.role in roles]


def _clock(plan: "Plan") -> Found:
    try:
        parse_origin(plan.clock.origin)
    except (ValueError, OverflowError) as error:
        yield "clock.origin", plan.clock.origin, f"which is no date: {error}"
    if not 0 < plan.clock.speed <= 1_000_000:
        yield "clock.speed", plan.clock.speed, "wanted more than 0"
    if plan.duration_ms > RUN_MAX_MS:
        yield "duration_ms", plan.duration_ms, f"wanted {RUN_MAX_MS} at the most"


def _times(value: Any, place: str) -> Found:
    """Whole numbers of milliseconds anywhere in the plan."""
    if is_dataclass(value):
        for item in fields(value):
            inner, name = getattr(value, item.name), f"{place}.{item.name}".lstrip(".")
            if isinstance(inner, int) and item.name.endswith("_ms"):
                least = -TIME_MAX_MS if item.name == "by_ms" else 0
                if not least <= inner <= TIME_MAX_MS:
                    yield name, inner, f"wanted {least} to {TIME_MAX_MS}"
            else:
                yield from _times(inner, name)
    elif isinstance(value, tuple):
        for at, inner in enumerate(value):
            yield from _times(inner, f"{place}[{at}]")


def _settings(plan: "Plan") -> Found:
    settings, place = plan.settings, "settings.servers"
    yield from _section("settings", "TransportConfig", settings.TransportConfig)
    for name in _of_role(plan, "mailbox", "frontend", "active_manager"):
        yield from _known(place, name, settings.servers)
    for name, sections in settings.servers.items():
        yield from _known(place, name, [each.name for each in plan.topology.servers])
        for section, values in sections.items():
            yield from _section(f"{place}.{name}", section, values)


def _section(place: str, section: str, values: Section) -> Found:
    known: Mapping[str, Any] = PARAMETERS.get(section, {})
    for name, value in values.items():
        where = f"{place}.{section}.{name}"
        if name not in known:
            yield where, value, "which is no parameter"
        elif type(value) is not TYPES.get(known[name].kind, int):
            yield where, value, f"wanted a {known[name].kind}"
        elif value != known[name].default:
            try:
                parse_value(known[name], format_value(known[name], value))
            except ValueError as error:
                yield where, value, f"since {error}"
