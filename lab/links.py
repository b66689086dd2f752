"""The mesh: who opens sessions to whom, and what a person's words for ends of links mean.

Mailbox servers talk to one another and to external servers, the workload talks to mailbox
servers, external servers open nothing. A link is one direction of one service.
"""

from collections.abc import Iterable, Sequence

from lab.plan_parts import Link, LinkName, Server, Site

WORKLOAD = "workload"
SERVICES = ("smtp",)
FIRST_PORT = 21_000


def mesh(servers: Sequence[Server]) -> tuple[Link, ...]:
    """Every link of these servers, with its proxy and port, in the order of the file."""
    mailbox_servers = [server.name for server in servers if server.role == "mailbox"]
    external_servers = [server.name for server in servers if server.role == "external"]
    pairs = [
        (source, target)
        for source in mailbox_servers
        for target in mailbox_servers + external_servers
        if source != target
    ]
    pairs += [(WORKLOAD, target) for target in mailbox_servers]
    return tuple(
        Link(source, target, service, f"{source}--{target}--{service}", FIRST_PORT + index)
        for index, (source, target, service) in enumerate(
            (source, target, service) for source, target in pairs for service in SERVICES
        )
    )


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
    openers: Iterable[str], targets: Iterable[str], links: Sequence[Link]
) -> list[LinkName]:
    """The links from any of the openers to any of the targets, in the order of the mesh."""
    sources, goals = set(openers), set(targets)
    return [
        LinkName(link.source, link.target, link.service)
        for link in links
        if link.source in sources and link.target in goals
    ]
