"""retries_paced: no server tries a queue again earlier than its ladder allows, nor later (RT-5).

Asks every attempt at a message that its server had put off: it began no earlier than the wait after
the failure before. DEFER and SEND rows say when an attempt ended; where the session was opened for
it and never stood, the connectivity log says when it began. The first failure of several under way
sets the wait, and that is one after the message was last tried, or came. How far up the ladder its
queue is, is known where no attempt reached anybody, as often as this message was put off since
anything went through; else the lowest rung counts, since a message may have been put aside by
itself.

Not asked: the first attempt at a message, since new mail may try its queue; the first after a
restart; mail for a database that has several copies, which may be active elsewhere by then; what
is near a hole of the log. Nor, whether it is late: what goes to another boundary, where several
servers are tried one after another; an attempt of which nobody knows when it began, since a fault
may have held it up; nor while its server may have stood still, or its disk was full.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from spark_eval.cases.case import HOLDS, VIOLATED, Case, Status
from spark_eval.cases.words import stamp
from spark_eval.claims.claim import Claim
from spark_eval.expected.mail.calls import slack_ms
from spark_eval.histories.message import Message
from spark_eval.histories.organisation.server import Server
from spark_eval.histories.organisation.settings import ServerConfig
from spark_eval.histories.primary import Key, is_birth, key_of
from spark_eval.histories.queues import Queues, order_of, queue_of
from spark_eval.histories.run import Run
from spark_eval.intervals.interval import touches
from spark_eval.read.plan import TRACKING
from spark_eval.read.rows import TrackingRow


class _Attempt(NamedTuple):
    """At a message, as it ended: `life`, how often the message had come to the server by then;
    `since_ms`, when it was tried before, or came; `rung` of the ladder, 0 where it is not known;
    `times`, how often it was tried in that life.
    """

    row: TrackingRow
    life: int
    since_ms: int | None
    opened_ms: int | None
    rung: int
    times: int


def _cases(message: Message, run: Run) -> Iterator[Case]:
    for each in (message, *message.dsns):
        if each.of_event("DEFER"):
            for (key, name), rows in _tried(each, run).items():
                server, queues = run.servers.get(key.server), run.queues.get(key.server)
                if server is not None and queues is not None:
                    came = _came(each, key)
                    attempts = _attempts(rows, came, name, queues)
                    yield from _of_queue(each, name, attempts, queues, server, run)


def _tried(message: Message, run: Run) -> dict[tuple[Key, str], list[TrackingRow]]:
    """Attempts by queue, in order; of databases with one copy."""
    found: dict[tuple[Key, str], list[TrackingRow]] = {}
    for row in sorted(message.of_event("DEFER", "SEND"), key=order_of):
        key, name = key_of(row), queue_of(row)
        if key and name and name.removeprefix("database:") not in run.active_copies:
            found.setdefault((key, name), []).append(row)
    return found


def _came(message: Message, key: Key) -> list[int]:
    """When the message came to a server, or was loaded there."""
    begins = (row for row in message.tracking if is_birth(row) or row.event in ("RESUBMIT", "LOAD"))
    return sorted(row.at_ms for row in begins if key_of(row) == key)


def _attempts(
    rows: list[TrackingRow], came: list[int], name: str, queues: Queues
) -> Iterator[_Attempt]:
    before_ms: int | None = None
    in_life: Counter[int] = Counter()
    streak, reached, known = 0, False, (-1, (0, 0))
    for row in rows:
        lives = [at_ms for at_ms in came if at_ms <= row.at_ms]
        served = (len(lives), queues.served(name, order_of(row)))
        opened_ms = queues.opened_ms(row) if row.event == "DEFER" else None
        if served != known:
            streak, reached, known = 0, False, served
        streak, reached = streak + 1, reached or opened_ms is None
        since_ms = max(lives[-1], before_ms or lives[-1]) if lives else None
        in_life[len(lives)] += 1
        rung, times = 0 if reached else streak, in_life[len(lives)]
        yield _Attempt(row, len(lives), since_ms, opened_ms, rung, times)
        before_ms = row.at_ms


def _of_queue(
    message: Message, name: str, attempts: Iterator[_Attempt], queues: Queues, server: Server,
    run: Run,
) -> Iterator[Case]:  # fmt: skip
    for attempt, after in pairwise(attempts):
        is_asked = attempt.row.event == "DEFER" and after.life == attempt.life
        if not is_asked or attempt.since_ms is None:
            continue
        row, next_row = attempt.row, after.row
        if not server.shows(attempt.since_ms, next_row.at_ms):
            continue
        failure = queues.by_name[name].first_failure(attempt.since_ms, row.at_ms)
        failed_ms = row.at_ms if failure is None else failure
        due_ms = failed_ms + _step_ms(attempt.rung, server.config)
        is_own = after.opened_ms is not None and after.opened_ms >= row.at_ms
        began_ms = after.opened_ms if is_own and after.opened_ms else next_row.at_ms
        is_early = began_ms < due_ms - server.slack_ms
        late = _late(attempt, after, name, due_ms, queues, server, run)
        status: Status = VIOLATED if is_early or late else HOLDS
        began_ms, latest_ms = late or (began_ms, None)
        limit = f"not before {stamp(due_ms)}" if is_early else f"by {stamp(latest_ms)}"
        detail = (
            f"{server.name} tries {name} again at {stamp(began_ms)}; after the failure at "
            f"{stamp(failed_ms)} {limit}"
        )
        yield Case(
            status, f"{message.message_id} at {server.name}", ("RT-5",), detail, began_ms,
            (row.ref, next_row.ref), due_ms - began_ms,
            server=server.name,
        )  # fmt: skip


def _late(
    attempt: _Attempt, after: _Attempt, name: str, due_ms: int, queues: Queues, server: Server,
    run: Run,
) -> tuple[int, int] | None:  # fmt: skip
    """When the next attempt, due at `due_ms` or later, began at the earliest, and by when it had
    to; None where it was in time, or nobody can say.
    """
    row, config, queue = attempt.row, server.config, queues.by_name[name]
    opened = queues.all_opened_ms(after.row) if after.row.event == "DEFER" else []
    began_ms = min(opened, default=after.row.at_ms)
    kind, _, place = name.partition(":")
    downs = (down.outage.possible for down in server.downs)
    if kind not in ("database", "external") or touches(downs, row.at_ms, began_ms):
        return None
    if not queue.rests(row.at_ms, began_ms):
        return None
    troubles = (each.at for each in run.routes.troubles(server.name, place))
    if not opened and touches(troubles, due_ms, after.row.at_ms):
        return None
    failed = queue.failed_in_a_row(row.at_ms, lambda times: _step_ms(times, config))
    wait_ms = _longest_ms(max(failed, attempt.times), config)
    latest_ms = row.at_ms + wait_ms + server.slack_ms + slack_ms(run)
    return (began_ms, latest_ms) if began_ms > latest_ms else None


def _longest_ms(rung: int, config: ServerConfig) -> int:
    """The longest wait up to that rung."""
    waits = [config.glitch_ms] * (config.glitches > 0)
    waits += [config.transient_ms] * (rung > config.glitches and config.transients > 0)
    waits += [config.outage_ms] * (rung > config.glitches + config.transients)
    return max(waits)


def _step_ms(rung: int, config: ServerConfig) -> int:
    """The least wait after so many failures in a row."""
    if rung > config.glitches + config.transients:
        return config.outage_ms
    if rung > config.glitches:
        return min(config.transient_ms, config.outage_ms)
    return min(config.glitch_ms, config.transient_ms, config.outage_ms)


CLAIM = Claim("retries_paced", ("RT-5",), needs=frozenset({TRACKING}), of_message=_cases)
