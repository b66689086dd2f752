"""A node's program, from its configuration file to its exit code.

Exit codes: 0 stopped, 64 wrong configuration, 69 the port is taken, 70 a mistake of this program,
73 a folder cannot be made or written to, 74 a database cannot be opened. Each with a line on
stderr, but for 0; a mistake of this program with its traceback and with `crashed` in the lifecycle
log, wherever it came out.
"""

from __future__ import annotations

import asyncio
import logging
import sys
import traceback
from collections.abc import Awaitable, Callable
from pathlib import Path

from nodes.core.config.error import ConfigurationError
from nodes.shell.config_file import NodeFile, load_node_file
from nodes.shell.logs.logs import note_crash, note_refusal

EX_USAGE, EX_UNAVAILABLE, EX_SOFTWARE, EX_CANTCREAT, EX_IOERR = 64, 69, 70, 73, 74


class CannotStart(Exception):
    """The world does not let the node start; `exit_code` says what kind of thing is in the way."""

    def __init__(self, exit_code: int, reason: str) -> None:
        super().__init__(reason)
        self.exit_code = exit_code


def serve(path: Path, role: str, live: Callable[[NodeFile], Awaitable[int]]) -> int:
    """Read the configuration, live by it, and say in one line what is in the way; the exit code."""
    logging.getLogger("mail.log").setLevel(logging.CRITICAL)  # aiosmtpd's own, beside ours
    logging.getLogger("asyncio").setLevel(logging.ERROR)  # that clients are gone is no warning
    try:
        file = load_node_file(path)
        if file.node.me.role != role:
            given = file.node.me.role
            raise ConfigurationError(f"Role: {given}: this program serves {role}", "")
        return asyncio.run(_awaited(live, file))
    except ConfigurationError as mistake:
        hint = f"\nhint: {mistake.hint}" if mistake.hint else ""
        print(f"{path}: {mistake.message}{hint}", file=sys.stderr)
        note_refusal(path, mistake.message)
        return EX_USAGE
    except CannotStart as refusal:
        print(f"cannot start: {refusal}", file=sys.stderr)
        return refusal.exit_code
    except Exception as error:
        traceback.print_exception(error)
        note_crash(path, said(error))
        return EX_SOFTWARE


def said(error: BaseException) -> str:
    """The traceback, as the lifecycle log has it."""
    return "".join(traceback.format_exception(error))


async def _awaited(live: Callable[[NodeFile], Awaitable[int]], file: NodeFile) -> int:
    return await live(file)
