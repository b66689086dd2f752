from __future__ import annotations

from typing import Any

import pytest

from spark_eval.claims.reports.dsns_fit import CLAIM
from tests.spark_eval.claims.conftest import Ask, Results
from tests.spark_eval.runs.dsn_runs import EXPIRED, OUTSIDE, SENDER, given_up_with_its_dsn
from tests.spark_eval.runs.run_builder import DOMAIN, HOUR, MINUTE, Row, Run, digest, healthy, made

SERVER = "par-mbx1"
ABOUT = "<m000001.calm.7@outside.example>"
SAID = {
    "recipient": OUTSIDE, "action": "failed", "status": "4.4.7",
    "reporting_mta": f"{SERVER}.{DOMAIN}",
}  # fmt: skip


def _seen(*, of_delay: bool = False, sender: str = "", reply: str = EXPIRED, **more: Any) -> Run:
    """The DSN as its reader sees it; `more` are its columns."""
    run = given_up_with_its_dsn(is_given_up=False)
    run.rows(SERVER, "FAIL")[0]["recipient-status"] = reply
    for row in _of_dsn(run):
        row["return-path"] = "<>"
        row["source-context"] = "delayed" if of_delay else ""
    run.mailboxes["DB1"].append(
        {"mailbox": SENDER, "message_id": "<dsn@lab>", "sender": sender, "submitted_ms": None,
         "delivered_ms": HOUR + MINUTE, "size_bytes": 4096, "server": "par-mbx2",
         "reports": [SAID], "in_reply_to": ABOUT, "references": ABOUT, **digest("<dsn@lab>"),
         **more}
    )  # fmt: skip
    return run


def _of_dsn(run: Run) -> list[Row]:
    return [row for row in run.tracking[SERVER] if row["message-id"] == "<dsn@lab>"]


def _says(*, of_delay: bool = False, reply: str = EXPIRED, **said: str) -> Run:
    return _seen(of_delay=of_delay, reply=reply, reports=[{**SAID, **said}])


def _logged(**fields: str) -> Run:
    run = _seen()
    for row in _of_dsn(run):
        row.update({name.replace("_", "-"): value for name, value in fields.items()})
    return run


def _as_before() -> Run:
    """The record has not what refers to the message, nor who says so."""
    run = _seen(reports=[{"recipient": OUTSIDE, "action": "failed"}])
    for name in ("in_reply_to", "references"):
        del run.mailboxes["DB1"][-1][name]
    return run


HOLDS = {
    "failed": _seen(),
    "delayed": _says(of_delay=True, action="delayed"),
    "a-reply-without-a-code": _says(status="5.0.0", reply="554 no"),
    "a-reply-in-braces": _says(status="5.1.1", reply="[{LED=550 5.1.1 no};{MSG=};{FQDN=};{IP=}]"),
    "a-record-of-before": _as_before(),
}
VIOLATED = {
    "has-a-sender": (_seen(sender="postmaster@shadowlab.example"), "has the sender postmaster@"),
    "is-logged-with-a-sender": (_logged(return_path=SENDER), "with the sender db1-user01"),
    "is-logged-for-another": (_logged(recipient_address=OUTSIDE), f"as mail for {OUTSIDE}"),
    "replies-to-another": (_seen(in_reply_to="<other@lab>"), "has <other@lab> in In-Reply-To"),
    "replies-to-nothing": (_seen(in_reply_to=""), "has nothing in In-Reply-To"),
    "refers-to-nothing": (_seen(references=""), "has nothing in References"),
    "names-nobody": (_seen(reports=[]), "says nothing of anybody"),
    "another-server": (_says(reporting_mta="x"), "has x as Reporting-MTA"),
    "no-server": (_says(reporting_mta=""), "has nobody as Reporting-MTA"),
    "relayed": (_says(action="relayed"), f"says relayed of {OUTSIDE}"),
    "failed-of-a-delay": (_says(of_delay=True), f"says failed of {OUTSIDE}"),
    "another-status": (_says(status="5.4.7"), f"has the status 5.4.7 of {OUTSIDE}"),
    "no-status": (_says(status=""), f"has the status nothing of {OUTSIDE}"),
    "a-delay-for-good": (
        _says(of_delay=True, action="delayed", status="5.4.7"), "has the status 5.4.7",
    ),
}  # fmt: skip


def runs() -> dict[str, Run]:
    found = {name: run for name, (run, _) in VIOLATED.items()}
    return made({**HOLDS, **found, "no-dsn": healthy()})


@pytest.fixture(scope="module")
def results(ask: Ask) -> Results:
    return ask(CLAIM)


@pytest.mark.parametrize("name", HOLDS)
def test_holds(name: str, results: Results) -> None:
    assert results[name].status == "holds", results[name].examples
    assert results[name].proofs == {"RT-5" if name == "delayed" else "SM-12": "holds"}


@pytest.mark.parametrize("name", VIOLATED)
def test_is_violated(name: str, results: Results) -> None:
    result = results[name]
    assert (result.status, result.violations) == ("violated", 1), result.examples
    assert VIOLATED[name][1] in result.examples[0].detail


def test_asks_nothing_where_nobody_was_notified(results: Results) -> None:
    assert results["no-dsn"].asked_nothing
