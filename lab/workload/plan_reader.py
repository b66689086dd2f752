"""What the traffic source needs of a plan: its messages, its strangers, its clock, and where the
servers are.

Read from the plan file itself and from `targets.json`, with the standard library alone, because
this runs in the container. Anything else in the plan is none of the sender's business.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from lab.clock import parse_origin
from lab.plan.parts import INTERNAL, Stranger
from lab.program.json_record import decode
from lab.workload.smtp_attempt import Target


@dataclass(frozen=True, slots=True)
class PlannedMessage:
    """One message: `at_ms` lab time since the start, `via` the servers in order of preference.
    `outbox`: the mailbox database into whose Outbox it goes, None of other than internal mail.
    """

    message_id: str
    at_ms: float
    mail: str
    sender: str
    recipients: tuple[str, ...]
    via: tuple[str, ...]
    size_bytes: int
    retry_ms: float
    outbox: str | None = None


@dataclass(frozen=True, slots=True)
class WorkPlan:
    """`messages` in order of their time; nothing is sent from `duration_ms` on. `homes`: by
    address of a mailbox its database.
    """

    origin: datetime
    speed: float
    duration_ms: float
    messages: tuple[PlannedMessage, ...]
    strangers: tuple[Stranger, ...] = ()
    homes: Mapping[str, str] = field(default_factory=dict)


def read_work_plan(path: Path) -> WorkPlan:
    """The messages and strangers of a `plan.json`; KeyError or ValueError when it is none."""
    plan = json.loads(path.read_text(encoding="utf-8"))
    mailboxes = plan.get("topology", {}).get("mailboxes", ())
    homes = {box["address"]: box["database"] for box in mailboxes}
    return WorkPlan(
        parse_origin(plan["clock"]["origin"]),
        float(plan["clock"]["speed"]),
        float(plan["duration_ms"]),
        read_messages(plan["messages"], homes),
        decode(tuple[Stranger, ...], plan.get("strangers", []), "strangers"),
        homes,
    )


def read_messages(
    rows: Iterable[Mapping[str, object]], homes: Mapping[str, str]
) -> tuple[PlannedMessage, ...]:
    """Messages as plan.json has them, in order of their time. Raises KeyError, ValueError."""
    messages = [_message(row, homes) for row in rows]
    return tuple(sorted(messages, key=lambda message: (message.at_ms, message.message_id)))


def read_targets(path: Path) -> dict[str, Target]:
    """`{"par-mbx1": {"address": "10.1.2.3:21000", "fqdn": "…"}}` by server name."""
    targets = {}
    for server, row in json.loads(path.read_text(encoding="utf-8")).items():
        host, _, port = row["address"].rpartition(":")
        targets[server] = Target(server, host, int(port), row["fqdn"])
    return targets


def _message(row: Mapping[str, object], homes: Mapping[str, str]) -> PlannedMessage:
    mail, sender = str(row["mail"]), str(row["sender"])
    return PlannedMessage(
        str(row["message_id"]),
        _number(row["at_ms"]),
        mail,
        sender,
        _names(row["recipients"]),
        _names(row["via"]),
        int(_number(row["size_bytes"])),
        _number(row["retry_ms"]),
        homes[sender] if mail == INTERNAL else None,
    )


def _number(value: object) -> float:
    if not isinstance(value, int | float):
        raise ValueError(f"{value!r} is no number")
    return value


def _names(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not value:
        raise ValueError(f"{value!r} is no list of names")
    return tuple(str(name) for name in value)
