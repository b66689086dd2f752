"""A bar for a step that takes its time, on a terminal; elsewhere nothing: lines say enough there.

The bar is on stderr, and what is said meanwhile goes above it; stdout is never touched. It shows
the time that went by beside the time that is expected, and does not pretend to know more.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from rich.console import Console
from rich.progress import Progress, ProgressColumn, SpinnerColumn, Task, TextColumn
from rich.progress_bar import ProgressBar
from rich.text import Text

WIDTH = 30


def is_terminal() -> bool:
    """Whether a bar can be shown: stderr is a terminal that can move its cursor."""
    return sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb"


@contextmanager
def waiting(words: str, seconds: float | None = None) -> Iterator[None]:
    """Show a bar while the context lasts; `seconds` is how long that should be, None: nobody
    knows."""
    if not is_terminal():
        yield
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}"), _Bar(), _Times())
    console = Console(stderr=True, no_color=bool(os.environ.get("NO_COLOR")) or None)
    progress = Progress(*columns, console=console, transient=True, redirect_stdout=False)
    progress.add_task(words, total=seconds)
    with suppress(OSError):  # a terminal that has gone keeps nobody from working
        progress.start()
    try:
        yield
    finally:
        with suppress(OSError):
            progress.stop()


class _Bar(ProgressColumn):
    """As full as the time that went by; it pulses where that is longer than expected."""

    def render(self, task: Task) -> ProgressBar:
        elapsed = task.elapsed or 0.0
        is_late = task.total is None or elapsed > task.total
        return ProgressBar(task.total or 1.0, elapsed, WIDTH, pulse=is_late)


class _Times(ProgressColumn):
    """`0:12 of about 0:25`."""

    def render(self, task: Task) -> Text:
        about = "" if task.total is None else f" of about {_clock(task.total)}"
        return Text(f"{_clock(task.elapsed or 0.0)}{about}")


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
