"""A held node and the lab notify each other by three small files a breakpoint, in the data folder.

The node writes `NAME.reached` when it is held; the lab writes `NAME.go` when it may go on. No port
is open, and either may be killed at any moment: a node that returns finds what has held it already,
and one whose lab is gone goes on by itself after `LONGEST_S` and leaves `NAME.lapsed`.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

from nodes.shell.storage.shared_files import write_shared

FOLDER = "breakpoints"
REACHED, GO, LAPSED = "reached", "go", "lapsed"
POLL_S = 0.005
LONGEST_S = 10.0


def control_file(data: Path, name: str, word: str) -> Path:
    """Where a word about a breakpoint stands, below a node's data folder."""
    return data / FOLDER / f"{name}.{word}"


class ControlFiles:
    """The node's side. `fail` is called with what keeps a file from being written."""

    def __init__(
        self,
        data: Path,
        lab_ms: Callable[[], int],
        mono_ns: Callable[[], int],
        fail: Callable[[BaseException], None],
        longest_s: float = LONGEST_S,
    ) -> None:
        """Raises OSError where the folder cannot be made."""
        self._data, self._lab_ms, self._mono_ns, self._fail = data, lab_ms, mono_ns, fail
        self._longest_s = longest_s
        (data / FOLDER).mkdir(parents=True, exist_ok=True)

    def spent(self) -> set[str]:
        """Breakpoints that have held this node, in this life or an earlier one."""
        return {path.stem for path in (self._data / FOLDER).glob(f"*.{REACHED}")}

    def held(self, names: tuple[str, ...], let_go: Callable[[], None]) -> None:
        """Notify the lab; `let_go` is called when it has answered, or has had its time."""
        where = {"at_ms": self._lab_ms(), "mono_ns": self._mono_ns()}
        self._say(names, REACHED, json.dumps(where))
        loop = asyncio.get_running_loop()
        self._look(names, let_go, loop.time() + self._longest_s)

    def _look(self, names: tuple[str, ...], let_go: Callable[[], None], until_s: float) -> None:
        loop = asyncio.get_running_loop()
        left = tuple(name for name in names if not control_file(self._data, name, GO).exists())
        if left and loop.time() < until_s:
            loop.call_later(POLL_S, self._look, left, let_go, until_s)
            return
        self._say(left, LAPSED, "")
        try:
            let_go()
        except Exception as error:
            self._fail(error)

    def _say(self, names: tuple[str, ...], word: str, text: str) -> None:
        """Whole or not at all: the lab may look at any moment."""
        try:
            for name in names:
                write_shared(control_file(self._data, name, word), text)
        except OSError as error:
            self._fail(error)
