"""What the software of the servers fixes is what the plan says of it: each number decides what is
expected, or what a claim says.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from spark_eval.expected.safety_net import active_manager, log_shipping, safety_net_requests
from spark_eval.histories.run import Run as History
from spark_eval.judging.judge import Histories, histories_of, tallies
from spark_eval.read.folder.files import MemoryFiles
from tests.spark_eval.runs.failover_runs import (
    MANAGER,
    NEW,
    OLD,
    activate,
    bring,
    give_way,
    lossy,
    with_two_copies,
)
from tests.spark_eval.runs.run_builder import HOUR, MINUTE, SECOND, Run, empty, healthy, user

MIB = 1_048_576
BUSY = "452 4.3.1 Insufficient system resources"


def read(run: Run) -> Histories:
    return histories_of(MemoryFiles({file: text.encode() for file, text in run.texts().items()}))


def fixed(run: Run, key: str, value: int) -> Run:
    run.plan["settings"]["software"] = {key: value}
    return run


def _silent(run: History) -> int:
    return active_manager.need_ms(run.servers[OLD], run)


def _asked(run: History) -> int:
    return safety_net_requests.need_ms(run.servers[OLD], run)


def _learnt(run: History) -> int:
    """While others learn that a copy was mounted."""
    return max(each.at.hi - each.at.lo for each in run.routes.troubles("par-mbx1", "DB1"))


def _margin(run: History) -> int:
    return -min(each.inside_from_ms for each in safety_net_requests.askings(run))


def _shipped(run: History) -> int:
    return log_shipping.late_ms(run.servers[OLD], run)


def _moved() -> Run:
    run = with_two_copies()
    activate(run)
    return run


def _lost_its_queue() -> Run:
    run = _moved()
    run.kill("par-mbx1", 40 * MINUTE, 41 * MINUTE, new_database=True)
    return run


# by how much what is expected grows where the number is by so much larger than by default
GROWS: dict[str, tuple[Callable[[], Run], Callable[[History], int], int, int]] = {
    "copy_status_interval_ms": (_moved, _silent, 16 * SECOND, 4 * SECOND),
    "copy_status_misses": (_moved, _silent, 4, 45 * SECOND),
    "management_answer_ms": (_moved, _silent, 31 * SECOND, 3 * SECOND),
    "announcement_retry_ms": (_moved, _learnt, 61 * SECOND, 2 * SECOND),
    "announcement_reminder_ms": (_lost_its_queue, _learnt, 301 * SECOND, SECOND),
    "resubmit_request_retry_ms": (_moved, _asked, 61 * SECOND, 2 * SECOND),
    "resubmit_margin_ms": (lambda: lossy().run, _margin, 301 * SECOND, SECOND),
    "log_retry_ms": (_moved, _shipped, 11 * SECOND, 2 * SECOND),
}


@pytest.mark.parametrize("key", GROWS)
def test_a_number_decides_what_is_expected(key: str) -> None:
    made, of, value, more_ms = GROWS[key]
    before = of(read(made()).run)
    assert of(read(fixed(made(), key, value)).run) == before + more_ms


def _failed_over_by_itself(dial: str) -> Run:
    """To a copy that lacked a log."""
    run = with_two_copies()
    for number in range(8):
        bring(run, 20 * MINUTE - number * SECOND)
    (mount,) = [row for row in run.lifecycle[OLD] if row["event"] == "database-mounted"]
    mount["last_log"] = 0
    run.kill(OLD, 40 * MINUTE, HOUR)
    run.life(MANAGER, "copy-silent", 41 * MINUTE, database="DB1", server=OLD, reason="refused")
    activate(run, 42 * MINUTE)
    for server in run.plan["topology"]["servers"]:
        server["mount_dial"] = dial if server["name"] == NEW else "GoodAvailability"
    return run


def _named_short() -> Run:
    """An answer that names no more than both ends of a Message-Id of 31 characters."""
    run = healthy()
    outcome = next(row for row in run.ledger if row["type"] == "outcome")
    outcome["reply"] = (
        "250 2.6.0 <m00...mple> [InternalId=1, Hostname=par-mbx1.shadowlab.example] Queued mail "
        "for delivery"
    )
    return run


def _full(session_s: int = 600) -> Run:
    """Refused, a quarter of an hour after others began and gave up with 140 MiB."""
    run = empty()
    for number in range(15):
        message_id = run.submit(5 * MINUTE, [user(1)])
        run.ledger[-1] |= {"content_bytes": 10 * MIB}
        began = (20 if number == 14 else 5) * MINUTE
        outcome, reply = ("failed", BUSY) if number == 14 else ("unknown", None)
        run.attempt(message_id, "par-mbx1", began, outcome, reply, began + SECOND)
    connector = {"ConnectionTimeout": session_s * SECOND}
    run.plan["settings"]["servers"]["par-mbx1"] |= {"ReceiveConnector": connector}
    return run


def _decided_unseen() -> Run:
    """The log of Active Manager has a hole long before the mount, and no decision."""
    run = _moved()
    give_way(run, 20 * MINUTE + 3 * SECOND)
    rows = run.lifecycle[MANAGER]
    run.lifecycle[MANAGER] = [row for row in rows if row["event"] != "failover-decided"]
    run.kill(MANAGER, MINUTE, 2 * MINUTE)
    return run


SAYS = {
    "within-the-dial": ("failover_allowed", _failed_over_by_itself("GoodAvailability"), 0),
    "lossless": ("failover_allowed", _failed_over_by_itself("Lossless"), 1),
    "named-short": ("traceable", _named_short(), 1),
    "shown-short": ("traceable", fixed(_named_short(), "message_id_shown", 30), 0),
    "others-were-over": ("refused_for_cause", _full(), 1),
    "others-stayed": ("refused_for_cause", _full(session_s=1200), 0),
    "in-more-memory": (
        "refused_for_cause", fixed(_full(session_s=1200), "mail_in_memory_bytes", 200 * MIB), 1),
    "decided-long-before": ("copies_logged", _decided_unseen(), 1),
    "decided-in-a-hole": (
        "copies_logged", fixed(_decided_unseen(), "requested_mount_ms", HOUR), 0),
}  # fmt: skip


@pytest.mark.parametrize("name", SAYS)
def test_a_number_decides_what_a_claim_says(name: str) -> None:
    claim, run, violations = SAYS[name]
    decided = tallies(read(run))[claim]
    assert (decided.violations, decided.asked > 0) == (violations, True), decided.worst
