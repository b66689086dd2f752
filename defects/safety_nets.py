"""Defects of both Safety Nets: how long they keep what, and what they give back (SN)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from defects.decisions import does
from defects.defect import Context, Defect
from defects.door import Door, behind
from defects.settings import transport
from nodes.core.config.config import NodeConfig
from nodes.core.delivery.delivery import Delivery
from nodes.core.interface.effects import Commit, Effect, ExpireSafetyNet
from nodes.core.interface.inputs import Input, ResubmitRequested, SafetyNetExpired, SafetyNetRead
from nodes.core.interface.queue_changes import (
    Change,
    DeleteMessage,
    InsertShadow,
    MoveToPrimarySafetyNet,
    MoveToShadowSafetyNet,
)
from nodes.core.interface.resubmit_changes import AdvanceResubmitRequest
from nodes.core.model.message import PrimaryMessage
from nodes.core.model.next_hop import NextHop
from nodes.core.model.resubmit_request import KeptCopy, ResubmitDemand
from nodes.core.resubmission.requests import Resubmission

CALM, LOSSY, ACROSS = "calm", "lossy-failover", "across-boundaries"
MINUTE_MS, HOUR_MS = 60_000, 3_600_000


class WritesOtherwise(Door, ABC):
    """`written` says what stands in a transaction instead of a change."""

    @abstractmethod
    def written(self, change: Any) -> Any: ...

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        if isinstance(effect, Commit):
            return (replace(effect, changes=tuple(map(self.written, effect.changes))),)
        return (effect,)


class KeepsOneInTenBriefly(WritesOtherwise):
    """In the Primary Safety Net, for a third of its time."""

    def written(self, change: Change) -> Change:
        if isinstance(change, MoveToPrimarySafetyNet) and self.is_nth(10):
            third_ms = (change.expires_ms - change.delivered_ms) // 3
            return replace(change, expires_ms=change.delivered_ms + third_ms)
        return change


class KeepsNothingOfOneInFour(WritesOtherwise):
    """In the Primary Safety Net: its time is over at once."""

    def written(self, change: Change) -> Change:
        if isinstance(change, MoveToPrimarySafetyNet) and self.is_nth(4):
            return replace(change, expires_ms=change.delivered_ms)
        return change


class KeepsShadowsBriefly(WritesOtherwise):
    """In the Shadow Safety Net, for a third of its time."""

    def written(self, change: Change) -> Change:
        if isinstance(change, MoveToShadowSafetyNet):
            third_ms = (change.expires_ms - change.delivered_ms) // 3
            return replace(change, expires_ms=change.delivered_ms + third_ms)
        return change


class KeepsNoUnacknowledgedShadow(WritesOtherwise):
    """A shadow message that nobody has acknowledged is kept for five minutes."""

    def written(self, change: Change) -> Change:
        if isinstance(change, InsertShadow):
            return replace(change, expires_ms=change.shadow.received_ms + 5 * MINUTE_MS)
        return change


class KeepsNineInTen(WritesOtherwise):
    """One message in ten is deleted when it is delivered."""

    def written(self, change: Change) -> Change:
        if isinstance(change, MoveToPrimarySafetyNet) and self.is_nth(10):
            return DeleteMessage(change.internal_id)
        return change


class NeverLetsGo(Door):
    """Nothing leaves a Safety Net."""

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        if isinstance(effect, ExpireSafetyNet):
            self.answer(SafetyNetExpired((), effect.now_ms + HOUR_MS))
            return ()
        return (effect,)


class WritesDownNoProgress(Door):
    """A page that is given back is not marked as that."""

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        if not isinstance(effect, Commit):
            return (effect,)
        left = tuple(c for c in effect.changes if not isinstance(c, AdvanceResubmitRequest))
        return (replace(effect, changes=left),)


class ReadsOtherwise(Door, ABC):
    """`read` says what the core hears instead of a page of a Safety Net."""

    @abstractmethod
    def read(self, page: SafetyNetRead) -> SafetyNetRead: ...

    def enters(self, happened: Input) -> Iterable[Input]:
        return (self.read(happened) if isinstance(happened, SafetyNetRead) else happened,)


class ReadsNothing(ReadsOtherwise):
    def read(self, page: SafetyNetRead) -> SafetyNetRead:
        return replace(page, copies=(), more=False)


class ReadsTheFirstPage(ReadsOtherwise):
    def read(self, page: SafetyNetRead) -> SafetyNetRead:
        return replace(page, more=False)


class PassesOverOneInTen(ReadsOtherwise):
    def read(self, page: SafetyNetRead) -> SafetyNetRead:
        left = tuple(copy for copy in page.copies if not self.is_nth(10))
        return replace(page, copies=left)


class PassesOverPublicFolders(ReadsOtherwise):
    def read(self, page: SafetyNetRead) -> SafetyNetRead:
        left = (copy for copy in page.copies if not any("-folders" in r for r in copy.recipients))
        return replace(page, copies=tuple(left))


class TakesOneHopForAnother(ReadsOtherwise):
    """What left for another boundary is read as if it had gone into a mailbox here."""

    def read(self, page: SafetyNetRead) -> SafetyNetRead:
        return replace(page, copies=tuple(map(self._as_if_here, page.copies)))

    def _as_if_here(self, copy: KeptCopy) -> KeptCopy:
        is_relayed = copy.next_hop is not None and copy.next_hop.is_relay
        return replace(copy, next_hop=NextHop.into("DB1")) if is_relayed else copy


class WorksOnAnotherDemand(Door, ABC):
    """`demanded` says what the core is asked for instead."""

    @abstractmethod
    def demanded(self, demand: ResubmitDemand) -> ResubmitDemand: ...

    def enters(self, happened: Input) -> Iterable[Input]:
        if isinstance(happened, ResubmitRequested):
            return (replace(happened, demand=self.demanded(happened.demand)),)
        return (happened,)


class ForAnotherDatabase(WorksOnAnotherDemand):
    def demanded(self, demand: ResubmitDemand) -> ResubmitDemand:
        return replace(demand, destination="DB2")


class WithoutTheLastMinute(WorksOnAnotherDemand):
    def demanded(self, demand: ResubmitDemand) -> ResubmitDemand:
        return replace(demand, end_ms=demand.end_ms - MINUTE_MS)


class FromAnHourBefore(WorksOnAnotherDemand):
    def demanded(self, demand: ResubmitDemand) -> ResubmitDemand:
        return replace(demand, start_ms=demand.start_ms - HOUR_MS)


def hold(factor: float) -> Context:
    return transport(
        lambda t: replace(t, safety_net_hold_time_ms=int(factor * t.safety_net_hold_time_ms))
    )


def _forgets_the_request(add: Any, delivery: Delivery, message: PrimaryMessage, *more: Any) -> None:
    add(delivery, replace(message, resubmit_request=None), *more)


@contextmanager
def gives_back_what_left_the_boundary() -> Iterator[None]:
    """Its resubmission takes every mailbox for one of the database that failed over."""

    def begin(init: Callable[..., None], self: Any, config: NodeConfig, *more: Any) -> None:
        init(self, replace(config, mailboxes=dict.fromkeys(config.mailboxes, "DB1")), *more)

    with behind(TakesOneHopForAnother), does(Resubmission, "__init__", begin):
        yield


HELD, COMPLETE = ("held_long_enough",), ("resubmission_complete",)
BOUNDED = ("resubmission_bounded",)
DEFECTS = (
    Defect(
        "keeps-for-half-the-time",
        "Both Safety Nets keep mail for half of SafetyNetHoldTime.",
        "SN-1", CALM, HELD, lambda: hold(0.5),
    ),
    Defect(
        "keeps-for-longer",
        "Both Safety Nets keep mail for one and a half times SafetyNetHoldTime.",
        "SN-1", CALM, HELD, lambda: hold(1.5),
    ),
    Defect(
        "keeps-for-ever",
        "Nothing leaves a Safety Net.",
        "SN-1", CALM, HELD, lambda: behind(NeverLetsGo),
    ),
    Defect(
        "keeps-one-in-ten-briefly",
        "One message in ten leaves the Primary Safety Net after a third of its time.",
        "SN-1", CALM, HELD, lambda: behind(KeepsOneInTenBriefly),
    ),
    Defect(
        "keeps-nothing-of-one-in-four",
        "One message in four is in no Primary Safety Net once it is delivered.",
        "SM-15", CALM, ("redundancy_exposure",), lambda: behind(KeepsNothingOfOneInFour),
    ),
    Defect(
        "keeps-shadows-briefly",
        "The Shadow Safety Net keeps mail for a third of its time.",
        "SN-2", CALM, HELD, lambda: behind(KeepsShadowsBriefly),
    ),
    Defect(
        "keeps-no-unacknowledged-shadow",
        "A shadow message that nobody has acknowledged is gone after five minutes.",
        "SN-2", "primary-returns-in-time", HELD, lambda: behind(KeepsNoUnacknowledgedShadow),
    ),
    Defect(
        "keeps-nine-in-ten",
        "One message in ten never gets into the Primary Safety Net.",
        "SN-1", LOSSY, COMPLETE, lambda: behind(KeepsNineInTen),
    ),
    Defect(
        "gives-nothing-back",
        "A Safety Net takes the request on, and says that it is done.",
        "SN-6", LOSSY, COMPLETE, lambda: behind(ReadsNothing),
    ),
    Defect(
        "gives-the-first-page-back",
        "A Safety Net gives back its first fifty copies.",
        "SN-8", "several-pages", COMPLETE, lambda: behind(ReadsTheFirstPage),
    ),
    Defect(
        "writes-down-no-progress",
        "A Safety Net that dies between two pages gives the first one back again.",
        "SN-8", "killed-between-pages", BOUNDED, lambda: behind(WritesDownNoProgress),
    ),
    Defect(
        "passes-over-one-copy-in-ten",
        "A Safety Net gives back nine copies in ten.",
        "SN-6", LOSSY, COMPLETE, lambda: behind(PassesOverOneInTen),
    ),
    Defect(
        "passes-over-public-folders",
        "A Safety Net gives nothing back that is for a public folder mailbox.",
        "SN-14", "public-folders", COMPLETE, lambda: behind(PassesOverPublicFolders),
    ),
    Defect(
        "gives-back-another-database",
        "A Safety Net gives back what is for another database.",
        "SN-8", LOSSY, ("resubmission_complete", "resubmission_bounded"),
        lambda: behind(ForAnotherDatabase),
    ),
    Defect(
        "leaves-out-the-last-minute",
        "A Safety Net leaves out the last minute of the interval.",
        "SN-8", "active-manager-cut-off", COMPLETE, lambda: behind(WithoutTheLastMinute),
    ),
    Defect(
        "gives-back-an-hour-more",
        "A Safety Net gives back what was delivered up to an hour before the interval.",
        "SN-8", LOSSY, BOUNDED, lambda: behind(FromAnHourBefore),
    ),
    Defect(
        "gives-back-what-left-the-boundary",
        "A Safety Net gives back what went to another boundary.",
        "SN-12", ACROSS, BOUNDED, gives_back_what_left_the_boundary,
    ),
    Defect(
        "sends-dsns-for-resubmitted-mail",
        "Resubmitted mail that expires causes a DSN.",
        "SN-10", "resubmitted-mail-expires", ("dsn_suppressed",),
        lambda: does(Delivery, "add", _forgets_the_request),
    ),
)  # fmt: skip
