"""A record that no lab made: two servers of Exchange 2016, one message, and the plan that
docs/own-servers.md shows.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

DOCS = Path(__file__).parents[3] / "docs" / "own-servers.md"
LOG = "MSGTRK2026110209-1.LOG"
NAMES = (
    "date-time,client-ip,client-hostname,server-ip,server-hostname,source-context,connector-id,"
    "source,event-id,internal-message-id,message-id,network-message-id,recipient-address,"
    "recipient-status,total-bytes,recipient-count,related-recipient-address,reference,"
    "message-subject,sender-address,return-path,message-info,directionality,tenant-id,"
    "original-client-ip,original-server-ip,custom-data"
)
TOP = f"#Software: Microsoft Exchange Server\r\n#Log-type: Message Tracking Log\r\n#Fields: {NAMES}\r\n"
NETWORK = "1e6eb197-c6b4-4234-9b69-56dc1db88f50"
ANN, PAT, MESSAGE = "ann@contoso.example", "pat@partner.example", "<1@partner.example>"
TOOK = (
    f"ex2.contoso.example = 250 2.6.0 {MESSAGE} [InternalId=211, Hostname=ex2.contoso.example] "
    "Queued mail for redundancy"
)
CUSTOM = "S:DeliveryPriority=Normal;S:AccountForest=contoso.example"
REPLY = (
    f"250 2.6.0 {MESSAGE} [InternalId=111, Hostname=ex1.contoso.example] 1500 bytes in 0.101, "
    "14.5 KB/sec Queued mail for delivery"
)


def row(
    second: float,
    server: str,
    event: str,
    internal_id: int,
    *,
    source: str = "SMTP",
    context: str = "",
    to: str = ANN,
    peer: str = "",
    subject: str = "hello",
    message: str = MESSAGE,
) -> str:
    """`context`, `subject` and `to` as they stand in the file, quoted where they must be."""
    return (
        f"2026-11-02T09:00:{second:06.3f}Z,,{server},,{peer or server},{context},,{source},{event},"
        f"{internal_id},{message},{NETWORK},{to},,1500,1,,,{subject},{PAT},{PAT},,Incoming,,,,"
        f"{CUSTOM}\r\n"
    )


def plan_of_the_docs() -> str:
    """The JSON that docs/own-servers.md gives."""
    found = re.search(r"```json\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    return found[1]


def record() -> dict[str, bytes]:
    """By name, the files of the folder; a test changes what it is about."""
    outcome = {"type": "outcome", "message_id": MESSAGE, "attempt": 1, "server": "ex1"}
    ledger = (
        {"type": "message", "message_id": MESSAGE, "mail": "inbound", "sender": PAT,
         "recipients": [ANN], "submitted_ms": 1000, "size_bytes": 1500},
        {"type": "attempt", "message_id": MESSAGE, "attempt": 1, "server": "ex1",
         "started_ms": 1000},
        {**outcome, "outcome": "ok", "reply": REPLY, "ended_ms": 1600},
    )  # fmt: skip
    seen = {"mailbox": ANN, "message_id": MESSAGE, "sender": PAT, "delivered_ms": 5000}
    ex1 = TOP + row(1.2, "ex1", "HAREDIRECT", 111, context=f'"{TOOK}"')
    ex1 += row(1.3, "ex1", "RECEIVE", 111) + row(3, "ex1", "SEND", 111, peer="ex2.contoso.example")
    ex2 = TOP + row(1.1, "ex2", "HARECEIVE", 211)
    ex2 += row(4, "ex2", "DELIVER", 212, source="STOREDRIVER")
    return {
        "plan.json": plan_of_the_docs().encode(),
        "ledger.jsonl": lines(*ledger),
        "mailboxes/DB1.jsonl": lines(seen),
        f"logs/ex1/{LOG}": ex1.encode(),
        f"logs/ex2/{LOG}": ex2.encode(),
    }


def lines(*rows: object) -> bytes:
    return "".join(f"{json.dumps(each)}\n" for each in rows).encode()
