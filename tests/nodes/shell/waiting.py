"""Waiting for something to become true, with a deadline, and showing logs when it passes."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")

DEADLINE_S = 20.0
STEP_S = 0.005


def until(look: Callable[[], T | None], what: str, folder: Path | None = None) -> T:
    """The first thing that `look` sees; fails with the logs in `folder` when the time is over."""
    deadline = time.monotonic() + DEADLINE_S
    while (seen := look()) is None:
        assert time.monotonic() < deadline, _explain(what, folder)
        time.sleep(STEP_S)
    return seen


async def until_async(look: Callable[[], T | None], what: str, folder: Path | None = None) -> T:
    """The same where an event loop runs."""
    deadline = time.monotonic() + DEADLINE_S
    while (seen := look()) is None:
        assert time.monotonic() < deadline, _explain(what, folder)
        await asyncio.sleep(STEP_S)
    return seen


def records(path: Path) -> list[dict[str, Any]]:
    """The JSON Lines of a file that may not be there yet, without one still being written."""
    if not path.exists():
        return []
    lines = path.read_text().split("\n")[:-1]
    return [json.loads(line) for line in lines if line]


def started(logs: Path, since: int = 0) -> dict[str, Any] | None:
    """The lifecycle event of a node that answers, if there is one after the first `since`."""
    found = [r for r in records(logs / "lifecycle.jsonl") if r["event"] == "started"]
    return found[since] if len(found) > since else None


def _explain(what: str, folder: Path | None) -> str:
    said = [f"not within {DEADLINE_S} s: {what}"]
    for path in sorted(folder.rglob("*.jsonl")) if folder is not None else []:
        said.append(f"--- {path}")
        said += path.read_text().splitlines()[-15:]
    return "\n".join(said)
