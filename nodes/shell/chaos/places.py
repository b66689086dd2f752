"""Places of breakpoints, recognised from what goes in at the core's one door and what comes out.

Pure: sessions, promotions and resubmissions are followed by their inputs and effects, and a place
is named the moment it is reached. How commits share a transaction does not show at the door; of
that place the disk knows. What is to happen there is not decided here; the core knows nothing of
it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from nodes.core.interface.copy_changes import SeedCopy
from nodes.core.interface.effects import (
    ChangeCopy,
    Commit,
    Effect,
    HangUp,
    LogLifecycle,
    ReadSafetyNet,
    SendReply,
    ShadowRequest,
    Transmit,
)
from nodes.core.interface.inputs import (
    ConnectionLost,
    DeliveryRequested,
    DiscardAsked,
    Input,
    LogAnnounced,
    MailboxAnnounced,
    MessageOffered,
    OutboxRequested,
    SafetyNetRead,
    SeedAnnounced,
    SessionLost,
    ShadowRequested,
    TransactionReset,
    TransmissionAnswered,
)
from nodes.core.interface.queue_changes import InsertMessage, InsertShadow, PromoteShadow
from nodes.core.model.resubmit_request import Position

Place: TypeAlias = Literal[
    # the primary has all of a message durable, and says 250 to DATA next
    "after-data-before-250",
    # the shadow server has all of a shadow message durable, and says 250 to it next
    "before-shadow-250",
    # the primary has that 250, and has begun no commit of its own
    "after-shadow-250-before-250",
    # the primary answers XQDISCARD next
    "after-xqdiscard-before-reply",
    # the primary accepts a message, protected or not, and its commit is next (TL-7)
    "after-data-before-commit",
    # the shadow server has all of a shadow message, and its commit is next (TL-7)
    "before-shadow-commit",
    # a transaction that several commits share is half written, and nothing of it is durable (TL-7)
    "in-group-commit",
    # a page of a promotion is durable, and the commit of another one is next (SM-7)
    "between-promotion-pages",
    # the messages of one page of a resubmission are on their way, and another one is next (SN-8)
    "between-resubmission-pages",
    # a copy of a mailbox database has all of a seed, and takes it in next (TP-4)
    "before-seed-commit",
    # it has taken the seed in, and says 250 to it next
    "before-seed-250",
]

PLACES: tuple[Place, ...] = get_args(Place)
JUST_OFFERED = "in:"  # handles of bodies that no database holds yet
PROMOTION_BEGUN = "promotion-begun"


@dataclass(frozen=True, slots=True)
class Breakpoint:
    """Hold the node at the `nth` time that it reaches a place, counted from `from_ms` to
    `until_ms`: lab ms since the start."""

    name: str
    at: Place
    nth: int
    from_ms: int
    until_ms: int

    def counts(self, now_ms: int) -> bool:
        """Not while lab time still stands at 0: what is sent then only tries out the links."""
        return now_ms > 0 and self.from_ms <= now_ms <= self.until_ms


@dataclass(frozen=True, slots=True)
class At:
    """A node is at a place, or is there as soon as the commit numbered `after` is durable."""

    place: Place
    after: int | None = None


class Counts:
    """How often one life of a node has reached the place of each breakpoint."""

    def __init__(self, planned: Iterable[Breakpoint], spent: Collection[str]) -> None:
        """`spent` names those that have held a node in an earlier life: each holds once."""
        self._left = {each: each.nth for each in planned if each.name not in spent}

    def reached(self, place: Place, now_ms: int) -> tuple[str, ...]:
        """The names of the breakpoints that hold the node here and now."""
        hit = []
        for each in [b for b in self._left if b.at == place and b.counts(now_ms)]:
            self._left[each] -= 1
            if self._left[each] == 0:
                del self._left[each]
                hit.append(each.name)
        return tuple(hit)


class Places:
    """Where one life of a node is: in its sessions, and with its databases."""

    def __init__(self) -> None:
        self._asked: dict[str, Input] = {}
        self._announced: dict[str, Input] = {}
        self._shadowing: set[str] = set()
        self._pages = Pages()

    def of_input(self, happened: Input) -> At | None:
        """The place at which the node is before it is given this."""
        match happened:
            case (
                MessageOffered()
                | DiscardAsked()
                | ShadowRequested()
                | DeliveryRequested()
                | OutboxRequested()
                | LogAnnounced()
                | SeedAnnounced()
                | MailboxAnnounced()
            ):
                self._asked[happened.session] = happened
            case TransactionReset():
                self._announced.pop(happened.session, None)
            case ConnectionLost():
                self._asked.pop(happened.session, None)
                self._announced.pop(happened.session, None)
            case TransmissionAnswered() if happened.session in self._shadowing:
                self._shadowing.discard(happened.session)
                return At("after-shadow-250-before-250") if happened.code == 250 else None
            case SessionLost():
                self._shadowing.discard(happened.session)
            case SafetyNetRead():
                self._pages.read(happened)
        return None

    def of_effect(self, effect: Effect) -> At | None:
        """The place at which the node is before it carries this out."""
        match effect:
            case Transmit(prologue=ShadowRequest()) if effect.body.startswith(JUST_OFFERED):
                self._shadowing.add(effect.session)
            case Transmit() | HangUp():
                self._shadowing.discard(effect.session)
            case SendReply():
                return self._of_reply(effect)
            case Commit():
                return _of_commit(effect) or self._pages.of_commit(effect)
            case ReadSafetyNet():
                return self._pages.of_reading(effect)
            case ChangeCopy(what=SeedCopy()):
                return At("before-seed-commit")
            case LogLifecycle(event=event) if event == PROMOTION_BEGUN:
                self._pages.promotion_begun()
        return None

    def _of_reply(self, effect: SendReply) -> At | None:
        asked, accepts = self._asked.pop(effect.session, None), effect.reply.code == 250
        match asked:
            case MessageOffered():
                announced = self._announced.pop(effect.session, None)
                return _of_acceptance(announced) if accepts else None
            case (
                ShadowRequested()
                | DeliveryRequested()
                | OutboxRequested()
                | LogAnnounced()
                | SeedAnnounced()
                | MailboxAnnounced()
            ) if accepts:
                self._announced[effect.session] = asked
            case DiscardAsked() if accepts:
                return At("after-xqdiscard-before-reply")
        return None


class Pages:
    """Promotions and resubmissions that are too large for one transaction."""

    def __init__(self) -> None:
        self._promoted: int | None = None
        self._ends: set[Position] = set()
        self._has_resubmitted = False

    def promotion_begun(self) -> None:
        """The next page is the first one."""
        self._promoted = None

    def read(self, page: SafetyNetRead) -> None:
        if page.more and page.copies:
            self._ends.add(page.copies[-1].position)

    def of_commit(self, commit: Commit) -> At | None:
        for change in commit.changes:
            match change:
                case PromoteShadow():
                    before, self._promoted = self._promoted, commit.commit
                    return None if before is None else At("between-promotion-pages", before)
                case InsertMessage() if change.message.resubmit_request is not None:
                    self._has_resubmitted = True
                    return None
        return None

    def of_reading(self, effect: ReadSafetyNet) -> At | None:
        """The next page is read when the messages of the one before are redundant."""
        if effect.after not in self._ends:
            self._has_resubmitted = False
            return None
        self._ends.discard(effect.after)
        return At("between-resubmission-pages") if self._has_resubmitted else None


def _of_commit(commit: Commit) -> At | None:
    for change in commit.changes:
        match change:
            case InsertMessage() if change.body.startswith(JUST_OFFERED):
                return At("after-data-before-commit")
            case InsertShadow():
                return At("before-shadow-commit")
    return None


def _of_acceptance(announced: Input | None) -> At | None:
    """Before the 250 to a message that came as this."""
    match announced:
        case None:
            return At("after-data-before-250")
        case ShadowRequested():
            return At("before-shadow-250")
        case SeedAnnounced():
            return At("before-seed-250")
    return None
