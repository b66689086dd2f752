"""Active Manager as a process: `python3 -m nodes.shell.active_manager CONFIG`.

A node like any other but for its core and its database (`manager.db`); exit codes as in
`nodes.shell.runner`.
"""

from __future__ import annotations

if __name__ == "__main__":  # before everything that takes its time
    from nodes.shell.signals import keep_signals

    keep_signals()

import asyncio
import sqlite3
import sys
from pathlib import Path
from typing import Any

from nodes.shell.config_file import NodeFile
from nodes.shell.process import EX_IOERR, EX_USAGE, CannotStart, serve
from nodes.shell.runner import Runner, new_database_id
from nodes.shell.signals import heed, leave
from nodes.shell.storage.any_disk import AnyDisk, AnyOpening
from nodes.shell.storage.manager_disk import ManagerDisk
from nodes.store.manager_database import open_manager_database


class ManagerRunner(Runner):
    """One Active Manager."""

    def _open_database(self) -> AnyOpening:
        path = self._file.data / "manager.db"
        try:
            return open_manager_database(path, self._clock.now_ms(), new_database_id)
        except (sqlite3.Error, OSError) as error:
            raise CannotStart(EX_IOERR, f"{path}: {error}") from error

    def _open_disk(self, opening: Any) -> AnyDisk:
        return ManagerDisk(opening.database, self.give, self.fail)


async def _live(file: NodeFile) -> int:
    runner = ManagerRunner(file)
    heed(asyncio.get_running_loop(), runner.stop, runner.machine_changed)
    return await runner.run()


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        print("usage: python3 -m nodes.shell.active_manager CONFIG", file=sys.stderr)
        return EX_USAGE
    return serve(Path(arguments[0]), "active_manager", _live)


if __name__ == "__main__":
    leave(main(sys.argv[1:]))
