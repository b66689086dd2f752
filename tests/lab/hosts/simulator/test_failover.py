"""Mailbox databases fail over in the simulator: Active Manager, replication and Safety Nets over
simulated links, under the shipped scenarios and under kills of whoever takes part (TP-4, TP-6,
SN-4, SN-7).
"""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from lab.hosts.simulator.record_in_memory import RecordInMemory
from lab.hosts.simulator.simulation import simulate
from lab.plan.faults import Fault, Kill
from lab.plan.plan import Plan
from lab.replay.node import replay_node
from tests.lab.hosts.simulator.plans import plan

pytestmark = pytest.mark.slow

MINUTE_MS = 60_000
ACTIVE, PASSIVE, MANAGER = "par-mbx2", "lyo-mbx3", "am1"
SCENARIOS = (
    "lossy-failover",
    "lossless-switchover",
    "active-manager-cut-off",
    "resubmitted-mail-expires",
    "active-manager-dies",
    "half-a-log",
)


def lines(record: RecordInMemory, name: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in record.files.get(name, [])]


def events(record: RecordInMemory, server: str = MANAGER) -> list[str]:
    return [str(row["event"]) for row in lines(record, f"logs/{server}/lifecycle.jsonl")]


def resubmitted(record: RecordInMemory) -> int:
    return sum("SAFETYNET,RESUBMIT" in line for text in record.files.values() for line in text)


def promised(record: RecordInMemory, made: Plan) -> set[tuple[object, object]]:
    """Mailbox and Message-Id of everything that a server accepted."""
    rows = lines(record, "ledger.jsonl")
    accepted = {row["message_id"] for row in rows if row.get("outcome") == "ok"}
    return {
        (recipient, message.message_id)
        for message in made.messages
        if message.message_id in accepted
        for recipient in message.recipients
    }


def shown(record: RecordInMemory) -> list[tuple[object, object]]:
    rows = lines(record, "mailboxes/DB1.jsonl") + lines(record, "mailboxes/DB2.jsonl")
    return [(row["mailbox"], row["message_id"]) for row in rows]


def active(record: RecordInMemory) -> set[object]:
    return {row["server"] for row in lines(record, "mailboxes/DB1.jsonl")}


def assert_everything_is_there_once(record: RecordInMemory, made: Plan) -> None:
    assert record.crashes == {}
    found = shown(record)
    assert promised(record, made)
    assert sorted(map(str, found)) == sorted(map(str, promised(record, made)))


def kill(server: str, at_ms: int, for_ms: int, number: int = 9) -> Kill:
    return Kill(f"f{number}", "kill", at_ms, at_ms + for_ms, server, "same-queue-database")


def with_faults(made: Plan, *more: Fault) -> Plan:
    faults = tuple(sorted((*made.faults, *more), key=lambda fault: fault.start_ms))
    return replace(made, faults=faults)


@pytest.mark.parametrize("name", SCENARIOS)
def test_every_acknowledged_message_is_there_once(name: str) -> None:
    made = plan(name, 3)
    assert_everything_is_there_once(simulate(made), made)


def test_what_the_passive_copy_lacks_comes_back_from_safety_nets() -> None:
    record = simulate(plan("lossy-failover", 3))
    assert events(record).index("failover-decided") < events(record).index("failover-mounted")
    assert active(record) == {PASSIVE}
    assert resubmitted(record) > 10


def test_a_switchover_asks_no_safety_net_for_anything() -> None:
    record = simulate(plan("lossless-switchover", 3))
    assert events(record).count("failover-mounted") == 2
    assert active(record) == {ACTIVE}, "there and back"
    assert resubmitted(record) == 0


def test_the_server_of_the_copy_before_learns_of_the_new_one_from_its_logs() -> None:
    """Active Manager cannot reach it, and its mail need not wait until it can."""
    made = plan("active-manager-cut-off", 3)
    record = simulate(made)
    [cut] = made.faults
    told = [row for row in lines(record, f"logs/{MANAGER}/lifecycle.jsonl") if "learnt_ms" in row]
    rows = lines(record, f"logs/{ACTIVE}/lifecycle.jsonl")
    [learnt] = [int(str(row["at_ms"])) for row in rows if row["event"] == "active-copy"]
    [said] = [int(str(row["at_ms"])) for row in told if row["server"] == ACTIVE]
    assert cut.start_ms < learnt < cut.end_ms < said


def test_resubmitted_mail_that_expires_is_told_to_nobody() -> None:
    record = simulate(plan("resubmitted-mail-expires", 3))
    rows = [line for text in record.files.values() for line in text]
    assert any(",SUPPRESSED," in row for row in rows)
    assert not any(",DSN,DSN," in row for row in rows)


def test_a_killed_servers_database_fails_over_by_itself() -> None:
    made = replace(plan("lossless-switchover", 3), operations=())
    made = with_faults(made, kill(ACTIVE, 5 * MINUTE_MS, 10 * MINUTE_MS))
    record = simulate(made)
    assert "failover-mounted" in events(record)
    assert active(record) == {PASSIVE}
    assert_everything_is_there_once(record, made)


@pytest.mark.parametrize("after_ms", [1, 5, 9, 14, 30, 200, 30_000])
@pytest.mark.parametrize("victim", [MANAGER, PASSIVE, "par-mbx1"])
def test_whoever_dies_in_the_middle_of_a_failover_it_is_taken_up_again(
    victim: str, after_ms: int
) -> None:
    made = plan("lossy-failover", 3)
    [asked] = made.operations
    made = with_faults(made, kill(victim, asked.at_ms + after_ms, 6 * MINUTE_MS))
    record = simulate(made)
    answers = [row for row in lines(record, "operations.jsonl") if row["phase"] == "evidence"]
    if answers[0]["took_effect"]:
        assert_everything_is_there_once(record, made)
        assert events(record).count("failover-over") == 1


@pytest.mark.parametrize("server", ["par-mbx1", ACTIVE])
def test_a_server_that_loses_its_queue_database_after_a_failover_is_told_anew(server: str) -> None:
    """It goes by the first copy of its configuration again, which takes no mail any more."""
    made = plan("lossless-switchover", 3)
    lost = replace(kill(server, 12 * MINUTE_MS, MINUTE_MS), returns_with="new-queue-database")
    made = with_faults(replace(made, operations=made.operations[:1]), lost)
    record = simulate(made)
    assert "active-copy-forgotten" in events(record)
    assert active(record) == {PASSIVE}
    assert_everything_is_there_once(record, made)


def test_an_operation_that_nobody_answers_took_no_effect() -> None:
    made = plan("lossless-switchover", 3)
    made = with_faults(made, kill(MANAGER, 5 * MINUTE_MS, 3 * MINUTE_MS))
    record = simulate(made)
    answers = [row for row in lines(record, "operations.jsonl") if row["phase"] == "evidence"]
    assert [row["took_effect"] for row in answers] == [False, False], "it is active there already"
    assert answers[0]["reason"] == "am1 did not answer"
    assert_everything_is_there_once(record, made)


def test_the_same_seed_gives_the_same_bytes() -> None:
    made = plan("lossy-failover", 2)
    assert simulate(made).files == simulate(made).files


@pytest.mark.parametrize("server", [MANAGER, ACTIVE])
def test_whoever_takes_part_goes_through_its_core_again_to_the_same_rows(
    tmp_path: Path, server: str
) -> None:
    made = plan("lossy-failover", 3)
    simulate(made).write(tmp_path)
    (tmp_path / "plan.json").write_text(made.to_json(), "utf-8")
    replay = replay_node(tmp_path, server)
    assert replay.divergence is None
    assert replay.rows > 100
