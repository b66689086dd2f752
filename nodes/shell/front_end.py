"""A front end as a process: `python3 -m nodes.shell.front_end CONFIG`.

A node like any other but for its core, and that it has no database; exit codes as in
`nodes.shell.runner`.
"""

from __future__ import annotations

if __name__ == "__main__":  # before everything that takes its time
    from nodes.shell.signals import keep_signals

    keep_signals()

import asyncio
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nodes.core.interface.effects import LogLifecycle
from nodes.core.interface.inputs import FrontEndStarted
from nodes.shell.config_file import NodeFile
from nodes.shell.process import EX_USAGE, serve
from nodes.shell.runner import Runner
from nodes.shell.signals import heed, leave
from nodes.shell.smtp.front_end_connection import FrontEndConnection
from nodes.shell.storage.any_disk import AnyDisk, AnyOpening
from nodes.shell.storage.no_disk import NoDisk


@dataclass(frozen=True, slots=True)
class NothingToOpen:
    """Of a server without a database."""

    opened: FrontEndStarted
    set_aside: None = None


class FrontEndRunner(Runner):
    """One front end."""

    connection = FrontEndConnection

    def _open_database(self) -> AnyOpening:
        return NothingToOpen(FrontEndStarted())

    def _open_disk(self, opening: Any) -> AnyDisk:
        return NoDisk()

    def _last_words(self) -> LogLifecycle:
        said = super()._last_words()
        return LogLifecycle(said.event, (*said.fields, ("count", len(self.disk.bodies))))


async def _live(file: NodeFile) -> int:
    runner = FrontEndRunner(file)
    heed(asyncio.get_running_loop(), runner.stop, runner.machine_changed)
    return await runner.run()


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        print("usage: python3 -m nodes.shell.front_end CONFIG", file=sys.stderr)
        return EX_USAGE
    return serve(Path(arguments[0]), "frontend", _live)


if __name__ == "__main__":
    leave(main(sys.argv[1:]))
