"""How long a loss of redundancy lasts: what must pass around the loss of a queue database.

The promise is that no single failure loses mail. A message is lost when every queue database that
held it is, so the time between two such losses must let redundancy come back. Of all faults only a
kill with `new-queue-database` or `new-server` takes a database; a server that was cut off, paused,
stopped or killed with its disk intact is still a custodian. But any fault can leave messages with
one custodian only, which the next loss must not hit:

- Messages that the lost server was primary for have one copy until their shadow servers notice
  the new database id (SM-7): within one `ShadowHeartbeatFrequency`. They are shadowed again as they
  are promoted (SM-13).
- Messages that it held shadows for are not shadowed again (SM-17): they have one copy until they
  are delivered. So have those that another fault made a server accept unprotected (SM-15, SR-5).
  What keeps them queued is the fault itself, so they are delivered once it is over: when a session
  that hangs is given up (`ConnectionInactivityTimeOut`), and their queue is tried again (RT-5).
- A server is back when its banner is, which is some seconds of the host's clock after its start.

So `whole_ms` of a calm network has to lie before and after each loss of a database, whoever
suffered the fault on the other side; between other faults a server must be back, and no more.
"""

from dataclasses import dataclass

from lab.plan.parts import Settings
from lab.plan.topology import PlanTopology
from nodes.core.config.units import MINUTE_MS, format_timespan

RETURN_SECONDS = 2.0  # of the host's clock: a process ends and starts, and its banner is seen
RETRY_INTERVALS = (
    "QueueGlitchRetryInterval",
    "TransientFailureRetryInterval",
    "OutboundConnectionFailureRetryInterval",
    "MessageRetryInterval",
)


@dataclass(frozen=True, slots=True)
class Recovery:
    """In lab milliseconds: noticing, giving up a session that hangs, trying again, being back."""

    heartbeat_ms: int
    give_up_ms: int
    retry_ms: int
    return_ms: int

    @property
    def whole_ms(self) -> int:
        """From the end of a fault until every message has its custodians or is delivered."""
        return self.heartbeat_ms + self.give_up_ms + self.retry_ms + self.return_ms

    def in_words(self) -> str:
        """`00:29:00 (heartbeat 00:02:00, …)`."""
        return (
            f"{format_timespan(self.whole_ms)} (heartbeat {format_timespan(self.heartbeat_ms)}, "
            f"session that hangs {format_timespan(self.give_up_ms)}, "
            f"retry {format_timespan(self.retry_ms)}, return {format_timespan(self.return_ms)})"
        )


def recovery_of(settings: Settings, topology: PlanTopology, speed: float) -> Recovery:
    """By the settings of the slowest mailbox server, which alone tries anything again, at `speed`
    lab seconds per second of wall clock.
    """
    names = [each.name for each in topology.servers if each.role == "mailbox"]
    sections = [settings.servers[name] for name in names]
    retries = [int(each["TransportService"][name]) for each in sections for name in RETRY_INTERVALS]
    give_up = [int(each["SendConnector"]["ConnectionInactivityTimeOut"]) for each in sections]
    return Recovery(
        heartbeat_ms=int(settings.TransportConfig["ShadowHeartbeatFrequency"]),
        give_up_ms=max(give_up, default=0),
        retry_ms=max(retries, default=0),
        return_ms=max(MINUTE_MS, round(RETURN_SECONDS * speed) * 1000),
    )
