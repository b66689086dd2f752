"""Defects of taking over from a primary server (SM-6 to SM-9, SM-13, SM-18)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from defects.decisions import does
from defects.defect import Context, Defect
from defects.door import Door, behind
from defects.settings import transport
from nodes.core.config.config import NodeConfig
from nodes.core.interface.effects import (
    AskDiscard,
    Effect,
    HangUp,
    LogConnectivity,
    LogLifecycle,
    OpenSession,
)
from nodes.core.interface.inputs import (
    DatabaseOpened,
    DiscardAnswered,
    Input,
    PeerAuthenticated,
    SessionFailed,
    SessionOpened,
)
from nodes.core.shadow.discard_questions import DiscardQuestions

LOSES, RETURNS = "primary-loses-its-queue-database", "primary-returns-after-promotion"
IN_TIME, AROUND, PAUSED = "primary-returns-in-time", "around-the-span", "paused-shadow-server"
ONE_WAY, HALF_DONE, CLOCKS = "one-way-heartbeat", "half-done-fork", "clocks-wrong"
TIMED_OUT = "ConnectionInactivityTimeOut"
MINUTE_MS, HOUR_MS = 60_000, 3_600_000


class KnowsPeers(Door):
    """Remembers which session goes to whom, and what for."""

    def __init__(self, config: NodeConfig) -> None:
        super().__init__(config)
        self.opened: dict[str, OpenSession] = {}

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        if isinstance(effect, OpenSession):
            self.opened[effect.session] = effect
        return (effect,)


class SeesAnotherDatabaseLate(KnowsPeers):
    """The third answer of a primary under another id is the first that counts as one."""

    def __init__(self, config: NodeConfig) -> None:
        super().__init__(config)
        self._known: dict[str, str] = {}
        self._answers = Counter[tuple[str, str]]()

    def enters(self, happened: Input) -> Iterable[Input]:
        if isinstance(happened, DatabaseOpened):
            self._known = {each.primary: each.database_id for each in happened.contacts}
        if not isinstance(happened, DiscardAnswered):
            return (happened,)
        peer, answered_by = self.opened[happened.session].peer, happened.database_id
        known = self._known.setdefault(peer, answered_by)
        self._answers[peer, answered_by] += 1
        if known != answered_by and self._answers[peer, answered_by] < 3:
            return (replace(happened, database_id=known, notifications=(), more=False),)
        self._known[peer] = answered_by
        return (happened,)


class AsksNobodyAfterASilence(KnowsPeers):
    """After minutes in which nothing happened, such as a pause, heartbeats count as failed."""

    def __init__(self, config: NodeConfig) -> None:
        super().__init__(config)
        self._last_ms = self._woke_ms = 0

    def enters(self, happened: Input) -> Iterable[Input]:
        if self._last_ms and self.now_ms - self._last_ms > 5 * MINUTE_MS:
            self._woke_ms = self.now_ms
        self._last_ms = self.now_ms
        return (happened,)

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        just_woke = bool(self._woke_ms) and self.now_ms < self._woke_ms + MINUTE_MS
        if just_woke and isinstance(effect, OpenSession) and effect.purpose == "heartbeat":
            self.answer(SessionFailed(effect.session, "not now"))
            return ()
        return super().leaves(effect)


class CountsSessionsOfThePrimary(KnowsPeers):
    """A heartbeat that fails counts as answered where the primary has called lately."""

    def __init__(self, config: NodeConfig) -> None:
        super().__init__(config)
        self._called_ms: dict[str, int] = {}
        self._made_up_sessions: set[str] = set()

    def enters(self, happened: Input) -> Iterable[Input]:
        if isinstance(happened, PeerAuthenticated):
            self._called_ms[happened.peer] = self.now_ms
        if isinstance(happened, SessionFailed) and self._is_counted(happened.session):
            self._made_up_sessions.add(happened.session)
            return (SessionOpened(happened.session, True),)
        return (happened,)

    def _is_counted(self, session: str) -> bool:
        opened = self.opened[session]
        called_ms = self._called_ms.get(opened.peer, 0)
        return opened.purpose == "heartbeat" and called_ms >= self.now_ms - 5 * MINUTE_MS

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        if isinstance(effect, AskDiscard | HangUp) and effect.session in self._made_up_sessions:
            if isinstance(effect, AskDiscard):
                known = effect.known_database_id
                self.answer(DiscardAnswered(effect.session, known, (), False))
            return ()
        return super().leaves(effect)


class ForgetsContacts(Door):
    """At a restart."""

    def enters(self, happened: Input) -> Iterable[Input]:
        if isinstance(happened, DatabaseOpened):
            return (replace(happened, contacts=()),)
        return (happened,)


class ForgetsShadows(Door):
    """At a restart."""

    def enters(self, happened: Input) -> Iterable[Input]:
        if isinstance(happened, DatabaseOpened):
            return (replace(happened, shadows=()),)
        return (happened,)


class ForgetsWhatItWasPromoting(Door):
    """At a restart: which shadow messages the last contact was about."""

    def enters(self, happened: Input) -> Iterable[Input]:
        if not isinstance(happened, DatabaseOpened):
            return (happened,)
        contacts = (replace(each, held_up_to=0) for each in happened.contacts)
        return (replace(happened, contacts=tuple(contacts)),)


class ReadsContactsByAWrongClock(Door):
    """After a restart its last contacts seem hours older, or younger, than they are."""

    behind_ms = 2 * HOUR_MS

    def enters(self, happened: Input) -> Iterable[Input]:
        if not isinstance(happened, DatabaseOpened):
            return (happened,)
        wrong = (
            replace(each, last_contact_ms=each.last_contact_ms - self.behind_ms)
            for each in happened.contacts
        )
        return (replace(happened, contacts=tuple(wrong)),)


class ReadsContactsByASlowClock(ReadsContactsByAWrongClock):
    behind_ms = -2 * HOUR_MS


class GivesUpInSilence(Door):
    """As if whoever hung up did not say why."""

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        if isinstance(effect, LogLifecycle):
            return () if ("reason", TIMED_OUT) in effect.fields else (effect,)
        if not isinstance(effect, LogConnectivity) or TIMED_OUT not in effect.description:
            return (effect,)
        if effect.description.startswith("XQDISCARD failed"):
            return ()
        return (replace(effect, description=effect.description.partition(" (Retry")[0]),)


class LogsNoFailedHeartbeat(Door):
    def leaves(self, effect: Effect) -> Iterable[Effect]:
        is_it = isinstance(effect, LogLifecycle) and effect.event == "shadow-heartbeat-failed"
        return () if is_it else (effect,)


def span(change: Callable[[int, int], int]) -> Context:
    """Of ShadowResubmitTimeSpan and ShadowHeartbeatFrequency, in ms."""
    return transport(
        lambda t: replace(
            t,
            shadow_resubmit_time_span_ms=change(
                t.shadow_resubmit_time_span_ms, t.shadow_heartbeat_frequency_ms
            ),
        )
    )


def _never_outdated(hear: Any, questions: DiscardQuestions, question: Any, database: str) -> bool:
    hear(questions, question, database)
    return False


def _about_nothing(ask: Any, questions: DiscardQuestions, now_ms: int, _held_up_to: int) -> Any:
    return ask(questions, now_ms, 0)


def _about_everything(ask: Any, questions: DiscardQuestions, now_ms: int, _held_up_to: int) -> Any:
    return ask(questions, now_ms, 2**62)


@contextmanager
def believes_outdated_answers() -> Iterator[None]:
    with (
        does(DiscardQuestions, "hear", _never_outdated),
        does(DiscardQuestions, "ask", _about_everything),
    ):
        yield


EARLY, LATE = ("no_early_promotion",), ("promotion_on_time",)
DEFECTS = (
    Defect(
        "waits-half-the-span",
        "A shadow server takes over after half of ShadowResubmitTimeSpan.",
        "SM-6", AROUND, EARLY, lambda: span(lambda span_ms, _: span_ms // 2), is_rare=True,
    ),
    Defect(
        "waits-half-the-span-for-one-that-returns-in-time",
        "A primary that is back in time finds its messages promoted.",
        "SM-8", IN_TIME, EARLY, lambda: span(lambda span_ms, _: span_ms // 2),
    ),
    Defect(
        "waits-half-the-span-again",
        "A shadow server takes over after one and a half times ShadowResubmitTimeSpan.",
        "SM-6", RETURNS, LATE, lambda: span(lambda span_ms, _: span_ms * 3 // 2),
    ),
    Defect(
        "never-takes-over",
        "A shadow server waits for its primary for ever.",
        "SM-6", RETURNS, LATE, lambda: span(lambda span_ms, _: 1000 * span_ms),
    ),
    Defect(
        "waits-two-heartbeats-longer",
        "A shadow server takes over two heartbeats after the span is over.",
        "SM-6", RETURNS, LATE, lambda: span(lambda span_ms, beat_ms: span_ms + 2 * beat_ms),
    ),
    Defect(
        "counts-a-session-of-the-primary",
        "A session that the primary opens counts as contact with it.",
        "SM-6", ONE_WAY, LATE, lambda: behind(CountsSessionsOfThePrimary),
    ),
    Defect(
        "keeps-the-last-contact-in-memory",
        "The last contact is forgotten at a restart, and the messages' own age counts.",
        "SM-6", PAUSED, EARLY, lambda: behind(ForgetsContacts),
    ),
    Defect(
        "forgets-shadows-at-a-restart",
        "A shadow server that restarts forgets what it holds.",
        "SM-6", CLOCKS, LATE, lambda: behind(ForgetsShadows),
    ),
    Defect(
        "counts-by-a-clock-that-was-set-ahead",
        "After a restart the last contact seems two hours older than it is.",
        "SM-18", CLOCKS, EARLY, lambda: behind(ReadsContactsByAWrongClock),
    ),
    Defect(
        "counts-by-a-clock-that-was-set-back",
        "After a restart the last contact seems two hours younger than it is.",
        "SM-6", CLOCKS, LATE, lambda: behind(ReadsContactsByASlowClock),
    ),
    Defect(
        "sees-no-other-database",
        "A primary's new database id is not noticed, and nothing is promoted.",
        "SM-7", LOSES, ("promotion_on_time", "no_loss"),
        lambda: does(DiscardQuestions, "ask", _about_nothing),
    ),
    Defect(
        "sees-another-database-two-answers-late",
        "A primary's new database id is noticed at the third answer under it.",
        "SM-7", LOSES, LATE, lambda: behind(SeesAnotherDatabaseLate),
    ),
    Defect(
        "asks-nobody-after-a-pause",
        "A shadow server that was paused for longer than the span takes over without asking.",
        "SM-6", PAUSED, EARLY, lambda: behind(AsksNobodyAfterASilence),
    ),
    Defect(
        "forgets-what-it-was-promoting",
        "A shadow server that dies in a promotion leaves the rest until the primary answers again.",
        "SM-7", "killed-in-a-promotion", LATE, lambda: behind(ForgetsWhatItWasPromoting),
    ),
    Defect(
        "believes-outdated-answers",
        "An answer of the old database that comes late promotes what came under the new one.",
        "SM-7", "answer-comes-late", EARLY, believes_outdated_answers,
    ),
    Defect(
        "no-event-for-a-failed-heartbeat",
        "A heartbeat that fails is not logged with event 22004.",
        "SM-18", RETURNS, ("discards_asked",), lambda: behind(LogsNoFailedHeartbeat),
    ),
    Defect(
        "no-event-for-a-heartbeat-that-hung",
        "A heartbeat that hung is given up, and neither event 22004 nor XQDISCARD failed says so.",
        "SM-18", "heartbeats-hang", ("discards_asked",), lambda: behind(GivesUpInSilence),
    ),
)  # fmt: skip
