"""The record of a simulated run: the files of its run folder, kept as lines until it is over.

Names and lines are those of `runs/<scenario>/<…>/`; nothing here knows a format.
"""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

FIELDS = "#Fields: "


class RecordInMemory:
    """Lines by file, in the order in which they came; beside them, by server, the exit code of the
    last process and the traceback of every crash.
    """

    def __init__(self) -> None:
        self._files: dict[str, list[str]] = {}
        self.exit_codes: dict[str, int] = {}
        self.crashes: dict[str, list[str]] = {}

    def file(self, name: str) -> list[str]:
        """The lines of a file, to add to; a file that was asked for is there, if only empty."""
        return self._files.setdefault(name, [])

    def logs(self, server: str) -> "ServerFiles":
        return ServerFiles(self, f"logs/{server}")

    @property
    def files(self) -> Mapping[str, list[str]]:
        """By name, in the order of names."""
        return dict(sorted(self._files.items()))

    def write(self, folder: Path) -> None:
        """All files below `folder`. Raises OSError."""
        for name, lines in self._files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(file_bytes(lines))


def file_bytes(lines: Iterable[str]) -> bytes:
    """What a file of these lines holds."""
    return "".join(f"{line}\n" for line in lines).encode("utf-8", "backslashreplace")


class ServerFiles:
    """Where one server's log lines go."""

    def __init__(self, record: RecordInMemory, folder: str) -> None:
        self._record, self._folder = record, folder

    def append(self, name: str, line: str) -> None:
        self._record.file(f"{self._folder}/{name}").append(line)

    def append_dated(self, prefix: str, stamp: str, header: Callable[[], str], line: str) -> None:
        lines = self._record.file(f"{self._folder}/{prefix}{stamp}-1.LOG")
        if not lines:
            lines += header().splitlines()
        lines.append(line)

    def close(self) -> None:
        """Nothing is open."""
