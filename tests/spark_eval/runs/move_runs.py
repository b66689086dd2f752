"""Runs in which a mailbox moves from DB1 to DB2, written by hand."""

from __future__ import annotations

from typing import Any

from tests.spark_eval.runs.run_builder import (
    DOMAIN,
    MINUTE,
    SECOND,
    SENDER,
    Message,
    Run,
    digest,
    empty,
    epoch,
    mono,
    user,
)

WHO, STAYS = user(1), user(2)
OLD, NEW, SERVER = "par-mbx2", "lyo-mbx2", "par-mbx1"
BEGUN, MOVED, SEEN = 20 * MINUTE, 20 * MINUTE + 2 * SECOND, 20 * MINUTE + 3 * SECOND
HOMES = {"DB1": OLD, "DB2": NEW}


def moving(*, took_effect: bool | None = True, seen_ms: int = SEEN) -> Run:
    """`took_effect` None: nobody saw the end of it."""
    run = empty()
    keys = {"kind": "move_mailbox", "mailbox": WHO, "to": "DB2"}
    run.plan["operations"] = [{"id": "o1", "at_ms": BEGUN, **keys}]
    phases: list[tuple[str, int, dict[str, Any]]] = [
        ("intended", BEGUN, keys),
        ("applied", BEGUN, {"asked": [OLD]}),
    ]
    if took_effect is not None:
        phases.append(("evidence", seen_ms, {"took_effect": took_effect, "reason": "250"}))
    run.operations += [
        {"operation": "o1", "phase": phase, "at_ms": at_ms, "mono_ns": mono(at_ms), **said}
        for phase, at_ms, said in phases
    ]
    if took_effect is not False:
        run.life(OLD, "mailbox-moved", MOVED, database="DB1", to="DB2", mailbox=WHO)
    return run


def delivered(
    run: Run,
    at_ms: int,
    database: str,
    *,
    whom: str = WHO,
    seen_in: str | None = "DB2",
    event: str = "DELIVER",
    message: Message | None = None,
) -> Message:
    """By a server that took it in a minute before, into `database`; it lies in `seen_in` at the
    end.
    """
    message = message or run.accept(at_ms - MINUTE, [whom], SERVER)
    message.done_ms = at_ms + 50
    run.log(SERVER, "SEND", "SMTP", at_ms + 50, message, custom={"Fork": f"database:{database}"},
            server_hostname=f"{HOMES[database]}.{DOMAIN}")  # fmt: skip
    run.log(HOMES[database], event, "STOREDRIVER", at_ms, message, recipients=[whom],
            internal_id=run.next_id(), source_context=f"MDB:{database}")  # fmt: skip
    if seen_in is not None:
        run.mailboxes[seen_in].append(
            {"mailbox": whom, "message_id": message.message_id, "sender": SENDER,
             "submitted_ms": epoch(message.sent_ms), "delivered_ms": at_ms, "size_bytes": 4096,
             "server": HOMES[seen_in], **digest(message.message_id)}
        )  # fmt: skip
    return message


def given_back(run: Run, message: Message, at_ms: int, database: str) -> None:
    """From the Primary Safety Net of its server, as an administrator asked for it."""
    run.plan["operations"].append(
        {"id": "o2", "kind": "resubmit", "at_ms": at_ms - SECOND, "database": database,
         "start_ms": 0, "end_ms": at_ms - 2 * SECOND}
    )  # fmt: skip
    custom = {
        "Destination": database, "SafetyNet": "primary", "CopyInternalId": message.internal_id,
        "DeliveredAt": message.done_ms,
    }  # fmt: skip
    run.log(SERVER, "RESUBMIT", "SAFETYNET", at_ms, message, recipients=[WHO],
            internal_id=run.next_id(), source_context="o2", custom=custom)  # fmt: skip
