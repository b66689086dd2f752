"""A file as numbered lines, in bounded memory whatever it holds.

A last line without a line end is torn. One that is longer than `MOST_BYTES`, or no UTF-8, is no
line of text: it is given as damage and the next one is read. A file that is written in UTF-16, as
PowerShell does, is named as such, once.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

MOST_BYTES = 16 * 1024 * 1024
TORN = "torn last line"
TOO_LONG = f"a line longer than {MOST_BYTES // 1024 // 1024} MiB"
NO_UTF_8 = "not UTF-8"
UTF_16 = "UTF-16, not UTF-8"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_UTF_16_MARKS = (b"\xff\xfe", b"\xfe\xff")


class Line(NamedTuple):
    """`number` from 1; `text` without its end; `damage` where it is no whole line of text."""

    number: int
    text: str
    damage: str | None = None


def lines(file: BinaryIO) -> Iterator[Line]:
    """Those that are not empty."""
    number = 0
    while raw := file.readline(MOST_BYTES + 1):
        number += 1
        if number == 1:
            if raw.startswith(_UTF_16_MARKS):
                yield Line(1, "", UTF_16)
                return
            raw = raw.removeprefix(_BYTE_ORDER_MARK)
        line = _line(number, raw, file)
        if line.text.strip() or line.damage not in (None, TORN):
            yield line


def _line(number: int, raw: bytes, file: BinaryIO) -> Line:
    if len(raw) > MOST_BYTES:
        _skip(file)
        return Line(number, "", TOO_LONG)
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        return Line(number, "", NO_UTF_8)
    damage = None if raw.endswith(b"\n") else TORN
    return Line(number, text.rstrip("\r\n"), damage)


def _skip(file: BinaryIO) -> None:
    """To the end of a line that nobody wants."""
    while (raw := file.readline(MOST_BYTES)) and not raw.endswith(b"\n"):
        pass
