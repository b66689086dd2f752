"""Defects of what becomes of promoted mail: delivery, text, and a new shadow (SM-13, TL-10)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from defects.defect import Defect
from defects.door import Door, behind
from defects.store import promotes_headers
from nodes.core.config.config import NodeConfig
from nodes.core.interface.effects import (
    Commit,
    DeliverToMailboxes,
    Effect,
    LogTracking,
    ShadowRequest,
    ShipLog,
    ShipMailbox,
    ShipSeed,
    Transmit,
)
from nodes.core.interface.inputs import (
    DatabaseOpened,
    Input,
    MailboxesDelivered,
    ShadowRequested,
    TransmissionAnswered,
)
from nodes.core.interface.queue_changes import PromoteShadow

LOSES = "primary-loses-its-queue-database"
TRIED, AGAIN = ("shadow_attempts",), ("shadowed_again",)
CAME_BACK = "resubmitted-mail-promoted"


class KnowsPromoted(Door):
    """Remembers the messages that were promoted here."""

    def __init__(self, config: NodeConfig) -> None:
        super().__init__(config)
        self.promoted: set[int] = set()

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        for change in effect.changes if isinstance(effect, Commit) else ():
            if isinstance(change, PromoteShadow):
                self.promoted.add(change.message.internal_id)
        return (effect,)


class DeliversHalfOfThePromoted(KnowsPromoted):
    """Of the others it says so."""

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        if isinstance(effect, Transmit | DeliverToMailboxes) and self._drops(effect):
            if isinstance(effect, Transmit):
                self.answer(TransmissionAnswered(effect.session, 250, "2.6.0 Queued"))
            else:
                self.answer(MailboxesDelivered(effect.delivery, effect.recipients, ()))
            return ()
        return super().leaves(effect)

    def _drops(self, effect: Transmit | DeliverToMailboxes) -> bool:
        kind, _, number = effect.body.partition(":")
        is_other = isinstance(effect, Transmit) and isinstance(
            effect.prologue, ShadowRequest | ShipLog | ShipMailbox | ShipSeed
        )
        is_promoted = kind == "db" and int(number) in self.promoted
        return is_promoted and not is_other and int(number) % 2 == 0


class MakesNoShadowOfPromoted(KnowsPromoted):
    """It says that it could not."""

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        prologue = effect.prologue if isinstance(effect, Transmit) else None
        if not isinstance(prologue, ShadowRequest) or prologue.internal_id not in self.promoted:
            return super().leaves(effect)
        assert isinstance(effect, Transmit)
        self.answer(TransmissionAnswered(effect.session, 451, "4.3.2 Not now"))
        return ()


class MakesNoShadowOfPromotedInSilence(MakesNoShadowOfPromoted):
    """It says nothing."""

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        is_word = isinstance(effect, LogTracking) and effect.event == "HAREDIRECTFAIL"
        return () if is_word else super().leaves(effect)


class BelievesInShadowsOfPromoted(MakesNoShadowOfPromoted):
    """It says that it could."""

    def answer(self, happened: Input) -> None:
        if isinstance(happened, TransmissionAnswered):
            happened = replace(happened, code=250, text="2.6.0 Queued mail for redundancy")
        super().answer(happened)


class MakesNoShadowAfterARestart(Door):
    """Of what has none; it says nothing of that."""

    def __init__(self, config: NodeConfig) -> None:
        super().__init__(config)
        self._without: set[int] = set()

    def enters(self, happened: Input) -> Iterable[Input]:
        if isinstance(happened, DatabaseOpened):
            alone = (each for each in happened.messages if each.shadow_server is None)
            self._without = {each.internal_id for each in alone}
        return (happened,)

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        if isinstance(effect, LogTracking) and effect.event == "HAREDIRECTFAIL":
            return () if effect.internal_id in self._without else (effect,)
        prologue = effect.prologue if isinstance(effect, Transmit) else None
        if not isinstance(prologue, ShadowRequest) or prologue.internal_id not in self._without:
            return (effect,)
        assert isinstance(effect, Transmit)
        self.answer(TransmissionAnswered(effect.session, 451, "4.3.2 Not now"))
        return ()


class TakesItForOrdinaryMail(Door):
    """The shadow messages of what came back from a Safety Net."""

    def enters(self, happened: Input) -> Iterable[Input]:
        if isinstance(happened, ShadowRequested) and self.is_passed_over(happened):
            return (replace(happened, resubmit_request=None),)
        return (happened,)

    def is_passed_over(self, happened: ShadowRequested) -> bool:
        return True


class TakesOneInTenForOrdinaryMail(TakesItForOrdinaryMail):
    def is_passed_over(self, happened: ShadowRequested) -> bool:
        return happened.resubmit_request is not None and self.is_nth(10)


class SaysNotThatItKeptADsnBack(KnowsPromoted):
    """Of one promoted message in three."""

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        if isinstance(effect, LogTracking) and self._is_left_out(effect):
            return ()
        return super().leaves(effect)

    def _is_left_out(self, row: LogTracking) -> bool:
        is_about_promoted = row.event == "SUPPRESSED" and row.internal_id in self.promoted
        return is_about_promoted and self.is_nth(3)


DEFECTS = (
    Defect(
        "delivers-half-of-what-it-promoted",
        "Every second promoted message is said to be delivered and is not.",
        "SM-13", LOSES, ("no_loss",), lambda: behind(DeliversHalfOfThePromoted),
    ),
    Defect(
        "promotes-headers",
        "What is promoted has its header and no text.",
        "TL-10", LOSES, ("content_intact",), promotes_headers,
    ),
    Defect(
        "promoted-mail-gets-no-shadow-after-a-kill",
        "What was to get a new shadow when its server was killed gets none, and nothing is said.",
        "SM-13", "killed-in-a-promotion", AGAIN,
        lambda: behind(MakesNoShadowAfterARestart),
    ),
    Defect(
        "promoted-mail-gets-no-shadow-in-silence",
        "Promoted messages are not made redundant again, and nothing is said of it.",
        "SM-13", LOSES, AGAIN,
        lambda: behind(MakesNoShadowOfPromotedInSilence),
    ),
    Defect(
        "promoted-mail-gets-no-shadow",
        "Promoted messages are not made redundant again; the node says that it could not.",
        "SM-13", LOSES, TRIED, lambda: behind(MakesNoShadowOfPromoted),
    ),
    Defect(
        "promoted-mail-is-said-to-have-a-shadow",
        "Promoted messages are not made redundant again; the node says that they were.",
        "SM-13", LOSES, AGAIN, lambda: behind(BelievesInShadowsOfPromoted),
    ),
    Defect(
        "promotes-resubmitted-mail-as-ordinary",
        "Promoted shadow messages of resubmitted mail cause DSNs, of delay and of failure.",
        "SN-10", CAME_BACK, ("dsn_suppressed", "dsn_sent", "delay_dsn_sent"),
        lambda: behind(TakesItForOrdinaryMail),
    ),
    Defect(
        "promotes-one-resubmitted-message-in-ten-as-ordinary",
        "One promoted shadow message of resubmitted mail in ten causes DSNs.",
        "SN-10", CAME_BACK, ("dsn_suppressed",), lambda: behind(TakesOneInTenForOrdinaryMail),
    ),
    Defect(
        "suppresses-dsns-of-promoted-mail-in-silence",
        "Of one promoted shadow message of resubmitted mail in three, no row says SUPPRESSED.",
        "SN-10", CAME_BACK, ("dsn_suppressed",), lambda: behind(SaysNotThatItKeptADsnBack),
    ),
)  # fmt: skip
