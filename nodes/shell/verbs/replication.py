"""The grammar by which the active copy of a mailbox database ships what it has, both ways:
this project's own.

    XLOG <database> <epoch> <number> <log-epoch> <previous-log-epoch> <made> <sha256>
        250 2.0.0 Log may follow          then MAIL, RCPT, DATA; 250 2.6.0 replayed <number>
        503 5.5.1 expects <number> after <epoch of the log before>
        554 5.5.4 active under <epoch>
    XSEED <database> <epoch>
        250 2.0.0 Seed may follow         then MAIL, RCPT, DATA; 250 2.6.0 seeded <last-log>

`epoch` is the one under which the sender is active. Times are epoch ms. As strict as
`shadow_verbs`; who may use it is the core's to say.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import astuple, replace

from nodes.core.interface.effects import ShipLog, ShipSeed
from nodes.core.interface.inputs import LogAnnounced, SeedAnnounced, TransmissionAnswered
from nodes.core.interface.replies import ActiveUnder, LogExpected, LogReplayed, LogReply, Seeded
from nodes.core.model.database_copy import ReplicationLog
from nodes.shell.verbs.words import NUMBER, numbers_of, words_of

_SHA256 = re.compile(r"[0-9a-f]{64}")
_REPLIES: Mapping[type[LogReply], str] = {
    LogReplayed: "2.6.0 replayed {}",
    Seeded: "2.6.0 seeded {}",
    LogExpected: "5.5.1 expects {} after {}",
    ActiveUnder: "5.5.4 active under {}",
}
_READ = {
    kind: re.compile(re.escape(text).replace(r"\{\}", f"({NUMBER.pattern})"))
    for kind, text in _REPLIES.items()
}


def format_prologue(prologue: ShipLog | ShipSeed) -> tuple[str, ...]:
    """The command that announces a log or a seed, as words."""
    if isinstance(prologue, ShipSeed):
        return ("XSEED", prologue.database, str(prologue.epoch))
    log = prologue.log
    numbers = (prologue.epoch, log.number, log.epoch, log.previous_epoch, log.made_ms)
    return ("XLOG", log.database, *map(str, numbers), log.sha256)


def parse_log(session: str, arguments: str) -> LogAnnounced | None:
    """None for arguments that are not of the grammar, here and below."""
    words = words_of(arguments, 7)
    numbers = words and numbers_of(words[1:6], 5)
    if not words or not numbers or not _SHA256.fullmatch(words[6]):
        return None
    epoch, number, log_epoch, previous_epoch, made_ms = numbers
    log = ReplicationLog(words[0], number, log_epoch, previous_epoch, made_ms, words[6])
    return LogAnnounced(session, epoch, log)


def parse_seed(session: str, arguments: str) -> SeedAnnounced | None:
    words = words_of(arguments, 2)
    if words is None or not NUMBER.fullmatch(words[1]):
        return None
    return SeedAnnounced(session, words[0], int(words[1]))


def format_reply(reply: LogReply) -> str:
    return _REPLIES[type(reply)].format(*astuple(reply))


def parse_reply(code: int, text: str) -> LogReply | None:
    """The final reply to a log or a seed."""
    for kind, grammar in _READ.items():
        found = grammar.fullmatch(text)
        if found is not None and code == kind.code:
            return kind(*map(int, found.groups()))
    return None


def understood(answer: TransmissionAnswered) -> TransmissionAnswered:
    """With what its text says of a log or a seed, if it does."""
    reply = parse_reply(answer.code, answer.text)
    return answer if reply is None else replace(answer, log_reply=reply)
