"""What an effect asks for, in words that continue "waits for …": of a disk, or of another server.

A row for each effect that has an answer; what is done with the answer is said by whoever waits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from nodes.core.interface.copy_commands import (
    AskCopyStatus,
    CopyCommand,
    DismountDatabase,
    MountDatabase,
    NameActiveCopy,
    UpdateCopy,
)
from nodes.core.interface.effects import (
    AskDiscard,
    ChangeCopy,
    Commit,
    DeliverToMailboxes,
    Effect,
    ManageCopy,
    MeasureConverted,
    PassCommand,
    PassMessage,
    ReadSafetyNet,
    RequestResubmit,
    ShipLog,
    Transmit,
)
from nodes.core.model.resubmit_request import ResubmitDemand


def awaited_of(effect: Effect) -> str:
    """Of the disk: "the disk to write InsertFailover"."""
    return _OF_THE_DISK[type(effect)](effect)


def answer_of(peer: str, effect: Effect) -> str:
    """Of another server: "the answer of lyo-mbx1 to the order to mount db1 under epoch 2"."""
    return f"the answer of {peer} to {_OF_A_PEER[type(effect)](effect)}"


def question_of(question: CopyCommand | ResubmitDemand) -> str:
    """What Active Manager has to say: "the order to mount db1 under epoch 2"."""
    return _QUESTIONS[type(question)](question)


def _count(number: int, noun: str, ending: str = "s") -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}{ending}"


def _commit(effect: Commit) -> str:
    counts = Counter(type(change).__name__ for change in effect.changes)
    names = (name if count == 1 else f"{count} {name}" for name, count in counts.items())
    return f"the disk to write {', '.join(names)}"


def _delivery(effect: DeliverToMailboxes) -> str:
    mailboxes = _count(len(effect.recipients), "mailbox", "es")
    return f"the delivery of {effect.header.message_id} into {mailboxes} of {effect.database}"


def _conversion(effect: MeasureConverted) -> str:
    return f"the sizes of {_count(len(effect.bodies), 'content')} once converted"


_OF_THE_DISK: dict[type, Callable[[Any], str]] = {
    Commit: _commit,
    DeliverToMailboxes: _delivery,
    ReadSafetyNet: lambda e: f"copies of its {e.source.value} Safety Net",
    MeasureConverted: _conversion,
    ChangeCopy: lambda e: f"{type(e.what).__name__} in its copy of {e.database}",
}


def _message(effect: Transmit | PassMessage) -> str:
    recipients = _count(len(effect.envelope.recipients), "recipient")
    return f"message {effect.body} to {recipients}"


def _transmission(effect: Transmit) -> str:
    if isinstance(effect.prologue, ShipLog):
        return f"log {effect.prologue.log.number} of {effect.prologue.log.database}"
    return _message(effect)


_QUESTIONS: dict[type, Callable[[Any], str]] = {
    AskCopyStatus: lambda c: f"the question where its copy of {c.database} stands",
    MountDatabase: lambda c: f"the order to mount {c.database} under epoch {c.epoch}",
    DismountDatabase: lambda c: f"the order to dismount {c.database}, active under epoch {c.epoch}",
    NameActiveCopy: lambda c: f"the news that {c.database} is active on {c.server}",
    UpdateCopy: lambda c: f"the question for all that its copy of {c.database} has",
    ResubmitDemand: lambda d: f"the request {d.request_id} to resubmit for {d.destination}",
}
_OF_A_PEER: dict[type, Callable[[Any], str]] = {
    Transmit: _transmission,
    PassMessage: _message,
    PassCommand: lambda e: f"{type(e.command).__name__} {e.command.address}",
    AskDiscard: lambda e: "the question for discard notifications",
    RequestResubmit: lambda e: question_of(e.demand),
    ManageCopy: lambda e: question_of(e.command),
}
