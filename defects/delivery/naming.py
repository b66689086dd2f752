"""Defects of the network message id: a fork, a promoted message or one that Safety Net gives back
goes on under another one; whoever calls is believed one (TL-3).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from defects.decisions import decides
from defects.defect import Defect
from defects.door import Door, behind
from defects.promoted_mail import LOSES, KnowsPromoted
from nodes.core.config.config import NodeConfig
from nodes.core.interface.effects import (
    DeliverTo,
    Effect,
    ForkOf,
    LogTracking,
    OpenSession,
    ShadowRequest,
    Transmit,
)
from nodes.core.interface.inputs import ForkAnnounced, Input, SafetyNetRead
from nodes.core.routing.boundary import is_inside, is_transport

ACROSS, REDIRECTED, LOSSY = "across-boundaries", "redirected", "lossy-failover"
TRACEABLE = ("traceable",)


class NamesForksAnew(Door):
    """Of those that others send on to it."""

    def enters(self, happened: Input) -> Iterable[Input]:
        if isinstance(happened, ForkAnnounced) and self.is_passed_over():
            return (replace(happened, network_message_id=""),)
        return (happened,)

    def is_passed_over(self) -> bool:
        return True


class NamesOneForkInFiftyAnew(NamesForksAnew):
    def is_passed_over(self) -> bool:
        return self.is_nth(50)


class KeepsTheNameOfTheForkBefore(Door):
    """One fork in twenty is sent on under the id of the one before it."""

    def __init__(self, config: NodeConfig) -> None:
        super().__init__(config)
        self._before: ForkOf | None = None

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        if not isinstance(effect, Transmit) or not isinstance(effect.prologue, ForkOf):
            return (effect,)
        before, self._before = self._before, effect.prologue
        is_it = before is not None and self.is_nth(20)
        return (replace(effect, prologue=before) if is_it else effect,)


class NamesNothingThatItRedirects(Door):
    """To servers of its own boundary."""

    def __init__(self, config: NodeConfig) -> None:
        super().__init__(config)
        self._inside: set[str] = set()

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        if isinstance(effect, OpenSession) and is_inside(self.config, effect.peer):
            self._inside.add(effect.session)
        is_fork = isinstance(effect, Transmit) and isinstance(effect.prologue, ForkOf)
        if isinstance(effect, Transmit) and is_fork and effect.session in self._inside:
            return (replace(effect, prologue=None),)
        return (effect,)


class NamesPromotedAnew(KnowsPromoted):
    """As soon as it has said what it was."""

    def __init__(self, config: NodeConfig) -> None:
        super().__init__(config)
        self._names: set[str] = set()

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        if isinstance(effect, LogTracking) and effect.internal_id in self.promoted:
            self._names.add(effect.network_message_id)
            return (effect if effect.event == "RESUBMIT" else _renamed(effect),)
        if isinstance(effect, Transmit) and isinstance(
            effect.prologue, ShadowRequest | DeliverTo | ForkOf
        ):
            is_it = effect.prologue.network_message_id in self._names
            return (replace(effect, prologue=_renamed(effect.prologue)) if is_it else effect,)
        return super().leaves(effect)


class NamesAnewWhatItGivesBack(Door):
    def enters(self, happened: Input) -> Iterable[Input]:
        if isinstance(happened, SafetyNetRead):
            return (replace(happened, copies=tuple(map(_renamed, happened.copies))),)
        return (happened,)


def _renamed(named: Any) -> Any:
    return replace(named, network_message_id=named.network_message_id[::-1])


DEFECTS = (
    Defect(
        "names-forks-anew-behind-a-boundary",
        "A server gives what another one sends on to it a network message id of its own.",
        "TL-3", ACROSS, TRACEABLE, lambda: behind(NamesForksAnew),
    ),
    Defect(
        "names-one-fork-in-fifty-anew-behind-a-boundary",
        "One fork in fifty that is sent on gets another network message id where it arrives.",
        "TL-3", ACROSS, TRACEABLE, lambda: behind(NamesOneForkInFiftyAnew),
    ),
    Defect(
        "keeps-the-network-message-id-for-the-next",
        "One fork in twenty is sent on under the network message id of the message before.",
        "TL-3", ACROSS, TRACEABLE, lambda: behind(KeepsTheNameOfTheForkBefore),
    ),
    Defect(
        "redirects-without-the-network-message-id",
        "What is redirected to a server of the boundary gets another network message id there.",
        "TL-3", REDIRECTED, TRACEABLE, lambda: behind(NamesNothingThatItRedirects),
    ),
    Defect(
        "names-promoted-mail-anew",
        "What is promoted goes on under another network message id.",
        "TL-3", LOSES, TRACEABLE, lambda: behind(NamesPromotedAnew),
    ),
    Defect(
        "names-anew-what-it-gives-back",
        "What Safety Net gives back has another network message id than its copy.",
        "TL-3", LOSSY, TRACEABLE, lambda: behind(NamesAnewWhatItGivesBack),
    ),
    Defect(
        "believes-anybody-a-network-message-id",
        "Whoever calls may say which network message id his message has.",
        "TL-6", "strangers-call", ("strangers_learn_nothing",),
        lambda: decides(is_transport, lambda *_: True),
        only_simulated="the shell of a node refuses strangers before its core hears of them",
    ),
)  # fmt: skip
