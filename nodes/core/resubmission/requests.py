"""Resubmit requests as a server takes them on: made durable, worked on, listed, changed (SN-16).

A request that is asked for again, by its id, is the one that is here already: whoever did not hear
the answer asks again, and learns how far it is. It is durable before it is accepted, with the heads
that are missing (SN-9), so a server that is killed takes it up again where it stood. What is done
about one request is in `resubmitting`.
"""

from __future__ import annotations

from collections.abc import Callable

from nodes.core.back_pressure import BackPressure
from nodes.core.categorizer.categorizer import Categorizer
from nodes.core.config.config import NodeConfig
from nodes.core.delivery.delivery import Delivery
from nodes.core.engine.work import Work
from nodes.core.interface.effects import LogLifecycle
from nodes.core.interface.inputs import (
    DatabaseOpened,
    ResubmitChangeAsked,
    ResubmitListAsked,
    ResubmitRequested,
)
from nodes.core.interface.replies import (
    R250_REQUEST_CHANGED,
    R451_REQUEST_NOT_STORED,
    R501_NO_INTERVAL,
    R503_NOT_IN_THIS_STATE,
    R550_NO_SUCH_DATABASE,
    R550_NO_SUCH_REQUEST,
    R554_OTHER_REQUEST,
    AnyReply,
    Reply,
    ResubmitListReply,
    ResubmitReply,
)
from nodes.core.interface.resubmit_changes import InsertResubmitRequest, RemoveResubmitRequest
from nodes.core.model.identity import Identity
from nodes.core.model.lab_time import iso
from nodes.core.model.resubmit_request import (
    Position,
    ResubmitDemand,
    ResubmitRequest,
    ResubmitState,
    SafetyNetSource,
)
from nodes.core.model.resubmit_states import TRANSITIONS, ResubmitMove
from nodes.core.resubmission.missing_head import HeadTelling
from nodes.core.resubmission.request import Resubmitting, SendAnew
from nodes.core.routing.boundary import members
from nodes.core.routing.routing import hop_into
from nodes.core.sessions.inbound_session import InboundSession
from nodes.core.sessions.outbound import Sessions

Answer = Callable[[AnyReply], None]


class Resubmission:
    """All resubmit requests of this server. `session(name)` gives the session of a server of the
    organisation, and refuses anyone else.
    """

    def __init__(
        self,
        config: NodeConfig,
        work: Work,
        identity: Identity,
        sessions: Sessions,
        delivery: Delivery,
        send_anew: SendAnew,
        session: Callable[[str], InboundSession | None],
        categorizer: Categorizer,
        pressure: BackPressure,
    ) -> None:
        self._config = config
        self._work = work
        self._identity = identity
        self._outbound = sessions
        self._delivery = delivery
        self._send_anew = send_anew
        self._session = session
        self._categorizer = categorizer
        self._pressure = pressure
        self._database_created_ms = 0
        self._requests: dict[str, Resubmitting] = {}
        self._heads: dict[str, HeadTelling] = {}
        self._arriving: dict[str, tuple[ResubmitDemand, list[Answer]]] = {}

    def opened(self, happened: DatabaseOpened) -> None:
        """After a restart: every request where it stood."""
        self._database_created_ms = happened.created_ms
        for request in happened.resubmit_requests:
            if request.state is ResubmitState.RUNNING:
                self._log("resubmit-taken-up", request)
            self._begin(request)

    def requested(self, asked: ResubmitRequested) -> None:
        session, demand = self._session(asked.session), asked.demand
        if session is None:
            return
        assert session.peer is not None
        refusal = self._refusal(demand)
        if refusal is not None:
            session.reply(refusal)
        elif demand.request_id in self._requests:
            session.reply(_standing(self._now(demand.request_id)))
        elif demand.request_id in self._arriving:
            self._arriving[demand.request_id][1].append(session.reply)
        else:
            self._take_on(self._new_request(demand, session.peer), session.reply)

    def list_asked(self, asked: ResubmitListAsked) -> None:
        session = self._session(asked.session)
        if session is not None:
            listed = tuple(self._now(request_id) for request_id in sorted(self._requests))
            session.reply(ResubmitListReply(listed))

    def change_asked(self, asked: ResubmitChangeAsked) -> None:
        session = self._session(asked.session)
        if session is None:
            return
        found = self._requests.get(asked.request_id)
        if found is None:
            session.reply(R550_NO_SUCH_REQUEST)
        elif found.is_changing:
            session.reply(R451_REQUEST_NOT_STORED)
        elif asked.move is None:
            self._remove(found, session.reply)
        elif (found.request.state, asked.move) not in _ASKED_FOR:
            session.reply(R503_NOT_IN_THIS_STATE)
        else:
            self._set_state(found, _ASKED_FOR[(found.request.state, asked.move)], session.reply)

    def _refusal(self, demand: ResubmitDemand) -> Reply | None:
        if demand.start_ms >= demand.end_ms:
            return R501_NO_INTERVAL
        database = demand.destination
        if database not in self._config.databases or not hop_into(self._config, database).database:
            return R550_NO_SUCH_DATABASE
        known = self._requests.get(demand.request_id)
        arriving = self._arriving.get(demand.request_id)
        same = {known.request.demand if known else demand, arriving[0] if arriving else demand}
        return None if same == {demand} else R554_OTHER_REQUEST

    def _new_request(self, demand: ResubmitDemand, requested_by: str) -> ResubmitRequest:
        """With the head that this queue database is too young to have, and who is to be notified of
        it: every other server of the boundary (SN-9).
        """
        head_end_ms = min(self._database_created_ms, demand.end_ms)
        lacks_head = demand.source is SafetyNetSource.PRIMARY and head_end_ms > demand.start_ms
        return ResubmitRequest(
            demand,
            requested_by,
            self._work.now_ms,
            Position(demand.start_ms, -1, -1),
            head_end_ms=head_end_ms if lacks_head else None,
            untold=tuple(s.name for s in members(self._config)) if lacks_head else (),
        )

    def _take_on(self, request: ResubmitRequest, answer: Answer) -> None:
        request_id = request.demand.request_id
        self._arriving[request_id] = (request.demand, [answer])

        def committed() -> None:
            _, answers = self._arriving.pop(request_id)
            self._log("resubmit-requested", request)
            for each in answers:
                each(_standing(request))
            self._begin(request)

        def not_committed(_reason: str) -> None:
            _, answers = self._arriving.pop(request_id)
            for each in answers:
                each(R451_REQUEST_NOT_STORED)

        self._work.commit((InsertResubmitRequest(request),), committed, not_committed)

    def _begin(self, request: ResubmitRequest) -> None:
        request_id = request.demand.request_id
        self._requests[request_id] = Resubmitting(
            request,
            self._config,
            self._work,
            self._identity,
            self._delivery,
            self._send_anew,
            self._categorizer,
            self._pressure,
        )
        self._heads[request_id] = HeadTelling(
            request, self._config, self._work, self._identity, self._outbound
        )
        self._heads[request_id].begin()
        self._requests[request_id].begin()

    def _now(self, request_id: str) -> ResubmitRequest:
        """The request as it stands."""
        return self._heads[request_id].as_told(self._requests[request_id].request)

    def _set_state(self, found: Resubmitting, state: ResubmitState, answer: Answer) -> None:
        def changed() -> None:
            self._log(f"resubmit-{state.value}", found.request)
            answer(R250_REQUEST_CHANGED)
            found.begin()

        found.change_state(state, changed, lambda _reason: answer(R451_REQUEST_NOT_STORED))

    def _remove(self, found: Resubmitting, answer: Answer) -> None:
        """Nothing more is done about it; if that cannot be made durable, it goes on."""
        request_id = found.request.demand.request_id
        head = self._heads[request_id]
        found.stop()
        head.stop()

        def committed() -> None:
            del self._requests[request_id]
            del self._heads[request_id]
            self._log("resubmit-removed", found.request)
            answer(R250_REQUEST_CHANGED)

        def not_committed(_reason: str) -> None:
            answer(R451_REQUEST_NOT_STORED)
            found.go_on()
            head.begin()

        self._work.commit((RemoveResubmitRequest(request_id),), committed, not_committed)

    def _log(self, event: str, request: ResubmitRequest) -> None:
        demand = request.demand
        fields = (
            ("request_id", demand.request_id),
            ("safety_net", demand.source.value),
            ("database", demand.destination),
            ("start", iso(demand.start_ms)),
            ("end", iso(demand.end_ms)),
            ("requested_by", request.requested_by),
            ("resubmitted", request.resubmitted),
        )
        self._work.emit(LogLifecycle(event, fields))


def _standing(request: ResubmitRequest) -> ResubmitReply:
    return ResubmitReply(request.state, request.resubmitted)


_ASKED_FOR = {
    step: after for step, after in TRANSITIONS.items() if step[1] is not ResubmitMove.FINISH
}
