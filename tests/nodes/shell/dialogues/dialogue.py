"""SMTP conversations as text files, said to a real node word for word.

    # a comment
    given DatabaseId 11111111-…         the queue database has this id (before the first connection)
    given shadow-redundancy off         ShadowRedundancyEnabled is false
    given MaxReceiveSize 1KB            what a message from outside may have at most
    given MaxHopCount 2                 how many Received fields a message may have; any other
                                        parameter of the Receive connector alike
    given copies par-mbx1 par-mbx2      DB1 has these copies, the first active (before any failover)
    given discard par-mbx2 1 42 1767…   a discard notification: shadow server, sequence, id, time
    as par-mbx2                         a new connection, with that server's certificate
    as anybody                          a new connection, without one
    S: 220 par-mbx1.…                   what the node says; `…` at the end stands for any more
    C: EHLO client                      what the client says
    C: \\xff                             bytes by their escapes
    TLS                                 the handshake, after the reply to STARTTLS
    HANG UP                             the client goes away without a word
    holds shadow 0                      afterwards: rows of a queue (names as in queues.jsonl)
    shows db1-user01 1                  afterwards: visible copies in a mailbox

Every line of the node's must be there, in order; what it says besides is a mistake too.
"""

from __future__ import annotations

import asyncio
import ssl
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from nodes.core.config.parameters import PARAMETERS
from nodes.core.interface.queue_changes import InsertDiscard
from nodes.core.model.message import DiscardNotification
from nodes.store.dump import mailbox_files, mailbox_rows, queue_rows
from nodes.store.queue.database import open_queue_database
from tests.nodes.shell.organisation import DATABASES, DOMAIN, ORIGIN_MS, Organisation, fqdn
from tests.nodes.shell.running import running
from tests.nodes.shell.waiting import DEADLINE_S, records, until_async

SERVER = "par-mbx1"
ANYBODY = "anybody"


@dataclass
class Dialogue:
    """A parsed file: what is given before, what is said (line, text), what is there after."""

    given: list[list[str]] = field(default_factory=list)
    said: list[tuple[int, str]] = field(default_factory=list)
    after: list[list[str]] = field(default_factory=list)


def parse(text: str) -> Dialogue:
    dialogue = Dialogue()
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        words = line.split()
        if words[0] == "given":
            dialogue.given.append(words[1:])
        elif words[0] in ("holds", "shows"):
            dialogue.after.append(words)
        else:
            dialogue.said.append((number, line))
    return dialogue


async def perform(path: Path, organisation: Organisation) -> None:
    """Hold the conversation with a node of its own. Raises AssertionError where it deviates."""
    dialogue = parse(path.read_text())
    _prepare(dialogue, organisation)
    async with running(organisation, SERVER) as port:
        await _wait_for_copies(dialogue, organisation.logs(SERVER))
        client = Client(organisation, port)
        try:
            for number, line in dialogue.said:
                async with asyncio.timeout(DEADLINE_S):
                    await client.take(f"{path.name}:{number}", line)
        finally:
            await client.close()
    _look_after(dialogue, organisation)


async def _wait_for_copies(dialogue: Dialogue, logs: Path) -> None:
    """The port answers before a copy of a mailbox database is opened; until then it is busy."""

    def opened() -> bool | None:
        events = [record["event"] for record in records(logs / "lifecycle.jsonl")]
        return "copy-opened" in events or None

    if any(words[0] == "copies" for words in dialogue.given):
        await until_async(opened, "the copy to be opened", logs)


def _prepare(dialogue: Dialogue, organisation: Organisation) -> None:
    given = {words[0]: words[1:] for words in dialogue.given}
    if "shadow-redundancy" in given:
        organisation.sections["TransportConfig"] = {"ShadowRedundancyEnabled": False}
    if "MaxReceiveSize" in given:
        (size,) = given["MaxReceiveSize"]
        organisation.sections["TransportConfig"] = {"MaxReceiveSize": size}
    limits = {name: int(given[name][0]) for name in PARAMETERS["ReceiveConnector"] if name in given}
    organisation.sections["ReceiveConnector"] = {"TarpitInterval": "00:00:00", **limits}
    if "copies" in given:
        organisation.sections["Databases"] = _databases(given["copies"])
    data = organisation.data(SERVER)
    data.mkdir(parents=True)
    (database_id,) = given.get("DatabaseId", ["the-database-id"])
    opening = open_queue_database(data / "queue.db", ORIGIN_MS, lambda: database_id)
    with opening.database as database:
        for words in dialogue.given:
            if words[0] == "discard":
                notification = DiscardNotification(words[1], *map(int, words[2:]))
                database.apply((InsertDiscard(notification),), str.encode)


def _databases(servers: list[str]) -> list[dict[str, object]]:
    numbered = enumerate(servers, 1)
    copies = [{"Server": server, "ActivationPreference": number} for number, server in numbered]
    return [
        {"Name": "DB1", "Server": servers[0], "Copies": copies},
        {"Name": "DB2", "Server": DATABASES["DB2"]},
    ]


def _look_after(dialogue: Dialogue, organisation: Organisation) -> None:
    data = organisation.data(SERVER)
    queues = Counter(str(row["queue"]) for row in queue_rows(data / "queue.db", ORIGIN_MS))
    mailboxes = Counter(
        str(row["mailbox"]).removesuffix(f"@{DOMAIN}")
        for path in mailbox_files(data).values()
        for row in mailbox_rows(path, ORIGIN_MS)
    )
    for verb, name, expected in dialogue.after:
        found = (queues if verb == "holds" else mailboxes)[name]
        assert found == int(expected), f"{name}: {found}, not {expected}: {queues} {mailboxes}"


class Client:
    """Says the client's lines and compares the node's."""

    def __init__(self, organisation: Organisation, port: int) -> None:
        self._organisation = organisation
        self._port = port
        self._role = ANYBODY
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def take(self, place: str, line: str) -> None:
        if line.startswith("as "):
            await self.close()
            self._role = line.removeprefix("as ").strip()
            self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port)
        elif line.startswith("S: "):
            await self._expect(place, line.removeprefix("S: "))
        elif line.startswith("C: "):
            said = line.removeprefix("C: ").encode().decode("unicode_escape").encode("latin-1")
            self._connection().write(said + b"\r\n")
        elif line == "TLS":
            await self._connection().start_tls(self._context(), server_hostname=fqdn(SERVER))
        elif line == "HANG UP":
            self._connection().transport.abort()
            self._writer = None
        else:
            raise AssertionError(f"{place}: not a line of a dialogue: {line}")

    async def _expect(self, place: str, expected: str) -> None:
        assert self._reader is not None, f"{place}: nobody is connected"
        heard = (await self._reader.readline()).decode().rstrip("\r\n")
        fits = (
            heard.startswith(expected.removesuffix("…"))
            if expected.endswith("…")
            else heard == expected
        )
        assert fits, f"{place}: the node says {heard!r}, not {expected!r}"

    def _connection(self) -> asyncio.StreamWriter:
        assert self._writer is not None, "nobody is connected"
        return self._writer

    def _context(self) -> ssl.SSLContext:
        host = None if self._role == ANYBODY else fqdn(self._role)
        return self._organisation.authority.client_context(host)

    async def close(self) -> None:
        """Nothing must be left that the node said and nobody expected."""
        if self._writer is None or self._reader is None:
            return
        left = bytes(getattr(self._reader, "_buffer", b""))
        self._writer.transport.abort()
        self._writer = None
        assert left == b"", f"the node also says {left!r}"
