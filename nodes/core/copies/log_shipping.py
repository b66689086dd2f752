"""Logs on their way from the active copy to one other: in order, one at a time, until it has them
all (TP-4).

What the other has is learned from its answers alone: it takes a log or says which one it expects.
A copy that has gone another way, or needs logs that are dropped, is sent everything (a seed). What
cannot be sent now is sent again; that the copy is behind, and from which log on, is said once.
"""

from __future__ import annotations

from dataclasses import dataclass

from nodes.core.copies.local_copy import CopyHere
from nodes.core.engine.waiting import Waiting
from nodes.core.engine.work import Then, Timer, Work
from nodes.core.interface.effects import LogLifecycle, ShipLog, ShipSeed
from nodes.core.interface.inputs import TransmissionAnswered
from nodes.core.interface.replies import ActiveUnder, LogExpected, LogReplayed, Seeded
from nodes.core.model.database_copy import ReplicationLog
from nodes.core.model.message import Envelope
from nodes.core.sessions.outbound import Sessions
from nodes.core.sessions.outbound_session import Lease

RETRY_MS = 10_000
REFUSED_RETRY_MS = 600_000
"""After a refusal for good, such as a seed that is too large."""
SERVICE = "replication"


@dataclass(frozen=True, slots=True)
class NextShipment(Waiting):
    """A session for what is next, or the time of the next attempt."""

    shipping: LogShipping

    def ready(self, lease: Lease) -> None:
        self.shipping.ready(lease)

    def failed(self, reason: str) -> None:
        self.shipping.failed(reason)

    def __call__(self) -> None:
        self.shipping.try_again()

    def __str__(self) -> str:
        database, server = self.shipping.database, self.shipping.server
        return f"sends {server} what comes after log {self.shipping.acked} of {database}"


@dataclass(frozen=True, slots=True)
class Shipment(Waiting):
    """The answer of the other to a log; `log` None: to everything that the copy has."""

    shipping: LogShipping
    lease: Lease
    log: ReplicationLog | None

    def answered(self, answer: TransmissionAnswered) -> None:
        self.lease.release()
        if self.log is None:
            self.shipping.seed_answered(answer)
        else:
            self.shipping.log_answered(self.log, answer)

    def lost(self, reason: str) -> None:
        self.shipping.failed(reason)

    def __str__(self) -> str:
        database, server = self.shipping.database, self.shipping.server
        return f"sends {server} the next log of {database}, or the same again"


class LogShipping:
    """From `copy`, under its present epoch, to `server`. `acked`: the last log that the other is
    known to have. `on_acked` is called when that is more.
    """

    def __init__(
        self,
        copy: CopyHere,
        server: str,
        accepted_domain: str,
        work: Work,
        sessions: Sessions,
        on_acked: Then,
    ) -> None:
        assert copy.standing is not None
        self.server = server
        self.epoch = copy.standing.epoch
        self.acked = min(copy.logs, default=copy.standing.last_log + 1) - 1
        self._copy = copy
        self._address = f"{copy.database.lower()}-logs@{accepted_domain}"
        self._work = work
        self._sessions = sessions
        self._on_acked = on_acked
        self._needs_seed = self._is_under_way = self._is_behind = self._is_over = False
        self._was_told: tuple[int, int] | None = None
        self._retry: Timer | None = None

    @property
    def database(self) -> str:
        return self._copy.database

    def pump(self) -> None:
        """Send what is next, unless something is on its way or must wait."""
        assert self._copy.standing is not None
        has_more = self._needs_seed or self.acked < self._copy.standing.last_log
        if has_more and not (self._is_over or self._is_under_way or self._retry):
            self._is_under_way = True
            shipment = NextShipment(self)
            self._sessions.request(self.server, SERVICE, shipment.ready, shipment.failed, SERVICE)

    def wanted(self) -> None:
        """The other has nothing, and says so."""
        if not self._is_under_way:
            self._needs_seed = True
            self.pump()

    def stop(self) -> None:
        """The copy here ships nothing any more under this epoch."""
        self._is_over = True
        if self._retry is not None:
            self._retry.cancel()

    def ready(self, lease: Lease) -> None:
        log = self._copy.logs.get(self.acked + 1)
        if self._is_over:
            lease.release()
        elif self._needs_seed or log is None:
            self._seed(lease)
        else:
            self._ship(lease, log)

    def _ship(self, lease: Lease, log: ReplicationLog) -> None:
        shipment = Shipment(self, lease, log)
        body = f"log:{log.database}:{log.number}"
        prologue, envelope = ShipLog(self.epoch, log), Envelope("", (self._address,))
        lease.transmit(prologue, envelope, body, shipment.answered, shipment.lost)

    def log_answered(self, log: ReplicationLog, answer: TransmissionAnswered) -> None:
        if answer.log_reply == LogReplayed(log.number):
            self._has(log.number)
        else:
            self._refused(answer)

    def _seed(self, lease: Lease) -> None:
        self._needs_seed = True
        database = self._copy.database
        prologue, envelope = ShipSeed(self.epoch, database), Envelope("", (self._address,))
        shipment = Shipment(self, lease, None)
        lease.transmit(prologue, envelope, f"seed:{database}", shipment.answered, shipment.lost)

    def seed_answered(self, answer: TransmissionAnswered) -> None:
        seeded = answer.log_reply
        if isinstance(seeded, Seeded):
            self._needs_seed = False
            self._log("copy-seeded", seeded.last_log, "")
            self._has(seeded.last_log)
        else:
            self._refused(answer)

    def _has(self, number: int) -> None:
        self._is_under_way = False
        self.acked, self._was_told = number, None
        if self._is_over:
            return
        assert self._copy.standing is not None
        if self._is_behind and number == self._copy.standing.last_log:
            self._is_behind = False
            self._log("copy-caught-up", number, "")
        self._on_acked()
        self.pump()

    def _refused(self, answer: TransmissionAnswered) -> None:
        said, reason = answer.log_reply, f"{answer.code} {answer.text}"
        if self._is_over:
            self._is_under_way = False
        elif isinstance(said, ActiveUnder):
            self._is_under_way = False
            self._copy.superseded(said.epoch)
        elif isinstance(said, LogExpected):
            self._expects(said.number - 1, said.after_epoch, reason)
        else:
            self._fail(reason, REFUSED_RETRY_MS if answer.code >= 500 else RETRY_MS)

    def _expects(self, has: int, epoch: int, reason: str) -> None:
        """The other has that log as its last, made under that epoch."""
        standing = self._copy.standing
        assert standing is not None
        if self._was_told == (has, epoch):
            self._fail(reason, RETRY_MS)
            return
        self._was_told = (has, epoch)
        self._is_under_way = False
        if standing.has(has, epoch):
            self.acked = has
            self._needs_seed = has < standing.last_log and has + 1 not in self._copy.logs
        elif epoch == self.epoch:
            self._copy.fail(f"{self.server} has log {has}, which is lost here")
            return
        else:
            self._needs_seed = True
        self.pump()

    def failed(self, reason: str) -> None:
        self._fail(reason, RETRY_MS)

    def _fail(self, reason: str, wait_ms: int) -> None:
        self._is_under_way, self._was_told = False, None
        if self._is_over:
            return
        if not self._is_behind:
            self._is_behind = True
            self._log("copy-behind", self.acked, reason)
        self._retry = self._work.again(wait_ms, NextShipment(self))

    def try_again(self) -> None:
        self._retry = None
        self.pump()

    def _log(self, event: str, has: int, reason: str) -> None:
        standing = self._copy.standing
        assert standing is not None
        fields = (
            ("database", self._copy.database),
            ("server", self.server),
            ("has_log", has),
            ("last_log", standing.last_log),
            ("reason", reason),
        )
        self._work.emit(LogLifecycle(event, fields))
