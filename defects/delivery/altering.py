"""Defects of contents and envelopes: mail that is not what was sent (TL-10)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from itertools import count

from defects.defect import Context, Defect
from defects.door import Door, behind
from defects.store import exchanges_texts, stores
from nodes.core.interface.effects import (
    Effect,
    ShadowRequest,
    ShipLog,
    ShipMailbox,
    ShipSeed,
    Transmit,
)

CALM, INTACT = "calm", ("content_intact",)


def _from_nobody(sent: Transmit) -> Transmit:
    return replace(sent, envelope=replace(sent.envelope, sender=""))


class ForgetsTheSender(Door):
    """Of one message in twenty, on its way to whoever reads it."""

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        if not isinstance(effect, Transmit) or isinstance(
            effect.prologue, ShadowRequest | ShipLog | ShipMailbox | ShipSeed
        ):
            return (effect,)
        return (_from_nobody(effect),) if self.is_nth(20) else (effect,)


class ForgetsTheSenderOfShadows(Door):
    def leaves(self, effect: Effect) -> Iterable[Effect]:
        if isinstance(effect, Transmit) and isinstance(effect.prologue, ShadowRequest):
            return (_from_nobody(effect),)
        return (effect,)


def _flipped(content: bytes) -> bytes:
    return content[:-3] + bytes([content[-3] ^ 1]) + content[-2:]


def _of_seven_bits(content: bytes) -> bytes:
    return bytes(octet & 0x7F for octet in content)


def _as_in_an_mbox(content: bytes) -> bytes:
    return re.sub(rb"(?m)^From ", b">From ", content)


def _without_blanks(content: bytes) -> bytes:
    return re.sub(rb"[ \t]+\r\n", b"\r\n", content)


def _in_shorter_lines(content: bytes) -> bytes:
    return re.sub(rb"([^\r\n]{900})(?=[^\r\n])", rb"\1\r\n", content)


def _without_a_blank_end(content: bytes) -> bytes:
    return content.rstrip(b" \t\r\n") + b"\r\n"


def _unfolded(content: bytes) -> bytes:
    header, end, body = content.partition(b"\r\n\r\n")
    return re.sub(rb"\r\n[ \t]+", b" ", header) + end + body


def _with_line_ends_of_its_own(content: bytes) -> bytes:
    return content.replace(b"\r\n", b"\n")


def alters_one_in_fifty() -> Context:
    numbers = count(1)
    return stores(lambda content: content if next(numbers) % 50 else _flipped(content))


DEFECTS = (
    Defect(
        "stores-another-content",
        "A bit of each message is another one in the mailbox.",
        "TL-10", CALM, INTACT, lambda: stores(_flipped),
    ),
    Defect(
        "stores-another-content-of-one-in-fifty",
        "A bit of one message in fifty is another one in the mailbox.",
        "TL-10", CALM, INTACT, alters_one_in_fifty,
    ),
    Defect(
        "stores-an-empty-message",
        "What stands in the mailbox is empty.",
        "TL-10", CALM, INTACT, lambda: stores(lambda content: b""),
    ),
    Defect(
        "clears-the-eighth-bit",
        "In the mailbox the eighth bit of each octet is zero.",
        "TL-10", CALM, INTACT, lambda: stores(_of_seven_bits),
    ),
    Defect(
        "escapes-lines-that-begin-with-from",
        "A line that begins with `From ` has a `>` in front of it in the mailbox, as in an mbox.",
        "TL-10", CALM, INTACT, lambda: stores(_as_in_an_mbox),
    ),
    Defect(
        "drops-blanks-at-the-end-of-lines",
        "Blanks at the end of a line are gone in the mailbox.",
        "TL-10", CALM, INTACT, lambda: stores(_without_blanks),
    ),
    Defect(
        "breaks-long-lines",
        "A line of more than 900 octets is two lines in the mailbox.",
        "TL-10", CALM, INTACT, lambda: stores(_in_shorter_lines),
    ),
    Defect(
        "drops-blank-lines-at-the-end",
        "Blank lines at the end of a message are gone in the mailbox.",
        "TL-10", CALM, INTACT, lambda: stores(_without_a_blank_end),
    ),
    Defect(
        "unfolds-header-fields",
        "A header field that was folded has one line in the mailbox.",
        "TL-10", CALM, INTACT, lambda: stores(_unfolded),
    ),
    Defect(
        "ends-lines-in-lf",
        "Lines in the mailbox end in LF alone.",
        "TL-10", CALM, INTACT, lambda: stores(_with_line_ends_of_its_own),
    ),
    Defect(
        "forgets-the-sender-of-one-in-twenty",
        "One message in twenty arrives with the null sender.",
        "TL-10", CALM, INTACT, lambda: behind(ForgetsTheSender),
    ),
    Defect(
        "shadow-messages-have-no-sender",
        "The second copy of a message has the null sender, and so has what is promoted.",
        "TL-10", "primary-loses-its-queue-database", INTACT,
        lambda: behind(ForgetsTheSenderOfShadows),
    ),
    Defect(
        "exchanges-texts",
        "What is stored in one transaction has the text of another message under its own header.",
        "TL-10", "lossy-failover", INTACT, exchanges_texts,
    ),
)  # fmt: skip
