"""What ends a run before its time: a person who presses Ctrl-C, and a clock for runs that hang.

Both arrive as signals in the main thread, so that they interrupt whatever it is blocked in. The
first one raises where the run is; from then on the lab is being taken down, and a further Ctrl-C
is answered by a line and nothing else: a take-down is never left half done. Where Python swallows
what is raised (a callback of the garbage collector) it is raised again a moment later. Each step of
the take-down has a bound of its own, after which the step alone is given up.
"""

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Self

from lab.program.ending import SIGNALS
from lab.program.ending import Interrupted as Interrupted

TIME_IS_UP = signal.SIGUSR1
AGAIN_S = 0.05

Say = Callable[[str], None]


class TimeIsUp(BaseException):
    """The run, or a step of its take-down, took longer than its bound."""


class Watchdog:
    """Use it as a context in the main thread, round everything that the run does."""

    def __init__(self, say: Say) -> None:
        self._say = say
        self._taking_down = False
        self._bounded = False
        self._before: dict[int, object] = {}
        self._main = threading.main_thread().ident or 0
        self._timer: threading.Timer | None = None

    def __enter__(self) -> Self:
        for number in SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN:  # nohup: somebody wants it so
                self._before[number] = signal.signal(number, self._person)
        self._before[TIME_IS_UP] = signal.signal(TIME_IS_UP, self._clock)
        self._unraisable, sys.unraisablehook = sys.unraisablehook, self._swallowed
        return self

    def __exit__(self, *_: object) -> None:
        self._disarm()
        sys.unraisablehook = self._unraisable
        for number, handler in self._before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]

    def bound(self, seconds: float) -> None:
        """The run may take this long from now; TimeIsUp is raised in it after that."""
        self._arm(seconds)

    def take_down(self) -> None:
        """From here on no signal of a person raises, and the bound of the run is off."""
        self._taking_down = True
        self._disarm()

    @contextmanager
    def step(self, name: str, seconds: float, complaints: list[str]) -> Iterator[None]:
        """One step of the take-down: its errors and its lateness become a complaint."""
        self._arm(seconds)
        try:
            yield
        except TimeIsUp:
            complaints.append(f"{name} did not end within {seconds:.0f} s")
        except Exception as error:
            complaints.append(f"{name}: {' '.join(str(error).split()) or type(error).__name__}")
        finally:
            self._disarm()

    def _person(self, number: int, _: FrameType | None) -> None:
        if self._taking_down:
            self._say("the lab is being taken down; this ends by itself")
            return
        self._taking_down = True
        raise Interrupted(signal.Signals(number).name)

    def _swallowed(self, unraisable: "sys.UnraisableHookArgs") -> None:
        """Of what is raised in a place where Python cannot raise."""
        if isinstance(unraisable.exc_value, Interrupted):
            name = str(unraisable.exc_value)
            threading.Timer(AGAIN_S, self._again, (signal.Signals[name],)).start()
        elif isinstance(unraisable.exc_value, TimeIsUp):
            self._arm(AGAIN_S)
        else:
            self._unraisable(unraisable)

    def _again(self, number: int) -> None:
        self._taking_down = False
        signal.pthread_kill(self._main, number)

    def _clock(self, *_: object) -> None:
        if self._bounded:
            self._bounded = False
            raise TimeIsUp

    def _arm(self, seconds: float) -> None:
        self._disarm()
        self._bounded = True
        self._timer = threading.Timer(seconds, signal.pthread_kill, (self._main, TIME_IS_UP))
        self._timer.daemon = True
        self._timer.start()

    def _disarm(self) -> None:
        self._bounded = False
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
