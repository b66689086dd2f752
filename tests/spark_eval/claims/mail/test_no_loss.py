from __future__ import annotations

from dataclasses import replace

import pytest

from spark_eval.claims.mail.no_loss import CLAIM
from tests.spark_eval.claims.conftest import Ask, Results
from tests.spark_eval.runs import dsn_runs
from tests.spark_eval.runs.dsn_runs import IN_THE_WAY, NOT_IN_THE_WAY
from tests.spark_eval.runs.failover_runs import asked_too_late, before, expired_without_a_dsn, lossy
from tests.spark_eval.runs.faulty_runs import new_database
from tests.spark_eval.runs.run_builder import HOUR, MINUTE, Message, Run, empty, healthy, user

EXPIRED = "550 4.4.7 QUEUE.Expired"
SENDER = user(5)
OUTSIDE = "someone@partner.example"


def _lost() -> Run:
    run = healthy()
    run.mailboxes["DB1"] = [row for row in run.mailboxes["DB1"] if row["mailbox"] != user(3)]
    return run


def _both_custodians_failed() -> Run:
    run = healthy()
    run.accept(20 * MINUTE, [user(1)])
    run.kill("par-mbx1", 21 * MINUTE, 25 * MINUTE, new_database=True)
    run.kill("lyo-mbx1", 21 * MINUTE, 25 * MINUTE, new_database=True, fault="f2")
    return run


def _refused_first() -> Run:
    """Both custodians failed; another shadow stands for an attempt that was refused in the end."""
    run = _both_custodians_failed()
    (accepted,) = (row for row in run.tracking["par-mbx1"] if row["at_ms"] == 20 * MINUTE + 500)
    refused = Message(
        accepted["message-id"], accepted["network-message-id"], [user(1)], 19 * MINUTE,
        "par-mbx2", "lyo-mbx2", run.next_id(), run.database_ids["par-mbx2"],
    )  # fmt: skip
    run.protect(refused, "lyo-mbx2")
    return run


def _unprotected(returns: str) -> Run:
    run = healthy()
    run.accept(20 * MINUTE, [user(1)], shadow=None)
    run.kill("par-mbx1", 21 * MINUTE, 25 * MINUTE, new_database=returns == "new")
    return run


def _expecting(run: Run, low: int, high: int) -> Run:
    run.plan["expect"]["unprotected_loss"] = [low, high]
    return run


def _expecting_lost(run: Run, lost: int) -> Run:
    run.plan["expect"] |= {"lost": lost, "verdict": "fail"}
    return run


def _given_up(*, told: str = "", status: str = EXPIRED, names: str = "") -> Run:
    """By its only server; `told` sees a DSN about it, whose fields name somebody."""
    run = empty()
    message = run.accept(MINUTE, [OUTSIDE], mail="outbound")
    run.ledger[0]["sender"] = SENDER
    run.log("par-mbx1", "FAIL", "QUEUE", HOUR, message, recipient_status=status)
    if told:
        report = replace(
            message, message_id="<dsn@lab>", recipients=[told], internal_id=run.next_id()
        )
        run.log("par-mbx1", "DSN", "DSN", HOUR, report, reference=message.message_id)
        run.show(report, HOUR + MINUTE)
    if names:
        run.mailboxes["DB1"][-1]["reports"] = [{"recipient": names, "action": "failed"}]
    return run


def _given_up_and_nobody_collected_what_its_sender_sees() -> Run:
    run = _given_up()
    run.drop.add("mailboxes/DB1.jsonl")
    return run


def _in_doubt() -> Run:
    run = empty()
    message_id = run.submit(MINUTE, [user(1)])
    run.attempt(message_id, "par-mbx1", MINUTE, "unknown", None, 2 * MINUTE)
    return run


def _not_collected() -> Run:
    run = healthy()
    run.drop.add("mailboxes/DB1.jsonl")
    return run


def _shadow_database_lost_later() -> Run:
    run = _lost()
    run.kill("par-mbx1", HOUR, HOUR + MINUTE, new_database=True)
    return run


def runs() -> dict[str, Run]:
    return {
        "healthy": healthy(),
        "promoted": new_database().run,
        "lost": _lost(),
        "both": _expecting(_both_custodians_failed(), 1, 1),
        "refused-first": _expecting(_refused_first(), 1, 1),
        "unprotected": _expecting(_unprotected("new"), 1, 1),
        "unprotected-intact": _unprotected("same"),
        "within-bounds": _expecting(_both_custodians_failed(), 1, 2),
        "beyond-bounds": _expecting(_both_custodians_failed(), 2, 3),
        "unforeseen": _both_custodians_failed(),
        "as-many-lost": _expecting_lost(_lost(), 1),
        "fewer-lost": _expecting_lost(_lost(), 2),
        "more-lost": _expecting_lost(_lost(), 0),
        "none-lost": _expecting_lost(healthy(), 1),
        "none-lost-none-expected": _expecting_lost(healthy(), 0),
        "maybe-two-lost": _expecting_lost(_not_collected(), 1),
        "nothing-sent": _expecting(_expecting_lost(empty(), 0), 0, 0),
        "nothing-sent-one-lost": _expecting_lost(empty(), 1),
        "none-excused": _expecting(healthy(), 0, 0),
        "given-up": _given_up(),
        "given-up-and-told": _expecting(_given_up(told=SENDER), 1, 1),
        "given-up-and-told-another": _given_up(told=user(6)),
        "given-up-and-named": _expecting(_given_up(told=SENDER, names=OUTSIDE.upper()), 1, 1),
        "given-up-and-another-named": _given_up(told=SENDER, names=user(6)),
        "given-up-unseen": _given_up_and_nobody_collected_what_its_sender_sees(),
        "in-doubt": _in_doubt(),
        "not-collected": _not_collected(),
        "one-custodian-left": _shadow_database_lost_later(),
        "lost-with-a-copy": before().run,
        "given-back": lossy().run,
        "asked-too-late": _expecting(asked_too_late(), 1, 1),
        **{name: _expecting(run, 1, 1) for name, run in IN_THE_WAY.items()},
        **NOT_IN_THE_WAY,
        "expired": _expecting(expired_without_a_dsn(), 1, 1),
    }


@pytest.fixture(scope="module")
def results(ask: Ask) -> Results:
    return ask(CLAIM)


def test_holds_where_every_recipient_sees_every_message(results: Results) -> None:
    assert (results["healthy"].status, results["healthy"].asked) == ("holds", 9)


def test_holds_where_shadows_were_promoted(results: Results) -> None:
    assert results["promoted"].status == "holds"
    assert results["promoted"].proofs["TL-7"] == "holds"


def test_is_violated_by_a_recipient_who_does_not_see_it(results: Results) -> None:
    result = results["lost"]
    assert (result.status, result.violations) == ("violated", 1)
    example = result.examples[0]
    assert example.subject == f"<m000002.calm.7@outside.example> to {user(3)}"
    assert example.refs == (("ledger.jsonl", 6),)


def test_excuses_what_both_custodians_lost(results: Results) -> None:
    assert results["both"].status == "holds"
    assert results["both"].proofs["SM-15"] == "holds"


def test_a_shadow_of_an_attempt_that_was_refused_is_no_custodian(
    results: Results,
) -> None:
    assert results["refused-first"].status == "holds"


def test_excuses_what_was_accepted_unprotected_and_lost(results: Results) -> None:
    assert results["unprotected"].status == "holds"


def test_does_not_excuse_an_unprotected_message_whose_store_is_intact(
    results: Results,
) -> None:
    assert results["unprotected-intact"].violations == 1


def test_does_not_excuse_while_one_custodian_is_left(results: Results) -> None:
    assert results["one-custodian-left"].violations == 1


def test_what_was_lost_with_a_copy_of_its_database_is_lost_unless_it_came_back(
    results: Results,
) -> None:
    assert (results["lost-with-a-copy"].status, results["lost-with-a-copy"].violations) == (
        "violated", 2,
    )  # fmt: skip
    assert results["given-back"].status == "holds"


def test_excuses_what_no_safety_net_may_keep_until_it_can_be_asked(
    results: Results,
) -> None:
    told = results["asked-too-late"]
    assert (told.status, told.proofs["SM-15"]) == ("holds", "holds")


def test_excuses_what_came_back_and_expired(results: Results) -> None:
    assert results["expired"].status == "holds"


def test_bounds_unprotected_loss_where_the_plan_does(results: Results) -> None:
    assert results["within-bounds"].status == "holds"
    assert results["within-bounds"].surprises == ()
    assert results["beyond-bounds"].examples[0].subject == "expect.unprotected_loss"
    said = "expect.unprotected_loss: 1 messages are excused, not 2 to 3"
    assert results["beyond-bounds"].surprises == (said,)


def test_permits_no_excuse_where_the_plan_says_nothing_of_loss(
    results: Results,
) -> None:
    (example,) = results["unforeseen"].examples
    assert example.subject == "expect.unprotected_loss"
    assert example.detail == "1 messages are excused, not 0"


@pytest.mark.parametrize(
    ("name", "lost", "said"),
    [
        ("fewer-lost", 1, "1 messages are lost, not 2"),
        ("more-lost", 1, "1 messages are lost, not 0"),
        ("none-lost", 0, "0 messages are lost, not 1"),
        ("nothing-sent-one-lost", 0, "0 messages are lost, not 1"),
    ],
)
def test_expects_how_many_are_lost_no_fewer_and_no_more(
    results: Results, name: str, lost: int, said: str
) -> None:
    told = results[name]
    assert (told.status, told.violations) == ("violated", lost + 1)
    assert told.surprises == (f"expect.lost: {said}",)


def test_what_is_lost_as_expected_is_a_violation_and_no_surprise(
    results: Results,
) -> None:
    told = results["as-many-lost"]
    assert (told.status, told.violations, told.surprises) == ("violated", 1, ())


def test_a_message_whose_fate_is_unknown_may_be_one_that_is_lost(
    results: Results,
) -> None:
    told = results["maybe-two-lost"]
    assert (told.status, told.violations) == ("unknown", 0)
    assert told.surprises == ("expect.lost: 0 messages are lost, not 1",)


def test_expecting_no_loss_is_no_question_where_no_mail_was_sent(
    results: Results,
) -> None:
    assert (results["nothing-sent"].status, results["nothing-sent"].asked) == ("unknown", 0)
    assert results["none-lost-none-expected"].asked == results["healthy"].asked


def test_a_loss_that_did_not_happen_proves_nothing(results: Results) -> None:
    told = results["none-excused"]
    assert (told.status, told.asked) == ("holds", results["healthy"].asked + 1)
    assert "SM-15" not in told.proofs


def test_does_not_excuse_what_a_server_gave_up_unless_its_sender_sees_a_dsn(
    results: Results,
) -> None:
    for name in ("given-up-and-told", "given-up-and-named"):
        assert results[name].status == "holds", name
    for name in ("given-up", "given-up-and-told-another"):
        assert results[name].violations == 1, name
        assert results[name].examples[0].detail == (
            f"par-mbx1 gave it up ({EXPIRED}), and no DSN reached {SENDER}"
        )


@pytest.mark.parametrize("name", IN_THE_WAY)
def test_excuses_what_was_given_up_where_a_fault_kept_the_dsn_from_its_reader(
    name: str, results: Results
) -> None:
    assert (results[name].status, results[name].asked) == ("holds", 2), results[name]


@pytest.mark.parametrize("name", NOT_IN_THE_WAY)
def test_excuses_no_dsn_that_was_given_up_with_no_fault_in_its_way(
    name: str, results: Results
) -> None:
    assert results[name].violations == 1
    assert results[name].examples[0].detail == (
        f"par-mbx1 gave it up ({EXPIRED}), and no DSN reached {dsn_runs.SENDER}"
    )


def test_a_dsn_that_names_another_excuses_nothing(results: Results) -> None:
    assert results["given-up-and-another-named"].violations == 1
    assert results["given-up-and-another-named"].examples[0].detail == (
        f"par-mbx1 gave it up ({EXPIRED}), and no DSN to {SENDER} says so"
    )


def test_is_unknown_where_what_the_sender_sees_was_not_collected(
    results: Results,
) -> None:
    told = results["given-up-unseen"]
    assert (told.status, told.violations) == ("unknown", 0)
    assert "what its sender sees was not collected" in told.reason


def test_is_unknown_where_nothing_was_acknowledged(results: Results) -> None:
    result = results["in-doubt"]
    assert (result.status, result.asked, result.reason) == ("unknown", 0, "nothing was asked")


def test_is_unknown_where_the_mailboxes_were_not_collected(results: Results) -> None:
    assert (results["not-collected"].status, results["not-collected"].violations) == ("unknown", 0)
    assert "not collected" in results["not-collected"].reason
