from __future__ import annotations

from typing import Any

import pytest

from spark_eval.claims.mail.content_intact import CLAIM
from spark_eval.histories.traffic import NO_BODY
from tests.spark_eval.claims.conftest import Ask, Results
from tests.spark_eval.runs.run_builder import (
    MINUTE,
    Row,
    Run,
    digest,
    empty,
    healthy,
    mono,
    without_digests,
)

OTHER = "0" * 16
IN_DB1, OUTSIDE = 8, 1
COPIES = IN_DB1 + OUTSIDE


def _sent(run: Run) -> list[Row]:
    return [row for row in run.ledger if row["type"] == "message"]


def _seen(run: Run, **changed: Any) -> Run:
    """The first copy in a mailbox, changed."""
    run.mailboxes["DB1"][0].update(changed)
    return run


def _exchanged(run: Run) -> Run:
    """A copy of each of two messages shows the other's text."""
    copies = {row["message_id"]: row for row in run.mailboxes["DB1"]}
    first, second = list(copies.values())[:2]
    for copy, other in ((first, second), (second, first)):
        copy.update(digest(other["message_id"]) | {"header_sha256": copy["header_sha256"]})
    return run


def _outside(**changed: Any) -> Run:
    run = healthy()
    message = run.deliver(30 * MINUTE, ["someone@partner.example"])
    assert run.external["ext1"][-1]["message_id"] == message.message_id
    run.external["ext1"][-1].update(changed)
    return run


def _longer() -> Run:
    """Whole digests in capitals are the same digests."""
    run = healthy()
    for row in _sent(run):
        row["body_sha256"] = row["body_sha256"].upper() + "F" * 48
    return run


def _with_a_dsn() -> Run:
    run = healthy()
    report = {"message_id": "<dsn@par-mbx1>", "mailbox": "someone", "body_sha256": OTHER}
    run.mailboxes["DB1"].append(run.mailboxes["DB1"][0] | report)
    return run


def _bare(reply: str, kind: str = "bare-line-ends") -> Run:
    """A stranger says a message with half a line end and hears that behind its dot."""
    run = healthy()
    who = {"id": "s1", "kind": kind, "at_ms": MINUTE, "server": "par-mbx1", "certificate": None}
    run.plan["strangers"] = [who | {"commands": [], "trickle": None}]
    said = {"type": "reply", "stranger": "s1", "server": "par-mbx1", "command": ".", "reply": reply}
    run.strangers.append(said | {"at_ms": MINUTE, "mono_ns": mono(MINUTE)})
    return run


def runs() -> dict[str, Run]:
    return {
        "healthy": healthy(),
        "empty": empty(),
        "flipped": _seen(healthy(), body_sha256=OTHER),
        "header": _seen(healthy(), header_sha256=OTHER),
        "size": _seen(healthy(), content_bytes=4095),
        "no-body": _seen(healthy(), content_bytes=196, body_sha256=NO_BODY),
        "exchanged": _exchanged(healthy()),
        "outside": _outside(),
        "outside-flipped": _outside(body_sha256=OTHER),
        "old": without_digests(healthy()),
        "old-ledger": without_digests(healthy(), mailboxes=False),
        "old-mailboxes": without_digests(healthy(), ledger=False),
        "half-known": _seen(healthy(), header_sha256=None),
        "half-known-and-flipped": _seen(healthy(), header_sha256=None, body_sha256=OTHER),
        "longer": _longer(),
        "dsn": _with_a_dsn(),
        "of-another": _seen(healthy(), sender="sender02@outside.example"),
        "of-nobody": _seen(healthy(), sender=""),
        "of-another-outside": _outside(sender="sender02@outside.example"),
        "in-capitals": _seen(healthy(), sender="Sender01@OUTSIDE.example"),
        "of-whom": _seen(healthy(), sender=None),
        "bare-and-refused": _bare("550 5.6.11 Message contains bare linefeeds"),
        "bare-and-taken": _bare("250 2.6.0 <s1@x> Queued mail for delivery"),
        "bare-and-put-off": _bare("452 4.3.1 Insufficient system resources"),
        "taken-of-another": _bare("250 2.6.0 taken", "trickles"),
        "malformed": _seen(healthy(), body_sha256="not a digest"),
    }


@pytest.fixture(scope="module")
def results(ask: Ask) -> Results:
    return ask(CLAIM)


@pytest.mark.parametrize("name", ["healthy", "outside", "longer", "in-capitals"])
def test_holds_where_every_copy_is_as_it_was_sent(name: str, results: Results) -> None:
    result = results[name]
    assert (result.status, result.unknown, result.proofs) == ("holds", 0, {"TL-10": "holds"})
    assert result.asked == COPIES + (name == "outside")


@pytest.mark.parametrize(
    ("name", "differs"),
    [
        ("flipped", "the body"),
        ("header", "the header"),
        ("size", "the size"),
        ("no-body", "the size and the body"),
    ],
)
def test_is_violated_by_a_copy_that_is_not_as_it_was_sent(
    name: str, differs: str, results: Results
) -> None:
    result = results[name]
    assert (result.status, result.violations, result.unknown) == ("violated", 1, 0)
    (example,) = result.examples
    assert f"not as it was sent in {differs}: " in example.detail
    assert example.refs == (("mailboxes/DB1.jsonl", 1), ("ledger.jsonl", 1))


def test_names_what_was_sent_and_what_is_seen(results: Results) -> None:
    sent = digest("<m000001.calm.7@outside.example>")
    (example,) = results["flipped"].examples
    header = f"4096 bytes, header {sent['header_sha256']}, body"
    assert f"DB1 has {header} {OTHER}" in example.detail
    assert f"sent were {header} {sent['body_sha256']}" in example.detail
    assert "DB1 has 196 bytes" in results["no-body"].examples[0].detail
    assert "no body; sent were" in results["no-body"].examples[0].detail


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("of-another", "DB1 has it from <sender02@outside.example>"),
        ("of-nobody", "DB1 has it from <>"),
        ("of-another-outside", "ext1 has it from <sender02@outside.example>"),
    ],
)
def test_is_violated_by_another_sender(name: str, told: str, results: Results) -> None:
    result = results[name]
    assert (result.status, result.violations, result.unknown) == ("violated", 1, 0)
    (example,) = result.examples
    assert example.detail == f"{told}; it was sent by <sender01@outside.example>"


def test_is_violated_by_a_server_that_takes_half_a_line_end(results: Results) -> None:
    result = results["bare-and-taken"]
    assert (result.status, result.violations, result.asked) == ("violated", 1, COPIES + 1)
    (example,) = result.examples
    assert example.detail.startswith(
        "par-mbx1 took a message with a CR or LF that stands alone: 250 2.6.0 "
    )
    assert example.refs == (("strangers.jsonl", 1),)


@pytest.mark.parametrize(
    ("name", "asked"), [("bare-and-refused", 1), ("bare-and-put-off", 0), ("taken-of-another", 0)]
)
def test_holds_where_half_line_ends_are_refused(name: str, asked: int, results: Results) -> None:
    result = results[name]
    assert (result.status, result.unknown, result.asked) == ("holds", 0, COPIES + asked)


def test_is_unknown_where_a_record_does_not_say_who_sent_it(results: Results) -> None:
    result = results["of-whom"]
    assert (result.status, result.unknown) == ("unknown", 1)
    assert result.reason.endswith("DB1 does not say who sent it")


def test_names_the_message_whose_text_is_shown(results: Results) -> None:
    result = results["exchanged"]
    assert (result.status, result.violations) == ("violated", 2)
    assert [each.detail.partition(": ")[0] for each in result.examples] == [
        "shows the text of <m000002.calm.7@outside.example>",
        "shows the text of <m000001.calm.7@outside.example>",
    ]
    first, second = (each.refs for each in result.examples)
    assert first[1:] == tuple(reversed(second[1:]))
    assert [file for file, _ in first] == ["mailboxes/DB1.jsonl", "ledger.jsonl", "ledger.jsonl"]


def test_asks_what_is_seen_outside_too(results: Results) -> None:
    result = results["outside-flipped"]
    assert (result.status, result.violations) == ("violated", 1)
    assert result.examples[0].refs[0] == ("external/ext1.jsonl", 2)


@pytest.mark.parametrize("name", ["old", "old-ledger", "old-mailboxes"])
def test_is_unknown_where_a_record_says_nothing_of_contents(name: str, results: Results) -> None:
    result = results[name]
    copies = IN_DB1 if name == "old-mailboxes" else COPIES
    assert (result.status, result.asked, result.unknown) == ("unknown", COPIES, copies)
    assert result.proofs == {"TL-10": "unknown"}
    why = "DB1 has no digest" if name == "old-mailboxes" else "the ledger has no digest"
    assert why in result.reason


def test_what_is_half_known_is_not_held(results: Results) -> None:
    assert (results["half-known"].status, results["half-known"].unknown) == ("unknown", 1)
    assert results["half-known-and-flipped"].violations == 1


def test_asks_nothing_of_what_the_workload_did_not_send(results: Results) -> None:
    assert (results["dsn"].status, results["dsn"].asked) == ("holds", COPIES)


def test_a_line_whose_digest_is_none_is_damage_and_not_asked(
    results: Results,
) -> None:
    assert results["malformed"].asked == COPIES - 1


def test_is_unknown_where_nothing_was_delivered(results: Results) -> None:
    assert (results["empty"].status, results["empty"].asked) == ("unknown", 0)
