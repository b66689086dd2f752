"""A server is judged by what its record can show, and is asked nothing else."""

from __future__ import annotations

import json
from typing import Any, get_args

import pytest

from lab.plan.topology import Evidence as Planned
from spark_eval.claims.catalogue import ALL
from spark_eval.judging.of_record import JudgedRecord, judge
from spark_eval.read.folder.files import MemoryFiles
from spark_eval.read.plan import Evidence
from tests.spark_eval.runs.real_servers import record as of_others
from tests.spark_eval.runs.run_builder import MINUTE, Run, healthy, made

EVERYTHING = [word.value for word in Evidence]
SEEN = ["ledger", "mailboxes"]
OF_WHAT_IS_SEEN = {"no_loss", "no_phantom", "no_visible_duplicate", "content_intact"}
OF_REPLIES = {"answered_in_time", "refused_for_cause", "traceable", "strangers_learn_nothing"}


def judged(files: dict[str, bytes]) -> JudgedRecord:
    return judge(MemoryFiles(files))


def shown(files: dict[str, bytes], evidence: list[str] | None, *servers: str) -> dict[str, bytes]:
    """Of those servers the plan says that; without names, of all."""
    plan = json.loads(files["plan.json"])
    for server in plan["topology"]["servers"]:
        if not servers or server["name"] in servers:
            server["evidence"] = evidence
    return {**files, "plan.json": json.dumps(plan).encode()}


def files_of(run: Run) -> dict[str, bytes]:
    [run] = made({"run": run}).values()
    run.plan["proves"] = []
    return {name: text.encode() for name, text in run.texts().items()}


def without_logs(files: dict[str, bytes]) -> dict[str, bytes]:
    return {name: text for name, text in files.items() if not name.startswith("logs/")}


def statuses(found: JudgedRecord, names: set[str]) -> dict[str, tuple[str, bool]]:
    return {name: (found.results[name].status, found.results[name].asked > 0) for name in names}


def rewritten(files: dict[str, bytes], name: str, change: Any) -> dict[str, bytes]:
    rows = [json.loads(line) for line in files[name].splitlines()]
    lines = "".join(json.dumps(row) + "\n" for row in change(rows))
    return {**files, name: lines.encode()}


def test_the_lab_and_the_judge_know_the_same_words() -> None:
    assert set(get_args(Planned)) == set(EVERYTHING)


def test_of_a_server_of_which_ledger_and_mailboxes_speak_just_they_are_asked() -> None:
    found = judged(shown(without_logs(files_of(healthy())), SEEN))
    assert statuses(found, OF_WHAT_IS_SEEN) == dict.fromkeys(OF_WHAT_IS_SEEN, ("holds", True))
    asked = {name for name, result in found.results.items() if result.asked}
    assert asked <= OF_WHAT_IS_SEEN | OF_REPLIES
    assert (found.verdict.verdict, found.verdict.reasons) == ("pass", ())


SPOILED = {
    "no_loss": lambda rows: rows[1:],
    "no_visible_duplicate": lambda rows: [rows[0], *rows],
    "no_phantom": lambda rows: [*rows, rows[0] | {"message_id": "<m999999.calm.7@nobody>"}],
    "content_intact": lambda rows: [rows[0] | {"body_sha256": "0" * 16}, *rows[1:]],
}


@pytest.mark.parametrize("claim", SPOILED)
def test_and_they_accuse_it(claim: str) -> None:
    files = shown(without_logs(files_of(healthy())), SEEN)
    found = judged(rewritten(files, "mailboxes/DB1.jsonl", SPOILED[claim]))
    assert found.results[claim].status == "violated"
    assert found.verdict.verdict == "fail"


def test_what_it_may_have_given_up_is_no_loss() -> None:
    run = healthy()
    for sections in run.plan["settings"]["servers"].values():
        sections["TransportService"]["MessageExpirationTimeout"] = MINUTE
    files = without_logs(files_of(run))
    lost = rewritten(files, "mailboxes/DB1.jsonl", SPOILED["no_loss"])
    assert judged(shown(lost, SEEN)).results["no_loss"].status == "unknown"


def test_a_dsn_of_its_is_no_phantom() -> None:
    dsn = {"message_id": "<dsn@par-mbx1>", "sender": "", "reports": [{"recipient": "x@y.example"}]}
    files = shown(without_logs(files_of(healthy())), SEEN)
    files = rewritten(files, "mailboxes/DB1.jsonl", lambda rows: [*rows, rows[0] | dsn])
    assert judged(files).results["no_phantom"].status == "unknown"


def test_a_server_of_somebody_else_needs_no_log_either() -> None:
    files = without_logs(of_others())
    assert judged(files).verdict.verdict == "unknown"
    found = judged(shown(files, SEEN))
    assert (found.verdict.verdict, found.verdict.reasons) == ("pass", ())
    assert statuses(found, {"no_loss", "shadow_placement"}) == {
        "no_loss": ("holds", True),
        "shadow_placement": ("not applicable", False),
    }


def test_without_the_word_every_claim_is_asked_as_before() -> None:
    files = files_of(healthy())
    before, after = judged(files), judged(shown(files, EVERYTHING))
    assert before.results == after.results == judged(shown(files, None)).results
    assert before.verdict == after.verdict


def _let_go() -> Run:
    """Both shadow servers let a message go, and no connectivity log names it."""
    run = healthy()
    run.logs_answers = False
    run.contacts.clear()
    return run


def test_a_claim_is_not_asked_of_a_server_that_lacks_what_it_needs() -> None:
    files = files_of(_let_go())
    accused = judged(files).results["discards_asked"]
    assert accused.status == "violated"
    others = [word for word in EVERYTHING if word != "connectivity"]
    spared = judged(shown(files, others)).results["discards_asked"]
    assert (spared.status, spared.asked) == ("not applicable", 0)
    assert spared.reason == "nothing was asked"


def test_and_is_asked_of_the_others() -> None:
    files = files_of(healthy())
    files = {name: text for name, text in files.items() if not name.endswith("lifecycle.jsonl")}
    others = [word for word in EVERYTHING if word != "lifecycle"]
    before = judged(files).results["no_crash"]
    after = judged(shown(files, others, "par-mbx2")).results["no_crash"]
    assert (before.violations, after.violations, after.asked) == (4, 3, 3)
    said = [{each.subject for each in result.examples} for result in (before, after)]
    assert ["par-mbx2" in each for each in said] == [True, False]


def test_a_log_that_is_expected_and_missing_is_no_evidence_less() -> None:
    files = files_of(healthy())
    for name in [name for name in files if name.endswith("lifecycle.jsonl")]:
        del files[name]
    assert judged(files).results["no_crash"].status == "violated"


def test_what_nobody_can_show_is_damage_of_the_plan() -> None:
    found = judged(shown(files_of(healthy()), ["gossip"]))
    assert any(each.startswith("plan.json is damaged") for each in found.verdict.reasons)


def test_claims_that_ask_logs_say_which() -> None:
    """Those that ask what clients say of their own sessions need none of a server's."""
    of_clients = {"strangers_learn_nothing", "connections_limited"}
    assert {claim.name for claim in ALL if not claim.needs} == of_clients
