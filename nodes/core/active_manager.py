"""Active Manager: the core of the service that decides which copy of a mailbox database is active
(TP-6). The same one door as a transport node's (`nodes.core.node`).

    manager = ActiveManager(config)
    effects = manager.handle(ManagerOpened(…), now_ms)
    wake_at = manager.next_deadline_ms()

It watches the copies, fails over by itself or on request, informs every mailbox server, and asks
their Safety Nets for what the new copy may lack. It cannot distinguish a dead server from its own
cut link, and need not: epochs see to it that one copy takes mail.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nodes.core.config.config import NodeConfig
from nodes.core.engine.one_door import OneDoor
from nodes.core.engine.waiting import Waits
from nodes.core.engine.work import Work
from nodes.core.failover.announcements import Announcements
from nodes.core.failover.copy_choice import CopyChoice
from nodes.core.failover.copy_monitor import CopyMonitor
from nodes.core.failover.events import (
    AskingClosed,
    CopySeen,
    FailoverEvent,
    FailoverGivenUp,
    FailoverMounted,
    ServerTold,
)
from nodes.core.failover.failover import Failovers
from nodes.core.failover.management_calls import ManagementCalls
from nodes.core.failover.records import ManagerRecords
from nodes.core.failover.requests import FailoverRequests
from nodes.core.failover.safety_net_requests import SafetyNetRequests
from nodes.core.failover.supervision import Supervision
from nodes.core.interface import inputs
from nodes.core.interface.effects import DropBody, LogLifecycle
from nodes.core.interface.replies import R502_NOT_IMPLEMENTED
from nodes.core.sessions.inbound import InboundSessions
from nodes.core.sessions.outbound import PeerReached, Sessions


class ActiveManager(OneDoor):
    """A server of role `active_manager`. Give it `ManagerOpened` before anything from a session."""

    def __init__(self, config: NodeConfig) -> None:
        self._work = Work(self._report)
        self._inbound = InboundSessions(config, self._work)
        self._outbound = Sessions(config, self._work)
        self._records = ManagerRecords(config, self._work)
        calls = ManagementCalls(self._work, self._outbound)
        self._copy_monitor = CopyMonitor(config, self._work, calls)
        self._failover = Failovers(config, self._work, calls, self._records)
        self._announcements = Announcements(self._work, calls, self._records)
        self._safety_net_requests = SafetyNetRequests(config, self._work, calls, self._records)
        choice = CopyChoice(config, self._copy_monitor)
        self._supervision = Supervision(
            config,
            self._work,
            calls,
            self._records,
            self._copy_monitor,
            choice,
            self._failover,
        )
        self._requests = FailoverRequests(
            config, self._records, self._copy_monitor, choice, self._failover
        )
        self._hearers = self._routing_table()
        self._handlers = self._dispatch_table()

    def _parts_waiting(self) -> tuple[Waits, ...]:
        return (self._outbound, self._records)

    def _hear(self, happened: inputs.Input) -> None:
        self._handlers.get(type(happened), self._not_mine)(happened)

    def _report(self, event: object) -> None:
        for hear in self._hearers[type(event)]:
            hear(event)

    def _routing_table(self) -> dict[type, tuple[Callable[[Any], None], ...]]:
        """Who hears of what another part reports, in this order."""
        supervision, failover = self._supervision, self._failover
        return {
            PeerReached: (),
            CopySeen: (lambda e: supervision.look(e.database),),
            FailoverMounted: (lambda e: supervision.look_anew(e.database), self._go_on),
            FailoverGivenUp: (lambda e: supervision.given_up(e.database),),
            ServerTold: (self._go_on,),
            AskingClosed: (lambda e: failover.look_for_end(e.database),),
        }

    def _go_on(self, event: FailoverEvent) -> None:
        self._announcements.begin()
        self._safety_net_requests.begin()
        self._failover.look_for_end(event.database)

    def _dispatch_table(self) -> dict[type, Callable[[Any], None]]:
        work, outbound, inbound = self._work, self._outbound, self._inbound
        return {
            inputs.ManagerOpened: self._opened,
            inputs.DatabaseSetAside: self._database_set_aside,
            inputs.Committed: lambda h: work.committed(h.commit),
            inputs.CommitFailed: lambda h: work.commit_failed(h.commit, h.reason),
            inputs.SessionAccepted: inbound.accepted,
            inputs.PeerAuthenticated: inbound.authenticated,
            inputs.CommandNotUnderstood: lambda h: inbound.not_understood(h.session),
            inputs.TransactionReset: lambda h: inbound.reset(h.session),
            inputs.FailoverRequested: self._failover_requested,
            inputs.SwitchoverRequested: self._switchover_requested,
            inputs.LaggedCopyRequested: self._lagged_copy_requested,
            inputs.MoveRequested: self._move_requested,
            inputs.SessionActive: lambda h: inbound.active(h.session),
            inputs.ConnectionLost: lambda h: inbound.lost(h.session),
            inputs.MessageOffered: self._message_offered,
            inputs.SessionOpened: outbound.opened,
            inputs.SessionFailed: lambda h: outbound.failed(h.session, h.reason),
            inputs.ResubmitAnswered: outbound.answered,
            inputs.ResubmitRefused: outbound.answered,
            inputs.CopyStatusAnswered: outbound.answered,
            inputs.MountAnswered: outbound.answered,
            inputs.DismountAnswered: outbound.answered,
            inputs.ActiveCopyAnswered: outbound.answered,
            inputs.CopyCommandRefused: outbound.answered,
            inputs.SessionLost: lambda h: outbound.failed(h.session, h.reason),
            inputs.DeadlineReached: lambda h: work.run_due(),
            inputs.StopRequested: self._stop_requested,
        }

    def _opened(self, happened: inputs.ManagerOpened) -> None:
        event = "database-created" if happened.created else "database-opened"
        self._work.emit(LogLifecycle(event, (("database_id", happened.database_id),)))
        self._records.opened(happened)
        self._failover.begin()
        self._announcements.begin()
        self._safety_net_requests.begin()
        self._copy_monitor.begin()

    def _database_set_aside(self, happened: inputs.DatabaseSetAside) -> None:
        fields = (
            ("path", happened.path),
            ("renamed_to", happened.renamed_to),
            ("reason", happened.reason),
        )
        self._work.emit(LogLifecycle("database-set-aside", fields))

    def _failover_requested(self, happened: inputs.FailoverRequested) -> None:
        session = self._inbound.of_a_server(happened.session)
        if session is not None:
            self._requests.failover(happened, session)

    def _switchover_requested(self, happened: inputs.SwitchoverRequested) -> None:
        session = self._inbound.of_a_server(happened.session)
        if session is not None:
            self._requests.switchover(happened, session)

    def _lagged_copy_requested(self, happened: inputs.LaggedCopyRequested) -> None:
        session = self._inbound.of_a_server(happened.session)
        if session is not None:
            self._requests.activate_lagged(happened, session)

    def _move_requested(self, happened: inputs.MoveRequested) -> None:
        session = self._inbound.of_a_server(happened.session)
        if session is not None:
            self._requests.move(happened, session)

    def _message_offered(self, happened: inputs.MessageOffered) -> None:
        """It takes no mail."""
        self._work.emit(DropBody(happened.body))
        self._not_mine(happened)

    def _not_mine(self, happened: inputs.Input) -> None:
        """A verb of transport nodes: every one of them awaits an answer."""
        session = self._inbound.named(getattr(happened, "session", ""))
        if session is not None:
            session.reply(R502_NOT_IMPLEMENTED)

    def _stop_requested(self, _happened: inputs.StopRequested) -> None:
        self._inbound.stop()
        self._outbound.hang_up_idle()
