"""What may happen to a record after the lab left it: a file cut, changed, gone, or another's."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

Damage: TypeAlias = Callable[[random.Random, bytes, bytes], bytes | None]
"""Of a file and of the same file in another run, the file afterwards; None where it is gone."""
WORD = re.compile(rb"[A-Za-z0-9]+")


def cut_in_a_line(chance: random.Random, content: bytes, _: bytes) -> bytes:
    return content[: chance.randrange(len(content))]


def cut_between_lines(chance: random.Random, content: bytes, _: bytes) -> bytes:
    lines = content.splitlines(keepends=True)
    return b"".join(lines[: chance.randrange(len(lines))])


def line_lost(chance: random.Random, content: bytes, _: bytes) -> bytes:
    lines = content.splitlines(keepends=True)
    del lines[chance.randrange(len(lines))]
    return b"".join(lines)


def line_twice(chance: random.Random, content: bytes, _: bytes) -> bytes:
    lines = content.splitlines(keepends=True)
    place = chance.randrange(len(lines))
    return b"".join([*lines[: place + 1], *lines[place:]])


def lines_exchanged(chance: random.Random, content: bytes, _: bytes) -> bytes:
    lines = content.splitlines(keepends=True)
    one, other = chance.randrange(len(lines)), chance.randrange(len(lines))
    lines[one], lines[other] = lines[other], lines[one]
    return b"".join(lines)


def byte_changed(chance: random.Random, content: bytes, _: bytes) -> bytes:
    place = chance.randrange(len(content))
    changed = bytes([content[place] ^ (1 << chance.randrange(8))])
    return content[:place] + changed + content[place + 1 :]


def word_changed(chance: random.Random, content: bytes, _: bytes) -> bytes:
    words = list(WORD.finditer(content))
    if not words:
        return content
    word, other = chance.choice(words), chance.choice(words)[0]
    return content[: word.start()] + other + content[word.end() :]


def emptied(_: random.Random, __: bytes, ___: bytes) -> bytes:
    return b""


def removed(_: random.Random, __: bytes, ___: bytes) -> None:
    return None


def of_another_run(_: random.Random, __: bytes, other: bytes) -> bytes:
    return other


DAMAGES: tuple[Damage, ...] = (
    cut_in_a_line, cut_between_lines, line_lost, line_twice, lines_exchanged, byte_changed,
    word_changed, emptied, removed, of_another_run,
)  # fmt: skip


def damage(folder: Path, other: Path, name: str, how: Damage, seed: int) -> bool:
    """Do that to the file `name` of a run folder; whether its bytes are others now."""
    path, theirs = folder / name, other / name
    before = path.read_bytes()
    if not before:
        return False
    foreign = theirs.read_bytes() if theirs.is_file() else b""
    after = how(random.Random(seed), before, foreign)
    if after is None:
        path.unlink()
    else:
        path.write_bytes(after)
    return after != before
