"""How a person, or the system, ends a program of the evaluation: by a signal, at any instant of it.

The first signal is said in one line at once, and KeyboardInterrupt is raised where the program is,
so that a JVM that it began is ended; nothing is said of that. What Python swallows (in a weak
reference's callback, in a library's bare `except`) ends the program some seconds later. Whoever
called it as a part of a larger program says the line itself.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from contextlib import suppress
from types import FrameType
from typing import Self

from spark_eval.program.exit_codes import INTERRUPTED

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
CALLED = "SHADOWLAB_CALLED"  # set for a program whose caller says how it ended
PATIENCE_S = 10.0


def say(number: int) -> None:
    """One line on stderr, past whatever Python is in the middle of."""
    if CALLED not in os.environ:
        with suppress(OSError):  # a terminal that has gone
            os.write(2, f"error: ended by {signal.Signals(number).name}\n".encode())


def at_once() -> None:
    """From now on a signal ends the program where it is: nothing has begun yet, or all is done."""

    def end(number: int, _: FrameType | None) -> None:
        say(number)
        os._exit(INTERRUPTED)

    _hear(end)


def _hear(handler: object) -> dict[int, object]:
    """An ignored signal (nohup) stays ignored. The handlers before."""
    heard = [each for each in SIGNALS if signal.getsignal(each) is not signal.SIG_IGN]
    return {each: signal.signal(each, handler) for each in heard}  # type: ignore[arg-type]


def _say_no_more() -> None:
    """What libraries say of a JVM that was ended too, and what Python swallows, is not shown."""
    sys.unraisablehook = lambda _: None
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)


class Ending:
    """Use it as a context round all that a program does. `by` is the signal's name, once one came;
    in a thread nothing is heard."""

    by = ""

    def __enter__(self) -> Self:
        is_main = threading.current_thread() is threading.main_thread()
        self._before = _hear(self._end) if is_main else {}
        self._unraisable = sys.unraisablehook
        self._patience: threading.Timer | None = None
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]
        sys.unraisablehook = self._unraisable
        if self._patience is not None:
            self._patience.cancel()

    def _end(self, number: int, _: FrameType | None) -> None:
        if self.by:
            return
        self.by = signal.Signals(number).name
        say(number)
        _say_no_more()
        self._patience = threading.Timer(PATIENCE_S, os._exit, (INTERRUPTED,))
        self._patience.daemon = True
        self._patience.start()
        raise KeyboardInterrupt
