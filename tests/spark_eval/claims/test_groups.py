from __future__ import annotations

import pytest

from spark_eval.claims.mail.groups_expanded import CLAIM
from spark_eval.claims.mail.no_loss import CLAIM as NO_LOSS
from spark_eval.claims.mail.no_phantom import CLAIM as NO_PHANTOM
from spark_eval.claims.mail.rows_fit import CLAIM as ROWS_FIT
from spark_eval.expected.mail.delays import delays
from tests.spark_eval.claims.conftest import Ask, Results
from tests.spark_eval.results import made as read
from tests.spark_eval.runs.group_runs import (
    LEADS,
    NESTED,
    ONE,
    PRIMARY,
    STAFF,
    THREE,
    TWO,
    Rows,
    change,
    delivered,
    expand,
    received,
    resubmitted,
)
from tests.spark_eval.runs.run_builder import HOUR, MINUTE, SPAN, Run, healthy, made

FLAT = {STAFF: [ONE, TWO]}
EXPANDED: Rows = {"EXPAND": [(STAFF, [ONE, TWO])]}
AFTER: Rows = {"EXPAND": [(STAFF, [TWO, THREE])]}


def _expanded(rows: Rows) -> Run:
    run, message = received(rows)
    return delivered(run, message, ONE, TWO)


def _changed(rows: Rows, at_ms: int, seen_ms: int = 0) -> Run:
    """ONE leaves the group and THREE joins it at 10 minutes; the message comes at `at_ms`."""
    run, message = received(rows, groups=FLAT, at_ms=at_ms)
    change(run, 10 * MINUTE, add=[THREE], remove=[ONE], seen_ms=seen_ms)
    who = [member for _, members in rows["EXPAND"] for member in members]
    return delivered(run, message, *who, at_ms=at_ms + MINUTE)


def _paused() -> Run:
    """A server that is paused learns of it when it goes on."""
    run = _changed(EXPANDED, 30 * MINUTE - 400)
    run.away("pause", PRIMARY, 9 * MINUTE, 30 * MINUTE)
    return run


def _promoted(rows: Rows) -> Run:
    """What the first server had is lost; the group has changed since."""
    run, message = received(EXPANDED, groups=FLAT)
    change(run, 10 * MINUTE, add=[THREE], remove=[ONE])
    run.kill(PRIMARY, 2 * MINUTE, 20 * MINUTE, new_database=True)
    row = run.promote(message, SPAN + 2 * MINUTE, "database-id-changed", duplicate=True)
    mine = row["internal-message-id"]
    expand(run, message, rows, row["at_ms"] + 1, server="lyo-mbx1", internal_id=mine)
    for _, members in rows["EXPAND"]:
        message.recipients = list(members)
    run.show(message, SPAN + 4 * MINUTE)
    return run


def _given_back(*recipients: str, net: str = "shadow") -> Run:
    run, message = received(EXPANDED, groups=FLAT)
    delivered(run, message, ONE, TWO)
    change(run, 10 * MINUTE, add=[THREE], remove=[ONE])
    resubmitted(run, message, list(recipients), HOUR, net)
    return run


def _without_one_row() -> Run:
    run = _expanded(NESTED)
    run.tracking[PRIMARY] = [row for row in run.tracking[PRIMARY] if row.get("reference") != LEADS]
    return run


HOLDS = {
    "nested-and-looping": _expanded(NESTED),
    "before-a-change": _changed(EXPANDED, 5 * MINUTE),
    "after-a-change": _changed(AFTER, 15 * MINUTE),
    "as-before-while-it-is-under-way": _changed(EXPANDED, 10 * MINUTE, seen_ms=12 * MINUTE),
    "as-after-while-it-is-under-way": _changed(AFTER, 10 * MINUTE, seen_ms=12 * MINUTE),
    "paused-meanwhile": _paused(),
    "promoted-to-the-members-of-then": _promoted(AFTER),
    "given-back-to-the-members-of-then": _given_back(TWO, THREE),
    "given-back-as-once-resolved": _given_back(ONE, TWO, net="primary"),
}
VIOLATED = {
    "not-at-all": (_expanded({}), f"expands {STAFF} not at all"),
    "not-the-nested-one": (_without_one_row(), f"expands {LEADS} not at all"),
    "twice": (
        _expanded({**NESTED, "EXPAND": [*NESTED["EXPAND"], NESTED["EXPAND"][0]]}),
        f"expands {STAFF} 2 times",
    ),
    "not-all-members": (
        _expanded({**NESTED, "EXPAND": [(STAFF, [ONE, LEADS]), (LEADS, [TWO, ONE])]}),
        f"expands {LEADS} to 2 members; it has 3",
    ),
    "no-duplicate": (
        _expanded({"EXPAND": NESTED["EXPAND"]}),
        f"logs 0 times that {ONE} came again; he did 1 times",
    ),
    "a-duplicate-too-many": (
        _expanded({**NESTED, "DUPLICATEEXPAND": [(LEADS, [ONE, STAFF, TWO])]}),
        f"logs 1 times that {TWO} came again; he did 0 times",
    ),
    "as-after-before-a-change": (_changed(AFTER, 5 * MINUTE), f"expands {STAFF} to 2 members"),
    "as-before-after-a-change": (_changed(EXPANDED, 15 * MINUTE), f"expands {STAFF} to 2"),
    "promoted-to-the-first-members": (_promoted(EXPANDED), f"expands {STAFF} to 2 members"),
    "given-back-to-who-left": (_given_back(ONE, TWO, THREE), f"to {ONE}, for whom its envelope"),
    "given-back-without-who-joined": (_given_back(TWO), f"without {THREE}, for whom"),
}
PHANTOMS = {"promoted-to-the-first-members", "as-before-after-a-change", "as-after-before-a-change"}


def _to_the_group_itself() -> Run:
    run, message = received()
    return delivered(run, message, ONE, TWO, STAFF)


def _lost() -> Run:
    run, message = received()
    return delivered(run, message, ONE)


OTHERS = {"to-the-group-itself": _to_the_group_itself(), "lost": _lost(), "no-groups": healthy()}


def runs() -> dict[str, Run]:
    return made({**HOLDS, **{name: run for name, (run, _) in VIOLATED.items()}, **OTHERS})


@pytest.fixture(scope="module")
def results(ask: Ask) -> Results:
    return ask(CLAIM)


@pytest.fixture(scope="module")
def losses(ask: Ask) -> Results:
    return ask(NO_LOSS)


@pytest.fixture(scope="module")
def phantoms(ask: Ask) -> Results:
    return ask(NO_PHANTOM)


@pytest.mark.parametrize("name", HOLDS)
def test_holds(name: str, results: Results, losses: Results, phantoms: Results) -> None:
    assert results[name].status == "holds", results[name].examples
    assert phantoms[name].status == "holds", phantoms[name].examples


@pytest.mark.parametrize("name", VIOLATED)
def test_is_violated(name: str, results: Results) -> None:
    result = results[name]
    assert (result.status, result.violations) == ("violated", 1), result.examples
    assert VIOLATED[name][1] in result.examples[0].detail


def test_a_change_of_a_group_asks_for_sn_11(results: Results) -> None:
    assert results["promoted-to-the-members-of-then"].proofs["SN-11"] == "holds"
    assert results["given-back-to-the-members-of-then"].proofs["SN-11"] == "holds"
    assert "SN-11" not in results["nested-and-looping"].proofs


def test_asks_nothing_where_there_are_no_groups(results: Results) -> None:
    assert results["no-groups"].asked_nothing


def test_a_member_who_does_not_see_it_has_lost_it(losses: Results) -> None:
    assert (losses["lost"].status, losses["lost"].violations) == ("violated", 1)
    assert TWO in losses["lost"].examples[0].subject


def test_who_left_before_a_promotion_has_lost_it_with_an_excuse(losses: Results) -> None:
    """And who joined is owed it."""
    result = losses["promoted-to-the-members-of-then"]
    details = [each.detail for each in result.examples]
    assert details == ["1 messages are excused, not 0"]
    assert THREE in losses["promoted-to-the-first-members"].examples[0].subject


def test_the_group_itself_gets_no_copy(phantoms: Results, ask: Ask) -> None:
    assert phantoms["to-the-group-itself"].violations == 1
    result = ask(ROWS_FIT)["to-the-group-itself"]
    assert f"names {STAFF}, to whom it was not sent" in result.examples[0].detail


@pytest.mark.parametrize("name", sorted(PHANTOMS))
def test_who_was_not_in_the_group_then_sees_a_phantom(name: str, phantoms: Results) -> None:
    expected = 0 if name.startswith("promoted") else 1
    assert phantoms[name].violations == expected


def test_whoever_a_group_stands_for_is_who_waits() -> None:
    """And may be named by a DSN of delay; the group itself is nobody."""
    run, _ = received(EXPANDED, groups=FLAT)
    found = read.made(run)
    (message,) = found.messages
    (delay,) = delays(message, found.run)[PRIMARY]
    assert set(delay.recipients) == {ONE, TWO}
