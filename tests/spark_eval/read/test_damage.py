"""A record that is damaged never passes, unless a fault explains the damage: what a line said that
cannot be read was asked of nobody.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from spark_eval.judging.judged import JudgedRun
from tests.spark_eval.runs.evaluated import evaluated
from tests.spark_eval.runs.faulty_runs import new_database
from tests.spark_eval.runs.file_lists import with_list
from tests.spark_eval.runs.run_builder import END, MINUTE, Run, healthy

SERVER = "logs/par-mbx1"
FILES = [
    "ledger.jsonl",
    "faults.jsonl",
    "mailboxes/DB1.jsonl",
    f"{SERVER}/queues.jsonl",
    f"{SERVER}/lifecycle.jsonl",
    f"{SERVER}/MSGTRK2026010508-1.LOG",
    f"{SERVER}/CONNECTLOG20260105-1.LOG",
]
PARTS = ["proves", "expect", "operations"]
DAMAGED = {name: f"{name} is damaged: malformed" for name in FILES} | dict.fromkeys(
    PARTS, "plan.json is damaged: not what it should hold"
)
# what was done to a file after the lab had listed it, and is no damage of its lines
DEPARTED = {
    "ledger.jsonl": "ledger.jsonl is damaged: not as the lab left it",
    "mailboxes/DB1.jsonl": "mailboxes/DB1.jsonl is damaged: listed by the lab, and not there",
    f"{SERVER}/": f"{SERVER}/MSGTRK2026010508-1.LOG is damaged: listed by the lab, and not there",
    "files.json": "files.json is damaged: not there, though manifest.json names it",
    # what a kill would explain, had the line been torn
    f"{SERVER}/lifecycle.jsonl": f"{SERVER}/lifecycle.jsonl is damaged: not as the lab left it",
}
KILLED = f"{SERVER}/lifecycle.jsonl"


def _with_tail(run: Run, name: str, tail: str) -> Run:
    run.tail[name] = tail
    return run


def _without(part: str) -> Run:
    run = healthy()
    run.plan[part] = "of another type"
    return run


def _with_a_fault_of(kind: str) -> Run:
    run = healthy()
    run.away("pause", SERVER.removeprefix("logs/"), MINUTE, 2 * MINUTE)
    run.plan["faults"][0]["kind"] = kind
    for row in run.faults:
        row.update({"kind": kind} if "kind" in row else {})
    return run


def _with_an_operation_of(kind: str) -> Run:
    run = healthy()
    run.plan["operations"] = [{"id": "o1", "kind": kind, "at_ms": MINUTE, "database": "DB1"}]
    for phase, more in (("intended", {}), ("applied", {}), ("evidence", {"took_effect": True})):
        run.operations.append({"operation": "o1", "phase": phase, "at_ms": MINUTE, **more})
    return run


def _with_notification(internal_id: int | None) -> Run:
    """As a node lists a notification when it knows nothing more of the message, a DSN for one. The
    run ends before anybody asks for it.
    """
    run = healthy()
    forgotten = {
        "queue": "discard", "message_id": None, "internal_id": internal_id, "delivered_ms": END,
    }  # fmt: skip
    run.queues["par-mbx1"].append(run.queues["par-mbx1"][0] | forgotten)
    return run


def _runs() -> dict[str, Run]:
    runs = {part: _without(part) for part in PARTS}
    runs |= {name: _with_tail(healthy(), name, "not a line of it\n") for name in FILES}
    runs["a kill's"] = _with_tail(new_database().run, KILLED, '{"event": "sto')
    runs["more than a kill's"] = _with_tail(new_database().run, KILLED, '{"ev\n{"ev\n{"ev')
    runs["a message forgotten"] = _with_notification(77)
    runs["nothing named"] = _with_notification(None)
    runs["a kind nobody knows"] = _with_a_fault_of("earthquake")
    runs["an operation that nobody knows"] = _with_an_operation_of("repair")
    runs["an operation that is known"] = _with_an_operation_of("failover")
    return runs


def _killed() -> Run:
    return new_database().run


def _depart(folder: Path, name: str) -> None:
    """A line less is nothing that its other lines would show."""
    if name in ("ledger.jsonl", KILLED):
        lines = (folder / name).read_text().splitlines(keepends=True)
        (folder / name).write_text("".join(lines[:-1]))
    elif name.endswith("/"):
        (folder / name / "MSGTRK2026010508-1.LOG").unlink()
    else:
        (folder / name).unlink()


def _folders(root: Path) -> dict[str, Path]:
    runs = _runs() | {f"departed {name}": _killed() for name in ("nothing", *DEPARTED)}
    folders = {}
    for number, (name, run) in enumerate(runs.items()):
        run.name = f"run-{number}"
        folders[name] = run.write(root)
    for name in ("nothing", *DEPARTED):
        with_list(folders[f"departed {name}"])
    for name in DEPARTED:
        _depart(folders[f"departed {name}"], name)
    return folders


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> dict[str, JudgedRun]:
    folders = _folders(tmp_path_factory.mktemp("damage"))
    return {name: evaluated(folder) for name, folder in folders.items()}


def test_a_listed_run_that_is_as_the_lab_left_it_passes(judged: dict[str, JudgedRun]) -> None:
    assert judged["departed nothing"].verdict.verdict == "pass"


@pytest.mark.parametrize(("name", "reason"), DEPARTED.items())
def test_a_run_that_was_changed_after_the_lab_left_it_does_not_pass(
    judged: dict[str, JudgedRun], name: str, reason: str
) -> None:
    verdict = judged[f"departed {name}"].verdict
    assert verdict.verdict != "pass"
    assert reason in verdict.reasons


@pytest.mark.parametrize("name", ["a kind nobody knows", "an operation that nobody knows"])
def test_a_kind_that_nobody_knows_is_damage_of_the_plan(
    judged: dict[str, JudgedRun], name: str
) -> None:
    """It might excuse everything, or nothing."""
    verdict = judged[name].verdict
    assert verdict.verdict == "unknown"
    assert "plan.json is damaged: not what it should hold" in verdict.reasons
    assert judged["an operation that is known"].verdict.verdict == "pass"


@pytest.mark.parametrize(("name", "reason"), DAMAGED.items())
def test_a_run_with_what_cannot_be_read_does_not_pass(
    judged: dict[str, JudgedRun], name: str, reason: str
) -> None:
    verdict = judged[name].verdict
    assert (verdict.verdict, verdict.exit_code) == ("unknown", 2)
    assert any(each.startswith(reason) for each in verdict.reasons)


def test_what_a_killed_server_was_writing_does_not_count(judged: dict[str, JudgedRun]) -> None:
    run = judged["a kill's"]
    assert [entry["file"] for entry in run.log_damage] == [KILLED]
    assert (run.verdict.verdict, run.verdict.reasons) == ("pass", ())


def test_more_than_a_kill_may_tear_counts(judged: dict[str, JudgedRun]) -> None:
    verdict = judged["more than a kill's"].verdict
    assert verdict.verdict == "unknown"
    assert any("lifecycle.jsonl is damaged" in reason for reason in verdict.reasons)


def test_a_notification_of_a_message_that_its_server_forgot_is_no_damage(
    judged: dict[str, JudgedRun],
) -> None:
    run = judged["a message forgotten"]
    assert (run.verdict.verdict, list(run.log_damage)) == ("pass", [])
    assert judged["nothing named"].verdict.verdict == "unknown"
