"""The strangers of a plan: who calls which server when, with which certificate, and what it says.

Every command is one that a server of the organisation might say, with names of the topology: what
is refused is refused because of who asks (TL-6). A stranger that trickles keeps its session busy
for longer than `ConnectionTimeout`, and never silent for `ConnectionInactivityTimeout` (SR-6). One
with bare line ends has a message that no server may take as it is, nor mend (TL-10). What is beyond
a limit is in `lab.planning.beyond_limits`.
Drawn are the moments alone, each by a seed of its own name, so that no other draw depends on them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from lab.plan.parts import Section, Settings, Stranger, StrangerKind, Trickle
from lab.plan.topology import PlanTopology
from lab.planning.beyond_limits import MESSAGES, SAYING, commands_beyond, too_much
from lab.planning.messages import OUTSIDE_DOMAIN
from lab.planning.seeds import seed_for
from lab.scenario.strangers import StrangersModel
from nodes.core.config.units import MINUTE_MS

STRANGERS = "strangers"
NOBODYS = "stranger"
"""What a stranger writes for an id: it knows none."""
TRICKLER = f"trickler@{OUTSIDE_DOMAIN}"
TRICKLES_IN = 4
"""So often does it send something within `ConnectionInactivityTimeout`."""


def resolve_strangers(
    streams: Sequence[StrangersModel],
    topology: PlanTopology,
    settings: Settings,
    origin_ms: int,
    seed: int,
) -> tuple[Stranger, ...]:
    """All strangers in the order of their moments, numbered s1, s2 … in that order."""
    asking = _Asking(topology, settings, origin_ms)
    drawn = [
        _stranger(asking, stream, number, _moment(index, stream, number, seed))
        for index, stream in enumerate(streams)
        for number in range(stream.count)
    ]
    drawn.sort(key=lambda stranger: stranger.at_ms)
    return tuple(replace(each, id=f"s{number}") for number, each in enumerate(drawn, start=1))


def strangers_end_ms(streams: Sequence[StrangersModel]) -> int:
    """When the last stream of strangers ends."""
    return max((stream.at + stream.for_ms for stream in streams), default=0)


@dataclass(frozen=True, slots=True)
class _Asking:
    """What strangers know of a topology; `origin_ms` is the start of lab time, epoch ms."""

    topology: PlanTopology
    settings: Settings
    origin_ms: int

    @property
    def servers(self) -> list[str]:
        return [server.name for server in self.topology.servers if server.role == "mailbox"]

    @property
    def called(self) -> list[str]:
        """Whom strangers call unless the file says it."""
        front_ends = (s.name for s in self.topology.servers if s.role == "frontend")
        return [*self.servers, *front_ends]

    @property
    def recipient(self) -> str:
        return self.topology.mailboxes[0].address

    @property
    def fqdn(self) -> str:
        return next(each.fqdn for each in self.topology.servers if each.role == "mailbox")

    def connector(self, server: str) -> Section:
        return self.settings.servers[server]["ReceiveConnector"]

    def taking(self, server: str) -> list[str]:
        """Who may take a message that is said to it."""
        return [server] if server in self.servers else self.servers

    def after(self, server: str) -> str:
        """The next mailbox server in the order of the file, behind a front end the first; the same
        where there is one alone.
        """
        place = self.servers.index(server) + 1 if server in self.servers else 0
        return self.servers[place % len(self.servers)]


def _stranger(asking: _Asking, stream: StrangersModel, number: int, at_ms: int) -> Stranger:
    """Kinds take turns, and each kind calls the servers in turn."""
    servers = stream.to or asking.called
    turn, place = divmod(number, len(stream.who))
    kind, server = stream.who[place], servers[turn % len(servers)]
    certificate = asking.after(server) if kind == "other-server" else None
    trickle = _MAIL[kind](asking, server) if kind in _MAIL else None
    commands = _commands(asking, kind, server, certificate)
    connectors = [asking.connector(each) for each in asking.taking(server)]
    much = too_much(kind, connectors, asking.settings.TransportConfig, asking.fqdn)
    return Stranger("", kind, at_ms, server, certificate, commands, trickle, much)


def _moment(index: int, stream: StrangersModel, number: int, seed: int) -> int:
    first_ms, next_ms = (stream.for_ms * slot // stream.count for slot in (number, number + 1))
    drawn = seed_for(seed, STRANGERS, index, number, "at") % max(1, next_ms - first_ms)
    return stream.at + first_ms + drawn


def _trickle(asking: _Asking, server: str) -> Trickle:
    """It goes on for twice as long as it may."""
    connector = asking.connector(server)
    quiet_ms, timeout_ms = (
        int(connector[name]) for name in ("ConnectionInactivityTimeout", "ConnectionTimeout")
    )
    every_ms, for_ms = max(1, quiet_ms // TRICKLES_IN), 2 * timeout_ms + MINUTE_MS
    return Trickle(TRICKLER, asking.recipient, every_ms, for_ms)


def _at_once(asking: _Asking, _: str) -> Trickle:
    return Trickle(TRICKLER, asking.recipient, 0, 0)


_MAIL = {"trickles": _trickle, **dict.fromkeys(("bare-line-ends", *MESSAGES), _at_once)}


def _commands(
    asking: _Asking, kind: StrangerKind, server: str, certificate: str | None
) -> tuple[str, ...]:
    if kind in _MAIL:
        return ()
    if kind in SAYING:
        mailboxes = [each.address for each in asking.topology.mailboxes]
        return commands_beyond(kind, asking.connector(server), TRICKLER, mailboxes)
    if certificate is not None:
        return _in_the_name_of(_another(asking, server, certificate))
    return (*_in_the_name_of(asking.after(server)), *_for_servers_alone(asking, server))


def _another(asking: _Asking, server: str, certificate: str) -> str:
    """Neither of the two; of two servers the one that is called."""
    return next((name for name in asking.servers if name not in (server, certificate)), server)


def _in_the_name_of(server: str) -> tuple[str, ...]:
    """What a server may say for itself alone: a shadow message may follow, and discard queries."""
    return (
        f"XSHADOWREQUEST {server} {NOBODYS} 1 {NOBODYS}",
        f"XQDISCARD {server} - 0",
        f"XQUERYDISCARD {server} - 0",
    )


def _for_servers_alone(asking: _Asking, server: str) -> tuple[str, ...]:
    """Deliveries, resubmission, copies and their logs, failovers."""
    database, origin_ms = asking.topology.databases[0].name, asking.origin_ms
    interval = f"{origin_ms} {origin_ms + MINUTE_MS}"
    return (
        f"XDELIVER {database} {NOBODYS}",
        f"XNETWORKMESSAGEID {NOBODYS}",
        f"XRESUBMIT ADD {NOBODYS} primary {database} {interval} -",
        "XRESUBMIT LIST",
        f"XRESUBMIT DISABLE {NOBODYS}",
        f"XRESUBMIT REMOVE {NOBODYS}",
        f"XACTIVE {database} {server} 1",
        f"XCOPYSTATUS {database}",
        f"XMOUNT {database} 1",
        f"XDISMOUNT {database} 1",
        f"XCORRUPT {database}",
        f"XUPDATECOPY {database}",
        f"XFAILOVER {database}",
        f"XSWITCHOVER {database} {server}",
        f"XACTIVATELAGGED {database} {server}",
        f"XREDIRECT {server}",
        f"XMOVE {NOBODYS} {database}",
        f"XMAILBOX {database} {NOBODYS}",
        "XQUEUES",
        f"XLOG {database} 1 1 1 0 {origin_ms} {'0' * 64}",
        f"XSEED {database} 1",
    )
