"""This server's copies of mailbox databases: which are mounted, which ship logs, which take them in
(TP-4).

A database with one copy is none of this part's business. At epoch 0 the copy that the configuration
names is mounted by itself; from epoch 1 on nothing is mounted unless Active Manager says so, each
time the server has started: it may be another's turn by then.
"""

from __future__ import annotations

from collections.abc import Mapping

from nodes.core.config.config import NodeConfig
from nodes.core.copies.active_copies import ActiveCopies, CopyMoved
from nodes.core.copies.local_copy import CopyHere, CopyHereChanged
from nodes.core.copies.log_replay import LogReceiving
from nodes.core.copies.log_shipping import LogShipping
from nodes.core.copies.seeding import Seeding
from nodes.core.engine.work import Timer, Work
from nodes.core.interface.copy_changes import (
    CorruptMailboxes,
    DismountCopy,
    DropLogs,
    MountCopy,
    OpenCopy,
)
from nodes.core.interface.inputs import (
    CopyStatusAsked,
    CorruptionRequested,
    DismountAsked,
    MountAsked,
    SeedAsked,
)
from nodes.core.interface.replies import (
    R451_COPY_BUSY,
    R451_COPY_FAILED,
    R451_COPY_NOT_CHANGED,
    R451_COPY_SEEDING,
    R503_NOT_ACTIVE,
    R550_NO_SUCH_DATABASE,
    R550_REPLAYED_ALREADY,
    ActiveUnder,
    CopyStatusReply,
    CorruptionReply,
    DismountReply,
    MountReply,
    Reply,
    SeedingReply,
)
from nodes.core.model.database_copy import CopyStanding, CopyState, ReplicationLog
from nodes.core.sessions.inbound_session import InboundSession
from nodes.core.sessions.outbound import Sessions

DROP_LOGS_MS = 60_000


class DatabaseCopies:
    """All copies here of databases that have others."""

    def __init__(
        self,
        config: NodeConfig,
        work: Work,
        sessions: Sessions,
        active_copies: ActiveCopies,
        copies: Mapping[str, CopyHere],
    ) -> None:
        self._config = config
        self._work = work
        self._sessions = sessions
        self._active_copies = active_copies
        self._copies = copies
        self._shipping: dict[str, tuple[LogShipping, ...]] = {}
        self._dropping: dict[str, Timer] = {}
        self.receiving = LogReceiving(work, active_copies, copies)
        self._seeding = Seeding(config, work, sessions)
        self.created: set[str] = set()
        """Databases that were made once: a copy of theirs that is new here is to be seeded."""

    def opened(self) -> None:
        """After a start: ask the disk for every copy."""
        for copy in self._copies.values():
            self._open(copy)

    def logged(self, log: ReplicationLog | None) -> None:
        """A delivery into an active copy here has written this log."""
        if log is not None:
            self._copies[log.database].made(log)

    def all_have(self, database: str, number: int) -> bool:
        """Whether each other copy of a database that is active here has that log of its."""
        others = self._shipping.get(database, ())
        return database not in self._copies or (
            bool(others) and all(each.acked >= number for each in others)
        )

    def _open(self, copy: CopyHere) -> None:
        is_first = self._config.databases[copy.database] == self._config.me.name
        state = CopyState.ACTIVE if is_first else CopyState.PASSIVE
        if copy.database in self.created:
            state = CopyState.SEEDING
        copy.change(OpenCopy(state, self._work.now_ms), lambda: self._opened(copy), copy.fail)

    def _opened(self, copy: CopyHere) -> None:
        assert copy.standing is not None
        known = self._active_copies.copy_of(copy.database)
        copy.log("copy-opened", (("state", copy.standing.state.value),))
        if known.epoch > copy.epoch and known.server != self._config.me.name:
            copy.follow(known.epoch)
        elif known.epoch == copy.epoch == 0 and copy.standing.state is CopyState.ACTIVE:
            self._mounted(copy)

    def _mounted(self, copy: CopyHere) -> None:
        copy.is_mounted = True
        copy.log("database-mounted")
        self._work.report(CopyMoved(copy.database))

    def status_asked(self, asked: CopyStatusAsked, session: InboundSession) -> None:
        copy = self._copies.get(asked.database)
        if copy is None:
            session.reply(R550_NO_SUCH_DATABASE)
        elif copy.standing is None and not copy.failure:
            session.reply(R451_COPY_BUSY)
        else:
            session.reply(CopyStatusReply(copy.status()))

    def mount_asked(self, asked: MountAsked, session: InboundSession) -> None:
        copy = self._copies.get(asked.database)
        refusal = self._refusal(copy)
        if copy is None or refusal is not None:
            session.reply(refusal or R550_NO_SUCH_DATABASE)
        elif not self._may_mount(copy, asked.epoch):
            session.reply(ActiveUnder(self._known_epoch(copy)))
        elif _has_replayed(copy, asked):
            session.reply(R550_REPLAYED_ALREADY)
        else:
            self._mount(copy, asked, session)

    def _refusal(self, copy: CopyHere | None) -> Reply | None:
        if copy is None:
            return R550_NO_SUCH_DATABASE
        if copy.failure:
            return R451_COPY_FAILED
        if copy.state is CopyState.SEEDING:
            return R451_COPY_SEEDING
        return None if copy.is_ready else R451_COPY_BUSY

    def _known_epoch(self, copy: CopyHere) -> int:
        return max(copy.epoch, self._active_copies.copy_of(copy.database).epoch)

    def _may_mount(self, copy: CopyHere, epoch: int) -> bool:
        """A later epoch; or the one under which this copy was active already."""
        known = self._active_copies.copy_of(copy.database)
        if epoch < known.epoch or (epoch == known.epoch and known.server != self._config.me.name):
            return False
        return epoch > copy.epoch or (epoch == copy.epoch and copy.is_source)

    def _mount(self, copy: CopyHere, asked: MountAsked, session: InboundSession) -> None:
        """Mounted, and known here as the active one, before it is said."""
        was_source = copy.is_source

        def mounted() -> None:
            if not was_source:
                copy.drop_received_logs()
            copy.is_mounted = True
            copy.log("database-mounted")
            self._active_copies.mounted_here(copy.database, asked.epoch, known_here)

        def known_here(is_known: bool) -> None:
            assert copy.standing is not None
            session.reply(_mounted(copy.standing) if is_known else R451_COPY_NOT_CHANGED)

        def not_mounted(_reason: str) -> None:
            session.reply(R451_COPY_NOT_CHANGED)

        change = MountCopy(asked.epoch, self._work.now_ms, asked.before_ms)
        copy.change(change, mounted, not_mounted)

    def dismount_asked(self, asked: DismountAsked, session: InboundSession) -> None:
        copy = self._copies.get(asked.database)
        refusal = self._refusal(copy)
        if copy is None or refusal is not None:
            session.reply(refusal or R550_NO_SUCH_DATABASE)
        elif asked.epoch != copy.epoch or not copy.is_source:
            session.reply(ActiveUnder(self._known_epoch(copy)))
        elif copy.standing is not None and copy.standing.state is CopyState.DISMOUNTED:
            session.reply(_dismounted(copy.standing))
        else:
            self._dismount(copy, session)

    def _dismount(self, copy: CopyHere, session: InboundSession) -> None:
        """Nothing is taken from now on; what was taken before is in it when this is answered."""
        was_mounted, copy.is_mounted = copy.is_mounted, False

        def dismounted() -> None:
            assert copy.standing is not None
            copy.log("database-dismounted")
            session.reply(_dismounted(copy.standing))

        def not_dismounted(_reason: str) -> None:
            copy.is_mounted = was_mounted
            session.reply(R451_COPY_NOT_CHANGED)

        copy.change(DismountCopy(), dismounted, not_dismounted)

    def seed_asked(self, asked: SeedAsked, session: InboundSession) -> None:
        """By a server that has a copy and nothing in it."""
        copy = self._copies.get(asked.database)
        shipping = self._shipping.get(asked.database, ())
        wanted = [each for each in shipping if each.server == session.peer]
        if copy is None or copy.standing is None or (shipping and not wanted):
            session.reply(R550_NO_SUCH_DATABASE)
        elif not wanted:
            session.reply(R503_NOT_ACTIVE)
        else:
            session.reply(SeedingReply(copy.standing.last_log))
            wanted[0].wanted()

    def corruption_requested(self, asked: CorruptionRequested, session: InboundSession) -> None:
        copy = self._copies.get(asked.database)
        refusal = self._refusal(copy)
        if copy is None or refusal is not None:
            session.reply(refusal or R550_NO_SUCH_DATABASE)
        elif not copy.is_mounted:
            session.reply(R503_NOT_ACTIVE)
        else:
            self._corrupt(copy, session)

    def _corrupt(self, copy: CopyHere, session: InboundSession) -> None:
        def corrupted() -> None:
            assert copy.standing is not None
            copy.log("mailboxes-corrupted")
            session.reply(CorruptionReply(copy.standing.last_log, copy.standing.last_log_ms))

        def not_corrupted(_reason: str) -> None:
            session.reply(R451_COPY_NOT_CHANGED)

        copy.change(CorruptMailboxes(self._work.now_ms), corrupted, not_corrupted)

    def changed(self, event: CopyHereChanged) -> None:
        """Ship what is new, replay what is due."""
        copy = self._copies[event.database]
        shipping = self._shipping.get(copy.database, ())
        if shipping and (not copy.is_source or copy.failure or shipping[0].epoch != copy.epoch):
            for each in shipping:
                each.stop()
            shipping = self._shipping[copy.database] = ()
        if not shipping and copy.is_source and not copy.failure:
            shipping = self._shipping[copy.database] = self._shippings(copy)
        for each in shipping:
            each.pump()
        self.receiving.look_at_kept(copy)
        self._seeding.look(copy)

    def _shippings(self, copy: CopyHere) -> tuple[LogShipping, ...]:
        me, domain = self._config.me.name, self._config.accepted_domain
        return tuple(
            LogShipping(
                copy,
                other.server,
                domain,
                self._work,
                self._sessions,
                lambda: self._acked(copy),
            )
            for other in self._config.copies[copy.database]
            if other.server != me
        )

    def _acked(self, copy: CopyHere) -> None:
        """Logs that every copy has are dropped, a minute's at a time."""
        if copy.database not in self._dropping:
            due_ms = self._work.now_ms + DROP_LOGS_MS
            self._dropping[copy.database] = self._work.at(due_ms, lambda: self._drop(copy))

    def _drop(self, copy: CopyHere) -> None:
        del self._dropping[copy.database]
        shipping = self._shipping.get(copy.database, ())
        up_to = min((each.acked for each in shipping), default=0)
        if not any(number <= up_to for number in copy.logs):
            return
        copy.logs = {n: log for n, log in copy.logs.items() if n > up_to}
        change = DropLogs(up_to)
        self._work.change_copy(copy.database, change, lambda _: None, lambda _: None)


def _mounted(standing: CopyStanding) -> MountReply:
    last_log = standing.mounted_after_log
    epoch = standing.epoch_of(last_log)
    return MountReply(standing.mounted_ms, last_log, standing.mounted_after_ms, epoch)


def _dismounted(standing: CopyStanding) -> DismountReply:
    return DismountReply(standing.last_log, standing.last_log_ms)


def _has_replayed(copy: CopyHere, asked: MountAsked) -> bool:
    """More than it is to have: it cannot go back behind its own last log (SN-20). One that is
    active already under that epoch has been back.
    """
    assert copy.standing is not None
    is_new = asked.epoch > copy.epoch
    return is_new and asked.before_ms is not None and copy.standing.last_log_ms >= asked.before_ms
