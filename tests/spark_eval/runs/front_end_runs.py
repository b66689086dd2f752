"""Runs with a front end, par-fe1, before the two mailbox servers of Paris."""

from __future__ import annotations

from tests.spark_eval.runs.run_builder import DOMAIN, END, MINUTE, SECOND, Run, empty, mono, user

FRONT_END = "par-fe1"
BEGAN = 20 * MINUTE
NO_SERVER, SERVER_LOST = (
    f"451 4.7.0 Temporary server error. Please try again later. PRX{number}" for number in (1, 2)
)


def before_paris() -> Run:
    """A front end that started, and was stopped at the end with nothing in its hands."""
    run = empty()
    run.plan["topology"]["servers"].append(
        {"name": FRONT_END, "fqdn": f"{FRONT_END}.{DOMAIN}", "role": "frontend", "site": "paris",
         "dag": None, "domain": None}
    )  # fmt: skip
    run.life(FRONT_END, "started", 0)
    run.life(FRONT_END, "stopped", END, count=0)
    return run


def accepted(primary: str = "par-mbx1", *, passed_ms: int | None = 700) -> Run:
    """A message that par-fe1 passed on, and said so `passed_ms` after its sender began."""
    run = before_paris()
    message = run.accept(BEGAN, [user(1)], primary=primary)
    for row in run.ledger[-2:]:
        row["server"] = FRONT_END
    if passed_ms is not None:
        say(run, primary, BEGAN + passed_ms, f"Passed {message.message_id}: 250 2.6.0 Queued")
    return run


def say(run: Run, peer: str, at_ms: int, said: str) -> None:
    """One session of par-fe1, which says so and ends."""
    rows = (("+", 0, "inboundproxy"), (">", 0, "Established connection"), (">", at_ms, said),
            ("-", at_ms + SECOND, "Messages: 1"))  # fmt: skip
    for direction, when, text in rows:
        when = max(when, BEGAN)
        run.contacts.setdefault(FRONT_END, []).append(
            {"at_ms": when, "session": "out-1", "source": "SMTP", "destination": peer,
             "direction": direction, "description": f"{text};Mono={mono(when)}"}
        )  # fmt: skip


def refused(reply: str, *cut: str) -> Run:
    """A message that par-fe1 refused, while it did not reach these servers."""
    run = before_paris()
    message = run.submit(BEGAN, [user(1)])
    run.attempt(message, FRONT_END, BEGAN, "failed", reply, BEGAN + SECOND)
    for number, server in enumerate(cut):
        run.cut(FRONT_END, server, BEGAN - MINUTE, BEGAN + MINUTE, fault=f"f{number}")
    return run
