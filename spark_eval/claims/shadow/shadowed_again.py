"""shadowed_again: what is promoted or resubmitted is made redundant again (SM-13).

Asks every promoted and every resubmitted message: its server made a shadow of it, or tried to,
unless it went away first; attempts at servers that faults made silent take long. Back again it
tries anew, so nothing excuses a message that was delivered and that no other server ever held, but
a hole in what the server logged.
"""

from __future__ import annotations

from collections.abc import Iterator

from spark_eval.cases.case import FITS, NOT_ASKED, VIOLATED, Case, Judged, asked, fits
from spark_eval.claims.claim import Claim
from spark_eval.expected.mail.forks import forks_of
from spark_eval.expected.shadow.acceptances import is_traced
from spark_eval.expected.shadow.placement import Rules, rules
from spark_eval.histories.message import Message
from spark_eval.histories.organisation.server import Server
from spark_eval.histories.primary import Primary
from spark_eval.histories.run import Run
from spark_eval.histories.shadow import ShadowKey
from spark_eval.intervals.interval import Interval, touches
from spark_eval.read.plan import TRACKING
from spark_eval.read.rows import TrackingRow


def _cases(message: Message, run: Run) -> Iterator[Case]:
    if not run.config.enabled:
        return
    for each in message.with_dsns:
        for primary in each.primaries.values():
            server, rule = run.servers.get(primary.key.server), rules(run).get(primary.key.server)
            born = primary.born
            is_anew = primary.is_promoted or primary.is_resubmitted
            if is_anew and born is not None and server is not None and rule is not None:
                status, detail = _judged(each, primary, born, server, rule, run)
                yield from asked(
                    status, each.message_id, ("SM-13",), detail, born.at_ms, born, primary.redirect,
                    primary.failure, server=server.name,
                )  # fmt: skip


def _judged(
    message: Message, primary: Primary, born: TrackingRow, server: Server, rule: Rules, run: Run
) -> Judged:
    made = primary.redirect
    if made is not None:
        untraced = f"{server.name} named {made.shadow_server}, which logged no HARECEIVE of it"
        return fits(untraced if _is_untraced(message, primary, made, run) else "")
    if primary.failure is not None or not rule.remote_attempts + rule.local_attempts:
        return FITS
    is_excused = _is_excused(born, server, rule, run)
    if is_excused and not _went_out_alone(message, primary, born, server, run):
        return NOT_ASKED
    return VIOLATED, f"{server.name} has it anew and did not try to shadow it again"


def _is_untraced(message: Message, primary: Primary, made: TrackingRow, run: Run) -> bool:
    """Whether no word of the shadow server knows of it, though its log has no hole there."""
    shadow = message.shadows.get(ShadowKey(made.shadow_server or "", primary.key))
    if shadow is None or shadow.claimed is None or shadow.held is not None:
        return False
    if is_traced(message, shadow, run):
        return False
    holder, at_ms = run.servers.get(shadow.key.server), shadow.claimed.at_ms
    return holder is None or holder.shows(at_ms, at_ms)


def _is_excused(born: TrackingRow, server: Server, rule: Rules, run: Run) -> bool:
    heartbeat_ms = run.config.heartbeat_ms
    until_ms = soon_ms = born.at_ms + heartbeat_ms
    if touches(run.acting, born.at_ms, soon_ms):
        attempts = rule.remote_attempts + rule.local_attempts
        until_ms = born.at_ms + max(heartbeat_ms, attempts * server.config.timeout_ms)
    is_over = run.end_ms is not None and soon_ms > run.end_ms
    is_away = touches(server.away(), born.at_ms, until_ms)
    return is_away or is_over or not server.shows(born.at_ms, until_ms)


def _went_out_alone(
    message: Message, primary: Primary, born: TrackingRow, server: Server, run: Run
) -> bool:
    """Delivered to all, and nobody else said a word of a copy. What the moment before a kill may
    have swallowed left other traces.
    """
    forks = forks_of(message, run)[primary.key]
    if not forks.complete or forks.expired or forks.done_ms is None:
        return False
    if any(key.primary == primary.key for key in message.shadows):
        return False
    start_ms, end_ms = sorted((born.at_ms, forks.done_ms))
    return not touches(_lasting_holes(server), start_ms, end_ms)


def _lasting_holes(server: Server) -> Iterator[Interval]:
    kills = {down.outage.certain.lo for down in server.downs if down.outage.certain is not None}
    return (hole for hole in server.holes if hole.hi not in kills)


CLAIM = Claim("shadowed_again", ("SM-13",), needs=frozenset({TRACKING}), of_message=_cases)
