"""Defects of discard notifications: how a primary server gives and keeps them (SM-1, SM-3 to SM-5,
SM-10, SM-16, SM-19, SN-2).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import replace

from defects.defect import Defect
from defects.door import Door, behind
from nodes.core.config.config import NodeConfig
from nodes.core.interface.effects import Commit, Effect, SendReply
from nodes.core.interface.inputs import Committed, DatabaseOpened, DiscardAsked, Input
from nodes.core.interface.queue_changes import FinishFork, InsertDiscard, InsertMessage
from nodes.core.interface.replies import DiscardReply
from nodes.core.model.message import DiscardNotification, PrimaryMessage
from nodes.core.model.next_hop import NextHop

Row = tuple[int, int, int, int]
"""Sequence, the primary's internal id, delivered and first delivered in epoch ms."""
CALM, SURVIVE, LOST = "calm", "discard-notifications-survive", "discard-answer-lost"
MINUTE_MS = 60_000
HOUR_MS = 60 * MINUTE_MS


class AnswersAboutDiscards(Door, ABC):
    """The primary's side: `given` says what a server is given instead of `rows`."""

    def __init__(self, config: NodeConfig) -> None:
        super().__init__(config)
        self._asking: dict[str, str] = {}

    @abstractmethod
    def given(self, server: str, rows: tuple[Row, ...]) -> tuple[Row, ...]: ...

    def enters(self, happened: Input) -> Iterable[Input]:
        if isinstance(happened, DiscardAsked):
            self._asking[happened.session] = happened.asking_server
        return (happened,)

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        if not isinstance(effect, SendReply):
            return (effect,)
        server = self._asking.pop(effect.session, None)
        reply = effect.reply
        if server is None or not isinstance(reply, DiscardReply):
            return (effect,)
        given = self.given(server, reply.notifications)
        return (SendReply(effect.session, replace(reply, notifications=given)),)


class NotifiesNobody(AnswersAboutDiscards):
    def given(self, server: str, rows: tuple[Row, ...]) -> tuple[Row, ...]:
        return ()


class NotifiesNobodyAfterARestart(AnswersAboutDiscards):
    def given(self, server: str, rows: tuple[Row, ...]) -> tuple[Row, ...]:
        return () if self.starts > 1 else rows


class PassesOverOneInFifty(AnswersAboutDiscards):
    def given(self, server: str, rows: tuple[Row, ...]) -> tuple[Row, ...]:
        return tuple(row for row in rows if row[0] % 50 != 7)


class NotifiesLate(AnswersAboutDiscards):
    """Ten minutes after the delivery."""

    def given(self, server: str, rows: tuple[Row, ...]) -> tuple[Row, ...]:
        return tuple(row for row in rows if row[2] <= self.now_ms - 10 * MINUTE_MS)


class NotifiesOnce(AnswersAboutDiscards):
    """What was given once is not given again, whether it was heard or not."""

    def __init__(self, config: NodeConfig) -> None:
        super().__init__(config)
        self._given: dict[str, int] = {}

    def given(self, server: str, rows: tuple[Row, ...]) -> tuple[Row, ...]:
        new = tuple(row for row in rows if row[0] > self._given.get(server, 0))
        if new:
            self._given[server] = new[-1][0]
        return new


class KnowsAllNotifications(AnswersAboutDiscards):
    """Remembers what was to be given to whom."""

    def __init__(self, config: NodeConfig) -> None:
        super().__init__(config)
        self._all: list[DiscardNotification] = []

    def rows_of(self, servers: Iterable[str]) -> tuple[Row, ...]:
        wanted = set(servers)
        return tuple(
            (n.sequence, n.internal_id, n.delivered_ms, n.first_delivered_ms or n.delivered_ms)
            for n in self._all
            if n.shadow_server in wanted
        )

    def others(self, server: str) -> set[str]:
        return {n.shadow_server for n in self._all} - {server}

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        if isinstance(effect, Commit):
            discards = (c for c in effect.changes if isinstance(c, InsertDiscard))
            self._all += [change.notification for change in discards]
        return super().leaves(effect)


class NotifiesEverybodyOfEverything(KnowsAllNotifications):
    def given(self, server: str, rows: tuple[Row, ...]) -> tuple[Row, ...]:
        return tuple(sorted((*rows, *self.rows_of(self.others(server)))[-200:]))


class NotifiesTheOthers(KnowsAllNotifications):
    """Each is given what is meant for the others."""

    def given(self, server: str, rows: tuple[Row, ...]) -> tuple[Row, ...]:
        return self.rows_of(self.others(server))[-200:]


class NotifiesAsDeliveredLongBefore(AnswersAboutDiscards):
    """Three hours; a Shadow Safety Net keeps a copy from then on."""

    def given(self, server: str, rows: tuple[Row, ...]) -> tuple[Row, ...]:
        return tuple(
            (sequence, number, delivered_ms - 3 * HOUR_MS, first_ms - 3 * HOUR_MS)
            for sequence, number, delivered_ms, first_ms in rows
        )


class NotifiesTooSoon(AnswersAboutDiscards):
    """Messages whose shadow `is_let_go` says may go, though they are not done."""

    def __init__(self, config: NodeConfig) -> None:
        super().__init__(config)
        self._commits: dict[int, Commit] = {}
        self._messages: dict[int, PrimaryMessage] = {}
        self._done: dict[int, set[NextHop]] = {}

    @abstractmethod
    def is_let_go(self, message: PrimaryMessage, done: set[NextHop]) -> bool: ...

    def given(self, server: str, rows: tuple[Row, ...]) -> tuple[Row, ...]:
        extra = tuple(
            (0, number, self.now_ms, self.now_ms)
            for number, message in self._messages.items()
            if message.shadow_server == server
            and self.is_let_go(message, self._done.get(number, set()))
        )
        return (*extra[-100:], *rows)

    def enters(self, happened: Input) -> Iterable[Input]:
        commit = (
            self._commits.pop(happened.commit, None) if isinstance(happened, Committed) else None
        )
        for change in commit.changes if commit is not None else ():
            if isinstance(change, InsertMessage):
                self._messages[change.message.internal_id] = change.message
            elif isinstance(change, FinishFork):
                self._done.setdefault(change.internal_id, set()).add(change.next_hop)
        return super().enters(happened)

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        if isinstance(effect, Commit):
            self._commits[effect.commit] = effect
        return super().leaves(effect)


class NotifiesBeforeDelivery(NotifiesTooSoon):
    def is_let_go(self, message: PrimaryMessage, done: set[NextHop]) -> bool:
        return True


class NotifiesAfterTheFirstFork(NotifiesTooSoon):
    def is_let_go(self, message: PrimaryMessage, done: set[NextHop]) -> bool:
        return bool(done)


class WaitsForNoDsn(NotifiesTooSoon):
    def is_let_go(self, message: PrimaryMessage, done: set[NextHop]) -> bool:
        return done >= {fork.next_hop for fork in message.forks}


class ForgetsNotifications(Door):
    """At a restart."""

    def enters(self, happened: Input) -> Iterable[Input]:
        if isinstance(happened, DatabaseOpened):
            return (replace(happened, discards=()),)
        return (happened,)


DISCARD = ("discard_after_delivery",)
DEFECTS = (
    Defect(
        "notifies-nobody",
        "The primary answers every query, and never names a message.",
        "SM-4", CALM, DISCARD, lambda: behind(NotifiesNobody),
    ),
    Defect(
        "passes-over-one-notification-in-fifty",
        "One discard notification in fifty is never given.",
        "SM-4", CALM, DISCARD, lambda: behind(PassesOverOneInFifty),
    ),
    Defect(
        "notifies-ten-minutes-late",
        "A discard notification is given ten minutes after the delivery.",
        "SM-19", CALM, DISCARD, lambda: behind(NotifiesLate),
    ),
    Defect(
        "notifies-nobody-after-a-restart",
        "After its first restart the primary names no message any more.",
        "SM-5", "primary-returns-in-time", DISCARD, lambda: behind(NotifiesNobodyAfterARestart),
    ),
    Defect(
        "notifies-everybody-of-everything",
        "Every server that asks is given everybody's notifications.",
        "SM-3", CALM, ("discards_asked",), lambda: behind(NotifiesEverybodyOfEverything),
    ),
    Defect(
        "notifies-the-others",
        "Every server that asks is given what is meant for the others.",
        "SM-3", CALM, DISCARD, lambda: behind(NotifiesTheOthers),
    ),
    Defect(
        "forgets-notifications-at-a-restart",
        "Discard notifications are gone after a restart of the primary.",
        "SM-5", SURVIVE, DISCARD, lambda: behind(ForgetsNotifications),
    ),
    Defect(
        "notifies-before-delivery",
        "The shadow copy may go as soon as the primary has its own.",
        "SM-1", "half-done-fork", DISCARD, lambda: behind(NotifiesBeforeDelivery),
    ),
    Defect(
        "notifies-after-the-first-fork",
        "The shadow copy may go when the first of several forks is delivered.",
        "SM-10", "half-done-fork", ("discard_after_delivery", "no_loss"),
        lambda: behind(NotifiesAfterTheFirstFork),
    ),
    Defect(
        "waits-for-no-dsn",
        "The shadow copy may go before the DSN about its message is delivered.",
        "SM-10", "outbound-mail-expires", DISCARD, lambda: behind(WaitsForNoDsn),
    ),
    Defect(
        "notifies-once",
        "A discard notification is forgotten when it is given, whether it was heard or not.",
        "SM-16", LOST, DISCARD, lambda: behind(NotifiesOnce),
    ),
    Defect(
        "notifies-as-delivered-long-before",
        "A discard notification carries a time three hours before the delivery.",
        "SN-2", CALM, DISCARD, lambda: behind(NotifiesAsDeliveredLongBefore),
    ),
)  # fmt: skip
