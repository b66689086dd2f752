"""Logs that come to a passive copy: exactly the next of its epoch or a later one, replayed before
it is acknowledged (TP-4).

Whoever acts under an epoch that is over gets that answer; to whoever sends another log the answer
says which one is expected. A lagged copy keeps what it received until ReplayLagTime is over and
then replays it, in order.
"""

from __future__ import annotations

from collections.abc import Mapping

from nodes.core.copies.active_copies import ActiveCopies
from nodes.core.copies.local_copy import DISK_AGAIN_MS, CopyHere
from nodes.core.engine.work import Then, Timer, Work
from nodes.core.interface.copy_changes import ReplayKeptLog, ReplayLog, SeedCopy
from nodes.core.interface.effects import DropBody, ShipLog, ShipSeed
from nodes.core.interface.inputs import LogAnnounced, MessageOffered, SeedAnnounced
from nodes.core.interface.replies import (
    R250_LOG_NEXT,
    R250_SEED_NEXT,
    R451_COPY_BUSY,
    R451_COPY_FAILED,
    R451_COPY_NOT_CHANGED,
    R503_BAD_SEQUENCE,
    R550_NO_SUCH_DATABASE,
    ActiveUnder,
    AnyReply,
    LogExpected,
    LogReplayed,
    Reply,
    Seeded,
)
from nodes.core.model.database_copy import CopyState, ReplicationLog
from nodes.core.model.message import BodyHandle
from nodes.core.sessions.inbound_session import InboundSession
from nodes.core.sessions.inbound_states import InboundMove

SEED_EXPECTED = LogExpected(0, 0)
"""No log will do: there is none of that number."""


class LogReceiving:
    """`copies`: this server's own, by database."""

    def __init__(
        self, work: Work, active_copies: ActiveCopies, copies: Mapping[str, CopyHere]
    ) -> None:
        self._work = work
        self._active_copies = active_copies
        self._copies = copies
        self._timers: dict[str, Timer] = {}

    def log_announced(self, asked: LogAnnounced, session: InboundSession) -> None:
        self._announce(ShipLog(asked.epoch, asked.log), session, R250_LOG_NEXT)

    def seed_announced(self, asked: SeedAnnounced, session: InboundSession) -> None:
        self._announce(ShipSeed(asked.epoch, asked.database), session, R250_SEED_NEXT)

    def _announce(
        self, announced: ShipLog | ShipSeed, session: InboundSession, go_on: Reply
    ) -> None:
        refusal = self._refusal(announced)
        if refusal is not None:
            session.reply(refusal)
        elif not session.may(InboundMove.ANNOUNCE_LOG):
            session.reply(R503_BAD_SEQUENCE)
        else:
            session.announced = announced
            session.reply(go_on)

    def _refusal(self, announced: ShipLog | ShipSeed) -> AnyReply | None:
        """Why it cannot be taken now, if so."""
        log = announced.log if isinstance(announced, ShipLog) else None
        database = announced.database if isinstance(announced, ShipSeed) else announced.log.database
        copy = self._copies.get(database)
        if copy is None:
            return R550_NO_SUCH_DATABASE
        if copy.failure:
            return R451_COPY_FAILED
        if not copy.is_ready:
            return R451_COPY_BUSY
        refusal = self._out_of_date(copy, announced.epoch)
        if copy.state is CopyState.SEEDING:
            return refusal or (None if log is None else SEED_EXPECTED)
        return refusal or _not_next(copy, log)

    def _out_of_date(self, copy: CopyHere, epoch: int) -> AnyReply | None:
        """Whoever is active under a later epoch is followed, and found ready the next time."""
        known = max(copy.epoch, self._active_copies.copy_of(copy.database).epoch)
        if epoch < known or (epoch == copy.epoch and copy.is_source):
            return ActiveUnder(known)
        if epoch > copy.epoch and copy.is_source:
            copy.follow(epoch)
            return R451_COPY_BUSY
        return None

    def take(
        self, session: InboundSession, announced: ShipLog | ShipSeed, offered: MessageOffered
    ) -> None:
        """What was announced has come; meanwhile it may have become another's turn."""
        refusal = self._refusal(announced)
        if refusal is not None:
            self._work.emit(DropBody(offered.body))
            session.answer_message(refusal)
        elif isinstance(announced, ShipLog):
            self._replay(session, announced, offered.body)
        else:
            self._replant(session, announced, offered.body)

    def _replay(self, session: InboundSession, announced: ShipLog, body: BodyHandle) -> None:
        copy, log = self._copies[announced.log.database], announced.log
        change = ReplayLog(announced.epoch, log, body, is_kept=copy.lag_ms > 0)

        def replayed() -> None:
            session.answer_message(LogReplayed(log.number))

        self._change(copy, change, session, body, replayed)

    def _replant(self, session: InboundSession, announced: ShipSeed, body: BodyHandle) -> None:
        copy = self._copies[announced.database]

        def seeded() -> None:
            assert copy.standing is not None
            copy.logs.clear()
            copy.log("copy-seeded-here")
            session.answer_message(Seeded(copy.standing.last_log))

        self._change(copy, SeedCopy(announced.epoch, body), session, body, seeded)

    def _change(
        self,
        copy: CopyHere,
        change: ReplayLog | SeedCopy,
        session: InboundSession,
        body: BodyHandle,
        then: Then,
    ) -> None:
        def changed() -> None:
            self._work.emit(DropBody(body))
            then()
            if session.peer is not None:
                self._active_copies.shipped_by(session.peer, copy.database, change.epoch)

        def not_changed(reason: str) -> None:
            self._work.emit(DropBody(body))
            copy.log("log-not-replayed", (("reason", reason),))
            session.answer_message(R451_COPY_NOT_CHANGED)

        copy.change(change, changed, not_changed)

    def look_at_kept(self, copy: CopyHere) -> None:
        """Replay what is due of the logs that a passive copy keeps, or see to it later."""
        timer = self._timers.pop(copy.database, None)
        if timer is not None:
            timer.cancel()
        log = _next_kept(copy)
        if log is None or not copy.is_ready:
            return
        due_ms = log.made_ms + copy.lag_ms
        if due_ms > self._work.now_ms:
            self._look_at(copy, due_ms)
        else:
            self._replay_kept(copy, log)

    def _replay_kept(self, copy: CopyHere, log: ReplicationLog) -> None:
        def replayed() -> None:
            copy.logs.pop(log.number, None)

        def not_replayed(reason: str) -> None:
            copy.log("log-not-replayed", (("reason", reason),))
            copy.fail(reason)

        copy.change(ReplayKeptLog(log.number), replayed, not_replayed)

    def _look_at(self, copy: CopyHere, due_ms: int) -> None:
        due_ms = max(due_ms, self._work.now_ms + DISK_AGAIN_MS)
        self._timers[copy.database] = self._work.at(due_ms, lambda: self.look_at_kept(copy))


def _not_next(copy: CopyHere, log: ReplicationLog | None) -> LogExpected | None:
    standing = copy.standing
    assert standing is not None
    expected = (standing.received + 1, standing.received_epoch)
    if log is None or (log.number, log.previous_epoch) == expected:
        return None
    return LogExpected(*expected)


def _next_kept(copy: CopyHere) -> ReplicationLog | None:
    if copy.standing is None or copy.standing.state is not CopyState.PASSIVE:
        return None
    return copy.logs.get(copy.standing.last_log + 1)
