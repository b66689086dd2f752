"""Defects of the logs that an active copy of a mailbox database gives the others (TP-4)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TypeGuard

from defects.decisions import does
from defects.defect import Context, Defect
from defects.door import Door, behind
from defects.settings import goes_by
from nodes.core.config.config import NodeConfig
from nodes.core.config.databases import DatabaseCopy
from nodes.core.copies.log_shipping import SERVICE, LogShipping
from nodes.core.interface.effects import Effect, OpenSession
from nodes.core.interface.inputs import Input, SessionFailed

SWITCHOVER = "lossless-switchover"
MINUTE_MS = 60_000


def is_for_logs(effect: Effect) -> TypeGuard[OpenSession]:
    return isinstance(effect, OpenSession) and effect.service == SERVICE


def ships(is_sent: Callable[[LogShipping], bool]) -> Context:
    """Logs are sent where this is so."""

    def pump(method: Callable[[LogShipping], None], shipping: LogShipping) -> None:
        if is_sent(shipping):
            method(shipping)

    return does(LogShipping, "pump", pump)


class DoesNotReachTheLastForLogs(Door):
    """`gives_up` says whom."""

    def gives_up(self, peer: str) -> bool:
        return peer == max(s.name for s in self.config.servers if s.role == "mailbox")

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        if is_for_logs(effect) and self.gives_up(effect.peer):
            self.answer(SessionFailed(effect.session, "connection refused"))
            return ()
        return (effect,)


class DoesNotReachWhoWasAwayForLogs(DoesNotReachTheLastForLogs):
    def __init__(self, config: NodeConfig) -> None:
        super().__init__(config)
        self._peers: dict[str, str] = {}
        self._failed: set[str] = set()

    def gives_up(self, peer: str) -> bool:
        return peer in self._failed

    def enters(self, happened: Input) -> Iterable[Input]:
        if isinstance(happened, SessionFailed) and happened.session in self._peers:
            self._failed.add(self._peers[happened.session])
        return (happened,)

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        if is_for_logs(effect):
            self._peers[effect.session] = effect.peer
        return super().leaves(effect)


def knows_one_other_copy(config: NodeConfig) -> NodeConfig:
    """Of the copies of a mailbox database, its own and the first of all others."""

    def known(copies: tuple[DatabaseCopy, ...]) -> tuple[DatabaseCopy, ...]:
        first = next((copy for copy in copies if copy.server != config.me.name), None)
        return tuple(copy for copy in copies if copy is first or copy.server == config.me.name)

    return replace(config, copies={name: known(copies) for name, copies in config.copies.items()})


class CallsForLogsAMinuteLate(Door):
    def leaves(self, effect: Effect) -> Iterable[Effect]:
        if is_for_logs(effect):
            self.hold_back(effect, MINUTE_MS)
            return ()
        return (effect,)


FOLLOW = ("copies_follow",)
DEFECTS = (
    Defect(
        "ships-no-logs",
        "No passive copy is given any log.",
        "TP-4", SWITCHOVER, FOLLOW, lambda: ships(lambda shipping: False),
    ),
    Defect(
        "ships-no-logs-once-activated",
        "A copy that Active Manager has activated gives the others no logs.",
        "TP-4", SWITCHOVER, FOLLOW, lambda: ships(lambda shipping: shipping.epoch == 0),
    ),
    Defect(
        "ships-no-logs-to-one-server",
        "One server of several with passive copies is never reached for logs.",
        "TP-4", "active-manager-cut-off", FOLLOW, lambda: behind(DoesNotReachTheLastForLogs),
    ),
    Defect(
        "ships-logs-to-one-passive-copy",
        "A mailbox database has two passive copies, and the logs go to the first.",
        "TP-4", "best-copy", FOLLOW, lambda: goes_by(knows_one_other_copy),
    ),
    Defect(
        "ships-no-logs-to-whoever-was-away",
        "A server that was not reached for logs once is never called for them again.",
        "TP-4", "failovers", FOLLOW, lambda: behind(DoesNotReachWhoWasAwayForLogs), is_rare=True,
    ),
    Defect(
        "ships-logs-a-minute-late",
        "A session for logs is opened a minute after there are some.",
        "TP-4", SWITCHOVER, FOLLOW, lambda: behind(CallsForLogsAMinuteLate),
        only_simulated="a minute of lab time is a second there, and a timer may be two late",
    ),
)  # fmt: skip
