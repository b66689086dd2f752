"""The two clocks of one process of a simulated server."""

from lab.hosts.simulator.event_loop import MS, World


class ServerClock:
    """The two clocks of one process, as `nodes.shell.clock` has them; `skew_ms`: at its start."""

    def __init__(self, world: World, skew_ms: int) -> None:
        self._world, self.skew_ms = world, skew_ms
        self.ahead_ms = 0
        self.mono_ns = world.mono_ns

    @property
    def origin_ms(self) -> int:
        return self._world.origin_ms

    def now_ms(self) -> int:
        return self._world.origin_ms + self._world.now_us // MS + self.skew_ms

    def date_ms(self) -> int:
        return self.now_ms() + self.ahead_ms

    def stamp(self) -> tuple[int, int]:
        return self.date_ms(), self.mono_ns()

    def skew(self, skew_ms: int) -> None:
        self.ahead_ms = skew_ms - self.skew_ms
