"""A few nodes joined by a fake wire, in virtual time: what the core's tests speak.

The disk is a dict per server that survives a crash, with the commits that were answered; the wire
delivers at once unless a link is cut (`refuse` or `silent`). Everything a test wants to know is in
`rows` (tracking log), `mailboxes` and `external`. This is a test's world, small and strict; it is
not the simulator.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from nodes.core.active_manager import ActiveManager
from nodes.core.config.config import NodeConfig, read_config
from nodes.core.interface import effects as fx
from nodes.core.interface import inputs as on
from nodes.core.interface import queue_changes as qc
from nodes.core.interface import resubmit_changes as changed
from nodes.core.interface.copy_commands import CopyCommand
from nodes.core.model.lab_time import iso
from nodes.core.model.message import (
    ActiveCopy,
    Contact,
    DiscardNotification,
    Envelope,
    Fork,
    ForkState,
    Header,
    PrimaryMessage,
    ShadowKey,
    ShadowMessage,
)
from nodes.core.model.next_hop import NextHop
from nodes.core.model.resubmit_request import (
    KeptCopy,
    Position,
    ResubmitRequest,
    SafetyNetSource,
)
from nodes.core.node import Node
from nodes.shell.verbs import database as database_verbs
from nodes.shell.verbs import replication as replication_verbs
from nodes.shell.verbs import safety_net as safety_net_verbs
from nodes.shell.verbs import shadow as shadow_verbs
from nodes.shell.verbs.replies import in_words
from nodes.store.dump import mailbox_rows_in
from nodes.store.mailbox import outbox
from nodes.store.mailbox.database import MailboxDatabase
from nodes.store.manager_database import manager_database_in_memory

SECOND, MINUTE, HOUR = 1000, 60_000, 3_600_000
START_MS = 1_767_600_000_000
USER1, USER2, OUTSIDE = "db1-user01@lab.example", "db2-user01@lab.example", "bob@partner.example"


def config(name: str, *, managed: bool = False, **sections: Any) -> NodeConfig:
    """par1, par2 in paris and lyo1, lyo2 in lyon, one DAG; DB1 on par2, DB2 on lyo2; ext1
    outside.
    """
    servers = [_server(n, "paris" if n.startswith("par") else "lyon") for n in SERVERS]
    servers.append(
        {"Name": "ext1", "Fqdn": "ext1.example", "Role": "external", "Site": "internet"}
        | {"DatabaseAvailabilityGroup": None, "Domain": "partner.example"}
    )
    if managed:
        servers.append(_server(MANAGER, "lyon") | {"Role": "active_manager"})
    policies = sections.pop("Policies", {})
    servers = [server | policies.get(server["Name"], {}) for server in servers]
    document: dict[str, Any] = {
        "Name": name,
        "AcceptedDomain": "lab.example",
        "Servers": servers,
        "Databases": [{"Name": "DB1", "Server": "par2"}, {"Name": "DB2", "Server": "lyo2"}],
        "Mailboxes": [
            {"Address": USER1, "Database": "DB1"},
            {"Address": USER2, "Database": "DB2"},
        ],
    }
    return read_config(document | sections)


SERVERS = ("par1", "par2", "lyo1", "lyo2")
SENT_BYTES, CONVERTED_BYTES = 1000, 1300
MANAGER = "am1"


def _server(name: str, site: str) -> dict[str, Any]:
    return {
        "Name": name,
        "Fqdn": f"{name}.lab.example",
        "Role": "mailbox",
        "Site": site,
        "DatabaseAvailabilityGroup": "DAG1",
        "Domain": None,
    }


@dataclass
class Disk:
    """One server's queue database and what it has delivered into mailboxes here."""

    database_id: str
    created: bool = True
    messages: dict[int, PrimaryMessage] = field(default_factory=dict)
    shadows: dict[ShadowKey, ShadowMessage] = field(default_factory=dict)
    discards: dict[int, DiscardNotification] = field(default_factory=dict)
    discards_asked: dict[str, int] = field(default_factory=dict)
    contacts: dict[str, Contact] = field(default_factory=dict)
    created_ms: int = 0
    primary_safety_net: dict[int, int] = field(default_factory=dict)
    kept: dict[int, PrimaryMessage] = field(default_factory=dict)
    kept_shadows: dict[ShadowKey, tuple[ShadowMessage, int]] = field(default_factory=dict)
    requests: dict[str, ResubmitRequest] = field(default_factory=dict)
    copies: dict[str, ActiveCopy] = field(default_factory=dict)
    shadow_safety_net: dict[ShadowKey, tuple[int, int]] = field(default_factory=dict)
    shadow_expiry: dict[ShadowKey, int] = field(default_factory=dict)
    first_delivered: dict[int, int] = field(default_factory=dict)
    starts: int = 0
    last_sequence: int = 0
    is_full: bool = False

    def apply(self, change: qc.Change) -> None:
        match change:
            case qc.InsertMessage(message, body):
                assert message.internal_id not in self.messages
                if body.startswith("db:"):
                    assert self.header_of(int(body.removeprefix("db:"))) == message.header
                self.messages[message.internal_id] = message
            case qc.FinishFork():
                self._finish(change)
            case qc.SplitFork():
                self._split(change)
            case qc.RerouteFork():
                self._reroute(change)
            case qc.MoveToPrimarySafetyNet(internal_id, _, expires_ms):
                assert internal_id not in self.kept
                self.kept[internal_id] = self._ended(internal_id)
                self.primary_safety_net[internal_id] = expires_ms
            case qc.DeleteMessage(internal_id):
                self._ended(internal_id)
            case qc.SetShadowServer(internal_id, server, database_id):
                assert self.messages[internal_id].shadow_server is None
                self.messages[internal_id] = replace(
                    self.messages[internal_id],
                    shadow_server=server,
                    shadow_database_id=database_id,
                )
            case qc.NoteDelayNotified(internal_id):
                message = self.messages[internal_id]
                assert not message.delay_notified
                self.messages[internal_id] = replace(message, delay_notified=True)
            case qc.InsertDiscard(notification):
                assert notification.sequence not in self.discards
                self.discards[notification.sequence] = notification
                self.last_sequence = max(self.last_sequence, notification.sequence)
            case qc.ForgetDiscards(server, up_to):
                self.discards = {
                    s: n for s, n in self.discards.items() if n.shadow_server != server or s > up_to
                }
            case qc.NoteDiscardsAsked(server, asked_ms):
                self.discards_asked[server] = asked_ms
            case qc.DropOldDiscards(server, before_ms):
                self.discards = {
                    s: n
                    for s, n in self.discards.items()
                    if n.shadow_server != server or n.delivered_ms >= before_ms
                }
            case qc.InsertShadow(shadow, _, expires_ms):
                assert shadow.key not in self.shadows
                self.shadows[shadow.key] = shadow
                self.shadow_expiry[shadow.key] = expires_ms
            case qc.MoveToShadowSafetyNet(key, delivered_ms, expires_ms, first_ms):
                assert key not in self.kept_shadows
                shadow = self.shadows.pop(key)
                self.kept_shadows[key] = (shadow, delivered_ms)
                self.first_delivered[shadow.internal_id] = (
                    delivered_ms if first_ms is None else first_ms
                )
                self.shadow_safety_net[key] = (shadow.internal_id, expires_ms)
            case qc.PromoteShadow(key, message):
                assert message.internal_id not in self.messages
                del self.shadows[key]
                self.messages[message.internal_id] = message
            case qc.SetActiveCopy(copy):
                assert copy.database not in self.copies or (
                    self.copies[copy.database].epoch < copy.epoch
                )
                self.copies[copy.database] = copy
            case qc.SetContact(contact):
                self.contacts[contact.primary] = contact
            case _:
                self._apply_to_request(change)

    def _apply_to_request(self, change: qc.Change) -> None:
        match change:
            case changed.InsertResubmitRequest(request):
                assert request.demand.request_id not in self.requests
                self.requests[request.demand.request_id] = request
            case changed.AdvanceResubmitRequest(request_id, progress, count):
                request = self.requests[request_id]
                assert request.progress < progress
                count += request.resubmitted
                self.requests[request_id] = replace(request, progress=progress, resubmitted=count)
            case changed.SetResubmitState(request_id, expected, state):
                assert self.requests[request_id].state is expected
                self.requests[request_id] = replace(self.requests[request_id], state=state)
            case changed.HeadTaken(request_id, server):
                untold = self.requests[request_id].untold
                assert server in untold
                left = tuple(each for each in untold if each != server)
                self.requests[request_id] = replace(self.requests[request_id], untold=left)
            case changed.RemoveResubmitRequest(request_id):
                del self.requests[request_id]
            case _:
                raise AssertionError(change)

    def read(self, asked: fx.ReadSafetyNet) -> on.SafetyNetRead:
        is_primary = asked.source is SafetyNetSource.PRIMARY
        found = self._kept_forks() if is_primary else self._kept_shadows()
        wanted = sorted(
            (c for c in found if asked.after < c.position), key=lambda copy: copy.position
        )
        first_ms = {} if is_primary else self.first_delivered
        wanted = [
            copy
            for copy in wanted
            if first_ms.get(copy.position.internal_id, copy.position.delivered_ms) < asked.end_ms
        ][: asked.most]
        return on.SafetyNetRead(asked.read, tuple(wanted), len(wanted) == asked.most)

    def _kept_forks(self) -> list[KeptCopy]:
        return [
            KeptCopy(
                Position(fork.done_ms or 0, message.internal_id, number),
                message.network_message_id,
                message.header,
                message.envelope,
                message.size_bytes,
                fork.recipients,
                fork.next_hop,
                "",
                self.primary_safety_net.get(message.internal_id),
            )
            for message in (*self.kept.values(), *self.messages.values())
            for number, fork in enumerate(message.forks)
            if fork.state is ForkState.DONE
        ]

    def _kept_shadows(self) -> list[KeptCopy]:
        return [
            KeptCopy(
                Position(delivered_ms, shadow.internal_id, 0),
                shadow.network_message_id,
                shadow.header,
                shadow.envelope,
                shadow.size_bytes,
                shadow.envelope.recipients,
                None,
                shadow.key.primary,
                self.shadow_safety_net[shadow.key][1],
            )
            for shadow, delivered_ms in self.kept_shadows.values()
        ]

    def header_of(self, internal_id: int) -> Header:
        return self.message_of(internal_id).header

    def message_of(self, internal_id: int) -> PrimaryMessage | ShadowMessage:
        """That whose body `db:<internal id>` names, wherever it is; it must be there."""
        everything: list[PrimaryMessage | ShadowMessage] = [*self.messages.values()]
        everything += [*self.kept.values(), *self.shadows.values()]
        everything += [shadow for shadow, _ in self.kept_shadows.values()]
        return next(m for m in everything if m.internal_id == internal_id)

    def _unfinished(self, internal_id: int, next_hop: NextHop) -> Fork:
        ends = (ForkState.DONE, ForkState.EXPIRED)
        forks = self.messages[internal_id].forks
        (fork,) = [f for f in forks if f.next_hop == next_hop and f.state not in ends]
        return fork

    def _ended(self, internal_id: int) -> PrimaryMessage:
        """The message leaves its delivery queues, which takes that nothing of it is left there."""
        message = self.messages.pop(internal_id)
        assert all(f.state in (ForkState.DONE, ForkState.EXPIRED) for f in message.forks)
        return message

    def _replace(self, internal_id: int, fork: Fork, *by: Fork) -> None:
        """The first takes its place, others are added."""
        message = self.messages[internal_id]
        forks = tuple(by[0] if each == fork else each for each in message.forks)
        self.messages[internal_id] = replace(message, forks=(*forks, *by[1:]))

    def _finish(self, change: qc.FinishFork) -> None:
        fork = self._unfinished(change.internal_id, change.next_hop)
        hop, state = change.redirected_to or change.next_hop, ForkState(change.state)
        ended = replace(fork, next_hop=hop, state=state, done_ms=change.at_ms)
        self._replace(change.internal_id, fork, ended)

    def _split(self, change: qc.SplitFork) -> None:
        fork, leaving = self._unfinished(change.internal_id, change.next_hop), change.recipients
        staying = tuple(each for each in fork.recipients if each not in leaving)
        assert staying
        assert set(leaving) <= set(fork.recipients)
        hop = change.redirected_to or change.next_hop
        part = Fork(hop, leaving, ForkState(change.state), change.at_ms)
        self._replace(change.internal_id, fork, replace(fork, recipients=staying), part)

    def _reroute(self, change: qc.RerouteFork) -> None:
        fork = self._unfinished(change.internal_id, change.next_hop)
        assert set(change.recipients) <= set(fork.recipients)
        message = self.messages[change.internal_id]
        there = [f for f in message.forks if f.next_hop == change.to and f.done_ms is None]
        joined = (*(who for f in there for who in f.recipients), *change.recipients)
        left = tuple(who for who in fork.recipients if who not in change.recipients)
        forks = (f for f in message.forks if f is not fork and f not in there)
        rest = (replace(fork, recipients=left),) if left else ()
        message = replace(message, forks=(*forks, *rest, Fork(change.to, joined)))
        self.messages[change.internal_id] = message

    def expire(self, now_ms: int) -> on.SafetyNetExpired:
        removed = []
        for internal_id in [i for i, e in self.primary_safety_net.items() if e <= now_ms]:
            del self.primary_safety_net[internal_id]
            del self.kept[internal_id]
            removed.append(on.ExpiredCopy("primary-safety-net", internal_id, "", ""))
        for key in [k for k, (_, e) in self.shadow_safety_net.items() if e <= now_ms]:
            internal_id, _ = self.shadow_safety_net.pop(key)
            del self.kept_shadows[key]
            removed.append(on.ExpiredCopy("shadow-safety-net", internal_id, "", ""))
        for key in [k for k, e in self.shadow_expiry.items() if e <= now_ms and k in self.shadows]:
            removed.append(on.ExpiredCopy("shadow", self.shadows.pop(key).internal_id, "", ""))
        return on.SafetyNetExpired(tuple(removed), self.next_expiry_ms())

    def next_expiry_ms(self) -> int | None:
        ends = [*self.primary_safety_net.values(), *(e for _, e in self.shadow_safety_net.values())]
        ends += [e for k, e in self.shadow_expiry.items() if k in self.shadows]
        return min(ends, default=None)

    def opened(self) -> on.DatabaseOpened:
        created, self.created = self.created, False
        self.starts += 1
        return on.DatabaseOpened(
            self.database_id,
            created,
            self.starts,
            tuple(self.messages.values()),
            tuple(self.shadows.values()),
            tuple(self.discards.values()),
            tuple(self.contacts.values()),
            self.last_sequence,
            self.next_expiry_ms(),
            self.created_ms,
            tuple(self.requests.values()),
            tuple(self.copies.values()),
            tuple(self.discards_asked.items()),
        )


@dataclass(frozen=True)
class Row:
    """One tracking row, as much of it as tests ask."""

    at_ms: int
    server: str
    event: str
    source: str
    message_id: str
    recipients: tuple[str, ...]
    context: str
    custom: dict[str, str]
    related: str = ""
    size_bytes: int = 0
    network_message_id: str = ""
    status: str = ""


class Host:
    """One server: its core while it runs, its disk always."""

    def __init__(self, world: World, name: str, config: NodeConfig) -> None:
        self.world, self.name, self.config = world, name, config
        self.disk = Disk(f"{name}-a")
        self.node: Node | ActiveManager | None = None
        self.peers: dict[str, tuple[str, str]] = {}
        self.replies: dict[str, list[Any]] = {}
        self.headers: dict[str, Header] = {}
        self.bodies: dict[str, Header] = {}
        self.sizes: dict[str, int] = {}
        self.held_commits: list[int] | None = None
        self.used_bytes = 0
        self.fuse: int | None = None
        self.services: dict[str, str] = {}
        self.databases: dict[str, MailboxDatabase] = {}
        self.created: tuple[str, ...] = ()
        self.contents: dict[str, bytes] = {}
        self.directory: on.DirectoryRead | None = None

    # the node's life

    def commit(self, number: int, changes: tuple[Any, ...]) -> on.Input:
        if self.disk.is_full:
            return on.CommitFailed(number, "disk full")
        for change in changes:
            self.disk.apply(change)
        return on.Committed(number)

    def start(self) -> None:
        self.node = Node(self.config)
        if self.created:
            self.world.give(self, on.DirectoryRead(None, True, self.created))
        if self.directory is not None:
            self.world.give(self, self.directory)
        self.world.give(self, self.disk.opened())

    def kill(self) -> None:
        """SIGKILL: memory is gone, sessions break."""
        self.node = None
        for session, (peer, remote) in list(self.peers.items()):
            if peer in self.world.hosts:
                self.world.lose(self.world.hosts[peer], remote)
            del self.peers[session]

    def database(self, name: str) -> MailboxDatabase:
        """This server's copy of a mailbox database that has several: a real one."""
        if name not in self.databases:
            self.databases[name] = MailboxDatabase.in_memory(name, self.name)
        return self.databases[name]

    def new_queue_database(self) -> None:
        self.disk = Disk(self.disk.database_id + "'", created_ms=self.world.now_ms)

    def new_server(self, *databases: str) -> None:
        """Of one that is down nothing is left; of these databases it has copies."""
        self.new_queue_database()
        self.databases.clear()
        self.created = databases


class ManagerHost(Host):
    """Active Manager, with a real database."""

    def __init__(self, world: World, name: str, config: NodeConfig) -> None:
        super().__init__(world, name, config)
        self.manager = manager_database_in_memory(world.now_ms, f"{name}-a")

    def commit(self, number: int, changes: tuple[Any, ...]) -> on.Input:
        if self.disk.is_full:
            return on.CommitFailed(number, "disk full")
        return self.manager.commit((fx.Commit(number, changes),))[0]

    def start(self) -> None:
        self.node = ActiveManager(self.config)
        self.world.give(self, self.manager.start(False))


class World:
    """All hosts, one clock, one queue of inputs. `cut[(source, target)]` is `refuse` or
    `silent`.
    """

    def __init__(self, *, managed: bool = False, **sections: Any) -> None:
        self.now_ms = START_MS
        self._managing: dict[str, CopyCommand] = {}
        self.rows: list[Row] = []
        self.measured: tuple[str, ...] = ()
        self.unread = 0
        self.lifecycle: list[tuple[str, str, dict[str, Any]]] = []
        self.connectivity: list[tuple[int, str, str]] = []
        self.mailboxes: dict[str, list[str]] = {}
        self.external: list[tuple[str, tuple[str, ...]]] = []
        self.cut: dict[tuple[str, str], str] = {}
        self.cut_services: dict[tuple[str, str, str], str] = {}
        self.refuse_with: dict[str, tuple[int, str]] = {}
        self.refuse_recipient: dict[str, tuple[int, str]] = {}
        self.lose_reply_from: set[str] = set()
        self._requesting: set[str] = set()
        self._announced: set[str] = set()
        self._void: set[str] = set()
        self._stalled: set[tuple[str, str]] = set()
        self._stalling: set[tuple[str, str]] = set()
        self._late: list[tuple[Host, on.Input]] = []
        self._inputs: deque[tuple[Host, on.Input]] = deque()
        self._delivered_to: dict[tuple[str, str, int | None], int] = {}
        self._count = 0
        self.spoil: Callable[[bytes], bytes] = lambda content: content
        self.hosts = {
            name: Host(self, name, config(name, managed=managed, **sections)) for name in SERVERS
        }
        if managed:
            its_config = config(MANAGER, managed=True, **sections)
            self.hosts[MANAGER] = ManagerHost(self, MANAGER, its_config)
        for host in self.hosts.values():
            host.start()
        self.settle()

    def send(self, to: str, *recipients: str, **mail: Any) -> list[Any]:
        """An outside sender offers one message; the replies so far (the last is for the final
        dot).
        """
        session = self.connect(to)
        return self.offer(to, session, *recipients, **mail)

    def connect(self, to: str, peer: str | None = None) -> str:
        self._count += 1
        session = f"in-{self._count}"
        host = self.hosts[to]
        host.replies[session] = []
        self.give(host, on.SessionAccepted(session, "192.0.2.1"))
        if peer is not None:
            self.give(host, on.PeerAuthenticated(session, peer))
        self.settle()
        return session

    def offer(
        self,
        to: str,
        session: str,
        *recipients: str,
        message_id: str = "",
        sender: str = "alice@partner.example",
        size_bytes: int = SENT_BYTES,
    ) -> list[Any]:
        host = self.hosts[to]
        recipients = recipients or (USER1,)
        self._count += 1
        header = Header(message_id or f"<m{self._count}@x>", self.now_ms, "hello")
        body = f"in:{self._count}"
        host.bodies[body] = header
        for recipient in recipients:
            self.say(to, on.RecipientOffered(session, recipient))
        envelope = Envelope(sender, recipients)
        self.say(to, on.MessageOffered(session, envelope, header, size_bytes, body))
        return host.replies[session]

    def say(self, to: str, happened: on.Input) -> list[Any]:
        self.give(self.hosts[to], happened)
        self.settle()
        return self.hosts[to].replies.get(getattr(happened, "session", ""), [])

    def run(self, for_ms: int) -> None:
        """Let lab time pass, deadline by deadline."""
        end_ms = self.now_ms + for_ms
        self.settle()
        while (due := self._next_deadline()) is not None and due <= end_ms:
            self.now_ms = max(self.now_ms, due)
            for host in self.hosts.values():
                deadline = host.node.next_deadline_ms() if host.node else None
                if deadline is not None and deadline <= self.now_ms:
                    self.give(host, on.DeadlineReached())
            self.settle()
        self.now_ms = end_ms

    def lose_mailbox(self, address: str) -> list[str]:
        """A lossy failover of its database: copies and DeliveredTo rows are gone (DD-3); what was
        lost.
        """
        self._delivered_to = {k: at for k, at in self._delivered_to.items() if k[0] != address}
        return self.mailboxes.pop(address, [])

    def commit_now(self, name: str, number: int) -> None:
        """Answer a commit that `held_commits` kept back."""
        self.say(name, on.Committed(number))

    def kill(self, name: str) -> None:
        self.hosts[name].kill()
        self.settle()

    def start(self, name: str) -> None:
        self.hosts[name].start()
        self.settle()

    def cut_both(self, a: str, b: str, kind: str = "refuse") -> None:
        self.cut[(a, b)] = self.cut[(b, a)] = kind

    def cut_service(self, a: str, b: str, service: str, kind: str = "refuse") -> None:
        """One service of a link, in one direction; sessions over it break."""
        self.cut_services[(a, b, service)] = kind
        host = self.hosts[a]
        for session, (peer, _) in list(host.peers.items()):
            if peer == b and host.services.get(session) == service:
                self._break(host, session)
                self.lose(host, session)
        self.settle()

    def isolate(self, *names: str) -> None:
        """These servers and the others cannot reach each other; sessions between them break."""
        for one in names:
            for other in self.hosts:
                if other not in names:
                    self.cut_both(one, other)
        for host in self.hosts.values():
            for session, (peer, _) in list(host.peers.items()):
                if session.startswith("out-") and (host.name, peer) in self.cut:
                    self._break(host, session)
                    self.lose(host, session)
        self.settle()

    def heal(self) -> None:
        self.cut.clear()
        self.cut_services.clear()

    def stall(self, server: str, peer: str) -> None:
        """What `peer` says in the sessions that `server` has open to it comes late, as does their
        end; so does the answer to any question that it is asked until `stall_no_more`.
        """
        self._stalling.add((server, peer))
        host = self.hosts[server]
        self._stalled |= {
            (server, name) for name, (other, _) in host.peers.items() if other == peer
        }

    def stall_no_more(self) -> None:
        """Sessions of which something is held back stay as they are."""
        self._stalling.clear()

    def lose_stalled(self) -> None:
        """The sessions that stall are lost, with all that was held back."""
        lost, self._stalled = self._stalled, set()
        self._stalling.clear()
        self._late.clear()
        for server, session in sorted(lost):
            self.lose(self.hosts[server], session)
        self.settle()

    def let_go(self) -> None:
        """Everything that was held back comes now."""
        self._stalled.clear()
        self._stalling.clear()
        self._inputs.extend(self._late)
        self._late.clear()
        self.settle()

    def shows(self, server: str, address: str = USER1, database: str = "DB1") -> list[str]:
        """Message-Ids in a mailbox of a copy of a database that has several."""
        rows = mailbox_rows_in(self.hosts[server].database(database).connection, 0)
        return [str(row["message_id"]) for row in rows if row["mailbox"] == address]

    def of(self, event: str, server: str | None = None) -> list[Row]:
        return [r for r in self.rows if r.event == event and server in (None, r.server)]

    def give(self, host: Host, happened: on.Input) -> None:
        self._inputs.append((host, happened))

    def settle(self) -> None:
        while self._inputs:
            host, happened = self._inputs.popleft()
            if (host.name, getattr(happened, "session", "")) in self._stalled:
                self._late.append((host, happened))
            elif host.node is not None and not self._is_void(happened):
                for effect in host.node.handle(happened, self.now_ms):
                    if self._fuse_blows(host):
                        break
                    self._carry_out(host, effect)

    def _is_void(self, happened: on.Input) -> bool:
        """A message whose announcement was refused is not sent."""
        if not isinstance(happened, on.MessageOffered) or happened.session not in self._void:
            return False
        self._void.remove(happened.session)
        return True

    def _fuse_blows(self, host: Host) -> bool:
        """A host with a fuse is killed after so many effects, wherever that is."""
        if host.fuse is None:
            return False
        host.fuse -= 1
        if host.fuse >= 0:
            return False
        host.fuse = None
        host.kill()
        return True

    def lose(self, host: Host, session: str) -> None:
        host.peers.pop(session, None)
        lost = on.SessionLost if session.startswith("out-") else on.ConnectionLost
        if lost is on.SessionLost:
            self.give(host, on.SessionLost(session, "connection lost"))
        else:
            self.give(host, on.ConnectionLost(session))

    def _next_deadline(self) -> int | None:
        deadlines = (h.node.next_deadline_ms() for h in self.hosts.values() if h.node)
        return min((d for d in deadlines if d is not None), default=None)

    def _carry_out(self, host: Host, effect: fx.Effect) -> None:
        match effect:
            case fx.Commit(number, changes):
                self._commit(host, number, changes)
            case fx.ExpireSafetyNet(now_ms):
                self.give(host, host.disk.expire(now_ms))
            case fx.ReadSafetyNet():
                self.give(host, host.disk.read(effect))
            case fx.MeasureConverted(number) if self.unread:
                self.unread -= 1
                self.give(host, on.ConvertedNotMeasured(number, "disk I/O error"))
            case fx.MeasureConverted(number, _, bodies):
                self.measured += bodies
                sizes = (self._size_of(host, each) for each in bodies)
                made = (None if size == CONVERTED_BYTES else CONVERTED_BYTES for size in sizes)
                self.give(host, on.ConvertedMeasured(number, tuple(made)))
            case fx.DeliverToMailboxes():
                self._deliver(host, effect)
            case fx.CountCopies(session):
                kept = (len(host.disk.primary_safety_net), len(host.disk.shadow_safety_net))
                self.give(host, on.CopiesCounted(session, *kept))
            case fx.MeasureDisk():
                self.give(host, on.DiskMeasured(host.used_bytes))
            case fx.SendReply(session, reply):
                self._reply(host, session, in_words(reply))
            case fx.CloseSession(session, reply):
                host.replies.setdefault(session, []).append(reply)
                self._break(host, session)
                self.give(host, on.ConnectionLost(session))
            case fx.ChangeCopy():
                database = host.database(effect.database)
                self.give(host, database.change(effect, host.contents.__getitem__))
            case fx.CleanUpDeliveredTo(database):
                copies = host.config.copies[database]
                cleaned = host.database(database).clean_up if len(copies) > 1 else _nothing_old
                self.give(host, cleaned(effect))
            case fx.OpenSession(session, peer, _, service):
                host.services[session] = service
                self._open(host, session, peer)
            case (
                fx.Transmit(session)
                | fx.AskDiscard(session)
                | fx.RequestResubmit(session)
                | fx.ManageCopy(session)
            ) if session not in host.peers:
                pass  # its loss is on the way to the core
            case fx.Transmit():
                self._transmit(host, effect)
            case fx.AskDiscard(session, known, confirmed):
                peer, remote = host.peers[session]
                if (host.name, peer) in self._stalling:
                    self._stalled.add((host.name, session))
                if self.cut.get((host.name, peer)) != "silent":
                    asked = on.DiscardAsked(remote, host.name, known, confirmed)
                    self.give(self.hosts[peer], asked)
            case fx.RequestResubmit(session, demand):
                peer, remote = host.peers[session]
                if self.cut.get((host.name, peer)) != "silent":
                    self._requesting.add(remote)
                    self.give(self.hosts[peer], on.ResubmitRequested(remote, demand))
            case fx.ManageCopy(session, command):
                self._manage(host, session, command)
            case fx.HangUp(session):
                self._break(host, session)
            case fx.LogTracking():
                self._row(host, effect)
            case fx.LogLifecycle(event, fields):
                self.lifecycle.append((host.name, event, dict(fields)))
            case fx.LogConnectivity(_, _, _, description, since_ms):
                since = "" if since_ms is None else f";Asked={iso(since_ms)}"
                self.connectivity.append((self.now_ms, host.name, description + since))

    def _row(self, host: Host, e: fx.LogTracking) -> None:
        self.rows.append(
            Row(
                self.now_ms,
                host.name,
                e.event,
                e.source,
                e.header.message_id,
                e.recipients,
                e.source_context,
                {name: iso(v) if isinstance(v, int) else v for name, v in e.custom},
                e.related_recipient,
                e.size_bytes,
                e.network_message_id,
                e.recipient_status,
            )
        )

    def _commit(self, host: Host, number: int, changes: tuple[Any, ...]) -> None:
        answer = host.commit(number, changes)
        if host.held_commits is not None and isinstance(answer, on.Committed):
            host.held_commits.append(number)
        else:
            self.give(host, answer)

    def _deliver(self, host: Host, e: fx.DeliverToMailboxes) -> None:
        if len(host.config.copies[e.database]) > 1:
            database = host.database(e.database)
            self.give(host, database.deliver(e, e.header.message_id.encode()))
            return
        delivered, duplicates = [], []
        for recipient in e.recipients:
            key = (recipient, e.header.message_id, e.header.submitted_ms)
            seen_ms = self._delivered_to.get(key)
            if seen_ms is not None and seen_ms > e.now_ms - e.window_ms:
                duplicates.append(recipient)
                continue
            self._delivered_to[key] = e.now_ms
            self.mailboxes.setdefault(recipient, []).append(e.header.message_id)
            delivered.append(recipient)
        self.give(host, on.MailboxesDelivered(e.delivery, tuple(delivered), tuple(duplicates)))

    def _open(self, host: Host, session: str, peer: str) -> None:
        service = host.services[session]
        cut = self.cut.get((host.name, peer)) or self.cut_services.get((host.name, peer, service))
        if peer == "ext1" and cut is None:
            host.peers[session] = (peer, "")
            self.give(host, on.SessionOpened(session, False))
        elif cut == "silent":
            host.peers[session] = (peer, "nowhere")
        elif cut == "refuse" or self.hosts[peer].node is None:
            self.give(host, on.SessionFailed(session, "connection refused"))
        else:
            self._count += 1
            remote = f"in-{self._count}"
            other = self.hosts[peer]
            host.peers[session] = (peer, remote)
            other.peers[remote] = (host.name, session)
            self.give(other, on.SessionAccepted(remote, "192.0.2.2"))
            self.give(other, on.PeerAuthenticated(remote, host.name))
            self.give(host, on.SessionOpened(session, True, other.disk.database_id))

    def _transmit(self, host: Host, e: fx.Transmit) -> None:
        peer, remote = host.peers[e.session]
        if isinstance(e.prologue, fx.ShipLog | fx.ShipSeed | fx.ShipMailbox):
            self._ship(host, e, e.prologue)
            return
        header = self._header(host, e.body)
        if self.cut.get((host.name, peer)) == "silent":
            return
        if peer == "ext1":
            self._outside(host, e, header)
            return
        if peer in self.refuse_with:
            self.give(host, on.TransmissionAnswered(e.session, *self.refuse_with[peer]))
            return
        other = self.hosts[peer]
        if e.prologue is not None:
            self._announced.add(remote)
        match e.prologue:
            case fx.ShadowRequest(primary, database_id, internal_id, network_message_id, request):
                self.give(
                    other,
                    on.ShadowRequested(
                        remote, primary, database_id, internal_id, network_message_id, request
                    ),
                )
            case fx.DeliverTo(database, network_message_id):
                self.give(other, on.DeliveryRequested(remote, database, network_message_id))
            case fx.ForkOf(network_message_id):
                self.give(other, on.ForkAnnounced(remote, network_message_id))
        self._count += 1
        body = f"in:{self._count}"
        other.bodies[body] = header
        other.sizes[body] = self._size_of(host, e.body)
        offered = on.MessageOffered(remote, e.envelope, header, other.sizes[body], body)
        self.give(other, offered)

    def _outside(self, host: Host, e: fx.Transmit, header: Header) -> None:
        """Recipients may be refused one by one; then DATA is asked for what it says."""
        words = self.refuse_recipient
        refused = tuple((r, *words[r]) for r in e.envelope.recipients if r in words)
        taken = tuple(r for r in e.envelope.recipients if r not in words)
        code, text = self.refuse_with.get("ext1", (250, "2.0.0 ok"))
        if not taken:
            _, code, text = refused[-1]
        elif code == 250:
            self.external.append((header.message_id, taken))
        self.give(host, on.TransmissionAnswered(e.session, code, text, refused))

    def _manage(self, host: Host, session: str, command: CopyCommand) -> None:
        peer, remote = host.peers[session]
        if self.cut.get((host.name, peer)) == "silent" or remote == "nowhere":
            return
        self._managing[remote] = command
        parse = {
            "XCOPYSTATUS": database_verbs.parse_status_request,
            "XMOUNT": database_verbs.parse_mount,
            "XDISMOUNT": database_verbs.parse_dismount,
            "XACTIVE": database_verbs.parse_active_copy,
            "XUPDATECOPY": database_verbs.parse_seed_wanted,
        }
        verb, *words = database_verbs.format_command(command)
        happened = parse[verb](remote, " ".join(words))
        assert happened is not None
        self.give(self.hosts[peer], happened)

    def _ship(
        self, host: Host, e: fx.Transmit, prologue: fx.ShipLog | fx.ShipSeed | fx.ShipMailbox
    ) -> None:
        peer, remote = host.peers[e.session]
        if self.cut.get((host.name, peer)) == "silent" or remote == "nowhere":
            return
        name = e.body.split(":")[1]
        content = host.database(name).read(e.body)
        if content is None:  # dropped since: the shell cannot read it, so the session ends
            self._break(host, e.session)
            self.lose(host, e.session)
            return
        self._count += 1
        body, other = f"in:{self._count}", self.hosts[peer]
        self._announced.add(remote)
        if isinstance(prologue, fx.ShipLog):
            self.give(other, on.LogAnnounced(remote, prologue.epoch, prologue.log))
        elif isinstance(prologue, fx.ShipMailbox):
            self.give(other, on.MailboxAnnounced(remote, prologue.database, prologue.address))
        else:
            self.give(other, on.SeedAnnounced(remote, name, prologue.epoch))
        other.contents[body] = self.spoil(content)
        header = Header("", None)
        self.give(other, on.MessageOffered(remote, e.envelope, header, len(content), body))

    def _size_of(self, host: Host, body: str) -> int:
        """Of what content conversion made CONVERTED_BYTES, else SENT_BYTES, whatever it has."""
        size = host.sizes.get(body)
        if body.startswith("db:"):
            size = host.disk.message_of(int(body.removeprefix("db:"))).size_bytes
        return CONVERTED_BYTES if size == CONVERTED_BYTES else SENT_BYTES

    def _header(self, host: Host, body: str) -> Header:
        if body.startswith("in:"):
            return host.bodies[body]
        if body.startswith("outbox:"):
            _, database, item_id = body.split(":")
            found = outbox.items(host.database(database).connection)
            return next(item.header for item in found if item.item_id == item_id)
        return host.disk.header_of(int(body.removeprefix("db:")))

    def _reply(self, host: Host, session: str, reply: Any) -> None:
        """To a test's own client, or back over the wire: only final answers matter there. A
        caller that is gone sends nothing more, whatever the answer to its announcement.
        """
        if session in self._announced:
            self._announced.remove(session)
            if reply.code != 250 or session not in host.peers:
                self._void.add(session)
        if session not in host.peers:
            host.replies.setdefault(session, []).append(reply)
            return
        peer, remote = host.peers[session]
        caller = self.hosts[peer]
        text = reply.lines[0]
        if self.cut.get((peer, host.name)) == "silent" or host.name in self.lose_reply_from:
            return
        if (discards := shadow_verbs.parse_answer(remote, list(reply.lines))) is not None:
            self.give(caller, discards)
        elif session in self._requesting:
            self._requesting.remove(session)
            self.give(caller, _resubmit_answer(remote, reply))
        elif session in self._managing:
            command = self._managing.pop(session)
            self.give(caller, _copy_answer(remote, command, reply))
        elif "may follow" not in text:
            answer = on.TransmissionAnswered(remote, reply.code, text)
            self.give(caller, replication_verbs.understood(answer))

    def _break(self, host: Host, session: str) -> None:
        peer, remote = host.peers.pop(session, ("", ""))
        if peer in self.hosts and remote != "nowhere":
            self.lose(self.hosts[peer], remote)


def _copy_answer(session: str, command: CopyCommand, reply: Any) -> on.Input:
    answer = database_verbs.parse_answer(session, command, reply.lines[0])
    if reply.code != 250 or answer is None:
        return on.CopyCommandRefused(session, reply.code, reply.lines[0])
    return answer


def _resubmit_answer(session: str, reply: Any) -> on.Input:
    answer = safety_net_verbs.parse_answer(session, reply.lines[0])
    if reply.code != 250 or answer is None:
        return on.ResubmitRefused(session, reply.code, reply.lines[0])
    return answer


def _nothing_old(asked: fx.CleanUpDeliveredTo) -> on.DeliveredToCleanedUp:
    return on.DeliveredToCleanedUp(asked.database, 0, 0)
