"""The grammar by which Active Manager and the servers of a mailbox database speak: both ways, this
project's own.

    XCOPYSTATUS <database>
        250 2.0.0 <state> <epoch> <last-log> <last-log made> <created>
                                             active, passive, seeding, dismounted or failed
    XMOUNT <database> <epoch> [<before>]
        250 2.0.0 <mounted> <last log before> <when it was made>
    XDISMOUNT <database> <epoch>
        250 2.0.0 <last-log> <last-log made>
    XCORRUPT <database>                      a fault, by the lab
        250 2.0.0 <log> <log made>
    XUPDATECOPY <database>                   from a server that came anew, over `replication`
        250 2.0.0 <last-log>                 a seed comes
    XACTIVE <database> <server> <epoch>
        250 2.0.0 <epoch ms from which on nothing was brought to the copy before>
    XFAILOVER <database> [<server>]          to Active Manager, as is the next
    XSWITCHOVER <database> <server>
    XACTIVATELAGGED <database> <server> [<before>]
        250 2.0.0 <epoch> <server>           decided, and durable

Times are epoch ms. As strict as `shadow_verbs`; who may use it is the core's to say.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from nodes.core.interface.copy_commands import (
    AskCopyStatus,
    CopyCommand,
    DismountDatabase,
    MountDatabase,
    NameActiveCopy,
    UpdateCopy,
)
from nodes.core.interface.inputs import (
    ActiveCopyAnswered,
    ActiveCopyNamed,
    CopyStatusAnswered,
    CopyStatusAsked,
    CorruptionRequested,
    DismountAnswered,
    DismountAsked,
    FailoverRequested,
    LaggedCopyRequested,
    MountAnswered,
    MountAsked,
    SeedAsked,
    SeedPromised,
    SwitchoverRequested,
)
from nodes.core.interface.replies import (
    ActiveCopyReply,
    CopyReply,
    CopyStatusReply,
    CorruptionReply,
    DismountReply,
    FailoverReply,
    MountReply,
    SeedingReply,
)
from nodes.core.model.database_copy import CopyState, CopyStatus
from nodes.shell.verbs.words import NUMBER, numbers_of, words_of

_STATES = {state.value: state for state in CopyState if state is not CopyState.SINGLE}

Answer: TypeAlias = (
    CopyStatusAnswered | MountAnswered | DismountAnswered | SeedPromised | ActiveCopyAnswered
)
# what the numbers of an answer become, and how many they are
_ANSWERS: Mapping[type[CopyCommand], tuple[Callable[..., Answer], int]] = {
    MountDatabase: (MountAnswered, 4),
    DismountDatabase: (DismountAnswered, 2),
    UpdateCopy: (SeedPromised, 1),
    NameActiveCopy: (ActiveCopyAnswered, 1),
}


def format_command(command: CopyCommand) -> tuple[str, ...]:
    """What Active Manager or another server says, as words."""
    match command:
        case AskCopyStatus(database):
            return ("XCOPYSTATUS", database)
        case MountDatabase(database, epoch, before_ms):
            before = () if before_ms is None else (str(before_ms),)
            return ("XMOUNT", database, str(epoch), *before)
        case DismountDatabase(database, epoch):
            return ("XDISMOUNT", database, str(epoch))
        case NameActiveCopy(database, server, epoch):
            return ("XACTIVE", database, server, str(epoch))
        case UpdateCopy(database):
            return ("XUPDATECOPY", database)


def format_reply(reply: CopyReply) -> str:
    """What a server or Active Manager answers."""
    match reply:
        case CopyStatusReply(status):
            numbers = (status.epoch, status.last_log, status.last_log_ms, status.created_ms)
            return _line(status.state.value, *numbers)
        case MountReply(mounted_ms, last_log, last_log_ms, last_log_epoch):
            return _line(mounted_ms, last_log, last_log_ms, last_log_epoch)
        case DismountReply(last_log, last_log_ms) | CorruptionReply(last_log, last_log_ms):
            return _line(last_log, last_log_ms)
        case ActiveCopyReply(number) | SeedingReply(number):
            return _line(number)
        case FailoverReply(epoch, server):
            return _line(epoch, server)


def _line(*words: str | int) -> str:
    return " ".join(("2.0.0", *map(str, words)))


def parse_answer(session: str, command: CopyCommand, text: str) -> Answer | None:
    """The 250 to a command, without its code. None for what is not of the grammar, here and
    below.
    """
    code, *words = text.split(" ")
    if code != "2.0.0":
        return None
    if isinstance(command, AskCopyStatus):
        return _status(session, words)
    make, count = _ANSWERS[type(command)]
    numbers = numbers_of(words, count)
    return None if numbers is None else make(session, *numbers)


def _status(session: str, words: list[str]) -> CopyStatusAnswered | None:
    numbers = numbers_of(words[1:], 4)
    if numbers is None or words[0] not in _STATES:
        return None
    return CopyStatusAnswered(session, CopyStatus(_STATES[words[0]], *numbers))


def parse_status_request(session: str, arguments: str) -> CopyStatusAsked | None:
    words = words_of(arguments, 1)
    return CopyStatusAsked(session, *words) if words else None


def parse_mount(session: str, arguments: str) -> MountAsked | None:
    words = words_of(arguments, 2, 3)
    numbers = words and numbers_of(words[1:], len(words) - 1)
    return MountAsked(session, words[0], *numbers) if words and numbers else None


def parse_dismount(session: str, arguments: str) -> DismountAsked | None:
    words = words_of(arguments, 2)
    if words is None or not NUMBER.fullmatch(words[1]):
        return None
    return DismountAsked(session, words[0], int(words[1]))


def parse_seed_wanted(session: str, arguments: str) -> SeedAsked | None:
    words = words_of(arguments, 1)
    return SeedAsked(session, *words) if words else None


def parse_corruption(session: str, arguments: str) -> CorruptionRequested | None:
    words = words_of(arguments, 1)
    return CorruptionRequested(session, *words) if words else None


def parse_active_copy(session: str, arguments: str) -> ActiveCopyNamed | None:
    words = words_of(arguments, 3)
    if words is None or not NUMBER.fullmatch(words[2]):
        return None
    return ActiveCopyNamed(session, words[0], words[1], int(words[2]))


def parse_failover(session: str, arguments: str) -> FailoverRequested | None:
    words = words_of(arguments, 1, 2)
    if words is None:
        return None
    return FailoverRequested(session, words[0], words[1] if len(words) == 2 else None)


def parse_switchover(session: str, arguments: str) -> SwitchoverRequested | None:
    words = words_of(arguments, 2)
    return SwitchoverRequested(session, *words) if words else None


def parse_lagged_activation(session: str, arguments: str) -> LaggedCopyRequested | None:
    words = words_of(arguments, 2, 3)
    before = words and numbers_of(words[2:], len(words) - 2)
    if words is None or before is None:
        return None
    return LaggedCopyRequested(session, words[0], words[1], before[0] if before else None)
