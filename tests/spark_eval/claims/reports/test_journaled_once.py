from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from spark_eval.claims.reports.journaled_once import CLAIM
from tests.spark_eval.claims.conftest import Ask, Results
from tests.spark_eval.runs.run_builder import MINUTE, Run, digest, empty, healthy, made, user

JOURNAL, OTHER = user(5, "db2"), user(4, "db2")
WHOM = [user(1), user(2, "db2")]
REPORT = "<r1@journal.report.generator>"


def _run(*, seen_by: str | None = JOURNAL, is_made: bool = True, **said: Any) -> Run:
    """DB1 is journaled; `said` is what the report has otherwise."""
    run = empty()
    run.plan["topology"]["databases"][0]["journal"] = JOURNAL
    message = run.deliver(MINUTE, WHOM)
    if is_made:
        report = replace(
            message, message_id=REPORT, recipients=[JOURNAL], internal_id=run.next_id()
        )
        run.log("par-mbx1", "RECEIVE", "AGENT", 2 * MINUTE, report,
                reference=message.message_id, return_path="<>",
                source_context="Journaling")  # fmt: skip
    if seen_by is not None:
        _see(run, seen_by, REPORT, **said)
    return run


def _see(run: Run, mailbox: str, report: str, **said: Any) -> None:
    about = run.ledger[0]["message_id"]
    journal = {
        "sender": run.ledger[0]["sender"], "subject": "s", "message_id": about,
        "recipients": [{"recipient": each, "through": ""} for each in WHOM],
        "attached_subject": "s", **digest(about),
    }  # fmt: skip
    run.mailboxes["DB1" if mailbox.startswith("db1") else "DB2"].append(
        {"mailbox": mailbox, "message_id": report, "sender": "", "submitted_ms": None,
         "delivered_ms": 2 * MINUTE, "size_bytes": 4096, "server": "lyo-mbx2", "reports": [],
         **digest(report), "journal": journal | said}
    )  # fmt: skip


def _twice() -> Run:
    run = _run()
    again = "<r2@journal.report.generator>"
    row = next(row for row in run.tracking["par-mbx1"] if row["source"] == "AGENT")
    run.tracking["par-mbx1"].append({**row, "message-id": again, "internal-message-id": 99})
    _see(run, JOURNAL, again)
    return run


def _named(*recipients: str, through: str = "") -> list[dict[str, str]]:
    return [{"recipient": each, "through": through} for each in recipients]


HOLDS = {"reported": _run()}
VIOLATED = {
    "none-is-made": (_run(seen_by=None, is_made=False), "no server says that it made one"),
    "none-is-seen": (_run(seen_by=None), f"{JOURNAL} has no journal report"),
    "two": (_twice(), "has 2 journal reports"),
    "another-sender": (_run(sender="x@y"), "says that <x@y> sent it"),
    "another-message": (_run(message_id="<x@y>"), "names the message <x@y>"),
    "another-subject": (_run(subject="t"), "has the subject t"),
    "another-attached": (_run(body_sha256="0" * 16), "another message attached"),
    "the-first-alone": (_run(recipients=_named(WHOM[0])), f"does not name {WHOM[1]}"),
    "a-stranger": (_run(recipients=_named(*WHOM, OTHER)), f"names {OTHER}, to whom"),
    "through-a-group": (_run(recipients=_named(*WHOM, through="g@x")), "through g@x"),
}


@pytest.fixture(scope="module")
def results(ask: Ask) -> Results:
    return ask(CLAIM)


def runs() -> dict[str, Run]:
    found = {name: run for name, (run, _) in VIOLATED.items()}
    return made({**HOLDS, **found, "elsewhere": _run(seen_by=OTHER), "not-journaled": healthy()})


def test_holds(results: Results) -> None:
    assert results["reported"].status == "holds", results["reported"].examples
    assert results["reported"].proofs == {"SM-10": "holds"}


@pytest.mark.parametrize("name", VIOLATED)
def test_is_violated(name: str, results: Results) -> None:
    result = results[name]
    assert (result.status, result.violations) == ("violated", 1), result.examples
    assert VIOLATED[name][1] in result.examples[0].detail


def test_nobody_else_has_one(results: Results) -> None:
    assert results["elsewhere"].violations == 2  # and it is missing where it belongs


def test_asks_nothing_where_nothing_is_journaled(results: Results) -> None:
    assert results["not-journaled"].asked_nothing
