"""shadow_placement: a shadow stands where topology and settings permit (SR-2, SR-3, SR-11).

Asks every shadow that a primary named (HAREDIRECT) and every one that a server took (HARECEIVE).
With `ShadowRedundancyEnabled` false there must be none at all (SR-9), and nothing is refused for
the lack of one (SR-14). That failed attempts failed for a cause is `shadow_attempts`'.
"""

from __future__ import annotations

from collections.abc import Iterator

from spark_eval.cases.case import HOLDS, VIOLATED, Case, refs
from spark_eval.claims.claim import Claim
from spark_eval.expected.mail.acknowledged import acknowledged_primary
from spark_eval.expected.mail.rejection import REJECTION
from spark_eval.expected.shadow.placement import Rules, rules
from spark_eval.histories.message import Message
from spark_eval.histories.primary import Primary
from spark_eval.histories.run import Run
from spark_eval.histories.shadow import Shadow
from spark_eval.read.plan import EXACT_TRACKING, TRACKING
from spark_eval.read.rows import TrackingRow

EXACT = frozenset({EXACT_TRACKING})
MADE_THOUGH_OFF = "a shadow was made; ShadowRedundancyEnabled is false"


def _cases(message: Message, run: Run) -> Iterator[Case]:
    for each in (message, *message.dsns):
        for primary in each.primaries.values():
            if primary.redirect is not None and primary.key.server in rules(run):
                yield _made(each, primary, primary.redirect, run)
        for shadow in each.shadows.values():
            if shadow.held is not None and shadow.key.server in run.servers:
                yield _taken(each, shadow, shadow.held, run)
        if not run.config.enabled:
            yield from _disabled(each, run)


def _made(message: Message, primary: Primary, row: TrackingRow, run: Run) -> Case:
    wrong = _wrong(primary, row, rules(run)[primary.key.server], run)
    return Case(
        VIOLATED if wrong else HOLDS,
        message.message_id,
        ("SR-2", "SR-3") if run.config.enabled else ("SR-9",),
        wrong,
        row.at_ms,
        (row.ref,),
        weight=row.attempts or 0,
        server=primary.key.server,
    )


def _wrong(primary: Primary, row: TrackingRow, rule: Rules, run: Run) -> str:
    """What is not permitted, or the empty text."""
    shadow, attempts, preference = row.shadow_server or "?", row.attempts, rule.preference
    if not run.config.enabled:
        return MADE_THOUGH_OFF
    if shadow not in rule.members:
        return f"{shadow} is outside the boundary of {primary.key.server}"
    if attempts is None and run.organisation.shows(primary.key.server, EXACT):
        return f"{primary.key.server} does not say at which attempt it was made"
    is_remote, after = shadow in rule.remotes, f"after {attempts} attempts: {preference} allows"
    if is_remote:
        too_many = not rule.remote_attempts if attempts is None else attempts > rule.remote_attempts
        if too_many:
            return f"{shadow} in a remote site {after} {rule.remote_attempts} there"
    elif not rule.local_attempts:
        return f"{shadow} in the local site; {preference} allows no attempt there"
    elif attempts is not None and attempts <= rule.remote_attempts:
        first = f"{rule.remote_attempts} at remote ones first"
        return f"{shadow} in the local site {after} {first}"
    in_all = rule.remote_attempts + rule.local_attempts
    if attempts is not None and attempts > in_all:
        return f"{shadow} {after} {in_all} in all"
    return ""


def _taken(message: Message, shadow: Shadow, held: TrackingRow, run: Run) -> Case:
    holder, primary = shadow.key.server, shadow.key.primary
    rule = rules(run).get(primary.server)
    permitted = rule is not None and (
        (holder in rule.remotes and rule.remote_attempts > 0)
        or (holder in rule.locals and rule.local_attempts > 0)
    )
    if not primary.database_id:
        detail = f"{holder} holds it under no database id"
    else:
        detail = f"{holder} may hold no shadow of {primary.server}"
    return Case(
        HOLDS if permitted and primary.database_id else VIOLATED,
        message.message_id,
        ("SR-2", "SR-11"),
        detail,
        held.at_ms,
        refs(held.ref, shadow.claimed.ref if shadow.claimed else None),
        server=holder,
    )


def _disabled(message: Message, run: Run) -> Iterator[Case]:
    """No copy is made, and nothing is refused for the lack of one."""
    if message.ok is not None:
        primary = acknowledged_primary(message)
        made = primary.redirect if primary else None
        asked = ("SR-9", "SR-14") if made is None and run.config.reject else ("SR-9",)
        yield Case(
            VIOLATED if made else HOLDS, message.message_id, asked, MADE_THOUGH_OFF,
            message.ok.ended_ms, refs(message.ok.ref, made.ref if made else None),
            server=message.ok.server,
        )  # fmt: skip
    for attempt in message.attempts:
        if (attempt.reply or "").startswith(REJECTION):
            detail = f"refused by {attempt.server}; ShadowRedundancyEnabled is false"
            yield Case(
                VIOLATED,
                message.message_id,
                ("SR-14",),
                detail,
                attempt.ended_ms,
                (attempt.ref,),
                server=attempt.server,
            )


CLAIM = Claim(
    "shadow_placement",
    ("SR-2", "SR-3", "SR-9", "SR-11", "SR-14"),
    needs=frozenset({TRACKING}),
    of_message=_cases,
)
