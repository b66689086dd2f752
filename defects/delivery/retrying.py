"""Defects of time: mail that is late, and tries that come too late or too early (RT-5)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from defects.decisions import decides
from defects.defect import Context, Defect
from defects.door import Door, behind
from defects.settings import server
from nodes.core.config.config import NodeConfig, ServerConfig
from nodes.core.config.retry import retry_interval_ms
from nodes.core.interface.effects import (
    CloseSession,
    DeliverTo,
    DeliverToMailboxes,
    Effect,
    Transmit,
)
from nodes.core.interface.inputs import DeliveryRequested, Input, TransmissionAnswered
from nodes.core.model.message import BodyHandle

CALM, CUT = "calm", "site-cut"
MINUTE_MS = 60_000
DAY_MS = 24 * 60 * MINUTE_MS


class DeliversLate(Door):
    """Into mailboxes, by `late_ms`."""

    def late_ms(self) -> int:
        return 2 * MINUTE_MS

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        wait_ms = self.late_ms() if isinstance(effect, DeliverToMailboxes) else 0
        if not wait_ms:
            return (effect,)
        self.hold_back(effect, wait_ms)
        return ()


class DeliversOneInFiftyLate(DeliversLate):
    def late_ms(self) -> int:
        return 10 * MINUTE_MS if self.is_nth(50) else 0


class DeliversLateAfterARestart(DeliversLate):
    def late_ms(self) -> int:
        return 20 * MINUTE_MS if self.starts > 1 else 0


class SaysItWasPutOff(Door):
    """Of one message in twenty the first delivery into a mailbox database is not sent."""

    def __init__(self, config: NodeConfig) -> None:
        super().__init__(config)
        self._left: dict[DeliverTo, int] = {}

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        if not isinstance(effect, Transmit) or not isinstance(effect.prologue, DeliverTo):
            return (effect,)
        if effect.prologue not in self._left:
            return self.sees_first(effect, effect.prologue)
        return self.puts_off(effect, effect.prologue)

    def sees_first(self, sent: Transmit, delivery: DeliverTo) -> Iterable[Effect]:
        self._left[delivery] = 1 if self.is_nth(20) else 0
        return self.puts_off(sent, delivery)

    def puts_off(self, sent: Transmit, delivery: DeliverTo) -> Iterable[Effect]:
        if not self._left[delivery]:
            return (sent,)
        self._left[delivery] -= 1
        self.answer(TransmissionAnswered(sent.session, 451, "4.3.2 Not now"))
        return ()


class SaysAServerOutsidePutItOff(Door):
    """Of what goes there every fifth message is sent at the third try."""

    def __init__(self, config: NodeConfig) -> None:
        super().__init__(config)
        self._left: dict[BodyHandle, int] = {}

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        if not isinstance(effect, Transmit) or effect.prologue is not None:
            return (effect,)
        if effect.body not in self._left:
            self._left[effect.body] = 2 if self.is_nth(5) else 0
        if not self._left[effect.body]:
            return (effect,)
        self._left[effect.body] -= 1
        self.answer(TransmissionAnswered(effect.session, 451, "4.7.1 Try again later"))
        return ()


class HangsUp(Door):
    """On one delivery in ten, instead of an answer."""

    def enters(self, happened: Input) -> Iterable[Input]:
        if isinstance(happened, DeliveryRequested) and self.is_nth(10):
            self.hold_back(CloseSession(happened.session), 0)
            return ()
        return (happened,)


class PutsOffOneInFifty(SaysItWasPutOff):
    """Once, and not for long."""

    def sees_first(self, sent: Transmit, delivery: DeliverTo) -> Iterable[Effect]:
        self._left[delivery] = 1 if self.is_nth(50) else 0
        return self.puts_off(sent, delivery)


class PutsOffTheSecondRecipient(SaysItWasPutOff):
    """The others have it at once."""

    def __init__(self, config: NodeConfig) -> None:
        super().__init__(config)
        self._second: dict[str, str] = {}

    def sees_first(self, sent: Transmit, delivery: DeliverTo) -> Iterable[Effect]:
        first, *others = sent.envelope.recipients
        self._left[delivery] = 1 if others else 0
        if not others:
            return (sent,)
        self._second[sent.session] = others[0]
        left = replace(sent.envelope, recipients=(first, *others[1:]))
        return (replace(sent, envelope=left),)

    def enters(self, happened: Input) -> Iterable[Input]:
        if not isinstance(happened, TransmissionAnswered) or happened.session not in self._second:
            return (happened,)
        later = (self._second.pop(happened.session), 451, "4.3.2 Not now")
        return (replace(happened, refused=(*happened.refused, later)),)


def tries_again_after(interval_ms: int) -> Context:
    """Whatever the reason, and however often."""

    def changed(config: ServerConfig) -> ServerConfig:
        return replace(
            config,
            queue_glitch_retry_interval_ms=interval_ms,
            transient_failure_retry_interval_ms=interval_ms,
            outbound_connection_failure_retry_interval_ms=interval_ms,
            message_retry_interval_ms=interval_ms,
        )

    return server(changed)


def _by_the_minute(config: ServerConfig) -> ServerConfig:
    glitch_ms = config.queue_glitch_retry_interval_ms
    return replace(
        config,
        transient_failure_retry_interval_ms=glitch_ms,
        outbound_connection_failure_retry_interval_ms=glitch_ms,
    )


def _every_third_time_early(decision: Any, config: ServerConfig, failures: int) -> int:
    wait_ms: int = decision(config, failures)
    return wait_ms // 2 if failures % 3 == 0 else wait_ms


def _every_third_time_late(decision: Any, config: ServerConfig, failures: int) -> int:
    wait_ms: int = decision(config, failures)
    return 2 * wait_ms if failures % 3 == 0 else wait_ms


def _late_at_the_end(decision: Any, config: ServerConfig, failures: int) -> int:
    wait_ms: int = decision(config, failures)
    is_at_the_end = wait_ms == config.outbound_connection_failure_retry_interval_ms
    return 2 * wait_ms if is_at_the_end else wait_ms


def _of_its_own(change: Callable[[int], int]) -> Context:
    """Another MessageRetryInterval."""
    return server(
        lambda each: replace(each, message_retry_interval_ms=change(each.message_retry_interval_ms))
    )


PUT_OFF = "retries-and-idle-queues"
CAUSE = ("deferred_for_cause",)
PACED, IN_TIME = ("retries_paced",), ("delivered_in_time",)
DEFECTS = (
    Defect(
        "delivers-two-minutes-late",
        "Every delivery waits for two minutes.",
        "RT-5", CALM, IN_TIME, lambda: behind(DeliversLate),
    ),
    Defect(
        "delivers-one-in-fifty-ten-minutes-late",
        "One delivery in fifty waits for ten minutes.",
        "RT-5", CALM, IN_TIME, lambda: behind(DeliversOneInFiftyLate),
    ),
    Defect(
        "delivers-late-after-a-restart",
        "What a server delivers after its first restart waits for twenty minutes.",
        "RT-5", "across-boundaries", IN_TIME, lambda: behind(DeliversLateAfterARestart),
    ),
    Defect(
        "puts-off-the-second-recipient",
        "The second recipient of a message is put off; the other server is said to have done it.",
        "RT-5", CALM, IN_TIME, lambda: behind(PutsOffTheSecondRecipient),
    ),
    Defect(
        "says-it-was-put-off",
        "One delivery in twenty is put off; another server is said to have answered 451.",
        "RT-5", CALM, IN_TIME, lambda: behind(SaysItWasPutOff),
    ),
    Defect(
        "says-that-a-server-outside-put-it-off",
        "Every fifth message to a server outside is put off twice; that server is said to have "
        "answered 451.",
        "RT-5", CALM, IN_TIME, lambda: behind(SaysAServerOutsidePutItOff),
    ),
    Defect(
        "hangs-up-on-one-delivery-in-ten",
        "A server hangs up on one delivery in ten; the mail comes a minute later.",
        "RT-5", CALM, CAUSE, lambda: behind(HangsUp),
    ),
    Defect(
        "puts-one-delivery-in-fifty-off",
        "One delivery in fifty is put off for a minute; another server is said to have answered "
        "451.",
        "RT-5", CALM, CAUSE, lambda: behind(PutsOffOneInFifty),
    ),
    Defect(
        "hardly-ever-tries-again",
        "What could not be delivered is tried again after a day.",
        "RT-5", CUT, ("drains_after_heal",), lambda: tries_again_after(DAY_MS),
    ),
    Defect(
        "tries-again-after-twenty-minutes",
        "What could not be delivered is tried again after twenty minutes.",
        "RT-5", CUT, IN_TIME, lambda: tries_again_after(20 * MINUTE_MS),
    ),
    Defect(
        "tries-again-every-second",
        "What could not be delivered is tried again after a second, as often as need be.",
        "RT-5", CUT, PACED, lambda: tries_again_after(1_000),
    ),
    Defect(
        "tries-again-by-the-minute-for-ever",
        "However often a queue has failed, it waits as long as after the first time.",
        "RT-5", "outbound-mail-delayed", PACED, lambda: server(_by_the_minute),
    ),
    Defect(
        "waits-for-half-of-every-third-retry",
        "After every third failure in a row a queue is tried again in half the time.",
        "RT-5", CUT, PACED, lambda: decides(retry_interval_ms, _every_third_time_early),
    ),
    Defect(
        "waits-twice-as-long-at-every-third-retry",
        "After every third failure in a row a queue is tried again in twice the time.",
        "RT-5", CUT, PACED, lambda: decides(retry_interval_ms, _every_third_time_late),
        only_simulated="a minute of lab time is a second there, and a timer may be two late",
    ),
    Defect(
        "waits-twice-as-long-at-the-end-of-the-ladder",
        "After OutboundConnectionFailureRetryInterval a queue is left alone for as long again.",
        "RT-5", "outbound-mail-delayed", PACED,
        lambda: decides(retry_interval_ms, _late_at_the_end),
    ),
    Defect(
        "tries-what-was-put-off-as-soon-as-its-queue",
        "A message that was put off is tried again after a minute, whatever MessageRetryInterval.",
        "RT-5", PUT_OFF, PACED, lambda: _of_its_own(lambda _: MINUTE_MS),
    ),
    Defect(
        "tries-what-was-put-off-a-third-too-early",
        "A message that was put off is tried again after two thirds of MessageRetryInterval.",
        "RT-5", PUT_OFF, PACED, lambda: _of_its_own(lambda wait_ms: wait_ms * 2 // 3),
    ),
    Defect(
        "tries-what-was-put-off-in-three-times-its-interval",
        "A message that was put off waits for three times MessageRetryInterval.",
        "RT-5", PUT_OFF, PACED, lambda: _of_its_own(lambda wait_ms: 3 * wait_ms),
    ),
)  # fmt: skip
