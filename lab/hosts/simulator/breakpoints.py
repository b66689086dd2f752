"""What breakpoints hold in a simulated server, as `nodes.shell.chaos.control_files` says of a real
one.

Outlives the server's processes: each breakpoint holds once in a run. Lets go when the lab says so;
how a fault gets in between is not its business.
"""

from collections.abc import Callable, Mapping
from typing import TypeAlias

from lab.hosts.simulator.event_loop import World
from nodes.shell.chaos.breakpoints import LetGo
from nodes.shell.chaos.places import Breakpoint

Where: TypeAlias = Mapping[str, object]


class Holds:
    """Those of one server. `when_held` is called when somebody should look at `reached`."""

    def __init__(self, world: World, planned: tuple[Breakpoint, ...]) -> None:
        self.planned, self._world = planned, world
        self.reached: dict[str, Where] = {}
        self.when_held: Callable[[], None] = lambda: None
        self._free: set[str] = set()
        self._holding: list[tuple[tuple[str, ...], LetGo]] = []

    def held(self, names: tuple[str, ...], let_go: LetGo) -> None:
        where = {"at_ms": self._world.now_ms(), "mono_ns": self._world.mono_ns()}
        self.reached.update(dict.fromkeys(names, where))
        self._holding.append((names, let_go))
        self.when_held()
        self._look()

    def let_go(self, name: str) -> None:
        self._free.add(name)
        self._look()

    def _look(self) -> None:
        free = [each for each in self._holding if self._free.issuperset(each[0])]
        self._holding = [each for each in self._holding if each not in free]
        for _, let_go in free:
            let_go()
