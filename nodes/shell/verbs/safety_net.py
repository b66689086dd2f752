"""The grammar of XRESUBMIT, by which Active Manager and servers ask a Safety Net: both ways.

Exchange has cmdlets for this (F§4.1) and no verb that is known, so all of it is this project's own:

    XRESUBMIT ADD <request-id> <primary|shadow> <database> <start> <end> <primary,…|->
        250 2.0.0 <state> <number resubmitted>
    XRESUBMIT LIST
        250-<request-id> <primary|shadow> <database> <start> <end> <created> <requested-by>
            <state> <number resubmitted> <end of the head|-> <untold,…|->      on one line each
        250 Done <number of requests>
    XRESUBMIT ENABLE|DISABLE|REMOVE <request-id>

Times are epoch ms. As strict as `shadow_verbs`; who may use it is the core's to say.
"""

from __future__ import annotations

import re
from typing import TypeAlias

from nodes.core.interface.inputs import (
    ResubmitAnswered,
    ResubmitChangeAsked,
    ResubmitListAsked,
    ResubmitRequested,
)
from nodes.core.interface.replies import ResubmitListReply, ResubmitReply
from nodes.core.model.resubmit_request import (
    ResubmitDemand,
    ResubmitRequest,
    ResubmitState,
    SafetyNetSource,
)
from nodes.core.model.resubmit_states import ResubmitMove
from nodes.shell.verbs.words import NUMBER, WORD

VERB = "XRESUBMIT"
NOBODY = "-"

_NAME = re.compile(r"[!-+\--~]{1,64}")
_SOURCES = {source.value: source for source in SafetyNetSource}
_STATES = {state.value: state for state in ResubmitState}
_CHANGES = {"ENABLE": ResubmitMove.ENABLE, "DISABLE": ResubmitMove.DISABLE, "REMOVE": None}

Request: TypeAlias = ResubmitRequested | ResubmitListAsked | ResubmitChangeAsked


def format_demand(demand: ResubmitDemand) -> tuple[str, ...]:
    """XRESUBMIT ADD as words."""
    return (
        VERB,
        "ADD",
        demand.request_id,
        demand.source.value,
        demand.destination,
        str(demand.start_ms),
        str(demand.end_ms),
        ",".join(demand.primaries) or NOBODY,
    )


def format_change(move: str, request_id: str) -> tuple[str, ...]:
    """XRESUBMIT ENABLE, DISABLE or REMOVE as words."""
    return (VERB, move.upper(), request_id)


def parse_request(session: str, arguments: str) -> Request | None:
    """None for arguments that are not of the grammar."""
    what, *words = arguments.split(" ")
    if what == "ADD":
        demand = _demand(words)
        return None if demand is None else ResubmitRequested(session, demand)
    if what == "LIST" and not words:
        return ResubmitListAsked(session)
    if what in _CHANGES and len(words) == 1 and WORD.fullmatch(words[0]):
        return ResubmitChangeAsked(session, words[0], _CHANGES[what])
    return None


def format_reply(reply: ResubmitReply) -> str:
    return f"2.0.0 {reply.state.value} {reply.resubmitted}"


def parse_answer(session: str, text: str) -> ResubmitAnswered | None:
    """The reply to XRESUBMIT ADD without its code."""
    words = text.split(" ")
    if len(words) != 3 or words[0] != "2.0.0" or words[1] not in _STATES:
        return None
    if not NUMBER.fullmatch(words[2]):
        return None
    return ResubmitAnswered(session, _STATES[words[1]], int(words[2]))


def format_list(reply: ResubmitListReply) -> tuple[str, ...]:
    """For people: no server reads it."""
    return (*map(_listed, reply.requests), f"Done {len(reply.requests)}")


def _listed(request: ResubmitRequest) -> str:
    demand = request.demand
    words = (
        demand.request_id,
        demand.source.value,
        demand.destination,
        demand.start_ms,
        demand.end_ms,
        request.created_ms,
        request.requested_by,
        request.state.value,
        request.resubmitted,
        NOBODY if request.head_end_ms is None else request.head_end_ms,
        ",".join(request.untold) or NOBODY,
    )
    return " ".join(map(str, words))


def _demand(words: list[str]) -> ResubmitDemand | None:
    if len(words) != 6:
        return None
    request_id, source, database, start, end, named = words
    primaries = () if named == NOBODY else tuple(named.split(","))
    fits = (
        source in _SOURCES
        and all(WORD.fullmatch(word) for word in (request_id, database))
        and all(NUMBER.fullmatch(word) for word in (start, end))
        and all(_NAME.fullmatch(name) for name in primaries)
    )
    if not fits:
        return None
    return ResubmitDemand(request_id, _SOURCES[source], database, int(start), int(end), primaries)
