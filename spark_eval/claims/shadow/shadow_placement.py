"""shadow_placement: a shadow stands where topology and settings permit (SR-2, SR-3, SR-11).

Asks every shadow that a primary named (HAREDIRECT) and every one that a server took (HARECEIVE).
With `ShadowRedundancyEnabled` false there must be none at all (SR-9), and nothing is refused for
the lack of one (SR-14). That failed attempts failed for a cause is `shadow_attempts`'.
"""

from __future__ import annotations

from collections.abc import Iterator

from spark_eval.cases.case import VIOLATED, Case, asked, fits
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
    for each in message.with_dsns:
        for primary in each.primaries.values():
            if primary.redirect is not None and primary.key.server in rules(run):
                yield from _made(each, primary, primary.redirect, run)
        for shadow in each.shadows.values():
            if shadow.held is not None and shadow.key.server in run.servers:
                yield from _taken(each, shadow, shadow.held, run)
        if not run.config.enabled:
            yield from _disabled(each, run)


def _made(message: Message, primary: Primary, row: TrackingRow, run: Run) -> Iterator[Case]:
    status, detail = fits(_wrong(primary, row, rules(run)[primary.key.server], run))
    yield from asked(
        status, message.message_id, ("SR-2", "SR-3") if run.config.enabled else ("SR-9",), detail,
        row.at_ms, row, weight=row.attempts or 0, server=primary.key.server,
    )  # fmt: skip


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


def _taken(message: Message, shadow: Shadow, held: TrackingRow, run: Run) -> Iterator[Case]:
    holder, primary = shadow.key.server, shadow.key.primary
    rule = rules(run).get(primary.server)
    permitted = rule is not None and (
        (holder in rule.remotes and rule.remote_attempts > 0)
        or (holder in rule.locals and rule.local_attempts > 0)
    )
    wrong = "" if permitted else f"{holder} may hold no shadow of {primary.server}"
    if not primary.database_id:
        wrong = f"{holder} holds it under no database id"
    status, detail = fits(wrong)
    yield from asked(
        status, message.message_id, ("SR-2", "SR-11"), detail, held.at_ms, held, shadow.claimed,
        server=holder,
    )  # fmt: skip


def _disabled(message: Message, run: Run) -> Iterator[Case]:
    """No copy is made, and nothing is refused for the lack of one."""
    if message.ok is not None:
        primary = acknowledged_primary(message)
        made = primary.redirect if primary else None
        status, detail = fits(MADE_THOUGH_OFF if made else "")
        yield from asked(
            status, message.message_id,
            ("SR-9", "SR-14") if made is None and run.config.reject else ("SR-9",), detail,
            message.ok.ended_ms, message.ok, made, server=message.ok.server,
        )  # fmt: skip
    for attempt in message.attempts:
        if (attempt.reply or "").startswith(REJECTION):
            yield from asked(
                VIOLATED, message.message_id, ("SR-14",),
                f"refused by {attempt.server}; ShadowRedundancyEnabled is false", attempt.ended_ms,
                attempt, server=attempt.server,
            )  # fmt: skip


CLAIM = Claim(
    "shadow_placement",
    ("SR-2", "SR-3", "SR-9", "SR-11", "SR-14"),
    needs=frozenset({TRACKING}),
    of_message=_cases,
)
