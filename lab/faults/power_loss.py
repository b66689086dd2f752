"""A power loss: the server dies at once, and with it what it had written and not made durable.

Evidence is the same as of a kill. What the disk lost is drawn from the seed, within what SQLite
counts on from a disk; how much of it that was is not in the record. A container that is killed
loses nothing that its kernel was given, so this fault is the simulator's alone.

What it leaves out: peers hear at once that their sessions are gone, as after a kill, where those of
a machine without power would wait; and the server's logs, which are the lab's record, stay whole.
"""

from collections.abc import Mapping

from lab.faults.kill import KILLED
from lab.faults.observer.evidence import Evidence
from lab.faults.server_down import Away


class PowerLoss(Away):
    """One power loss of a plan."""

    def describe(self) -> str:
        return f"cut the power of {self._server}"

    def intent(self) -> Mapping[str, object]:
        return {"kind": "power_loss", "server": self._server}

    def _end(self) -> int:
        return self._lab.servers.lose_power(self._server)

    def confirmed(self) -> Evidence:
        return self._ended_with(KILLED)
