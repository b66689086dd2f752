"""Defects of groups with an expansion server: who expands them, and what becomes of their mail on
the way there (RT-3).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from defects.decisions import decides, does
from defects.defect import Context, Defect
from defects.delivery.redirecting import BelievesInShadowsOfRedirectedMail, DropsWhatItRedirects
from defects.door import behind
from nodes.core.categorizer.groups import DistributionGroups, ExpandedHere
from nodes.core.categorizer.recipients import Resolved, resolve
from nodes.core.config.config import NodeConfig
from nodes.core.model.next_hop import DeliveryType, NextHop
from nodes.core.routing.routing import next_hop

Servers = Collection[str]


def acts_for(otherwise: Callable[[ExpandedHere, Servers], Servers]) -> Context:
    """`otherwise` takes the groups as they are seen, and for which servers; it gives other ones."""

    def seen(
        method: Callable[..., ExpandedHere], self: DistributionGroups, servers: Servers
    ) -> ExpandedHere:
        found = method(self, servers)
        return replace(found, servers=otherwise(found, servers))

    return does(DistributionGroups, "expanded_by", seen)


def _everybody(found: ExpandedHere, _servers: Servers) -> Servers:
    return [each.name for each in found.config.servers]


def _itself(found: ExpandedHere, _servers: Servers) -> Servers:
    return (found.config.me.name,)


@contextmanager
def expands_here_and_there() -> Iterator[None]:
    """Mail for a group goes to its expansion server, and to its members at once."""

    def resolved(decision: Callable[..., Resolved], recipients: Any, directory: Any) -> Resolved:
        found = decision(recipients, directory)
        servers = directory.config.expansion_servers
        whole = decision(found.recipients, replace(directory, servers=set(servers.values())))
        beside = [who for who in whole.recipients if who not in found.recipients]
        return replace(found, recipients=(*found.recipients, *beside))

    with decides(resolve, resolved):
        yield


def _to_another(
    decision: Callable[..., NextHop | None], config: NodeConfig, address: str, *size: int
) -> NextHop | None:
    """To the first server of the boundary, by name, that is not the one."""
    hop = decision(config, address, *size)
    if hop is None or hop.delivery_type is not DeliveryType.SERVER_LIST:
        return hop
    others = (each.name for each in config.servers if each.role == "mailbox")
    first = next(name for name in others if name != hop.name)
    return hop if first == config.me.name else replace(hop, name=first)


SCENARIO = "expansion-server"
EXPANDED, ROUTED = ("groups_expanded",), ("routed_as_computed",)
DEFECTS = (
    Defect(
        "expands-whatever-it-takes",
        "Whoever takes mail for a group expands it, whatever expansion server the group has.",
        "RT-3", SCENARIO, EXPANDED, lambda: acts_for(_everybody),
    ),
    Defect(
        "hands-a-group-to-another-server",
        "Mail for a group with an expansion server goes by another server first.",
        "RT-3", SCENARIO, ROUTED, lambda: decides(next_hop, _to_another),
    ),
    Defect(
        "expands-a-group-here-and-there",
        "Mail for a group goes to its expansion server, and to its members from here as well.",
        "RT-3", SCENARIO, ("no_phantom",), expands_here_and_there,
    ),
    Defect(
        "expands-in-nobodys-place",
        "Whoever promotes what a dead expansion server had taken sends it there, to be expanded.",
        "RT-3", SCENARIO, EXPANDED, lambda: acts_for(_itself),
    ),
    Defect(
        "no-new-shadow-within-a-boundary",
        "An expansion server makes no shadow messages of what servers of its own boundary hand on.",
        "SR-1", SCENARIO, ("redundant_before_ack",),
        lambda: behind(BelievesInShadowsOfRedirectedMail),
    ),
    Defect(
        "drops-what-it-hands-on-within-its-boundary",
        "Mail for an expansion server of the own boundary is never sent, and taken for sent.",
        "RT-3", SCENARIO, ("no_loss",), lambda: behind(DropsWhatItRedirects),
    ),
)  # fmt: skip
