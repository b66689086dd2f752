"""The one door of a node (design decision 1): something happened, at this lab time; these are the
effects, in order.

    node = Node(config)
    effects = node.handle(DatabaseOpened(…), now_ms)
    wake_at = node.next_deadline_ms()

No clock, socket, disk, thread, chance or environment below this line. The list of (time, input) is
the replay.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from nodes.core.back_pressure import BackPressure, QueuesChanged
from nodes.core.categorizer.categorizer import Categorizer
from nodes.core.categorizer.groups import DistributionGroups
from nodes.core.categorizer.mailboxes import Mailboxes
from nodes.core.config.config import NodeConfig
from nodes.core.copies.active_copies import ActiveCopies, CopyMoved
from nodes.core.copies.cleanup import BackgroundCleanup
from nodes.core.copies.copies import DatabaseCopies
from nodes.core.copies.local_copy import CopyHereChanged, copies_here
from nodes.core.delivery.delivery import Delivery
from nodes.core.delivery.discard_notifications import Discards, DiscardsAsked
from nodes.core.delivery.safety_net import SafetyNet, ShadowExpired
from nodes.core.delivery.tracked import HasShadow
from nodes.core.engine.one_door import OneDoor
from nodes.core.engine.waiting import Waits
from nodes.core.engine.work import Work
from nodes.core.interface import inputs
from nodes.core.interface.effects import Effect, LogLifecycle
from nodes.core.interface.replies import R502_NOT_IMPLEMENTED
from nodes.core.model.identity import Identity
from nodes.core.moves.mailbox_moves import MailboxMoves
from nodes.core.moves.redirection import Redirection
from nodes.core.queue_viewer import QueueViewer
from nodes.core.receiving.component_state import ComponentState
from nodes.core.receiving.intake import Intake
from nodes.core.receiving.receiving import Receiving
from nodes.core.resubmission.requests import Resubmission
from nodes.core.sessions.inbound import InboundSessions
from nodes.core.sessions.inbound_session import InboundSession
from nodes.core.sessions.outbound import PeerReached, Sessions
from nodes.core.shadow.primary_side import Redundancy
from nodes.core.shadow.redundancy import ShadowPromoted, ShadowRedundancy
from nodes.core.shadow.shadow_servers import ShadowServers
from nodes.core.shadow.vanished_shadows import VanishedShadows
from nodes.core.submission.submission import Submission

Handlers: TypeAlias = Mapping[type, Callable[[Any], None]]


class Mail:
    """What keeps the mail of a server and sends it on, each part made with those that it asks."""

    def __init__(self, config: NodeConfig, work: Work) -> None:
        self.mailboxes = Mailboxes(config.mailboxes)
        config = replace(config, mailboxes=self.mailboxes)
        self.config = config
        self.identity = Identity()
        self.pressure = BackPressure(config, work)
        self.component = ComponentState(config, work)
        self.sessions = Sessions(config, work)
        self.safety_net = SafetyNet(config, work)
        self.discards = Discards(config, work, self.identity)
        here = copies_here(config, work)
        self.active_copies = ActiveCopies(config, work, here)
        self.copies = DatabaseCopies(config, work, self.sessions, self.active_copies, here)
        self.cleanup = BackgroundCleanup(config, work)
        self.groups = DistributionGroups(config)
        self.categorizer = Categorizer(config, work, self.groups)
        self.delivery = Delivery(
            config,
            work,
            self.sessions,
            self.identity,
            self.safety_net,
            self.discards,
            self.active_copies,
            self.categorizer,
            self.mailboxes,
        )
        self.redundancy = Redundancy(config, work, self.identity, self.sessions, self.delivery)
        self.intake = Intake(
            config,
            work,
            self.identity,
            self.delivery,
            self.redundancy,
            self.categorizer,
            self.pressure,
            self.component,
        )
        self.vanished = VanishedShadows(work, self.delivery)
        self.shadow_servers = ShadowServers(config, work, self.delivery, self.vanished)
        self.shadow = ShadowRedundancy(
            config, work, self.sessions, self.identity, self.safety_net, self.categorizer
        )


class Callers:
    """Who answers what clients, servers and administrators say to a server, and its own users."""

    def __init__(self, work: Work, mail: Mail) -> None:
        config = mail.config
        self.inbound = InboundSessions(config, work)
        self.submission = Submission(
            config,
            work,
            self.inbound,
            mail.identity,
            mail.active_copies,
            mail.copies.logged,
            mail.intake.submitted,
        )
        self.moves = MailboxMoves(
            config, work, mail.sessions, mail.active_copies, mail.copies, mail.mailboxes
        )
        self.receiving = Receiving(
            config,
            work,
            self.inbound,
            mail.identity,
            mail.discards,
            mail.active_copies,
            mail.shadow,
            mail.copies.receiving,
            mail.categorizer,
            mail.pressure,
            self.submission,
            mail.mailboxes,
            self.moves,
            mail.intake,
            mail.component,
        )
        self.resubmission = Resubmission(
            config,
            work,
            mail.identity,
            mail.sessions,
            mail.delivery,
            mail.redundancy.send_anew,
            self.inbound.of_a_server,
            mail.categorizer,
            mail.pressure,
        )
        self.redirection = Redirection(config, work, mail.delivery)
        self.viewer = QueueViewer(
            work,
            self.inbound,
            mail.delivery,
            mail.redundancy,
            mail.shadow_servers,
            mail.shadow,
            mail.discards,
            mail.pressure,
        )


class Node(OneDoor):
    """A transport node of role `mailbox`. Give it `DatabaseOpened` before anything from a
    session.
    """

    def __init__(self, config: NodeConfig) -> None:
        self._work = Work(self._report)
        self._mail = Mail(config, self._work)
        self._callers = Callers(self._work, self._mail)
        self._hearers = self._routing_table()
        self._handlers = self._dispatch_table()

    def handle(self, happened: inputs.Input, now_ms: int) -> tuple[Effect, ...]:
        effects = super().handle(happened, now_ms)
        self._callers.viewer.count(effects)
        return effects

    def _parts_waiting(self) -> tuple[Waits, ...]:
        return (self._mail.sessions,)

    def _hear(self, happened: inputs.Input) -> None:
        self._handlers[type(happened)](happened)

    def _report(self, event: object) -> None:
        for hear in self._hearers[type(event)]:
            hear(event)

    def _routing_table(self) -> dict[type, tuple[Callable[[Any], None], ...]]:
        """Who hears of what another part reports, in this order."""
        mail, callers = self._mail, self._callers
        return {
            PeerReached: (mail.vanished.reached, mail.shadow.reached),
            QueuesChanged: (mail.pressure.queued,),
            HasShadow: (mail.shadow_servers.holds,),
            DiscardsAsked: (mail.shadow_servers.asked,),
            CopyMoved: (mail.delivery.queues.moved, callers.submission.moved),
            CopyHereChanged: (mail.copies.changed,),
            ShadowPromoted: (mail.redundancy.promoted,),
            ShadowExpired: (mail.shadow.expired,),
        }

    def _dispatch_table(self) -> Handlers:
        return {**self._of_its_machine(), **self._of_callers(), **self._of_called()}

    def _of_its_machine(self) -> Handlers:
        """What disk, clock and operator say."""
        work, mail = self._work, self._mail
        return {
            inputs.DatabaseOpened: self._database_opened,
            inputs.DatabaseSetAside: self._database_set_aside,
            inputs.DirectoryRead: self._directory_read,
            inputs.DiskMeasured: mail.pressure.measured,
            inputs.CopiesCounted: self._callers.viewer.counted,
            inputs.Committed: self._committed,
            inputs.CommitFailed: lambda h: work.commit_failed(h.commit, h.reason),
            inputs.MailboxesDelivered: self._mailboxes_delivered,
            inputs.MailboxDeliveryFailed: lambda h: work.delivery_failed(h.delivery, h.reason),
            inputs.SafetyNetExpired: mail.safety_net.expired,
            inputs.SafetyNetRead: work.safety_net_read,
            inputs.SafetyNetNotRead: lambda h: work.safety_net_not_read(h.read, h.reason),
            inputs.ConvertedMeasured: lambda h: work.converted_measured(h.measuring, h.sizes_bytes),
            inputs.ConvertedNotMeasured: lambda h: work.converted_not_measured(
                h.measuring, h.reason
            ),
            inputs.CopyChanged: work.copy_changed,
            inputs.DeliveredToCleanedUp: mail.cleanup.cleaned_up,
            inputs.CopyNotChanged: lambda h: work.copy_not_changed(h.change, h.reason),
            inputs.DeadlineReached: lambda h: work.run_due(),
            inputs.StopRequested: self._stop_requested,
        }

    def _of_callers(self) -> Handlers:
        """What is said in sessions that others opened."""
        mail, callers = self._mail, self._callers
        inbound, receiving = callers.inbound, callers.receiving
        return {
            inputs.SessionAccepted: inbound.accepted,
            inputs.PeerAuthenticated: inbound.authenticated,
            inputs.ShadowRequested: receiving.shadow_requested,
            inputs.DeliveryRequested: receiving.delivery_requested,
            inputs.ForkAnnounced: receiving.fork_announced,
            inputs.OutboxRequested: callers.submission.requested,
            inputs.RecipientOffered: receiving.recipient_offered,
            inputs.CommandNotUnderstood: lambda h: inbound.not_understood(h.session),
            inputs.TransactionReset: lambda h: inbound.reset(h.session),
            inputs.MessageOffered: receiving.message_offered,
            inputs.DiscardAsked: receiving.discard_asked,
            inputs.ResubmitRequested: callers.resubmission.requested,
            inputs.ResubmitListAsked: callers.resubmission.list_asked,
            inputs.ResubmitChangeAsked: callers.resubmission.change_asked,
            inputs.RedirectRequested: self._of_a_server(callers.redirection.requested),
            inputs.MoveRequested: self._of_a_server(callers.moves.requested),
            inputs.MailboxAnnounced: self._of_a_server(callers.moves.announced),
            inputs.QueuesAsked: self._of_a_server(callers.viewer.asked),
            inputs.ActiveCopyNamed: lambda h: mail.active_copies.named(
                h, inbound.of_a_server(h.session)
            ),
            inputs.LogAnnounced: self._of_a_server(mail.copies.receiving.log_announced),
            inputs.SeedAnnounced: self._of_a_server(mail.copies.receiving.seed_announced),
            inputs.CopyStatusAsked: self._of_a_server(mail.copies.status_asked),
            inputs.MountAsked: self._of_a_server(mail.copies.mount_asked),
            inputs.DismountAsked: self._of_a_server(mail.copies.dismount_asked),
            inputs.CorruptionRequested: self._of_a_server(mail.copies.corruption_requested),
            inputs.SeedAsked: self._of_a_server(mail.copies.seed_asked),
            inputs.FailoverRequested: self._of_a_server(_not_here),
            inputs.SwitchoverRequested: self._of_a_server(_not_here),
            inputs.LaggedCopyRequested: self._of_a_server(_not_here),
            inputs.SessionActive: lambda h: inbound.active(h.session),
            inputs.ConnectionLost: lambda h: inbound.lost(h.session),
        }

    def _of_called(self) -> Handlers:
        """What becomes of sessions that this server opened."""
        sessions = self._mail.sessions
        return {
            inputs.SessionOpened: sessions.opened,
            inputs.SessionFailed: lambda h: sessions.failed(h.session, h.reason),
            inputs.TransmissionActive: lambda h: sessions.active(h.session),
            inputs.TransmissionAnswered: sessions.answered,
            inputs.DiscardAnswered: sessions.answered,
            inputs.DiscardRefused: lambda h: sessions.discards_refused(h.session, h.code, h.text),
            inputs.ResubmitAnswered: sessions.answered,
            inputs.ResubmitRefused: sessions.answered,
            inputs.CopyStatusAnswered: sessions.answered,
            inputs.MountAnswered: sessions.answered,
            inputs.DismountAnswered: sessions.answered,
            inputs.SeedPromised: sessions.answered,
            inputs.ActiveCopyAnswered: sessions.answered,
            inputs.CopyCommandRefused: sessions.answered,
            inputs.SessionLost: lambda h: sessions.failed(h.session, h.reason),
        }

    def _directory_read(self, happened: inputs.DirectoryRead) -> None:
        self._mail.groups.read(happened)
        self._mail.mailboxes.read(happened)
        self._mail.component.read(happened)
        self._callers.inbound.read(happened)
        self._mail.copies.created.update(happened.databases)
        self._mail.delivery.directory_read()

    def _database_opened(self, happened: inputs.DatabaseOpened) -> None:
        mail, callers = self._mail, self._callers
        mail.identity.opened(happened.database_id, happened.starts, happened.last_discard_sequence)
        event = "database-created" if happened.created else "database-opened"
        self._work.emit(LogLifecycle(event, (("database_id", happened.database_id),)))
        mail.safety_net.opened(happened.next_safety_net_expiry_ms)
        mail.discards.opened(happened.discards, happened.discards_asked)
        mail.active_copies.opened(happened.active_copies)
        mail.shadow.opened(happened)
        mail.copies.opened()
        mail.cleanup.opened()
        mail.redundancy.opened(happened.messages)
        callers.resubmission.opened(happened)
        mail.pressure.opened()
        callers.receiving.opened()
        callers.submission.opened()

    def _of_a_server(self, act: Callable[[Any, InboundSession], None]) -> Callable[[Any], None]:
        """For servers of the organisation alone (TL-6)."""

        def handle(happened: Any) -> None:
            session = self._callers.inbound.of_a_server(happened.session)
            if session is not None:
                act(happened, session)

        return handle

    def _mailboxes_delivered(self, happened: inputs.MailboxesDelivered) -> None:
        self._mail.copies.logged(happened.log)
        self._work.delivered(happened.delivery, happened.delivered, happened.duplicates)

    def _committed(self, happened: inputs.Committed) -> None:
        self._work.committed(happened.commit)
        self._mail.pressure.written()

    def _database_set_aside(self, happened: inputs.DatabaseSetAside) -> None:
        fields = (
            ("path", happened.path),
            ("renamed_to", happened.renamed_to),
            ("reason", happened.reason),
        )
        self._work.emit(LogLifecycle("database-set-aside", fields))

    def _stop_requested(self, _happened: inputs.StopRequested) -> None:
        self._callers.inbound.stop()
        self._mail.sessions.hang_up_idle()


def _not_here(_happened: Any, session: InboundSession) -> None:
    """Active Manager is another server."""
    session.reply(R502_NOT_IMPLEMENTED)
