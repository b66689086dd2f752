"""The Docker engine between two runs of a suite: waited for, for a bounded time, and said."""

import time
from collections.abc import Callable

from lab.run.outcome import Say, span

WAIT_SECONDS = 300.0
LOOK_SECONDS = 1.0


class Engine:
    """`remark` says when the engine went and when it came back. Once it was waited for in vain,
    it is only looked at."""

    def __init__(
        self, answers: Callable[[], bool], remark: Say, wait_seconds: float = WAIT_SECONDS
    ) -> None:
        self.answers, self._remark = answers, remark
        self._wait_seconds = wait_seconds
        self._gave_up = False

    def wait(self, when: str) -> bool:
        """Whether it answers, now or after a while."""
        if self.answers():
            self._gave_up = False
            return True
        if self._gave_up:
            return False
        self._remark(f"the Docker engine does not answer {when}; waiting")
        began = time.monotonic()
        while (waited := time.monotonic() - began) < self._wait_seconds:
            time.sleep(min(LOOK_SECONDS, self._wait_seconds / 10))
            if self.answers():
                self._remark(f"the Docker engine answers again after {span(waited)}")
                return True
        self._gave_up = True
        self._remark(f"the Docker engine did not come back within {span(self._wait_seconds)}")
        return False
