"""Runs with mail to distribution groups, written by hand."""

from __future__ import annotations

from typing import Any

from tests.spark_eval.runs.run_builder import (
    DOMAIN,
    MINUTE,
    SECOND,
    Message,
    Run,
    empty,
    mono,
    user,
)

ONE, TWO, THREE = user(1), user(2), user(3)
STAFF, LEADS = f"staff@{DOMAIN}", f"leads@{DOMAIN}"
PRIMARY, SHADOW = "par-mbx1", "lyo-mbx1"
GROUPS = {STAFF: [ONE, LEADS], LEADS: [TWO, ONE, STAFF]}
NESTED = {
    "EXPAND": [(STAFF, [ONE, LEADS]), (LEADS, [TWO, ONE, STAFF])],
    "DUPLICATEEXPAND": [(LEADS, [ONE, STAFF])],
}
Rows = dict[str, list[tuple[str, list[str]]]]


def with_groups(groups: dict[str, list[str]] = GROUPS) -> Run:
    run = empty()
    run.plan["topology"]["groups"] = [
        {"name": address.partition("@")[0], "address": address, "members": members}
        for address, members in groups.items()
    ]
    return run


def expand(run: Run, message: Message, rows: Rows, at_ms: int, **more: Any) -> None:
    for event, expansions in rows.items():
        for group, members in expansions:
            run.log(more.pop("server", message.primary), event, "ROUTING", at_ms, message,
                    recipients=members, reference=group, **more)  # fmt: skip


def received(
    rows: Rows = NESTED, *, groups: dict[str, list[str]] = GROUPS, at_ms: int = MINUTE
) -> tuple[Run, Message]:
    run = with_groups(groups)
    message = run.accept(at_ms, [STAFF])
    expand(run, message, rows, at_ms + 501)
    return run, message


def delivered(run: Run, message: Message, *recipients: str, at_ms: int = 2 * MINUTE) -> Run:
    """By the primary server, in place of what the envelope names."""
    named, message.recipients = message.recipients, list(recipients)
    run.finish(message, at_ms)
    message.recipients = named
    return run


def change(run: Run, at_ms: int, *, add: list[str], remove: list[str], seen_ms: int = 0) -> None:
    """Of staff, by the journal."""
    keys = {"kind": "change_group", "group": "staff", "add": add, "remove": remove}
    run.plan["operations"] = [{"id": "o1", "at_ms": at_ms, **keys}]
    seen_ms = seen_ms or at_ms + SECOND
    phases: tuple[tuple[str, int, dict[str, Any]], ...] = (
        ("intended", at_ms, keys),
        ("applied", at_ms, {"asked": []}),
        ("evidence", seen_ms, {"took_effect": True, "reason": "read"}),
    )
    run.operations += [
        {"operation": "o1", "phase": phase, "at_ms": when, "mono_ns": mono(when), **said}
        for phase, when, said in phases
    ]


def resubmitted(
    run: Run, message: Message, recipients: list[str], at_ms: int, net: str = "shadow"
) -> None:
    """From the Shadow Safety Net that has the envelope."""
    custom = {"Destination": "DB1", "SafetyNet": net, "CopyInternalId": 1000 + message.internal_id}
    run.log(SHADOW, "RESUBMIT", "SAFETYNET", at_ms, message, recipients=recipients,
            internal_id=run.next_id(), source_context="am:1:s", custom=custom)  # fmt: skip
