"""A host: where a plan is run. Containers are one; whatever else can stand in for them is another.

The run asks in this order: `up`, `start_clock`, then `stop_workload`, `stop_servers`, `collect`,
`down`. After `up` began, the later ones must work whatever became of it: they are the take-down.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from lab.faults.observer.target import Proxies, Servers, Wire
from lab.plan.plan import Plan
from lab.plan.topology import LinkName
from lab.record.folder import RunFolder
from lab.workload.agent import Hushed, ProbeMessageReply, WorkloadStatus
from lab.workload.probe import Probe

Say = Callable[[str], None]


class MessageProber(Protocol):
    """Connects and sends over links from inside the lab. Raises AgentError."""

    def probe(self, address: str, wait_seconds: float) -> Probe: ...

    def probe_message(
        self,
        address: str,
        *,
        fqdn: str,
        sender: str,
        recipient: str,
        message_id: str,
        wait_seconds: float,
    ) -> ProbeMessageReply: ...


class TrafficSource(MessageProber, Protocol):
    """The workload and the prober in one. Raises AgentError."""

    def status(self) -> WorkloadStatus: ...

    def add(self, messages: Sequence[Mapping[str, object]]) -> None: ...

    def hush(self) -> Hushed: ...


@dataclass(frozen=True, slots=True)
class Means:
    """What a run acts through, once the lab stands."""

    links: dict[LinkName, Wire]
    proxies: Proxies
    servers: Servers
    traffic: TrafficSource


class Host(Protocol):
    """One lab. Methods raise GroundError."""

    @property
    def name(self) -> str: ...

    def up(self, plan: Plan, folder: RunFolder, say: Say) -> Means:
        """Provision and verify; lab time stands still."""

    def start_clock(self) -> int:
        """Set lab time going everywhere; the monotonic time of t = 0, a little ahead."""

    def describe(self) -> Mapping[str, object]:
        """`versions` and `images`, for host.json."""

    def stop_workload(self) -> None:
        """Nothing is sent any more and the ledger is whole."""

    def stop_servers(self) -> Mapping[str, int]:
        """All of them, in good order; exit codes by name."""

    def collect(self) -> Sequence[str]:
        """Bring the records into the run folder; what could not be brought."""

    def keep(self) -> str:
        """Leave the lab standing instead of `down`; how a person removes it later."""

    def down(self) -> None:
        """Remove everything."""
