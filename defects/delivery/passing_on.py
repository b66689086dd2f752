"""Defects of front ends: what they pass on, to whom, and what they say of it (TP-7)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

from defects.decisions import does
from defects.defect import Context, Defect
from defects.door import Door, behind
from defects.settings import goes_by
from nodes.core.config.config import NodeConfig
from nodes.core.front_end import FrontEnd
from nodes.core.interface.effects import CloseSession, Effect, SendReply
from nodes.core.interface.inputs import Input, MessageOffered
from nodes.core.interface.replies import R550_NOT_ALLOWED, Reply
from nodes.core.sessions.proxied import MailboxServers

ACCEPTED = Reply(250, ("2.6.0 Queued mail for delivery",))


class FrontEndDoor(Door):
    """Knows whether a reply is the one to a message."""

    def __init__(self, config: NodeConfig) -> None:
        super().__init__(config)
        self._offered: set[str] = set()

    def enters(self, happened: Input) -> Iterable[Input]:
        if isinstance(happened, MessageOffered):
            self._offered.add(happened.session)
        return (happened,)

    def is_of_a_message(self, effect: SendReply) -> bool:
        if effect.session not in self._offered:
            return False
        self._offered.discard(effect.session)
        return True


class SaysItself(FrontEndDoor):
    every = 1

    def enters(self, happened: Input) -> Iterable[Input]:
        if isinstance(happened, MessageOffered) and (self.every == 1 or self.is_nth(self.every)):
            self._offered.add(happened.session)
            self.hold_back(SendReply(happened.session, ACCEPTED), 0)
        return (happened,)

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        return () if isinstance(effect, SendReply) and self.is_of_a_message(effect) else (effect,)


class SaysOneInFiftyItself(SaysItself):
    every = 50


class KeepsOneInTen(Door):
    def enters(self, happened: Input) -> Iterable[Input]:
        if isinstance(happened, MessageOffered) and self.is_nth(10):
            self.hold_back(SendReply(happened.session, ACCEPTED), 0)
            return ()
        return (happened,)


class AcceptsWhatIsRefused(FrontEndDoor):
    def leaves(self, effect: Effect) -> Iterable[Effect]:
        is_reply = isinstance(effect, SendReply) and self.is_of_a_message(effect)
        is_refusal = isinstance(effect, SendReply) and effect.reply.code >= 400
        return (replace(effect, reply=ACCEPTED),) if is_reply and is_refusal else (effect,)  # type: ignore[arg-type]


class ObeysStrangers(Door):
    def leaves(self, effect: Effect) -> Iterable[Effect]:
        if isinstance(effect, SendReply) and effect.reply == R550_NOT_ALLOWED:
            return (replace(effect, reply=Reply(250, ("2.0.0 OK",))),)
        return (effect,)


class EndsNoSession(Door):
    def leaves(self, effect: Effect) -> Iterable[Effect]:
        return () if isinstance(effect, CloseSession) else (effect,)


def _in_another_site(config: NodeConfig) -> NodeConfig:
    others = {s.site for s in config.servers if s.role == "mailbox"} - {config.me.site}
    return replace(config, me=replace(config.me, site=min(others, default=config.me.site)))


def _only_the_first() -> Context:
    def first(method: Any, servers: MailboxServers) -> Iterator[str]:
        return islice(method(servers), 1)

    return does(MailboxServers, "in_turn", first)


PASSED = ("passed_on",)
DEFECTS = (
    Defect(
        "front-end-says-250-itself",
        "A front end answers 250 as soon as it has a message, before any mailbox server has.",
        "TP-7", "server-behind-dies", PASSED, lambda: behind(SaysItself, FrontEnd),
    ),
    Defect(
        "front-end-says-250-itself-to-one-in-fifty",
        "A front end answers 250 to one message in fifty before any mailbox server has.",
        "TP-7", "front-end-hears-no-250", PASSED, lambda: behind(SaysOneInFiftyItself, FrontEnd),
    ),
    Defect(
        "front-end-keeps-one-in-ten",
        "A front end keeps one message in ten in its memory, says 250, and passes it on to nobody.",
        "TP-7", "front-end-dies", ("passed_on", "nothing_left_over", "no_loss"),
        lambda: behind(KeepsOneInTen, FrontEnd),
    ),
    Defect(
        "front-end-calls-another-site",
        "A front end passes its sessions on to mailbox servers of another site.",
        "TP-7", "front-end-dies", PASSED, lambda: goes_by(_in_another_site, FrontEnd),
    ),
    Defect(
        "front-end-chooses-no-other",
        "A front end whose first choice does not answer chooses no other mailbox server.",
        "TP-7", "server-behind-dies", ("passed_on", "refused_for_cause"), _only_the_first,
    ),
    Defect(
        "front-end-accepts-what-is-refused",
        "A front end answers 250 to a message that the server behind it has refused.",
        "TP-7", "refused-behind-a-front-end", ("passed_on", "no_loss"),
        lambda: behind(AcceptsWhatIsRefused, FrontEnd),
    ),
    Defect(
        "front-end-obeys-strangers",
        "A front end says yes to verbs of the organisation, whoever says them.",
        "TL-6", "refused-behind-a-front-end", ("strangers_learn_nothing",),
        lambda: behind(ObeysStrangers, FrontEnd),
    ),
    Defect(
        "front-end-ends-no-session",
        "A front end ends no session whose time is over.",
        "SR-6", "refused-behind-a-front-end", ("strangers_learn_nothing",),
        lambda: behind(EndsNoSession, FrontEnd),
    ),
)  # fmt: skip
