"""Mail that is given up, and then the DSN to its sender."""

from __future__ import annotations

from dataclasses import replace

from tests.spark_eval.runs.failover_runs import MANAGER, activate, with_two_copies
from tests.spark_eval.runs.run_builder import HOUR, MINUTE, Run, empty, user

EXPIRED = "550 4.4.7 QUEUE.Expired"
SENDER = user(1)  # whose mailbox is on par-mbx2
OUTSIDE = "someone@partner.example"
ENDED = HOUR + 40 * MINUTE


def given_up_with_its_dsn(
    *cuts: tuple[int, int],
    server: str = "par-mbx2",
    is_given_up: bool = True,
    run: Run | None = None,
) -> Run:
    """By par-mbx1, which made the DSN at HOUR. `cuts` between it and `server` are in minutes since
    then.
    """
    run = run or empty()
    message = run.accept(MINUTE, [OUTSIDE], mail="outbound")
    run.ledger[0]["sender"] = SENDER
    run.log("par-mbx1", "FAIL", "QUEUE", HOUR, message, recipient_status=EXPIRED)
    report = replace(
        message, message_id="<dsn@lab>", recipients=[SENDER], internal_id=run.next_id()
    )
    run.log("par-mbx1", "DSN", "DSN", HOUR, report, reference=message.message_id)
    if is_given_up:
        run.log("par-mbx1", "FAIL", "QUEUE", ENDED, report, recipient_status=EXPIRED)
    for number, (start, end) in enumerate(cuts, start=1):
        times = (HOUR + start * MINUTE, HOUR + end * MINUTE)
        run.cut("par-mbx1", server, *times, fault=f"f{number}")
    return run


def _not_notified_of_the_other_copy() -> Run:
    """The sender's mailbox database fails over, of which par-mbx1 hears nothing."""
    run = with_two_copies()
    activate(run, HOUR - MINUTE)
    run.cut(MANAGER, "par-mbx1", HOUR - 5 * MINUTE, HOUR + 45 * MINUTE)
    run.plan["faults"][-1]["links"][0]["service"] = "management"
    return given_up_with_its_dsn(run=run)


# an attempt hangs for ten minutes at most, and so long the retry ladder waits
IN_THE_WAY = {
    "all-the-time": given_up_with_its_dsn((-5, 45)),
    "again-before-the-next-attempt": given_up_with_its_dsn((-5, 5), (25, 45)),
    "until-shortly-before": given_up_with_its_dsn((-5, 20)),
    "not-notified": _not_notified_of_the_other_copy(),
}
NOT_IN_THE_WAY = {
    "no-fault": given_up_with_its_dsn(),
    "later": given_up_with_its_dsn((2, 45)),
    "time-for-an-attempt": given_up_with_its_dsn((-5, 5), (27, 45)),
    "over-long-before": given_up_with_its_dsn((-5, 18)),
    "on-another-link": given_up_with_its_dsn((-5, 45), server="lyo-mbx2"),
    "under-way-still": given_up_with_its_dsn((-5, 45), is_given_up=False),
}
