"""Failovers and switchovers on request: XFAILOVER, XSWITCHOVER, XACTIVATELAGGED. Answered when they
are decided.

A lagged copy is activated by the last of them alone: it lacks its whole lag (SN-5).
"""

from __future__ import annotations

from nodes.core.config.config import NodeConfig
from nodes.core.failover.copy_choice import CopyChoice
from nodes.core.failover.copy_monitor import CopyMonitor
from nodes.core.failover.failover import Failovers
from nodes.core.failover.records import ManagerRecords
from nodes.core.interface.inputs import (
    FailoverRequested,
    LaggedCopyRequested,
    MoveRequested,
    SwitchoverRequested,
)
from nodes.core.interface.replies import (
    R432_NOT_ACTIVE_HERE,
    R451_FAILOVER_UNDER_WAY,
    R451_MAILBOX_NOT_MOVED,
    R451_NO_COPY,
    R503_ACTIVE_ALREADY,
    R550_LAGGED_COPY,
    R550_NO_SUCH_COPY,
    R550_NO_SUCH_DATABASE,
    R550_NOT_LAGGED,
    Reply,
)
from nodes.core.model.failover import FailoverKind
from nodes.core.sessions.inbound_session import InboundSession


class FailoverRequests:
    def __init__(
        self,
        config: NodeConfig,
        records: ManagerRecords,
        watching: CopyMonitor,
        choice: CopyChoice,
        failing_over: Failovers,
    ) -> None:
        self._config = config
        self._records = records
        self._watching = watching
        self._choice = choice
        self._failing_over = failing_over

    def failover(self, asked: FailoverRequested, session: InboundSession) -> None:
        refusal = R550_LAGGED_COPY if self._is_lagged(asked.database, asked.server) else None
        self._decide(asked.database, asked.server, FailoverKind.FAILOVER, session, refusal)

    def activate_lagged(self, asked: LaggedCopyRequested, session: InboundSession) -> None:
        refusal = None if self._is_lagged(asked.database, asked.server) else R550_NOT_LAGGED
        self._decide(
            asked.database,
            asked.server,
            FailoverKind.FAILOVER,
            session,
            refusal,
            before_ms=asked.before_ms,
        )

    def switchover(self, asked: SwitchoverRequested, session: InboundSession) -> None:
        refusal = R550_LAGGED_COPY if self._is_lagged(asked.database, asked.server) else None
        self._decide(asked.database, asked.server, FailoverKind.SWITCHOVER, session, refusal)

    def move(self, asked: MoveRequested, session: InboundSession) -> None:
        """A mailbox does not leave a database for as long as Safety Nets may owe it mail that its
        copies lost: they give that back where the mailbox is by then (SN-8). Whether it moves
        otherwise is for the server of the active copy to say.
        """
        database = self._config.mailboxes.get(asked.address.lower(), "")
        owes = any(asking.database == database for asking in self._records.askings.values())
        owes = owes or self._failing_over.is_under_way(database)
        session.reply(R451_MAILBOX_NOT_MOVED if owes else R432_NOT_ACTIVE_HERE)

    def _is_lagged(self, database: str, server: str | None) -> bool:
        copies = self._config.copies.get(database, ())
        return any(copy.server == server and copy.replay_lag_ms for copy in copies)

    def _decide(
        self,
        database: str,
        server: str | None,
        kind: FailoverKind,
        session: InboundSession,
        of_lag: Reply | None,
        *,
        before_ms: int | None = None,
    ) -> None:
        managed = self._records.databases.get(database)
        refusal = self._refusal(database, server) or of_lag
        if managed is None or refusal is not None:
            session.reply(refusal or R550_NO_SUCH_DATABASE)
            return
        target = server or self._choice.best(database, managed.server)
        if target is None or self._watching.seen(database, target).is_silent:
            session.reply(R451_NO_COPY)
            return
        self._failing_over.decide(
            managed,
            kind,
            f"asked for by {session.peer}",
            target,
            asked_by=session,
            before_ms=before_ms,
        )

    def _refusal(self, database: str, server: str | None) -> Reply | None:
        managed = self._records.databases.get(database)
        if managed is None:
            return R550_NO_SUCH_DATABASE
        servers = [copy.server for copy in self._config.copies[database]]
        if server is not None and server not in servers:
            return R550_NO_SUCH_COPY
        if self._failing_over.is_under_way(database):
            return R451_FAILOVER_UNDER_WAY
        return R503_ACTIVE_ALREADY if server == managed.server else None
