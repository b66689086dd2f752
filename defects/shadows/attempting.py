"""Defects of attempts at a shadow message: where, in which turn, and how often (SR-2 to SR-5)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from defects.decisions import decides
from defects.defect import Defect
from defects.door import Door, behind
from defects.settings import goes_by, server
from nodes.core.config.config import NodeConfig
from nodes.core.interface.effects import Commit, Effect, LogTracking, OpenSession
from nodes.core.interface.inputs import Input, SessionFailed, ShadowRequested
from nodes.core.interface.queue_changes import (
    DeleteMessage,
    InsertMessage,
    MoveToPrimarySafetyNet,
)
from nodes.core.routing.boundary import is_inside, shadow_attempts

FOR_A_SHADOW = "shadowredundancy"
ACROSS, CALM = "across-boundaries", "calm"
UNREACHABLE, REJECTED = "shadow-unreachable-accepted", "shadow-unreachable-rejected"


def any_mailbox_server(_decision: Any, config: NodeConfig, name: str | None) -> bool:
    server = None if name is None else config.server_named(name)
    return server is not None and server.role == "mailbox"


class SaysNothingOfAttempts(Door):
    def leaves(self, effect: Effect) -> Iterable[Effect]:
        if isinstance(effect, LogTracking) and effect.event == "HAREDIRECT":
            told = tuple(pair for pair in effect.custom if pair[0] != "Attempts")
            return (replace(effect, custom=told),)
        return (effect,)


@contextmanager
def stays_at_home_in_silence() -> Iterator[None]:
    with decides(shadow_attempts, _in_reverse), behind(SaysNothingOfAttempts):
        yield


class GivesUpAtOnce(Door):
    """A session for a shadow message is said to have failed, and was never opened."""

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        if not isinstance(effect, OpenSession) or effect.purpose != FOR_A_SHADOW:
            return (effect,)
        if not self.gives_up():
            return (effect,)
        self.answer(SessionFailed(effect.session, "connection refused"))
        return ()

    def gives_up(self) -> bool:
        return True


class GivesUpOneInTwenty(GivesUpAtOnce):
    def gives_up(self) -> bool:
        return self.is_nth(20)


class GivesUpFortyTimes(GivesUpAtOnce):
    """What it turns away meanwhile is sent again, which would be most of a record."""

    def __init__(self, config: NodeConfig) -> None:
        super().__init__(config)
        self.left = 40

    def gives_up(self) -> bool:
        self.left -= 1
        return self.left >= 0


class HoldsNoneWhileItIsPrimary(Door):
    """It refuses to hold anything for others as long as it has messages of its own in queues."""

    def __init__(self, config: NodeConfig) -> None:
        super().__init__(config)
        self._own: set[int] = set()

    def enters(self, happened: Input) -> Iterable[Input]:
        if isinstance(happened, ShadowRequested) and self._own:
            return (replace(happened, primary="somebody-else"),)
        return (happened,)

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        for change in effect.changes if isinstance(effect, Commit) else ():
            if isinstance(change, InsertMessage):
                self._own.add(change.message.internal_id)
            elif isinstance(change, MoveToPrimarySafetyNet | DeleteMessage):
                self._own.discard(change.internal_id)
        return (effect,)


def _all_others(
    _decision: Any, config: NodeConfig, turn: int, avoid: str | None = None
) -> tuple[str, ...]:
    others = [s.name for s in config.servers if s.role == "mailbox" and s.name != config.me.name]
    start = turn % len(others)
    return tuple(others[start:] + others[:start])


def _the_first_again(decision: Callable[..., tuple[str, ...]], *arguments: Any) -> tuple[str, ...]:
    servers = decision(*arguments)
    return servers[:1] * len(servers)


def _in_reverse(decision: Callable[..., tuple[str, ...]], *arguments: Any) -> tuple[str, ...]:
    return tuple(reversed(decision(*arguments)))


def _one_attempt(decision: Callable[..., tuple[str, ...]], *arguments: Any) -> tuple[str, ...]:
    return decision(*arguments)[:1]


@contextmanager
def chooses_outside_of_its_boundary() -> Iterator[None]:
    with decides(shadow_attempts, _all_others), decides(is_inside, any_mailbox_server):
        yield


def _by_that_of_the_organisation(config: NodeConfig) -> NodeConfig:
    of_all = config.transport.shadow_message_preference
    return replace(config, server=replace(config.server, shadow_message_preference=of_all))


PLACED, TRIED = ("shadow_placement",), ("shadow_attempts",)
DEFECTS = (
    Defect(
        "shadow-outside-of-the-boundary",
        "Any mailbox server may hold the shadow copy, of another site without a DAG too.",
        "SR-2", ACROSS, PLACED, chooses_outside_of_its_boundary,
    ),
    Defect(
        "shadow-at-home-only",
        "Shadow copies stay in the primary's own site, though the other is preferred.",
        "SR-3", CALM, PLACED,
        lambda: server(lambda s: replace(s, shadow_message_preference="LocalOnly")),
    ),
    Defect(
        "passes-over-its-own-preference",
        "A server goes by the organisation's preference, though it has one of its own.",
        "SR-3", "own-preference", PLACED, lambda: goes_by(_by_that_of_the_organisation),
    ),
    Defect(
        "shadow-at-home-first",
        "The servers of the primary's own site are tried before those of the other.",
        "SR-3", CALM, PLACED, lambda: decides(shadow_attempts, _in_reverse),
    ),
    Defect(
        "shadow-at-home-first-in-silence",
        "The same, and the log does not say how many attempts there were.",
        "SR-3", CALM, PLACED, stays_at_home_in_silence,
    ),
    Defect(
        "one-attempt-at-a-shadow",
        "After one failed attempt no other server is tried.",
        "SR-3", UNREACHABLE, TRIED, lambda: decides(shadow_attempts, _one_attempt),
    ),
    Defect(
        "the-same-shadow-server-again",
        "Every attempt goes to the server that has just failed.",
        "SR-4", UNREACHABLE, TRIED, lambda: decides(shadow_attempts, _the_first_again),
    ),
    Defect(
        "holds-no-shadow-while-it-is-primary",
        "A server that has mail of its own in its queues holds no shadow message for others.",
        "SM-14", UNREACHABLE, TRIED, lambda: behind(HoldsNoneWhileItIsPrimary),
    ),
    Defect(
        "gives-up-before-it-tries",
        "No other server is called; each message is accepted as one that cannot be made redundant.",
        "SR-1", CALM, TRIED, lambda: behind(GivesUpAtOnce),
    ),
    Defect(
        "rejects-before-it-tries",
        "Of the first messages no other server is called; they are rejected as ones that cannot be "
        "made redundant.",
        "SR-5", REJECTED, TRIED, lambda: behind(GivesUpFortyTimes),
    ),
    Defect(
        "gives-up-one-attempt-in-twenty",
        "One session in twenty for a shadow copy is said to have failed; the next server is tried.",
        "SR-3", CALM, TRIED, lambda: behind(GivesUpOneInTwenty),
    ),
)  # fmt: skip
