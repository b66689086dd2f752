"""Which copy is to be active next: the one with the most logs, then the one that is preferred most
(TP-6, F§4.2).

A lagged copy is never chosen: it is for going back (F§4.2), and is activated by its name alone.
By itself Active Manager passes over copies that DatabaseCopyAutoActivationPolicy forbids and those
that would lose more logs than AutoDatabaseMountDial allows; on request it does what is best.
"""

from __future__ import annotations

from nodes.core.config.config import NodeConfig
from nodes.core.config.databases import DatabaseCopy
from nodes.core.failover.copy_monitor import CopyMonitor
from nodes.core.model.database_copy import CopyState, CopyStatus

OF_NO_USE = frozenset({CopyState.FAILED, CopyState.SEEDING})
DIALS = {"Lossless": 0, "GoodAvailability": 6, "BestAvailability": 12}
"""Logs that a copy may lack."""


class CopyChoice:
    def __init__(self, config: NodeConfig, watching: CopyMonitor) -> None:
        self._config = config
        self._watching = watching

    def best(self, database: str, active: str, *, last_log: int | None = None) -> str | None:
        """Server of the copy to mount instead of that on `active`. `last_log`: the last log of that
        one, by itself; None on request. None: no copy will do.
        """
        found = [
            (status.last_log, -copy.preference, copy.server)
            for copy in self._config.copies[database]
            if copy.server != active
            and not copy.replay_lag_ms
            and (status := self._usable(database, copy)) is not None
            and (last_log is None or self._is_allowed(copy, active, status, last_log))
        ]
        return max(found)[2] if found else None

    def _usable(self, database: str, copy: DatabaseCopy) -> CopyStatus | None:
        """A copy that did not answer the last time may be as far away as the one to be left."""
        seen = self._watching.seen(database, copy.server)
        if seen.status is None or seen.misses or seen.status.state in OF_NO_USE:
            return None
        return seen.status

    def _is_allowed(
        self, copy: DatabaseCopy, active: str, status: CopyStatus, last_log: int
    ) -> bool:
        server, other = self._config.server_named(copy.server), self._config.server_named(active)
        assert server is not None
        if server.auto_activation == "Blocked":
            return False
        is_elsewhere = other is not None and other.site != server.site
        if server.auto_activation == "IntrasiteOnly" and is_elsewhere:
            return False
        return last_log - status.last_log <= DIALS[server.mount_dial]
