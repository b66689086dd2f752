"""By when a message that a server answers for should have arrived, recipient by recipient.

A server owes each recipient a delivery from the moment at which it became the primary server: it
accepted the message, promoted it, or gave it back from a Safety Net. Undisturbed, that takes no
longer than `base_ms`. A fault in the way that may begin before that was over puts it off: to the
fault's end, ConnectionInactivityTimeOut for an attempt that hangs still, the wait that the retry
ladder (RT-5) has reached by then, what queued up meanwhile, and `base_ms` again. Faults that follow
each other sooner than the wait is over are one. A message that is sent anew, also after a restart
in the middle of that, may wait for a shadow first: at most ConnectionTimeout, where a server that
could take one is out of reach (SM-13). A server outside may put recipients off by itself; each such
answer, in time, puts the delivery off by a step of the ladder, and so does one to another message
of the same queue. Those of the lab never do, so where it made the record such an answer is its
server's word alone. Where a fault was in the way, an answer that put the message off by itself puts
it off by MessageRetryInterval. What was lost with a queue database is owed no more by that server.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from spark_eval.expected.mail.addressees import addressees, answered_for
from spark_eval.expected.mail.arrivals import Arrival, arrivals
from spark_eval.expected.mail.crossings import crossings
from spark_eval.expected.mail.redirections import refusals, troubles
from spark_eval.histories.message import Message
from spark_eval.histories.organisation.server import Server
from spark_eval.histories.organisation.settings import ServerConfig
from spark_eval.histories.primary import Primary, key_of
from spark_eval.histories.queues import Answer, is_answer, is_put_off
from spark_eval.histories.run import Run
from spark_eval.histories.traffic import stood_still_ms
from spark_eval.histories.ways import Trouble
from spark_eval.intervals.interval import touches
from spark_eval.read.clocks_off import FAR_ABOVE
from spark_eval.read.names import Ref
from spark_eval.read.rows import TrackingRow

# handing over and storing, a wall second each
EXCHANGES = 2
# what a machine as slow as measured may need for all that happens beside it
TAKINGS = 5


class Leg(NamedTuple):
    """What a server owes a recipient: `place` where it goes, `arrived` when it did; `is_anew`: it
    was promoted, resubmitted, or nobody knows.
    """

    primary: Primary
    server: Server
    recipient: str
    place: str
    is_away: bool
    is_anew: bool
    since_ms: int
    since_ref: Ref
    arrived: Arrival | None


def legs(message: Message, run: Run) -> Iterator[Leg]:
    """Into a mailbox, outside, or to the next hop that sends it on."""
    came = arrivals(message, run)
    crossed = _first_crossings(message, run)
    recipients, answered = addressees(message, run), answered_for(message, run)
    for primary in message.primaries.values():
        row, server = primary.born or primary.loaded, run.servers.get(primary.key.server)
        if row is None or server is None:
            continue
        is_anew = primary.born is None or primary.born.event == "RESUBMIT"
        for recipient in answered[primary.key]:
            start = (is_anew, row.at_ms, row.ref)
            known = came.get(recipient)
            place = run.directory.place_of(recipient)
            is_named = recipient in recipients and place is not None and known
            arrival = crossed.get((primary.key, recipient))
            is_own = arrival is None and _is_own(recipient, primary, server, run)
            if is_named and place and known and is_own:
                is_away = not run.directory.is_inside(recipient)
                arrived = _first(known, row.at_ms if primary.is_resubmitted else None)
                yield Leg(primary, server, recipient, place, is_away, *start, arrived)
            if arrival is not None:
                way = run.routing.way(server, recipient, primary.size_bytes)
                hop = way.hop if way and way.is_relay else place or ""
                yield Leg(primary, server, recipient, hop, False, *start, arrival)


def _is_own(recipient: str, primary: Primary, server: Server, run: Run) -> bool:
    """Whether a mailbox server brings it there by itself, and hands it on to no other."""
    way = run.routing.way(server, recipient, primary.size_bytes)
    return way is not None and not way.is_relay


def _first(known: Sequence[Arrival], since_ms: int | None) -> Arrival | None:
    """Of what came back from a Safety Net, what arrived since."""
    return next((each for each in known if since_ms is None or each.at_ms >= since_ms), None)


def _first_crossings(message: Message, run: Run) -> dict[tuple[object, str], Arrival]:
    found: dict[tuple[object, str], Arrival] = {}
    for hop in crossings(message, run):
        arrival = Arrival(hop.row.at_ms, hop.row.ref)
        for recipient in hop.row.recipients or ():
            key = (key_of(hop.row), recipient)
            found[key] = min(found.get(key, arrival), arrival)
    return found


class Due(NamedTuple):
    """Bounds of one leg; `queue_lost_ms`: from then on the server owes it no more."""

    due_ms: int
    queue_lost_ms: int | None


def due(leg: Leg, message: Message, run: Run) -> Due:
    """Nothing is put off that arrived before it would have been."""
    base = base_ms(leg.server, run)
    lab_due_ms = leg.since_ms + base
    if leg.is_anew and _may_wait_for_a_shadow(leg, run):
        lab_due_ms += leg.server.config.session_ms
    if leg.arrived is not None and leg.arrived.at_ms > lab_due_ms:
        lab_due_ms = _put_off(lab_due_ms, leg, message, run, base)
    still_ms = stood_still_ms(run.still, leg.since_ms, leg.arrived.at_ms) if leg.arrived else 0
    lost_ms = leg.server.lost_ms(leg.primary.key.database_id)
    return Due(lab_due_ms + still_ms, lost_ms)


def _put_off(due_ms: int, leg: Leg, message: Message, run: Run, base: int) -> int:
    """By faults, by answers from outside, and by faults once more, if those did."""
    config, met, queuing = leg.server.config, _met(leg, run), _queuing(leg, run)
    hang_ms = config.timeout_ms + (config.session_ms if leg.is_anew else 0)
    first_ms = after_troubles(due_ms, met, config, hang_ms, queuing, base)
    waits = [(at_ms, config.put_off_ms) for at_ms in _put_off_at(leg, message, met)]
    if leg.is_away and not run.is_made:
        own, others = _own_answers(leg, message), run.answers.get(_queue(leg), ())
        waits += [
            (each.at_ms, max(config.put_off_ms, _nth_step_ms(each.nth, config))) for each in own
        ]
        waits += [(each.at_ms, _nth_step_ms(each.nth, config)) for each in others]
    later_ms = first_ms
    for at_ms, wait_ms in sorted(waits):
        if at_ms <= later_ms:
            later_ms = max(later_ms, at_ms + wait_ms + base)
    if later_ms == first_ms:
        return first_ms
    return after_troubles(later_ms, met, config, hang_ms, queuing, base)


def _put_off_at(leg: Leg, message: Message, met: Iterable[Trouble]) -> list[int]:
    """When this recipient was put off by an answer to its message, while a fault was in the way."""
    server, times = leg.server, _times(leg, message, is_put_off)
    spans = [each.prolonged(server.config.timeout_ms).longer(server.slack_ms) for each in met]
    return [at_ms for at_ms in times if touches(spans, at_ms - server.slack_ms, at_ms)]


def _times(leg: Leg, message: Message, concerns: Callable[[TrackingRow], bool]) -> list[int]:
    """Of rows of DEFER about this recipient, in order."""
    return sorted(
        row.at_ms
        for row in message.of_event("DEFER")
        if concerns(row)
        and key_of(row) == leg.primary.key
        and leg.recipient in (row.recipients or ())
    )


def _queue(leg: Leg) -> tuple[str, str]:
    return leg.server.name, leg.place


def _own_answers(leg: Leg, message: Message) -> list[Answer]:
    """When this recipient was put off by what a server outside answered."""
    times = _times(leg, message, is_answer)
    return [Answer(at_ms, number) for number, at_ms in enumerate(times, start=1)]


def _nth_step_ms(nth: int, config: ServerConfig) -> int:
    if nth <= config.glitches:
        return config.glitch_ms
    return config.transient_ms if nth <= config.glitches + config.transients else config.outage_ms


def base_ms(server: Server, run: Run) -> int:
    usual_ms = int(1000 * run.speed)
    taking_ms = min(run.taking_ms or 0, usual_ms)
    return (
        server.config.glitch_ms
        + EXCHANGES * usual_ms
        + FAR_ABOVE * run.finest_ms
        + TAKINGS * taking_ms
    )


def _queuing(leg: Leg, run: Run) -> float:
    """Lab ms of work for each lab ms in which a queue waits, a message taking what a sender
    waits.
    """
    load, taking_ms = run.traffic.loads.get(leg.server.name), run.taking_ms
    per_ms = load.per_ms if load else None
    if per_ms is None or taking_ms is None:
        return 0.0
    return per_ms * min(taking_ms, int(1000 * run.speed))


def _may_wait_for_a_shadow(leg: Leg, run: Run) -> bool:
    config = leg.server.config
    until_ms = leg.since_ms + config.session_ms
    return any(
        each.at.lo <= until_ms and each.at.hi + config.timeout_ms >= leg.since_ms
        for each in run.routes.around(leg.server.name)
    )


def _met(leg: Leg, run: Run) -> Sequence[Trouble]:
    found = run.routes.troubles(leg.server.name, leg.place)
    others = [*troubles(leg.server.name, run), *refusals(leg.place, run), *_of_a_move(leg, run)]
    if others:
        found = tuple(sorted((*found, *others)))
    if not leg.is_anew:
        return found
    return [Trouble(each.at, hangs=True) for each in found]


def _of_a_move(leg: Leg, run: Run) -> Iterator[Trouble]:
    """Nothing is delivered into a mailbox on its way; before, its mail went to another database."""
    move = run.directory.moves.get(leg.recipient)
    if move is not None:
        yield Trouble(move.under_way, hangs=True)
        yield from run.routes.troubles(leg.server.name, move.before)


def after_troubles(
    due_ms: int,
    met: Iterable[Trouble],
    config: ServerConfig,
    hang_ms: int,
    queuing: float,
    base: int,
) -> int:
    """`due_ms` put off by `met`, in order: groups of faults, each with its end and the wait after
    it.
    """
    lo_ms = hi_ms = 0
    until_ms: int | None = None
    waits = False
    for trouble in met:
        end_ms = trouble.prolonged(hang_ms).hi
        if until_ms is not None and trouble.at.lo <= until_ms:
            hi_ms, waits = max(hi_ms, end_ms), trouble.hangs or waits
        else:
            lo_ms, hi_ms, waits = trouble.at.lo, end_ms, trouble.hangs
        failing_ms = hi_ms - lo_ms
        step_ms = _step_ms(failing_ms, config) if waits else 0
        until_ms = hi_ms + step_ms + int(failing_ms * queuing) + base
        if trouble.at.lo <= due_ms:
            due_ms = max(due_ms, until_ms)
    return due_ms


def _step_ms(failing_ms: int, config: ServerConfig) -> int:
    """The longest wait that a queue may have reached that failed for so long (RT-5)."""
    glitches_ms = config.glitches * config.glitch_ms
    if failing_ms < glitches_ms:
        return config.glitch_ms
    if failing_ms < glitches_ms + config.transients * config.transient_ms:
        return max(config.glitch_ms, config.transient_ms)
    return max(config.glitch_ms, config.transient_ms, config.outage_ms)
