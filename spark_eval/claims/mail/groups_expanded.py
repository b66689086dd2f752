"""groups_expanded: whoever comes to answer for a message expands each of its groups once, to the
members that it has then, where it is to be expanded (TP-5, RT-3, RT-6, SN-11).

Asks every message that names a group, at each server that received or promoted it: the log has one
EXPAND for each group that the envelope leads to, nested ones too, with exactly its members, and
DUPLICATEEXPAND names those who came more than once, as often as they came again. A group that has
an expansion server is expanded by that one alone (RT-3), and by whoever promotes a message of which
that one was the primary server. And asks every copy that a Shadow Safety Net gave back: it is for
those in that database for whom its envelope stands now, and no others.

What a group has is worked out from the plan and from when it was changed; while a change is under
way either may be. Not asked: what is near a hole of the log.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from spark_eval.cases.case import HOLDS, VIOLATED, Case, refs
from spark_eval.claims.claim import Claim
from spark_eval.expected.mail.addressees import addressees_at, expansions_of, resolved_in
from spark_eval.histories.message import Message
from spark_eval.histories.organisation.groups import Expansion
from spark_eval.histories.organisation.server import Server
from spark_eval.histories.primary import Primary, key_of
from spark_eval.histories.run import Run
from spark_eval.read.plan import EXACT_TRACKING
from spark_eval.read.rows import TrackingRow

EXPAND, AGAIN = "EXPAND", "DUPLICATEEXPAND"
SHADOW = "shadow"


def _cases(message: Message, run: Run) -> Iterator[Case]:
    if not run.groups:
        return
    for primary in message.primaries.values():
        server = run.servers.get(primary.key.server)
        if primary.born is None or server is None:
            continue
        if primary.born.safety_net == SHADOW:
            yield from _given_back(primary.born, server, message, run)
        elif any(name in run.groups.first for name in primary.recipients):
            yield from _expanded(primary, primary.born, server, message, run)


def _expanded(
    primary: Primary, born: TrackingRow, server: Server, message: Message, run: Run
) -> Iterator[Case]:
    rows = [
        row
        for row in message.of_event(EXPAND, AGAIN)
        if key_of(row) == primary.key and row.source == "ROUTING"
    ]
    possible = expansions_of(primary, message, run)
    wrongs = [_wrong(rows, primary.recipients, each, run) for each in possible]
    wrong = "" if "" in wrongs else wrongs[0]
    if wrong and not server.shows(born.at_ms, born.at_ms + server.slack_ms):
        return
    named = ("RT-6", "TP-5", "SN-11") if primary.is_promoted else ("RT-6", "TP-5")
    if any(run.groups.servers.keys() & {*each.through, *each.groups} for each in possible):
        named = (*named, "RT-3")
    detail = f"{server.name}, which took it over by {born.event}, {wrong}" if wrong else ""
    yield _case(message, server, born, detail, named, rows)


def _wrong(rows: Sequence[TrackingRow], names: Sequence[str], expected: Expansion, run: Run) -> str:
    """What does not fit, or the empty text."""
    logged = [row for row in rows if row.event == EXPAND]
    often = Counter(row.reference for row in logged)
    for group, members in expected.groups.items():
        if often.pop(group, 0) != 1:
            return f"expands {group} {_times(sum(row.reference == group for row in logged))}"
        found = next(row.recipients or () for row in logged if row.reference == group)
        if Counter(found) != Counter(members):
            other = sorted(set(found) ^ set(members))
            return f"expands {group} to {len(found)} members; it has {len(members)}: {other[:1]}"
    if often:
        group = min(str(each) for each in often)
        server = run.groups.servers.get(group)
        why = f"which {server} expands" if group in expected.through else "to which nothing leads"
        return f"expands {group}, {why}"
    came = Counter([*names, *(who for each in expected.groups.values() for who in each)])
    again = {who: count - 1 for who, count in came.items() if count > 1}
    said = Counter(who for row in rows if row.event == AGAIN for who in row.recipients or ())
    for who in sorted({*again, *said}):
        if said[who] != again.get(who, 0):
            return f"logs {said[who]} times that {who} came again; he did {again.get(who, 0)} times"
    return ""


def _times(count: int) -> str:
    return f"{count} times" if count else "not at all"


def _given_back(row: TrackingRow, server: Server, message: Message, run: Run) -> Iterator[Case]:
    """Of a copy whose envelope the log has."""
    held = [
        each.held
        for each in message.shadows.values()
        if each.held is not None
        and each.held.server == row.server
        and each.held.internal_id == row.copy_internal_id
        and each.held.database_id == row.database_id
    ]
    if not held:
        return
    names, acted_for = held[0].recipients or (), frozenset({held[0].primary_server or ""})
    span = resolved_in(server, row.at_ms)
    places = {
        who: (each, run.directory.places(who, *span))
        for who, each in addressees_at(names, server, *span, run, acted_for).items()
    }
    there = {who for who, (_, found) in places.items() if row.destination in found}
    sure = {who for who in there if places[who][0].is_sure and len(places[who][1]) == 1}
    named = set(row.recipients or ())
    strangers, missing = sorted(named - there), sorted(sure - named)
    detail = f"{server.name} resubmitted it from its Shadow Safety Net "
    if strangers:
        detail += f"to {strangers[0]}, for whom its envelope does not stand now"
    elif missing:
        detail += f"without {missing[0]}, for whom its envelope stands now"
    else:
        detail = ""
    yield _case(message, server, row, detail, ("SN-11",), held)


def _case(
    message: Message,
    server: Server,
    born: TrackingRow,
    detail: str,
    named: tuple[str, ...],
    rows: Sequence[TrackingRow],
) -> Case:
    return Case(
        VIOLATED if detail else HOLDS,
        f"{message.message_id} at {server.name}",
        named,
        detail,
        born.at_ms,
        refs(born.ref, *(row.ref for row in rows[:2])),
        server=server.name,
    )


CLAIM = Claim(
    "groups_expanded",
    ("RT-3", "RT-6", "TP-5", "SN-11"),
    needs=frozenset({EXACT_TRACKING}),
    of_message=_cases,
)
