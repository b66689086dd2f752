from __future__ import annotations

import pytest

from spark_eval.claims.node.strangers_learn_nothing import CLAIM
from tests.spark_eval.claims.conftest import Ask, Results
from tests.spark_eval.runs.run_builder import MINUTE, SECOND, Run, healthy, mono

SERVER = "par-mbx1"
NOT_ALLOWED = "550 5.7.1 Not authorized"
CALLED = 3 * MINUTE
# ConnectionTimeout, a second, two of the wall at 60 times its speed, and the clock's resolution
LIMIT = 10 * MINUTE + SECOND + 120 * SECOND + 900


def _calls(run: Run, kind: str, *heard: tuple[str, str]) -> str:
    """A stranger of that kind calls and hears that; its id."""
    planned = run.plan.setdefault("strangers", [])
    stranger = f"s{len(planned) + 1}"
    planned.append({"id": stranger, "kind": kind, "at_ms": CALLED, "server": SERVER,
                    "certificate": None, "commands": [], "trickle": None})  # fmt: skip
    for command, reply in (("banner", "220 ready"), *heard):
        _note(run, stranger, "reply", CALLED, command=command, reply=reply)
    return stranger


def _note(run: Run, stranger: str, kind: str, at_ms: int, **said: object) -> None:
    row = {"type": kind, "stranger": stranger, "server": SERVER, **said}
    run.strangers.append({**row, "at_ms": at_ms, "mono_ns": mono(at_ms)})


def _ends(run: Run, stranger: str, outcome: str, after: int = 0, sent_bytes: int = 0) -> None:
    said = {"outcome": outcome, "reply": None, "sent_bytes": sent_bytes}
    _note(run, stranger, "end", CALLED + after, **said)


def _asks(kind: str, command: str, reply: str) -> Run:
    """One command of one stranger, between an EHLO that offers nothing and the end."""
    run = healthy()
    stranger = _calls(run, kind, ("EHLO", "250-Hello 250 SIZE 1000"), (command, reply))
    _ends(run, stranger, "done")
    return run


def _refused(kind: str = "no-certificate") -> Run:
    return _asks(kind, "XMOUNT DB1 1", NOT_ALLOWED)


def _greeted(kind: str, reply: str) -> Run:
    return _asks(kind, "EHLO", reply)


def _shadows_off(reply: str) -> Run:
    run = _greeted("other-server", reply)
    run.plan["settings"]["TransportConfig"]["ShadowRedundancyEnabled"] = False
    return run


def _trickled(after: int, outcome: str = "refused", sent_bytes: int = 8) -> Run:
    run = healthy()
    stranger = _calls(run, "trickles", ("DATA", "354 Start mail input"))
    _ends(run, stranger, outcome, after, sent_bytes)
    return run


def _cut_off() -> Run:
    """Nobody could see that the server had ended the session."""
    run = _trickled(LIMIT + MINUTE, "gave-up")
    run.cut("workload", SERVER, CALLED + MINUTE, 20 * MINUTE)
    return run


def _foreign(outcome: str) -> Run:
    run = healthy()
    _ends(run, _calls(run, "foreign-certificate"), outcome)
    return run


def _without_a_word() -> Run:
    run = _refused()
    run.strangers.clear()
    return run


def _without_an_end() -> Run:
    run = _trickled(MINUTE)
    run.strangers.pop()
    return run


def runs() -> dict[str, Run]:
    return {
        "nobody": healthy(),
        "refused": _refused(),
        "another-server": _greeted("other-server", "250 XSHADOWREQUEST 11-22"),
        "another-server-and-shadows-off": _shadows_off("250 SIZE 1000"),
        "offered-though-shadows-are-off": _shadows_off("250 SIZE 1000 XSHADOWREQUEST 11-22"),
        "foreign": _foreign("closed"),
        "cut-in-time": _trickled(LIMIT),
        "cut-by-the-network": _trickled(9 * MINUTE, "closed"),
        "accepted": _asks("no-certificate", "XDELIVER DB1 x", "250 2.0.0 Delivery may follow"),
        "told-the-state": _asks("other-server", "XSEED DB1 1", "554 5.5.4 active under 3"),
        "told-a-message": _asks(
            "no-certificate", "XQDISCARD par-mbx2 - 0", "550 5.7.1 <m1@x> is not yours"
        ),
        "offered": _greeted("no-certificate", "250 SIZE 1000 XSHADOWREQUEST 11-22"),
        "offered-to-a-trickler": _greeted("trickles", "250 XQDISCARD"),
        "trickles-on": _trickled(LIMIT + 1),
        "gives-up": _trickled(21 * MINUTE, "gave-up"),
        "still-open": _trickled(9 * MINUTE, "stopped"),
        "never-trickled": _trickled(0, "refused", sent_bytes=0),
        "stopping": _asks("no-certificate", "XMOUNT DB1 1", "421 4.3.2 Service not active"),
        "cut-off": _cut_off(),
        "foreign-hangs": _foreign("timed-out"),
        "without-a-word": _without_a_word(),
        "without-an-end": _without_an_end(),
    }


@pytest.fixture(scope="module")
def results(ask: Ask) -> Results:
    return ask(CLAIM)


@pytest.mark.parametrize(
    ("name", "asked", "requirement"),
    [
        ("refused", 2, "TL-6"),
        ("foreign", 1, "TL-6"),
        ("another-server-and-shadows-off", 2, "SR-9"),
        ("cut-in-time", 1, "SR-6"),
        ("cut-by-the-network", 1, "SR-6"),
    ],
)
def test_holds(results: Results, name: str, asked: int, requirement: str) -> None:
    told = results[name]
    assert (told.status, told.asked) == ("holds", asked), told
    assert told.proofs == {requirement: "holds"}


@pytest.mark.parametrize(
    ("name", "subject", "says"),
    [
        (
            "accepted",
            "XDELIVER of s1 (no-certificate)",
            "par-mbx1 accepts it: 250 2.0.0 Delivery may follow",
        ),
        (
            "told-the-state",
            "XSEED of s1 (other-server)",
            "par-mbx1 says more than that it may not: 554 5.5.4 active under 3",
        ),
        (
            "told-a-message",
            "XQDISCARD of s1 (no-certificate)",
            "par-mbx1 names a message or a database: 550 5.7.1 <m1@x> is not yours",
        ),
        (
            "offered",
            "EHLO of s1 (no-certificate)",
            "par-mbx1 offers a verb of the organisation: 250 SIZE 1000 XSHADOWREQUEST 11-22",
        ),
        (
            "offered-to-a-trickler",
            "EHLO of s1 (trickles)",
            "par-mbx1 offers a verb of the organisation: 250 XQDISCARD",
        ),
    ],
)
def test_is_violated_by_a_reply(results: Results, name: str, subject: str, says: str) -> None:
    [example] = results[name].examples
    assert (example.subject, example.detail) == (subject, says)
    assert [file for file, _ in example.refs] == ["strangers.jsonl"]
    assert results[name].proofs["TL-6"] == "violated"


def test_is_violated_by_a_shadow_verb_offered_to_a_server_though_shadows_are_off(
    results: Results,
) -> None:
    told = results["offered-though-shadows-are-off"]
    [example] = told.examples
    assert example.detail == (
        "par-mbx1 offers a shadow verb, and ShadowRedundancyEnabled is false: "
        "250 SIZE 1000 XSHADOWREQUEST 11-22"
    )
    assert told.proofs == {"SR-9": "violated"}


@pytest.mark.parametrize(
    ("name", "open_at"), [("trickles-on", "0:15:01.901"), ("gives-up", "0:24:00.000")]
)
def test_is_violated_by_a_session_that_goes_on(results: Results, name: str, open_at: str) -> None:
    [example] = results[name].examples
    assert example.detail == (
        f"after 8 bytes its session at par-mbx1 is still open at {open_at}; "
        "ConnectionTimeout was over at 0:13:00.000"
    )
    assert results[name].proofs == {"SR-6": "violated"}


@pytest.mark.parametrize(
    "name", ["nobody", "still-open", "never-trickled", "cut-off", "foreign-hangs"]
)
def test_is_unknown_where_nothing_was_asked(results: Results, name: str) -> None:
    told = results[name]
    assert (told.status, told.asked, told.reason) == ("unknown", 0, "nothing was asked")


def test_a_server_that_ends_a_session_or_offers_a_verb_to_a_server_is_not_asked(
    results: Results,
) -> None:
    assert (results["stopping"].status, results["stopping"].asked) == ("holds", 1)
    assert (results["another-server"].status, results["another-server"].asked) == ("unknown", 0)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        (
            "without-a-word",
            "s1 (no-certificate): the record says nothing of s1 (no-certificate)",
        ),
        (
            "without-an-end",
            "s1 (trickles): the record does not say how the session of s1 ended",
        ),
    ],
)
def test_is_unknown_where_the_record_is_not_whole(results: Results, name: str, reason: str) -> None:
    assert (results[name].status, results[name].reason) == ("unknown", reason)
