"""Files of lines in blocks, in little memory however large they are; and how long a line may be.

No server writes a line of megabytes. A record of somebody else may hold one, and its reader would
end without a word about it: so the file is named, and the line.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from spark_eval.read.folder.run_folder import RunFolder, RunFolderError

MIB = 2**20
BLOCK_BYTES = 4 * MIB
LINE_MAX_BYTES = 16 * MIB  # a row of a log with all recipients that a message may have: a tenth
LINES_MAX = 2**31 - 1  # a number of a line is an int in every table
HINT = "it is no record of a server; take the file out of the folder, or collect the run again"


def blocks(folder: Path, path: Path) -> Iterator[tuple[int, bytes]]:
    """Whole lines, all but the last of the file with their end, and the number of the first of
    them, from 1. Raises OSError, and RunFolderError at a line that is too long.
    """
    number, rest = 1, b""
    with path.open("rb") as file:
        while chunk := file.read(BLOCK_BYTES):
            lines, end, tail = chunk.rpartition(b"\n")
            block, rest = (rest + lines + end, tail) if end else (b"", rest + tail)
            if max(block.find(b"\n"), len(rest)) > LINE_MAX_BYTES:
                at = number if block.find(b"\n") > LINE_MAX_BYTES else number + block.count(b"\n")
                _refuse(folder, path, f"line {at} is longer than {LINE_MAX_BYTES} bytes")
            if block:
                yield number, block
                number += block.count(b"\n")
    if rest:
        yield number, rest


def refuse_what_is_too_large(folder: RunFolder) -> None:
    """Of the evidence, before anything is spent on it; a file that is smaller than the longest
    line needs no look. Raises OSError, RunFolderError.
    """
    for path in folder.evidence():
        if os.stat(path).st_size > LINE_MAX_BYTES:
            for number, _ in blocks(folder.path, path):
                if number > LINES_MAX:
                    _refuse(folder.path, path, f"has more than {LINES_MAX} lines")


def _refuse(folder: Path, path: Path, rule: str) -> None:
    raise RunFolderError(f"run folder {folder}: {path.relative_to(folder)}: {rule}", HINT)
