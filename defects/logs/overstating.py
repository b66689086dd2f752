"""Defects of logs: rows that say more than happened, or less, or count otherwise (TL-1, TL-2, TL-4,
DD-1).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from defects.defect import Defect
from defects.door import Door, behind
from defects.logs.messages import SaysOtherwise
from nodes.core.interface.effects import Effect, LogConnectivity, LogLifecycle, LogTracking

_COUNTED = re.compile("Messages: ([0-9]+)")
FAR = 1_000_000


class PutsAllRecipientsOff(SaysOtherwise):
    event = "DEFER"

    def instead(self, row: LogTracking) -> LogTracking:
        return replace(row, recipients=row.envelope.recipients)


class PutsAllRecipientsOffOnceInTen(PutsAllRecipientsOff):
    every = 10


class PutsTheFirstRecipientOff(SaysOtherwise):
    event = "DEFER"


class GivesAllRecipientsUp(PutsAllRecipientsOff):
    event = "FAIL"


class SaysDelivered(SaysOtherwise):
    event = "DUPLICATEDELIVER"

    def instead(self, row: LogTracking) -> LogTracking:
        return replace(row, event="DELIVER")


class SaysDuplicate(SaysOtherwise):
    event = "DELIVER"
    every = 20

    def instead(self, row: LogTracking) -> LogTracking:
        return replace(row, event="DUPLICATEDELIVER")


class SaysTaken(Door):
    """Beside rows of `event`; `taken` says what of, if anything."""

    event = "HARECEIVE"

    def taken(self, row: LogTracking) -> LogTracking | None:
        return replace(row, event="RECEIVE", custom=()) if self.is_nth(20) else None

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        if not isinstance(effect, LogTracking) or effect.event != self.event:
            return (effect,)
        taken = self.taken(effect)
        return (effect,) if taken is None else (effect, taken)


class SaysTakenWhatItRefused(SaysTaken):
    event = "HAREDIRECTFAIL"

    def taken(self, row: LogTracking) -> LogTracking | None:
        is_refused = ("Outcome", "rejected") in row.custom
        return replace(row, event="RECEIVE", source="SMTP", custom=()) if is_refused else None


class SaysTakenTwice(SaysTaken):
    event = "RECEIVE"

    def taken(self, row: LogTracking) -> LogTracking | None:
        return replace(row, internal_id=row.internal_id + FAR) if self.is_nth(20) else None


class SaysTakenWhatItStores(SaysTaken):
    """Under an id of its own, as what another server brings has one."""

    event = "DELIVER"

    def taken(self, row: LogTracking) -> LogTracking | None:
        given = replace(row, event="RECEIVE", source="SMTP", source_context="")
        return replace(given, internal_id=row.internal_id + FAR) if self.is_nth(20) else None


class CountsOneMore(Door):
    """Of ten sessions that end with messages one has carried `more` of them."""

    more = 1

    def is_other(self, row: LogConnectivity) -> bool:
        return self.is_nth(10)

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        if not isinstance(effect, LogConnectivity):
            return (effect,)
        found = _COUNTED.match(effect.description)
        if found is None or not self.is_other(effect):
            return (effect,)
        said = f"Messages: {int(found[1]) + self.more}{effect.description[found.end() :]}"
        return (replace(effect, description=said),)


class CountsQuestions(CountsOneMore):
    """A session in which one was answered has carried a message more."""

    asked = ""

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        if isinstance(effect, LogConnectivity) and effect.description.startswith("XQDISCARD con"):
            self.asked = effect.session
        return super().leaves(effect)

    def is_other(self, row: LogConnectivity) -> bool:
        return row.session == self.asked


class CountsOneMorePromoted(Door):
    more = 1

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        if not isinstance(effect, LogLifecycle) or effect.event != "promotion-begun":
            return (effect,)
        fields = dict(effect.fields)
        fields["count"] = int(fields["count"]) + self.more
        return (replace(effect, fields=tuple(fields.items())),)


class CountsOneLessPromoted(CountsOneMorePromoted):
    more = -1


CALM, DELAYED, TWICE = "calm", "outbound-mail-delayed", "acknowledgement-lost"
PROMOTED, REJECTED = "primary-returns-after-promotion", "shadow-unreachable-rejected"
NAMED, STORED, TAKEN = ("recipients_fit",), ("duplicates_logged",), ("intake_for_cause",)
CARRIED, BEGUN = ("sessions_ended",), ("promotions_counted",)
DEFECTS = (
    Defect(
        "logs-all-recipients-as-put-off",
        "Where a message is put off for some, all of its recipients are logged.",
        "TL-1", DELAYED, NAMED, lambda: behind(PutsAllRecipientsOff),
    ),
    Defect(
        "logs-all-recipients-as-put-off-once-in-ten",
        "Of ten messages that are put off for some one is logged with all of its recipients.",
        "TL-1", DELAYED, NAMED, lambda: behind(PutsAllRecipientsOffOnceInTen),
    ),
    Defect(
        "logs-the-first-recipient-as-put-off",
        "Where a message is put off for several, the first of them alone is logged.",
        "TL-1", DELAYED, NAMED, lambda: behind(PutsTheFirstRecipientOff),
    ),
    Defect(
        "logs-all-recipients-as-given-up",
        "Where a message is given up for some, all of its recipients are logged.",
        "TL-1", "every-hop-expires", NAMED, lambda: behind(GivesAllRecipientsUp),
    ),
    Defect(
        "logs-a-duplicate-as-a-delivery",
        "A duplicate that was dropped is logged as if it stood in the mailbox.",
        "DD-1", TWICE, STORED, lambda: behind(SaysDelivered),
    ),
    Defect(
        "logs-one-delivery-in-twenty-as-a-duplicate",
        "One delivery in twenty is logged as a duplicate that was dropped.",
        "DD-1", CALM, STORED, lambda: behind(SaysDuplicate),
    ),
    Defect(
        "logs-one-shadow-message-in-twenty-as-taken-in",
        "One shadow message in twenty is logged as if its server answered for it.",
        "TL-2", CALM, TAKEN, lambda: behind(SaysTaken),
    ),
    Defect(
        "logs-what-it-refuses-as-taken-in",
        "A message that could not be made redundant is refused, and logged as taken in.",
        "TL-2", REJECTED, TAKEN, lambda: behind(SaysTakenWhatItRefused),
    ),
    Defect(
        "logs-one-in-twenty-as-taken-in-twice",
        "One message in twenty is logged as taken in under a second internal id.",
        "TL-2", CALM, TAKEN, lambda: behind(SaysTakenTwice),
    ),
    Defect(
        "logs-one-delivery-in-twenty-as-taken-in",
        "One message in twenty that goes into a mailbox is logged as taken in by that server.",
        "TL-2", CALM, TAKEN, lambda: behind(SaysTakenWhatItStores),
    ),
    Defect(
        "counts-one-message-more-of-one-session-in-ten",
        "One session in ten ends with a message more than it carried.",
        "TL-4", CALM, CARRIED, lambda: behind(CountsOneMore),
    ),
    Defect(
        "counts-questions-as-messages",
        "A session in which a server asked ends with a message more than it carried.",
        "TL-4", CALM, CARRIED, lambda: behind(CountsQuestions),
    ),
    Defect(
        "says-that-it-promotes-one-more",
        "That a promotion begins is logged with one message more than there are.",
        "TL-4", PROMOTED, BEGUN, lambda: behind(CountsOneMorePromoted),
    ),
    Defect(
        "says-that-it-promotes-one-less",
        "That a promotion begins is logged with one message less than there are.",
        "TL-4", PROMOTED, BEGUN, lambda: behind(CountsOneLessPromoted),
    ),
)  # fmt: skip
