"""Defects of where Active Manager's work ends: at its own DAG, which may have several sites (TP-3,
TP-6, SN-12).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from defects.copies.manager import manager
from defects.decisions import decides
from defects.defect import Defect
from defects.door import Door
from nodes.core.config.config import NodeConfig
from nodes.core.failover.managed_databases import managed_databases
from nodes.core.interface.copy_commands import NameActiveCopy
from nodes.core.interface.effects import Effect, ManageCopy, OpenSession
from nodes.core.interface.inputs import ActiveCopyAnswered
from nodes.core.model.next_hop import NextHop
from nodes.core.routing.boundary import servers_of

TWO_DAGS = "two-dags"


def takes_every_database(
    _managed: Callable[[NodeConfig], tuple[str, ...]], config: NodeConfig
) -> tuple[str, ...]:
    """Of several copies."""
    return tuple(sorted(name for name, copies in config.copies.items() if len(copies) > 1))


def takes_everybody_for_inside(
    servers: Callable[[NodeConfig, NextHop], tuple[str, ...]], config: NodeConfig, of: NextHop
) -> tuple[str, ...]:
    """Active Manager, and nobody else."""
    if config.me.role != "active_manager":
        return servers(config, of)
    return tuple(sorted(each.name for each in config.servers if each.role == "mailbox"))


class InformsNobodyInOtherSites(Door):
    """Active Manager takes a server that stands in another site for informed."""

    def __init__(self, config: NodeConfig) -> None:
        super().__init__(config)
        self._peers: dict[str, str] = {}

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        if isinstance(effect, OpenSession):
            self._peers[effect.session] = effect.peer
        if isinstance(effect, ManageCopy) and isinstance(effect.command, NameActiveCopy):
            server = self.config.server_named(self._peers[effect.session])
            if server is not None and server.site != self.config.me.site:
                self.answer(ActiveCopyAnswered(effect.session, self.now_ms))
                return ()
        return (effect,)


DEFECTS = (
    Defect(
        "fails-over-databases-of-another-dag",
        "An Active Manager fails over databases of every DAG.",
        "TP-6", TWO_DAGS, ("failover_allowed",),
        lambda: decides(managed_databases, takes_every_database),
    ),
    Defect(
        "asks-safety-nets-of-another-boundary",
        "After a failover Active Manager asks the Safety Nets of every boundary.",
        "SN-12", TWO_DAGS, ("resubmission_bounded",),
        lambda: decides(servers_of, takes_everybody_for_inside),
    ),
    Defect(
        "informs-nobody-in-other-sites",
        "Active Manager informs the servers of its own site alone which copy is active.",
        "TP-3", TWO_DAGS, ("resubmission_complete",), lambda: manager(InformsNobodyInOtherSites),
    ),
)  # fmt: skip
