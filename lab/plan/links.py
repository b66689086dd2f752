"""The mesh: who opens sessions to whom, and what a person's words for ends of links mean.

Mailbox servers open sessions to one another and to external servers, front ends to mailbox servers,
of whichever site, the workload to both; external servers open none. Servers with copies of one
database ship logs to each other, an Active Manager can reach every mailbox server, whatever its
DAG, as in one network. A link is one direction of one service.
"""

from collections.abc import Iterable, Sequence

from lab.plan.topology import Link, LinkName, PlanTopology, Server, Site

WORKLOAD = "workload"
SMTP, REPLICATION, MANAGEMENT = "smtp", "replication", "management"
FIRST_PORT = 21_000


def mesh(topology: PlanTopology) -> tuple[Link, ...]:
    """Every link of a topology, with its proxy and port, in the order of the file."""
    names = [*_smtp(topology.servers), *_replication(topology), *_management(topology.servers)]
    return tuple(
        Link(name.source, name.target, name.service, proxy_of(name), FIRST_PORT + index)
        for index, name in enumerate(names)
    )


def proxy_of(link: LinkName) -> str:
    """What its proxy is called."""
    return f"{link.source}--{link.target}--{link.service}"


def _smtp(servers: Sequence[Server]) -> list[LinkName]:
    mailbox_servers = _of_role(servers, "mailbox")
    links = [
        LinkName(source, target, SMTP)
        for source in mailbox_servers
        for target in mailbox_servers + _of_role(servers, "external")
        if source != target
    ]
    front_ends = _of_role(servers, "frontend")
    behind = [LinkName(each, target, SMTP) for each in front_ends for target in mailbox_servers]
    called = [LinkName(WORKLOAD, target, SMTP) for target in mailbox_servers + front_ends]
    return links + behind + called


def _replication(topology: PlanTopology) -> list[LinkName]:
    """Either way: the copy that is active now may be the other one later."""
    pairs = [
        (source.server, target.server)
        for database in topology.databases
        for source in database.copies
        for target in database.copies
        if source != target
    ]
    return [LinkName(source, target, REPLICATION) for source, target in dict.fromkeys(pairs)]


def _management(servers: Sequence[Server]) -> list[LinkName]:
    return [
        LinkName(manager.name, target.name, MANAGEMENT)
        for manager in servers
        if manager.role == "active_manager"
        for target in servers
        if target.role == "mailbox"
    ]


def _of_role(servers: Sequence[Server], role: str) -> list[str]:
    return [server.name for server in servers if server.role == role]


def ends(word: str, servers: Sequence[Server], sites: Sequence[Site]) -> list[str]:
    """The names that `site X`, `server X`, a server, an outside site or `workload` stands for.

    Empty where the word names nothing. The workload stands in every outside site.
    """
    outside = [site.name for site in sites if site.outside]
    kind, _, name = word.rpartition(" ")
    if kind == "site" or (kind == "" and name in outside):
        if name not in [site.name for site in sites]:
            return []
        inside = [server.name for server in servers if server.site == name]
        return inside + ([WORKLOAD] if name in outside else [])
    known = [server.name for server in servers]
    if kind == "" and name == WORKLOAD:
        return [WORKLOAD]
    return [name] if kind in ("", "server") and name in known else []


def links_between(
    openers: Iterable[str],
    targets: Iterable[str],
    links: Sequence[Link],
    service: str | None = None,
) -> list[LinkName]:
    """The links from any of the openers to any of the targets, in the order of the mesh; of all
    services where none is named.
    """
    sources, goals = set(openers), set(targets)
    return [
        LinkName(link.source, link.target, link.service)
        for link in links
        if link.source in sources and link.target in goals and service in (None, link.service)
    ]
