"""Which messages may have waited at a server for DelayNotificationTimeout, and which surely did:
from when the server accepted or promoted each to when its last recipient was served or given up, or
its queue database was lost (RT-5). What came from a Safety Net is none of them (SN-10).
"""

from __future__ import annotations

from typing import NamedTuple

from spark_eval.expected.mail.addressees import answered_for
from spark_eval.expected.mail.calls import slack_ms
from spark_eval.expected.mail.forks import Forks, forks_of
from spark_eval.expected.shadow.came_back import came_back
from spark_eval.histories.message import Message
from spark_eval.histories.organisation.server import Server
from spark_eval.histories.primary import Primary
from spark_eval.histories.run import Run
from spark_eval.read.names import Ref


class Delay(NamedTuple):
    """Of a message that may have waited at a server for so long: `must`, it surely did and had to
    be notified of; `least_ms`, when at the earliest, `due_ms`, by when; `from_ms`, since when.
    """

    must: bool
    from_ms: int
    least_ms: int
    due_ms: int
    since_ref: Ref
    recipients: tuple[str, ...]


def delays(message: Message, run: Run) -> dict[str, list[Delay]]:
    """By server, of each message of it that may have had to notify."""
    back = {each.key: each.is_sure for each in came_back(message, run)}
    whom = answered_for(message, run)
    found: dict[str, list[Delay]] = {}
    for key, forks in forks_of(message, run).items():
        server, primary = run.servers.get(key.server), message.primaries[key]
        if server is None or not primary.is_there or back.get(key) is True:
            continue
        delay = _delay(primary, whom[key], forks, server, run, may_be_back=key in back)
        if delay is not None:
            found.setdefault(server.name, []).append(delay)
    return found


def hears_of_delays(sender: str, run: Run) -> bool:
    """InternalDelayDsnEnabled for a sender with a mailbox here, ExternalDelayDsnEnabled for any
    other.
    """
    is_inside, config = run.directory.is_inside(sender), run.config
    return config.delay_dsn_inside if is_inside else config.delay_dsn_outside


def _delay(
    primary: Primary,
    whom: tuple[str, ...],
    forks: Forks,
    server: Server,
    run: Run,
    *,
    may_be_back: bool,
) -> Delay | None:
    config, row = server.config, primary.born or primary.loaded
    assert row is not None
    slack, vague_ms = slack_ms(run), server.askew_ms + run.finest_ms
    from_ms = row.at_ms + config.delay_ms
    is_received = primary.born is not None and primary.born.event == "RECEIVE"
    calm_ms = from_ms + slack + (0 if is_received else config.session_ms)
    ends = (forks.served_ms, server.lost_ms(primary.key.database_id))
    left_ms = min((each for each in ends if each is not None), default=None)
    if left_ms is not None and left_ms < from_ms - vague_ms:
        return None
    due_ms = _back_ms(server, calm_ms, slack) + vague_ms
    is_first = config.delay_ms < config.expiration_ms and not may_be_back
    stays = left_ms is None or left_ms > due_ms
    must = is_first and stays and run.end_ms is not None and run.end_ms > due_ms
    least_ms = from_ms - vague_ms - slack
    return Delay(must, from_ms, least_ms, due_ms, row.ref, whom)


def _back_ms(server: Server, time_ms: int, slack: int) -> int:
    """A server that is away then, or whose disk is full, notifies when that is over."""
    for away in server.away():
        if away.lo <= time_ms:
            time_ms = max(time_ms, away.hi + slack)
    return time_ms
