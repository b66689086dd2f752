"""How a command speaks to a lab that stands: JSON lines over a Unix socket, one request a
connection.

Requests: `{"op": "do", "entry"}`, `{"op": "heal", "fault"}`, `{"op": "send", "entry", "count"}`,
`{"op": "status"}`, `{"op": "end"}`. An answer is any number of `{"say": …}`, then one of
`{"ok": {…}}` and `{"error", "hint", "code"}`. Where the socket is stands in `control.json` of the
run's state directory, and who listens beside it; only whoever may read that is answered. Calls are
answered by the thread that acts on the lab, one after the other.
"""

from __future__ import annotations

import json
import os
import queue
import shutil
import socket
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias

from lab.program import processes
from lab.program.errors import GROUND_FAILED, GroundError, LabError
from lab.program.whole_file import write_whole

CONTROL, STANDS_BY = "control.json", "stands-by.json"
LONGEST_LINE = 1 << 16
GONE = "shadowlab down removes what is left of it"
Json: TypeAlias = Mapping[str, Any]


class Call:
    """One request, and whoever waits for its answer; who has hung up is in nobody's way."""

    def __init__(self, request: Json, connection: socket.socket) -> None:
        self.request = request
        self._connection = connection

    def say(self, line: str) -> None:
        self._tell({"say": line})

    def answer(self, **content: Any) -> None:
        self._tell({"ok": content})
        self.close()

    def refuse(self, error: LabError) -> None:
        self._tell({"error": error.cause, "hint": error.hint, "code": error.exit_code})
        self.close()

    def close(self) -> None:
        with suppress(OSError):
            self._connection.close()

    def _tell(self, row: Json) -> None:
        with suppress(OSError):
            self._connection.sendall(json.dumps(row).encode() + b"\n")


class Control:
    """The lab's end. Use it as a context."""

    def __init__(self, state_dir: Path) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="shadowlab-control-"))  # short, and ours alone
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.bind(str(self._folder / "socket"))
        self._calls: queue.SimpleQueue[Call] = queue.SimpleQueue()
        self._state_dir = state_dir

    def __enter__(self) -> Control:
        self._socket.listen()
        threading.Thread(target=self._listen, name="control", daemon=True).start()
        where = {"socket": str(self._folder / "socket")}
        processes.write(self._state_dir / STANDS_BY)
        write_whole(self._state_dir / CONTROL, json.dumps(where) + "\n")
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()
        shutil.rmtree(self._folder, ignore_errors=True)
        (self._state_dir / CONTROL).unlink(missing_ok=True)

    def next_call(self, wait_seconds: float) -> Call | None:
        """The oldest that nobody has answered; None where none comes in that time."""
        try:
            return self._calls.get(timeout=max(0.0, wait_seconds))
        except queue.Empty:
            return None

    def _listen(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            threading.Thread(target=self._read, args=(connection,), daemon=True).start()

    def _read(self, connection: socket.socket) -> None:
        try:
            with connection.makefile("rb") as lines:
                request = json.loads(lines.readline(LONGEST_LINE))
        except (OSError, ValueError):
            connection.close()
            return
        self._calls.put(Call(request if isinstance(request, dict) else {}, connection))


def is_controlled(state_dir: Path) -> bool:
    """Whether somebody stands by the lab to be spoken to; who was killed does not."""
    is_alive = processes.is_alive(processes.read(state_dir / STANDS_BY))
    return is_alive and (state_dir / CONTROL).is_file()


def ask(state_dir: Path, request: Json, say: Callable[[str], None] = print) -> dict[str, Any]:
    """The answer of the lab whose state directory that is. Raises LabError, as the lab does."""
    try:
        where = json.loads((state_dir / CONTROL).read_text())["socket"]
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(where)
            connection.sendall(json.dumps(request).encode() + b"\n")
            return _answer(connection, say)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise GroundError(f"the lab of {state_dir.name} gives no answer: {error}", GONE) from error


def _answer(connection: socket.socket, say: Callable[[str], None]) -> dict[str, Any]:
    for row in _rows(connection):
        if "say" in row:
            say(str(row["say"]))
        elif "ok" in row:
            return dict(row["ok"])
        else:
            code = int(row.get("code", GROUND_FAILED))
            raise LabError(code, str(row.get("error")), str(row.get("hint", "")))
    raise ValueError("it ended before it answered")


def _rows(connection: socket.socket) -> Iterator[Json]:
    with connection.makefile("rb") as lines:
        for line in lines:
            yield json.loads(line)


def control_folders(state_root: Path) -> list[Path]:
    """The state directories of labs that can be spoken to."""
    with suppress(OSError):
        return sorted(Path(each) for each in os.scandir(state_root) if is_controlled(Path(each)))
    return []
