"""A node that spins: it goes on at one moment, or tries again without a pause, for ever.

No scenario of the library gives a server more than some hundred inputs in a lab minute. Bounds far
above that, which grow with the mail, end a process that would keep the simulator busy for ever.
"""

from collections import Counter, deque

from nodes.core.interface.inputs import Input

IN_A_MINUTE = 20_000
IN_AN_INSTANT = 5_000
PER_MESSAGE = 100
MINUTE_US = 60_000_000
SHOWN = 60
Kind = type[Input]


class SpinningError(Exception):
    """The node's own mistake; the text names the loop."""


class InputBounds:
    """How many inputs one process may be given, in an instant and in a minute of lab time;
    `messages` is how many the workload has.
    """

    def __init__(self, messages: int) -> None:
        allowance = PER_MESSAGE * messages
        self._in_a_minute, self._in_an_instant = IN_A_MINUTE + allowance, IN_AN_INSTANT + allowance
        self._minute = self._instant_us = -1
        self._since_minute = self._since_instant = 0
        self._last = deque[Kind](maxlen=SHOWN)

    def note(self, happened: Input, now_us: int) -> None:
        """Raises SpinningError."""
        self._last.append(type(happened))
        if now_us != self._instant_us:
            self._instant_us, self._since_instant = now_us, 0
            minute = now_us // MINUTE_US
            if minute != self._minute:
                self._minute, self._since_minute = minute, 0
        self._since_instant += 1
        self._since_minute += 1
        if self._since_instant > self._in_an_instant:
            raise SpinningError(f"{self._in_an_instant} inputs in one instant; {self._loop()}")
        if self._since_minute > self._in_a_minute:
            raise SpinningError(f"{self._in_a_minute} inputs in one lab minute; {self._loop()}")

    def last_inputs(self) -> str:
        """The latest at the end, the same ones in a row once."""
        said = list[str]()
        for kind in self._last:
            if not said or said[-1] != kind.__name__:
                said.append(kind.__name__)
        return " ".join(said)

    def _loop(self) -> str:
        kinds = Counter(kind.__name__ for kind in self._last)
        loop = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
        return f"of the last {len(self._last)}: {loop}"
