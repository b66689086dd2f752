"""Writes run folders by hand, in the formats that real runs have, and lets a test spoil them.

`healthy()` is a run in which nothing goes wrong. The verbs of `Run` add what servers would have
logged: `accept`, `finish`, `let_go`, `kill`, `cut`, `promote`. Rows stay plain dictionaries until
`write`, so a test takes one away or changes it. One lab second is `1 / SPEED` wall seconds on the
monotonic clock.
"""

from __future__ import annotations

import csv
import io
import json
from copy import deepcopy
from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from collections.abc import Mapping
from typing import Any

Row = dict[str, Any]

SPEED = 60
ORIGIN = datetime(2026, 1, 5, 8, tzinfo=UTC)
SECOND = 1_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
SENDER = "sender01@outside.example"
HEARTBEAT = 2 * MINUTE
SPAN = 30 * MINUTE
TIMEOUT = 10 * MINUTE
END = 4 * HOUR
HOLD = 48 * HOUR
DOMAIN = "shadowlab.example"
MAILBOX_SERVERS = ("par-mbx1", "par-mbx2", "lyo-mbx1", "lyo-mbx2")


def _fields(line: str) -> list[str]:
    return line.split(",")


FIELDS_2016 = _fields(
    "date-time,client-ip,client-hostname,server-ip,server-hostname,source-context,connector-id,"
    "source,event-id,internal-message-id,message-id,network-message-id,recipient-address,"
    "recipient-status,total-bytes,recipient-count,related-recipient-address,reference,"
    "message-subject,sender-address,return-path,message-info,directionality,tenant-id,"
    "original-client-ip,original-server-ip,custom-data,transport-traffic-type,log-id,schema-version"
)
FIELDS_CONNECTIVITY = _fields("date-time,session,source,destination,direction,description")


def iso(at_ms: int) -> str:
    return (ORIGIN + timedelta(milliseconds=at_ms)).isoformat(timespec="milliseconds")[:23] + "Z"


def epoch(at_ms: int) -> int:
    """Unix epoch ms."""
    return round(ORIGIN.timestamp() * 1000) + at_ms


def mono(at_ms: int) -> int:
    """The first moment of that lab time."""
    return 5_000_000_000_000 - -at_ms * 1_000_000 // SPEED


def user(number: int, database: str = "db1") -> str:
    return f"{database}-user{number:02d}@{DOMAIN}"


def digest(message_id: str) -> Row:
    """Of the content of a message, which nobody changed."""
    header, body = (sha256(f"{part} of {message_id}".encode()) for part in ("header", "body"))
    return {
        "content_bytes": 4096,
        "header_sha256": header.hexdigest()[:16],
        "body_sha256": body.hexdigest()[:16],
    }


def made(runs: Mapping[str, Run]) -> dict[str, Run]:
    """As records that the lab made: the plan names what it sends."""
    for run in runs.values():
        sent = [row for row in run.ledger if row["type"] == "message"]
        names = ("message_id", "mail", "sender", "recipients", "size_bytes")
        planned = [{"at_ms": 0, **{name: row[name] for name in names}} for row in sent]
        run.plan["messages"] = planned or [{"message_id": "<m000001.calm.7@outside.example>"}]
    return dict(runs)


def without_digests(run: Run, *, ledger: bool = True, mailboxes: bool = True) -> Run:
    """As records were before they had any."""
    rows = run.ledger * ledger + run.mailboxes["DB1"] * mailboxes
    for row in rows:
        for name in digest(""):
            row.pop(name, None)
    return run


@dataclass
class Message:
    """One message as its primary and shadow servers know it; times in lab ms."""

    message_id: str
    network_id: str
    recipients: list[str]
    at_ms: int
    primary: str
    shadow: str
    internal_id: int
    database_id: str
    done_ms: int = 0
    sent_ms: int = 0


@dataclass
class Run:
    plan: Row
    name: str = "calm-20261121T100000Z-7-abcd"
    ledger: list[Row] = field(default_factory=list)
    faults: list[Row] = field(default_factory=list)
    operations: list[Row] = field(default_factory=list)
    strangers: list[Row] = field(default_factory=list)
    tracking: dict[str, list[Row]] = field(default_factory=dict)
    contacts: dict[str, list[Row]] = field(default_factory=dict)
    lifecycle: dict[str, list[Row]] = field(default_factory=dict)
    queues: dict[str, list[Row]] = field(default_factory=dict)
    copies: dict[str, list[Row]] = field(default_factory=dict)
    mailboxes: dict[str, list[Row]] = field(default_factory=dict)
    external: dict[str, list[Row]] = field(default_factory=dict)
    host: Row = field(default_factory=lambda: {"clock_resolution_ms": 900.0})
    ran_on: str = "containers"
    database_ids: dict[str, str] = field(default_factory=dict)
    tail: dict[str, str] = field(default_factory=dict)
    drop: set[str] = field(default_factory=set)
    last_id: int = 0
    logs_answers: bool = True

    def log(
        self, server: str, event: str, source: str, at_ms: int, message: Message, **more: Any
    ) -> Row:
        """A tracking row of `message`; keywords are fields with `_` for `-`, `custom` a mapping."""
        custom = {
            "Mono": mono(at_ms),
            "DatabaseId": self.database_ids[server],
            **more.pop("custom", {}),
        }
        recipients = more.pop("recipients", message.recipients)
        row: Row = {
            "at_ms": at_ms,
            "source": source,
            "event-id": event,
            "internal-message-id": more.pop("internal_id", message.internal_id),
            "message-id": message.message_id,
            "network-message-id": message.network_id,
            "recipient-address": ";".join(recipients),
            "recipient-count": len(recipients),
            "server-hostname": f"{server}.{DOMAIN}",
            "message-subject": "a subject, with a comma and a \"quote\"",
            "total-bytes": 4096,
            "return-path": SENDER,
            "custom": custom,
            "schema-version": "15.01.2375.007",
        }  # fmt: skip
        row.update({name.replace("_", "-"): value for name, value in more.items()})
        self.tracking.setdefault(server, []).append(row)
        return row

    def key(self, message: Message) -> Row:
        return {
            "PrimaryServer": message.primary,
            "PrimaryDatabaseId": message.database_id,
            "PrimaryInternalId": message.internal_id,
        }

    def life(self, server: str, event: str, at_ms: int, /, **more: Any) -> None:
        entry = {"event": event, "at_ms": at_ms, "date": iso(at_ms), "mono_ns": mono(at_ms), **more}
        self.lifecycle.setdefault(server, []).append(entry)

    def contact(
        self, server: str, peer: str, at_ms: int, *, failed: bool = False,
        notifications: int = 0, session: str = "08D", asked_ms: int | None = None,
    ) -> None:  # fmt: skip
        """`asked_ms`: as it was answered, or failed, unless given."""
        row = self._answer(peer, at_ms, session, notifications, asked_ms)
        if failed:
            said = row["description"].partition(";Asked=")[2]
            said = f"XQDISCARD failed;Peer={peer};Reason=refused;Asked={said}"
            row |= {"direction": "-", "description": said}
        self.contacts.setdefault(server, []).append(row)
        if failed:
            named = {"event_id": 22004, "primary": peer, "reason": "refused"}
            self.life(server, "shadow-heartbeat-failed", at_ms, **named)

    def _answer(
        self, peer: str, at_ms: int, session: str = "08D", notifications: int = 0,
        asked_ms: int | None = None,
    ) -> Row:  # fmt: skip
        said = f"DatabaseId={self.database_ids[peer]};Notifications={notifications}"
        asked = f"Asked={iso(at_ms if asked_ms is None else asked_ms)};Mono={mono(at_ms)}"
        return {
            "at_ms": at_ms, "session": session, "source": "SMTP", "destination": peer,
            "direction": ">", "description": f"XQDISCARD contact;Peer={peer};{said};{asked}",
        }  # fmt: skip

    def session(
        self, server: str, peer: str, at_ms: int, *, asks_after_ms: int | None, messages: int = 3
    ) -> None:
        """For messages: begun and standing at `at_ms`, closed four minutes later."""
        said = ("delivery", "Established connection", f"Messages: {messages}")
        for when, direction, text in zip((0, 10, 4 * MINUTE), "+>-", said, strict=True):
            row = {
                "at_ms": at_ms + when, "session": "out-9", "source": "SMTP", "destination": peer,
                "direction": direction, "description": f"{text};Mono={mono(at_ms + when)}",
            }  # fmt: skip
            self.contacts.setdefault(server, []).append(row)
        if asks_after_ms is not None:
            self.contact(server, peer, at_ms + 10 + asks_after_ms, session="out-9")

    def begin(self, server: str, peer: str, at_ms: int, session: str = "08D") -> None:
        """A session is opened for a heartbeat."""
        row = {
            "at_ms": at_ms, "session": session, "source": "SMTP", "destination": peer,
            "direction": "+", "description": f"heartbeat;Mono={mono(at_ms)}",
        }  # fmt: skip
        self.contacts.setdefault(server, []).append(row)

    def heartbeats(
        self, server: str, peer: str, start: int, end: int, *, failed: bool = False
    ) -> None:
        first = -(-start // HEARTBEAT) * HEARTBEAT
        for at_ms in range(first, end, HEARTBEAT):
            self.contact(server, peer, at_ms, failed=failed)

    def next_id(self) -> int:
        self.last_id += 1
        return self.last_id

    def submit(self, at_ms: int, recipients: list[str], *, mail: str = "inbound") -> str:
        number = 1 + sum(row["type"] == "message" for row in self.ledger)
        message_id = f"<m{number:06d}.calm.7@outside.example>"
        self.ledger.append(
            {"type": "message", "message_id": message_id, "mail": mail, "submitted_ms": at_ms,
             "date": iso(at_ms), "sender": SENDER, "recipients": recipients,
             "size_bytes": 4096, "mono_ns": mono(at_ms), **digest(message_id)}
        )  # fmt: skip
        return message_id

    def attempt(
        self, message_id: str, server: str, at_ms: int, outcome: str, reply: str | None,
        ended_ms: int, number: int = 1,
    ) -> None:  # fmt: skip
        self.ledger.append(
            {"type": "attempt", "message_id": message_id, "attempt": number, "server": server,
             "started_ms": at_ms, "mono_ns": mono(at_ms)}
        )  # fmt: skip
        self.ledger.append(
            {"type": "outcome", "message_id": message_id, "attempt": number, "server": server,
             "outcome": outcome, "reply": reply, "reason": "", "ended_ms": ended_ms,
             "mono_ns": mono(ended_ms)}
        )  # fmt: skip

    def accept(
        self, at_ms: int, recipients: list[str], primary: str = "par-mbx1",
        shadow: str | None = "lyo-mbx1", *, mail: str = "inbound",
    ) -> Message:  # fmt: skip
        """A message acknowledged, with its shadow; without one where `shadow` is None."""
        message_id = self.submit(at_ms, recipients, mail=mail)
        message = Message(
            message_id, f"n-{message_id}", recipients, at_ms, primary, shadow or "",
            self.next_id(), self.database_ids[primary], sent_ms=at_ms,
        )  # fmt: skip
        self.protect(message, shadow)
        self.log(primary, "RECEIVE", "SMTP", at_ms + 500, message)
        reply = (
            f"250 2.6.0 {message_id} [InternalId={message.internal_id}, "
            f"Hostname={primary}.{DOMAIN}] Queued mail for delivery"
        )
        self.attempt(message_id, primary, at_ms, "ok", reply, at_ms + 900)
        return message

    def protect(self, message: Message, shadow: str | None) -> None:
        if shadow is None:
            self.log(message.primary, "HAREDIRECTFAIL", "SMTP", message.at_ms + 400, message,
                     source_context="lyo-mbx1: refused; lyo-mbx2: refused; lyo-mbx1: refused; "
                     "lyo-mbx2: refused; par-mbx2: refused; par-mbx2: refused",
                     custom={"Attempts": 6, "Outcome": "accepted"})  # fmt: skip
            return
        self.log(shadow, "HARECEIVE", "SMTP", message.at_ms + 300, message,
                 internal_id=1000 + message.internal_id, custom=self.key(message))  # fmt: skip
        said = f"{message.message_id} [InternalId=1, Hostname={shadow}] Queued mail for redundancy"
        self.log(message.primary, "HAREDIRECT", "SMTP", message.at_ms + 400, message,
                 source_context=f"{shadow}.{DOMAIN} = 250 2.6.0 {said}",
                 custom={"ShadowServer": shadow, "Attempts": 1})  # fmt: skip

    def finish(
        self, message: Message, at_ms: int, *, via: str = "par-mbx2", visible: bool = True
    ) -> None:
        """Every fork done at `at_ms` by one next hop, and the copies in place."""
        message.done_ms = at_ms
        is_outside = not any(name.endswith(DOMAIN) for name in message.recipients)
        fork = "external:ext1" if is_outside else "database:DB1"
        self.log(message.primary, "SEND", "SMTP", at_ms, message, custom={"Fork": fork})
        self._own(message.primary, "primary-safety-net", message, message.internal_id)
        if visible:
            self.show(message, at_ms - 50, via)

    def cross(self, message: Message, at_ms: int) -> Message:
        """Sent to lyo-mbx2 in another boundary, which receives it anew; it is not delivered yet."""
        again = replace(
            message, at_ms=at_ms, primary="lyo-mbx2", shadow="lyo-mbx1",
            internal_id=self.next_id(), database_id=self.database_ids["lyo-mbx2"],
        )  # fmt: skip
        self.protect(again, "lyo-mbx1")
        self.log("lyo-mbx2", "RECEIVE", "SMTP", at_ms + 500, again)
        reply = f"250 2.6.0 {message.message_id} [InternalId={again.internal_id}, Hostname=x] ok"
        self.log(message.primary, "SEND", "SMTP", at_ms + 600, message, source_context=reply,
                 server_hostname=f"lyo-mbx2.{DOMAIN}")  # fmt: skip
        return again

    def show(self, message: Message, at_ms: int, via: str = "par-mbx2") -> None:
        inside = [name for name in message.recipients if name.endswith(DOMAIN)]
        outside = [name for name in message.recipients if not name.endswith(DOMAIN)]
        for name in inside:
            self.mailboxes["DB1"].append(
                {"mailbox": name, "message_id": message.message_id, "sender": SENDER,
                 "submitted_ms": epoch(message.sent_ms), "delivered_ms": at_ms, "size_bytes": 4096,
                 "server": via, **digest(message.message_id)}
            )  # fmt: skip
        if inside:
            self.log(via, "DELIVER", "STOREDRIVER", at_ms, message, recipients=inside,
                     internal_id=5000 + message.internal_id, source_context="MDB:DB1")  # fmt: skip
        if outside:
            self.external["ext1"].append(
                {"message_id": message.message_id, "sender": SENDER, "recipients": outside,
                 "received_ms": at_ms, "mono_ns": mono(at_ms), "size_bytes": 4096,
                 "peer": message.primary, **digest(message.message_id)}
            )  # fmt: skip

    def let_go(self, message: Message, at_ms: int) -> None:
        self.log(message.shadow, "HADISCARD", "REDUNDANCY", at_ms, message,
                 internal_id=1000 + message.internal_id,
                 custom={**self.key(message), "DeliveredAt": iso(message.done_ms)})  # fmt: skip
        self._own(message.shadow, "shadow-safety-net", message, 1000 + message.internal_id)

    def deliver(self, at_ms: int, recipients: list[str], **more: Any) -> Message:
        """A whole healthy life: accepted, delivered in 2 s, let go at the next heartbeat."""
        message = self.accept(at_ms, recipients, **more)
        self.finish(message, at_ms + 2 * SECOND)
        if message.shadow:
            self.let_go(message, -(-(at_ms + 2 * SECOND) // HEARTBEAT) * HEARTBEAT + 100)
        return message

    def promote(self, message: Message, at_ms: int, cause: str, *, duplicate: bool = False) -> Row:
        """The shadow server takes over and delivers; `duplicate`: the mailbox had it and hid it."""
        mine = self.next_id()
        row = self.log(message.shadow, "RESUBMIT", "REDUNDANCY", at_ms, message, internal_id=mine,
                       source_context=cause, custom=self.key(message))  # fmt: skip
        again = replace(
            message, at_ms=at_ms, primary=message.shadow, shadow="par-mbx2", internal_id=mine,
            database_id=self.database_ids[message.shadow],
        )  # fmt: skip
        self.log("par-mbx2", "HARECEIVE", "SMTP", at_ms + 300, again, internal_id=1000 + mine,
                 custom=self.key(again))  # fmt: skip
        self.log(message.shadow, "HAREDIRECT", "SMTP", at_ms + 400, again,
                 custom={"ShadowServer": "par-mbx2", "Attempts": 1})  # fmt: skip
        self.finish(again, at_ms + 2 * SECOND, visible=not duplicate)
        if duplicate:
            self.log("par-mbx2", "DUPLICATEDELIVER", "STOREDRIVER", at_ms + 1900, again,
                     internal_id=7000 + mine)  # fmt: skip
        self.let_go(again, at_ms + 2 * SECOND + HEARTBEAT)
        return row

    def _own(
        self, server: str, queue: str, message: Message, internal_id: int, **more: Any
    ) -> None:
        entry = {
            "queue": queue, "message_id": message.message_id, "internal_id": internal_id,
            "network_message_id": message.network_id, "recipients": message.recipients,
            "primary": message.primary, "primary_database_id": message.database_id,
            "shadow_server": message.shadow, "entered_ms": message.at_ms,
            "delivered_ms": message.done_ms, "expires_ms": message.done_ms + HOLD, "state": "held",
        }  # fmt: skip
        self.queues.setdefault(server, []).append({**entry, **more})

    def record(self, fault: str, phase: str, at_ms: int, **more: Any) -> None:
        self.faults.append(
            {"fault": fault, "phase": phase, "at_ms": at_ms, "mono_ns": mono(at_ms), **more}
        )

    def kill(
        self, server: str, start: int, end: int, *, new_database: bool = False, fault: str = "f1"
    ) -> None:
        """SIGKILL at `start`; started again at `end`, banner 3 s later."""
        returns = "new-queue-database" if new_database else "same-queue-database"
        self._ended(server, start, end, returns, fault)
        self.record(fault, "heal-intended", end)
        banner = end + 3 * SECOND
        self.record(
            fault,
            "healed",
            banner,
            banner_ms=banner,
            banner_mono_ns=mono(banner),
            started_mono_ns=mono(end),
        )
        if new_database:
            self.database_ids[server] = f"{server}-second"
            self.queues[server] = []
            self.life(server, "database-created", end + 2 * SECOND, database_id=f"{server}-second")
        self.life(server, "started", end + 2 * SECOND, database_id=self.database_ids[server])

    def lose(self, server: str, start: int, *, fault: str = "f1") -> None:
        """SIGKILL at `start`, and nothing of it is left until the end."""
        self._ended(server, start, END, "never", fault)
        del self.queues[server]

    def replace(self, server: str, start: int, end: int, *, fault: str = "f1") -> None:
        """A new server comes at `end`, with a new queue database."""
        self.kill(server, start, end, new_database=True, fault=fault)
        self.plan["faults"][-1]["returns_with"] = "new-server"

    def _ended(self, server: str, start: int, end: int, returns: str, fault: str) -> None:
        self.plan["faults"].append(
            {"id": fault, "kind": "kill", "start_ms": start, "end_ms": end, "server": server,
             "returns_with": returns}
        )  # fmt: skip
        self.record(fault, "intended", start)
        self.record(fault, "applied", start + 200, exit_code=137)
        self.record(fault, "evidence", start + 400, took_effect=True, observations=[])

    def cut(
        self,
        source: str,
        target: str,
        start: int,
        end: int,
        *,
        kind: str = "refuse",
        fault: str = "f1",
    ) -> None:
        links = [{"from": source, "to": target, "service": "smtp"}]
        self.plan["faults"].append(
            {"id": fault, "kind": "cut", "start_ms": start, "end_ms": end, "cut_kind": kind,
             "links": links}
        )  # fmt: skip
        self.record(fault, "intended", start)
        self.record(fault, "applied", start + 200)
        self.record(fault, "evidence", start + 400, took_effect=True, observations=[])
        self.record(fault, "heal-intended", end)
        self.record(fault, "healed", end + 200)

    def away(self, kind: str, server: str, start: int, end: int, *, fault: str = "f1") -> None:
        """A pause, a stop or a restart: from `start` to `end`, its banner 3 s later."""
        self.plan["faults"].append(
            {"id": fault, "kind": kind, "start_ms": start, "end_ms": end, "server": server}
        )
        self.record(fault, "intended", start)
        self.record(fault, "applied", start + 200)
        self.record(fault, "evidence", start + 400, took_effect=True, observations=[])
        self.record(fault, "heal-intended", end)
        banner = end + 3 * SECOND
        self.record(fault, "healed", banner, banner_ms=banner, banner_mono_ns=mono(banner))

    def wrong_clock(self, server: str, start: int, end: int, *, fault: str = "f2") -> None:
        """Told of and seen; rows are dated as ever."""
        self.plan["faults"].append(
            {"id": fault, "kind": "skew_clock", "start_ms": start, "end_ms": end, "server": server,
             "by_ms": 60_000}
        )  # fmt: skip
        self.record(fault, "intended", start)
        self.record(fault, "applied", start)
        self.record(fault, "evidence", start, took_effect=True, observations=[])
        self.record(fault, "heal-intended", end)
        self.record(fault, "healed", end)

    def late(
        self, source: str, target: str, start: int, end: int, how: Mapping[str, str | int]
    ) -> None:
        """A link that a fault makes late: `how` has its `kind` and its own fields, as in
        plan.json.
        """
        self.cut(source, target, start, end)
        del self.plan["faults"][-1]["cut_kind"]
        self.plan["faults"][-1].update(how)

    def rows(self, server: str, event: str) -> list[Row]:
        return [row for row in self.tracking[server] if row["event-id"] == event]

    def remove(self, server: str, event: str, message: Message | None = None) -> None:
        """Takes tracking rows away, all of an event or those of one message."""
        self.tracking[server] = [
            row
            for row in self.tracking[server]
            if row["event-id"] != event or (message and row["message-id"] != message.message_id)
        ]

    def texts(self) -> dict[str, str]:
        """Every file by its path in the folder; `tail` appends text, `drop` names files that are
        not there.
        """
        manifest = {"version": 1, "run": self.name, "scenario": "calm", "seed": 7,
                    "host": self.ran_on, "speed": SPEED, "origin": iso(0)}  # fmt: skip
        texts = {
            "plan.json": json.dumps(self.plan),
            "manifest.json": json.dumps(manifest),
            "host.json": json.dumps(self.host),
            "ledger.jsonl": _json_lines(self.ledger),
            "faults.jsonl": _json_lines(self.faults),
        }  # fmt: skip
        if self.operations:
            texts["operations.jsonl"] = _json_lines(self.operations)
        if self.strangers:
            texts["strangers.jsonl"] = _json_lines(self.strangers)
        for server in {*MAILBOX_SERVERS, *self.lifecycle}:
            texts |= self._server_texts(server)
        texts |= {
            f"mailboxes/{name}.jsonl": _json_lines(rows) for name, rows in self.mailboxes.items()
        }
        texts |= {
            f"external/{name}.jsonl": _json_lines(rows) for name, rows in self.external.items()
        }
        kept = {name: text for name, text in texts.items() if name not in self.drop}
        return {name: text + self.tail.get(name, "") for name, text in kept.items()}

    def write(self, root: Path) -> Path:
        """The run folder."""
        folder = root / self.name
        for name, text in self.texts().items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return folder

    def _contacts_of(self, server: str) -> list[Row]:
        """Each shadow message that was let go was named by the last answer since its delivery, or
        by one that came just then, unless there is to be no such row.
        """
        if not self.logs_answers:
            return self.contacts.get(server, [])
        rows = [dict(row) for row in self.contacts.get(server, [])]
        named: Counter[tuple[str, int]] = Counter()
        for gone in self.tracking.get(server, []):
            if gone["event-id"] == "HADISCARD" and "DeliveredAt" in gone["custom"]:
                primary, at_ms = gone["custom"]["PrimaryServer"], gone["at_ms"]
                done = gone["custom"]["DeliveredAt"]
                answers = _answers(rows, primary)
                before = [when for when in answers if iso(when) >= done and when <= at_ms]
                if not before:
                    rows.append(self._answer(primary, at_ms - 1))
                named[primary, max(before, default=at_ms - 1)] += 1
        for (primary, at_ms), times in named.items():
            row = _answers(rows, primary)[at_ms]
            said = row["description"]
            row["description"] = said.replace("Notifications=0", f"Notifications={times}")
        return rows

    def _server_texts(self, server: str) -> dict[str, str]:
        return {
            f"logs/{server}/MSGTRK2026010508-1.LOG": log_text(
                FIELDS_2016, self.tracking.get(server, [])
            ),
            f"logs/{server}/CONNECTLOG20260105-1.LOG": log_text(
                FIELDS_CONNECTIVITY, self._contacts_of(server)
            ),
            f"logs/{server}/lifecycle.jsonl": _json_lines(self.lifecycle.get(server, [])),
            f"logs/{server}/queues.jsonl": _json_lines(self.queues.get(server, [])),
            f"logs/{server}/copies.jsonl": _json_lines(self.copies.get(server, [])),
        }


def _answers(rows: list[Row], primary: str) -> dict[int, Row]:
    """By time, what the connectivity log has of answers of `primary`."""
    said = f"XQDISCARD contact;Peer={primary};"
    return {row["at_ms"]: row for row in rows if row["description"].startswith(said)}


def _json_lines(rows: list[Row]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def log_text(fields: list[str], rows: list[Row], version: str = "15.01.2375.007") -> str:
    """A log file as Exchange writes it, rows in order of time."""
    text = io.StringIO()
    text.write(f"#Software: Microsoft Exchange Server\r\n#Version: {version}\r\n")
    text.write(
        f"#Log-type: Message Tracking Log\r\n#Date: {iso(0)}\r\n#Fields: {','.join(fields)}\r\n"
    )
    writer = csv.writer(text, lineterminator="\r\n")
    for row in sorted(rows, key=lambda row: row["at_ms"]):
        custom = ";".join(f"S:{name}={value}" for name, value in row.get("custom", {}).items())
        values = {**row, "date-time": iso(row["at_ms"]), "custom-data": custom}
        writer.writerow([values.get(name, "") for name in fields][: 5 if "torn" in row else None])
    return text.getvalue()


def two_site_plan() -> Row:
    """The plan of a run on two sites, in the lab's format, without messages and faults."""
    servers = [
        {
            "name": name,
            "fqdn": f"{name}.{DOMAIN}",
            "role": "mailbox",
            "site": site,
            "dag": "DAG1",
            "domain": None,
        }
        for name, site in zip(MAILBOX_SERVERS, ("paris", "paris", "lyon", "lyon"), strict=True)
    ]
    outside = {"name": "ext1", "fqdn": "ext1.partner.example", "role": "external",
               "site": "internet", "dag": None, "domain": "partner.example"}  # fmt: skip
    databases = [
        {
            "name": name,
            "copies": [{"server": server, "activation_preference": 1, "replay_lag_time_ms": 0}],
        }
        for name, server in (("DB1", "par-mbx2"), ("DB2", "lyo-mbx2"))
    ]
    mailboxes = [
        {"address": user(number, name.lower()), "database": name}
        for name in ("DB1", "DB2")
        for number in range(1, 6)
    ]
    return {
        "version": 1, "scenario": "calm", "summary": "nothing goes wrong", "proves": [], "tags": [],
        "seed": 7, "seed_from": "scenario",
        "clock": {"origin": "2026-01-05T08:00:00Z", "speed": 60.0},
        "duration_ms": END, "workload_end_ms": 30 * MINUTE, "last_heal_ms": None, "settle_ms": HOUR,
        "topology": {
            "name": "two-site-dag", "accepted_domain": DOMAIN,
            "sites": [{"name": "paris", "outside": False}, {"name": "lyon", "outside": False},
                      {"name": "internet", "outside": True}],
            "site_links": [{"between": ["paris", "lyon"], "cost": 10}],
            "servers": [*servers, outside],
            "dags": [{"name": "DAG1", "members": list(MAILBOX_SERVERS)}],
            "databases": databases, "mailboxes": mailboxes,
        },
        "settings": _settings(), "links": [], "messages": [], "faults": [], "operations": [],
        "expect": {"lost": 0, "unprotected_loss": None, "promotions": None, "verdict": "pass"},
    }  # fmt: skip


def _settings() -> Row:
    per_server = {
        "TransportService": {"MessageExpirationTimeout": 48 * HOUR},
        "ReceiveConnector": {"ConnectionTimeout": 10 * MINUTE},
        "SendConnector": {"ConnectionInactivityTimeOut": TIMEOUT},
        "MailboxDatabase": {"DuplicateDetectionWindow": 168 * HOUR},
    }
    return {
        "TransportConfig": {
            "ShadowRedundancyEnabled": True, "RejectMessageOnShadowFailure": False,
            "ShadowMessagePreferenceSetting": "PreferRemote", "MaxRetriesForRemoteSiteShadow": 4,
            "MaxRetriesForLocalSiteShadow": 2, "ShadowHeartbeatFrequency": HEARTBEAT,
            "ShadowResubmitTimeSpan": SPAN, "ShadowMessageAutoDiscardInterval": 48 * HOUR,
            "SafetyNetHoldTime": HOLD,
        },
        "servers": {name: deepcopy(per_server) for name in MAILBOX_SERVERS},
    }  # fmt: skip


def apart(run: Run) -> None:
    """The servers in Lyon are in no DAG: a boundary of their own."""
    for server in run.plan["topology"]["servers"]:
        if server["site"] == "lyon":
            server["dag"] = None


def empty() -> Run:
    """Servers that started and had no mail."""
    run = Run(plan=two_site_plan())
    run.mailboxes = {"DB1": [], "DB2": []}
    run.external = {"ext1": []}
    for server in MAILBOX_SERVERS:
        run.database_ids[server] = f"{server}-first"
        run.life(server, "database-created", 0, database_id=f"{server}-first")
        run.life(server, "started", 0, database_id=f"{server}-first")
        run.tracking[server] = []
    return run


def healthy() -> Run:
    """Four inbound messages and one outbound through par-mbx1, shadowed by lyo-mbx1."""
    run = empty()
    for number in range(1, 5):
        run.deliver(number * MINUTE, [user(1), user(number + 1)])
    run.deliver(6 * MINUTE, ["someone@partner.example"], mail="outbound")
    run.heartbeats("lyo-mbx1", "par-mbx1", 2 * MINUTE, 10 * MINUTE)
    return run
