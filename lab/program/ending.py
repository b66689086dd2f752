"""How a person, or the system, ends a program of the lab: by a signal, at any instant of it.

The first signal is said in one line at once, and Interrupted is raised where the program is, so
that what it began is cleared up. Python swallows that in some places (a weak reference's callback,
a library's bare `except`): a program that still runs some seconds later ends there. One that is
being cleared up hears no second signal. `lab.program.watchdog` hears them itself while a lab has to
be taken down.
"""

import os
import signal
import sys
import threading
from contextlib import suppress
from types import FrameType
from typing import Self

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
INTERRUPTED = 130
PATIENCE_S = 10.0


class Interrupted(BaseException):
    """A person (or the system) asked the program to end. Not an Exception: nothing may swallow it;
    and no KeyboardInterrupt, of which libraries make words of their own."""


def say(number: int) -> None:
    """One line on stderr, past whatever Python is in the middle of."""
    with suppress(OSError):  # a terminal that has gone
        os.write(2, f"shadowlab: ended by {signal.Signals(number).name}\n".encode())


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


def _libraries_speak(may: bool) -> None:
    if (logging := sys.modules.get("logging")) is not None:
        logging.disable(logging.NOTSET if may else logging.CRITICAL)


class Ending:
    """Use it as a context round all that a program does. `by` is the signal's name, once one came;
    in a thread nothing is heard."""

    by = ""

    def __enter__(self) -> Self:
        self._is_main = threading.current_thread() is threading.main_thread()
        self._before = _hear(self._end) if self._is_main else {}
        self._unraisable = sys.unraisablehook
        self._patience: threading.Timer | None = None
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]
        sys.unraisablehook = self._unraisable
        if self._patience is not None:
            self._patience.cancel()
            _libraries_speak(True)

    def _end(self, number: int, _: FrameType | None) -> None:
        if self.by:
            return
        self.by = signal.Signals(number).name
        say(number)
        sys.unraisablehook = lambda _: None  # what is swallowed is not shown
        _libraries_speak(False)  # of what was ended too
        self._patience = threading.Timer(PATIENCE_S, os._exit, (INTERRUPTED,))
        self._patience.daemon = True
        self._patience.start()
        raise Interrupted(self.by)
