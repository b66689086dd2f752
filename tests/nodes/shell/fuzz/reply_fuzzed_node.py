"""A node whose peers reply what they should not, and what must hold of it."""

from __future__ import annotations

import asyncio
import csv
import ssl
import time
from itertools import count

import aiosmtplib

from nodes.shell.tls import Certificates
from nodes.store.dump import queue_rows
from tests.nodes.shell.fuzz.fuzzed_peers import Peer
from tests.nodes.shell.fuzz.fuzzed_replies import Conversation
from tests.nodes.shell.organisation import DOMAIN, ORIGIN_MS, Organisation, fqdn, free_port
from tests.nodes.shell.running import NodeProcess
from tests.nodes.shell.sending import SENDER, message
from tests.nodes.shell.waiting import DEADLINE_S, records, until_async

SERVER, MANAGER, SHADOW, SOUND, OUTSIDE = "par-mbx1", "am1", "par-mbx2", "lyo-mbx1", "ext1"
RECIPIENTS = ("bob@partner.example", f"db2-user01@{DOMAIN}", f"db1-user01@{DOMAIN}")
AWAY = f"db3-user01@{DOMAIN}"
MAIL_AT_ONCE = 6
LOOK_AGAIN_S = 0.5
SOON = {  # whatever fails is tried again at once, in new sessions
    "QueueGlitchRetryCount": 15,
    "QueueGlitchRetryInterval": "1s",
    "TransientFailureRetryInterval": "1s",
    "OutboundConnectionFailureRetryInterval": "1s",
    "IntraOrgConnectorSmtpMaxMessagesPerConnection": 1,
    "MessageExpirationTimeout": "90d",
    "DelayNotificationTimeout": "1d",
}


class _Node:
    """A process among peers; `spoilt` are those whose conversations are drawn."""

    server: str
    module: str
    spoilt: tuple[str, ...]

    def __init__(self, organisation: Organisation, peers: tuple[str, ...]) -> None:
        self._organisation = organisation
        organisation.services = ("smtp", "replication", "management")
        organisation.ports |= {peer: free_port() for peer in peers}
        organisation.links[self.server] = list(peers)
        organisation.sections |= {
            "Databases": [
                {"Name": "DB1", "Server": SERVER, "Copies": _copies(SERVER, SHADOW, SOUND)},
                {"Name": "DB2", "Server": SHADOW},
                {"Name": "DB3", "Server": SOUND},
            ],
            "Mailboxes": [
                {"Address": f"db{number}-user01@{DOMAIN}", "Database": f"DB{number}"}
                for number in (1, 2, 3)
            ],
            "TransportService": SOON,
            "TransportConfig": {
                "ShadowMessagePreferenceSetting": "LocalOnly",
                "MaxRetriesForRemoteSiteShadow": 0,
                "SafetyNetHoldTime": "90d",
            },
            "SendConnector": {"ConnectionInactivityTimeOut": "1m"},
            # the mail comes from a client that may be slow: a minute of the lab is 0.2 s
            "ReceiveConnector": {"ConnectionTimeout": "1d", "ConnectionInactivityTimeout": "23h"},
        }
        self.peers = {name: Peer(self._tls(name)) for name in peers}

    def _tls(self, name: str) -> ssl.SSLContext | None:
        if name == OUTSIDE:
            return None
        authority = self._organisation.authority
        return Certificates(*authority.issue(fqdn(name)), authority.file).towards_clients()

    async def begin(self, zero_ns: int) -> None:
        for name, peer in self.peers.items():
            await peer.listen(self._organisation.ports[name])
        self._node = NodeProcess(self._organisation, self.server, self.module)
        self._port = await asyncio.to_thread(self._node.port)
        self._organisation.start_lab_time(zero_ns)

    def draw(self, drawn: list[Conversation]) -> None:
        for number, spoilt in enumerate(drawn):
            self.peers[self.spoilt[number % len(self.spoilt)]].drawn.append(spoilt)

    def all_held(self) -> bool:
        return not any(peer.drawn for peer in self.peers.values())

    def lives(self) -> None:
        """It has said of no session that it failed, and of itself neither."""
        assert self._node.process.poll() is None, self._node.process.communicate()[1]
        log = records(self._node.logs / "lifecycle.jsonl")
        failed = [r for r in log if r["event"] in ("crashed", "session-failed")]
        assert not failed, failed[0].get("reason")

    def stop(self) -> None:
        assert self._node.stop() == 0

    async def kill(self) -> None:
        for peer in self.peers.values():
            await peer.close()
        if self._node.process.poll() is None:
            self._node.kill()


class MailNode(_Node):
    """Its shadow server and the next hop outside are odd, the other mailbox server is not."""

    server, module, spoilt = SERVER, "runner", (SHADOW, OUTSIDE)

    def __init__(self, organisation: Organisation) -> None:
        super().__init__(organisation, (SHADOW, SOUND, OUTSIDE))
        self._numbers = count(1)
        self.acknowledged: set[str] = set()

    async def bears(self, drawn: list[Conversation]) -> None:
        """The conversations, until all are held; and one message elsewhere comes through."""
        self.draw(drawn)
        away = await self._send(AWAY)
        async with asyncio.timeout(3 * DEADLINE_S):
            while not self.all_held():
                await asyncio.gather(*(self._send(RECIPIENTS[n % 3]) for n in range(MAIL_AT_ONCE)))
                self.lives()
        sound = self.peers[SOUND].has
        await until_async(lambda: away in sound or None, f"{away} leaves")
        self.lives()

    async def drains(self) -> None:
        """Now that every server is well, all mail leaves, but for what is refused. The
        servers live in this loop, so the logs are read beside it, and not all the time.
        """
        deadline = time.monotonic() + 3 * DEADLINE_S
        while left := await asyncio.to_thread(self._unfinished):
            assert time.monotonic() < deadline, f"still queued: {sorted(left)}"
            await asyncio.sleep(LOOK_AGAIN_S)

    def _unfinished(self) -> set[str]:
        ended = {r["message-id"] for r in self._tracked("SEND", "DELIVER", "FAIL")}
        return self.acknowledged - ended

    async def _send(self, recipient: str) -> str:
        """One message, with whatever shadow the node gets for it; its Message-Id."""
        message_id, text = message(next(self._numbers))
        client = aiosmtplib.SMTP(
            hostname="127.0.0.1", port=self._port, local_hostname="client", start_tls=False
        )
        async with asyncio.timeout(DEADLINE_S), client:
            refused, reply = await client.sendmail(SENDER, [recipient], text)
        assert not refused, reply
        self.acknowledged.add(message_id)
        return message_id

    def _tracked(self, *events: str) -> list[dict[str, str]]:
        rows = []
        for path in sorted(self._node.logs.glob("MSGTRK*.LOG")):
            lines = path.read_text().split("\n")
            fields = next(line for line in lines if line.startswith("#Fields: "))[9:].split(",")
            shown = csv.DictReader([line for line in lines if line[:1] not in ("#", "")], fields)
            rows += [row for row in shown if row["event-id"] in events]
        return rows

    def believed_only_what_it_was_told(self) -> None:
        """What was sent, or made redundant, is at that server in whole; nothing is missing."""
        sent = {(r["server-hostname"], r["message-id"]) for r in self._tracked("SEND")}
        names = {fqdn(SHADOW): SHADOW, fqdn(SOUND): SOUND, "mx.partner.example": OUTSIDE}
        never = {
            (server, found) for server, found in sent if found not in self.peers[names[server]].has
        }
        assert never == set(), "counted as sent, and never was"
        made = {row["message-id"] for row in self._tracked("HAREDIRECT")}
        assert made - self.peers[SHADOW].has == set(), "counted as redundant, and never was"
        assert made, "nothing was made redundant at all"
        assert sent, "nothing was sent at all"
        queue = self._organisation.data(SERVER) / "queue.db"
        held = {str(row["message_id"]) for row in queue_rows(queue, ORIGIN_MS)}
        ended = {row["message-id"] for row in self._tracked("FAIL")}
        assert self.acknowledged - held - ended == set(), "acknowledged, and not here"


class ManagerNode(_Node):
    """Active Manager, whom every server of the DAG answers oddly."""

    server, module, spoilt = MANAGER, "active_manager", (SERVER, SHADOW, SOUND)

    def __init__(self, organisation: Organisation) -> None:
        super().__init__(organisation, (SERVER, SHADOW, SOUND))

    async def bears(self, drawn: list[Conversation]) -> None:
        self.draw(drawn)
        await until_async(lambda: self.all_held() or None, "all are held", self._node.logs)
        self.lives()


def _copies(*servers: str) -> list[dict[str, object]]:
    return [{"Server": s, "ActivationPreference": n} for n, s in enumerate(servers, 1)]
