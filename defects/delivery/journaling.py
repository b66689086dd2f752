"""Defects of journal reports: shadows that do not wait for them, and reports that are missing, say
too little, or come too often (SM-10).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from defects.decisions import does
from defects.defect import Context, Defect
from defects.discards.notifying import WaitsForNoDsn
from defects.door import Door, behind
from nodes.core.delivery.dsn import Report
from nodes.core.delivery.journal import DOMAIN, Journaling
from nodes.core.interface.inputs import DatabaseOpened, Input
from nodes.core.model.message import Envelope, PrimaryMessage
from nodes.core.shadow.primary_side import Redundancy

REPORTS = "journal-reports"
ONCE = ("journaled_once",)
Decision = Callable[..., Report | None]


def journals(otherwise: Callable[..., Report | None]) -> Context:
    return does(Journaling, "report", otherwise)


@contextmanager
def journals_nothing_promoted() -> Iterator[None]:
    promoted: set[str] = set()

    def promotes(method: Any, self: Any, event: Any) -> None:
        promoted.add(event.message.network_message_id)
        method(self, event)

    def report(method: Decision, self: Any, message: PrimaryMessage, now_ms: int) -> Report | None:
        is_it = message.network_message_id in promoted
        return None if is_it else method(self, message, now_ms)

    with does(Redundancy, "promoted", promotes), journals(report):
        yield


def _one_in_twenty_missing(
    method: Decision, self: Any, message: PrimaryMessage, now_ms: int
) -> Report | None:
    is_it = message.internal_id % 20 == 7
    return None if is_it else method(self, message, now_ms)


def _the_first_recipient(
    method: Decision, self: Any, message: PrimaryMessage, now_ms: int
) -> Report | None:
    first = [replace(fork, recipients=fork.recipients[:1]) for fork in message.forks[:1]]
    return method(self, replace(message, forks=tuple(first)), now_ms)


def _of_no_group(
    method: Decision, self: Any, message: PrimaryMessage, now_ms: int
) -> Report | None:
    """As if the envelope had named the members."""
    whom = tuple(each for fork in message.forks for each in fork.recipients)
    return method(self, replace(message, envelope=Envelope(message.envelope.sender, whom)), now_ms)


def _of_reports(method: Decision, self: Any, message: PrimaryMessage, now_ms: int) -> Report | None:
    """As if somebody had sent them. Of reports every second one, so that there is an end to it."""
    name = message.header.message_id
    if name.endswith(f"@{DOMAIN}>") and int(name[1], 16) % 2:
        return None
    sender = message.envelope.sender or message.envelope.recipients[0]
    envelope = replace(message.envelope, sender=sender)
    return method(self, replace(message, envelope=envelope), now_ms)


def _under_another_name(
    method: Decision, self: Any, message: PrimaryMessage, now_ms: int
) -> Report | None:
    made = method(self, message, now_ms)
    if made is None:
        return None
    old, report = made.message.header.message_id, made.message
    new = f"<{report.network_message_id}@{old.partition('@')[2]}"
    header = replace(report.header, message_id=new)
    body = made.body.replace(f"Message-ID: {old}", f"Message-ID: {new}")
    size_bytes = report.size_bytes + len(new) - len(old)
    return replace(made, message=replace(report, header=header, size_bytes=size_bytes), body=body)


class ForgetsReports(Door):
    """At a restart, those that wait."""

    def enters(self, happened: Input) -> Iterable[Input]:
        if isinstance(happened, DatabaseOpened):
            left = tuple(each for each in happened.messages if each.side_effect_of is None)
            return (replace(happened, messages=left),)
        return (happened,)


DEFECTS = (
    Defect(
        "waits-for-no-journal-report",
        "The shadow copy may go before the journal report of its message is delivered.",
        "SM-10", REPORTS, ("discard_after_delivery", "journaled_once"),
        lambda: behind(WaitsForNoDsn),
    ),
    Defect(
        "journals-nothing-promoted",
        "Who promotes a shadow message delivers it and makes no journal report.",
        "SM-10", REPORTS, ONCE, journals_nothing_promoted,
    ),
    Defect(
        "forgets-journal-reports-at-a-restart",
        "Journal reports that wait when a server stops are not sent when it starts again.",
        "SM-10", REPORTS, ("drains_after_heal",),
        lambda: behind(ForgetsReports),
    ),
    Defect(
        "journals-all-but-one-in-twenty",
        "No journal report is made of one message in twenty.",
        "SM-10", REPORTS, ONCE, lambda: journals(_one_in_twenty_missing),
    ),
    Defect(
        "journals-the-first-recipient-alone",
        "A journal report names the first recipient of its message.",
        "SM-10", REPORTS, ONCE, lambda: journals(_the_first_recipient),
    ),
    Defect(
        "journals-members-without-their-group",
        "A journal report does not say through which group somebody gets its message.",
        "SM-10", REPORTS, ONCE, lambda: journals(_of_no_group),
    ),
    Defect(
        "journals-journal-reports",
        "A journal report for a mailbox of a journaled database is reported itself.",
        "SM-10", REPORTS, ("journaled_once", "no_phantom"), lambda: journals(_of_reports),
    ),
    Defect(
        "journals-again-under-another-name",
        "What is reported once more after a restart has another Message-Id, so both reports stay.",
        "SM-10", REPORTS, ONCE, lambda: journals(_under_another_name),
    ),
)  # fmt: skip
