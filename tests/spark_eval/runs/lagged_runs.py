"""Run folders with a lagged copy of DB1 on lyo-mbx1, an hour behind the active one on par-mbx2."""

from __future__ import annotations

from tests.spark_eval.runs.failover_runs import MANAGER, NEW, OLD, bring, with_two_copies
from tests.spark_eval.runs.run_builder import HOUR, MAILBOX_SERVERS, MINUTE, SECOND, Run

LAG = HOUR
MOUNTED = 100 * MINUTE
# the rows of DELIVER come 50 ms before two seconds after each
BROUGHT = tuple(number * 10 * MINUTE for number in range(1, 10))


def lagged(run: Run | None = None, lag_ms: int = LAG) -> Run:
    run = run or with_two_copies()
    run.plan["topology"]["databases"][0]["copies"][1]["replay_lag_time_ms"] = lag_ms
    return run


def with_mail() -> Run:
    """Nine logs, one each ten minutes."""
    run = lagged()
    for at_ms in BROUGHT:
        bring(run, at_ms)
    return run


def activated(had: int, before_ms: int | None = None, at_ms: int = MOUNTED) -> Run:
    """Asked for by an administrator, and mounted with so many logs."""
    run = with_mail()
    run.plan["operations"] = [
        {"id": "o1", "kind": "activate_lagged", "at_ms": at_ms - SECOND, "database": "DB1",
         "to": NEW, "before_ms": before_ms}
    ]  # fmt: skip
    run.operations += [
        {"operation": "o1", "phase": "applied", "at_ms": at_ms - SECOND, "asked": [MANAGER]},
        {"operation": "o1", "phase": "evidence", "at_ms": at_ms, "took_effect": True,
         "reason": f"250 2.0.0 1 {NEW}"},
    ]  # fmt: skip
    run.life(MANAGER, "failover-decided", at_ms - SECOND, database="DB1", epoch=1,
             kind="failover", cause="asked for by am1")  # fmt: skip
    run.life(NEW, "database-mounted", at_ms, database="DB1", epoch=1, last_log=had + 1)
    for number, server in enumerate(MAILBOX_SERVERS):
        run.life(server, "active-copy", at_ms + (number + 1) * SECOND, database="DB1", epoch=1,
                 server=NEW)  # fmt: skip
    return run


def corrupted(run: Run, at_ms: int, *, server: str = OLD, epoch: int = 0, last_log: int) -> Run:
    run.life(server, "mailboxes-corrupted", at_ms, database="DB1", epoch=epoch, last_log=last_log)
    return run
