"""Defects of redirected messages, at the server that gives them away and at the one that takes them
(SR-1, SR-12).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from unittest.mock import patch

from defects.decisions import does
from defects.defect import Defect
from defects.delivery.delivering import SaysSent
from defects.door import Door, behind
from defects.shadows.making import BelievesInShadows
from nodes.core.config.config import NodeConfig
from nodes.core.delivery.redirecting import Left, Redirected, Redirecting
from nodes.core.interface.effects import Effect, ForkOf, OpenSession, Transmit
from nodes.core.interface.inputs import (
    DiscardAnswered,
    Input,
    MessageOffered,
    PeerAuthenticated,
    RedirectRequested,
)
from nodes.core.model.next_hop import NextHop
from nodes.core.routing.boundary import is_inside

REDIRECTED = "redirected"
Over = Callable[[Redirected], None]
MINUTE_MS = 60_000


class BelievesInShadowsOfRedirectedMail(BelievesInShadows):
    """Of what a server of its own boundary hands over to be sent on."""

    def __init__(self, config: NodeConfig) -> None:
        super().__init__(config)
        self._inside: set[str] = set()
        self._bodies: set[str] = set()

    def enters(self, happened: Input) -> Iterable[Input]:
        if isinstance(happened, PeerAuthenticated) and is_inside(self.config, happened.peer):
            self._inside.add(happened.session)
        if isinstance(happened, MessageOffered) and happened.session in self._inside:
            self._bodies.add(happened.body)
        return (happened,)

    def believes(self, sent: Transmit) -> bool:
        return sent.body in self._bodies and self.passes_over()

    def passes_over(self) -> bool:
        return True


class BelievesInOneOfFive(BelievesInShadowsOfRedirectedMail):
    def passes_over(self) -> bool:
        return self.is_nth(5)


@contextmanager
def takes_new_mail_meanwhile() -> Iterator[None]:
    """All else is as it was: the answer to whoever asks is another one."""
    with patch.object(Redirecting, "is_under_way", property(lambda redirecting: False)):
        yield


class DropsWhatItRedirects(SaysSent):
    """Mail for a server of its own boundary that is for no mailbox there."""

    def __init__(self, config: NodeConfig) -> None:
        super().__init__(config)
        self._inside: set[str] = set()

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        if isinstance(effect, OpenSession) and is_inside(self.config, effect.peer):
            self._inside.add(effect.session)
        return super().leaves(effect)

    def drops(self, sent: Transmit) -> bool:
        return isinstance(sent.prologue, ForkOf) and sent.session in self._inside


class TakesShadowsForItsOwn(Door):
    """For some minutes each primary server seems to have lost its queue database."""

    def __init__(self, config: NodeConfig) -> None:
        super().__init__(config)
        self._until_ms = 0

    def enters(self, happened: Input) -> Iterable[Input]:
        if isinstance(happened, RedirectRequested):
            self._until_ms = self.now_ms + 4 * MINUTE_MS
        if isinstance(happened, DiscardAnswered) and self.now_ms < self._until_ms:
            other = f"{happened.database_id}-other"
            happened = replace(happened, database_id=other, notifications=(), more=False)
        return (happened,)


def _ends_at_once(_begin: Any, self: Redirecting, hop: NextHop, _left: Left, over: Over) -> None:
    over(Redirected(hop, set()))


def _gives_up_at_once(_begin: Any, self: Redirecting, hop: NextHop, left: Left, over: Over) -> None:
    over(Redirected(hop, left))


UNPROTECTED, AS_ASKED = ("redundant_before_ack",), ("redirected_as_asked",)
DEFECTS = (
    Defect(
        "redirected-without-a-new-shadow",
        "A server to which messages are redirected makes no shadow messages of them.",
        "SR-1", REDIRECTED, UNPROTECTED, lambda: behind(BelievesInShadowsOfRedirectedMail),
    ),
    Defect(
        "one-redirected-in-five-without-a-new-shadow",
        "A server to which messages are redirected makes no shadow message of one in five.",
        "SR-1", REDIRECTED, UNPROTECTED, lambda: behind(BelievesInOneOfFive),
    ),
    Defect(
        "says-that-it-redirected-and-did-not",
        "A server says that all its messages were redirected, and all of them are still there.",
        "SR-12", REDIRECTED, AS_ASKED, lambda: does(Redirecting, "begin", _ends_at_once),
    ),
    Defect(
        "gives-a-redirection-up-for-nothing",
        "A server agrees to redirect its messages and gives that up before it tried.",
        "SR-12", REDIRECTED, AS_ASKED, lambda: does(Redirecting, "begin", _gives_up_at_once),
    ),
    Defect(
        "never-ends-a-redirection",
        "A server does not notice that nothing is left of what it was to redirect.",
        "SR-12", REDIRECTED, AS_ASKED,
        lambda: does(Redirecting, "ended", lambda ended, self, number, queue: None),
    ),
    Defect(
        "takes-new-mail-while-it-redirects",
        "A server takes new mail while its messages are redirected.",
        "SR-12", REDIRECTED, ("intake_for_cause",), takes_new_mail_meanwhile,
    ),
    Defect(
        "drops-what-it-redirects",
        "What is redirected is never sent, and taken for sent.",
        "SR-12", REDIRECTED, ("no_loss",), lambda: behind(DropsWhatItRedirects),
    ),
    Defect(
        "redirects-shadow-messages-too",
        "While its messages are redirected, a server takes the shadow messages that it holds for "
        "its own, and redirects them too.",
        "SR-12", REDIRECTED, ("no_early_promotion",), lambda: behind(TakesShadowsForItsOwn),
    ),
)  # fmt: skip
