"""Inputs of a core one at a time: one that comes while another is handled waits until all effects
of that one are carried out, so a log row stands before the reply that follows it.

Both hosts drive their cores by this: a process (`nodes.shell.core_loop`) and the simulator's
(`lab.hosts.simulator.process`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from nodes.core.interface.inputs import Input


class OneAtATime:
    """`handle` gets each input, `rest` is called when none waits any more, `failed` with what
    either raised: half of an input's effects is a state that nobody has thought about.
    """

    def __init__(
        self,
        handle: Callable[[Input], None],
        rest: Callable[[], None],
        failed: Callable[[Exception], None],
    ) -> None:
        self._handle, self._rest, self._failed = handle, rest, failed
        self._waiting: deque[Input] = deque()
        self._is_handling = self._is_over = False

    def give(self, happened: Input) -> None:
        """Something happened. Nothing does any more after `end`."""
        if self._is_over:
            return
        self._waiting.append(happened)
        if not self._is_handling:
            self.handle_all()

    def handle_all(self) -> None:
        """What waits, which may be nothing, and the rest."""
        self._is_handling = True
        try:
            while self._waiting:
                self._handle(self._waiting.popleft())
            self._rest()
        except Exception as error:
            self._failed(error)
        finally:
            self._is_handling = False

    def end(self) -> None:
        self._is_over = True
        self._waiting.clear()

    @property
    def is_over(self) -> bool:
        return self._is_over
