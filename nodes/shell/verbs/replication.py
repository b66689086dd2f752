"""The grammar by which the active copy of a mailbox database ships what it has: this project's own.

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

from nodes.core.interface.effects import ShipLog, ShipSeed
from nodes.core.interface.inputs import LogAnnounced, SeedAnnounced
from nodes.core.model.database_copy import ReplicationLog
from nodes.shell.verbs.words import NUMBER, numbers_of, words_of

_SHA256 = re.compile(r"[0-9a-f]{64}")


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
