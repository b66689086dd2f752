"""Which mailbox databases an Active Manager decides over: those of several copies in its own DAG
(TP-6). Another DAG has its own.
"""

from __future__ import annotations

from nodes.core.config.config import NodeConfig


def managed_databases(config: NodeConfig) -> tuple[str, ...]:
    """Names, in order. All copies of a database lie in one DAG."""
    mine = {server.name for server in config.servers if server.dag == config.me.dag}
    several = (name for name, copies in config.copies.items() if len(copies) > 1)
    return tuple(sorted(name for name in several if config.copies[name][0].server in mine))
