"""Operations: what an administrator asks of servers, each at its time, between the faults.

An instant that nobody heals. It is said to each server by that server's own certificate and past
every link, as by somebody who is logged in there; its evidence is the answers. What each kind says
on the wire is a row of `_LINES`.
"""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from lab.clock import parse_origin
from lab.faults.fault import Fault
from lab.faults.observer.evidence import Evidence
from lab.faults.observer.target import RunningLab
from lab.plan.operations import (
    ActivateLagged,
    ChangeGroup,
    ChangeRequest,
    Failover,
    MoveMailbox,
    Operation,
    RedirectMessages,
    Resubmit,
    SetComponentState,
    SetReceiveConnector,
    ShowQueues,
    Switchover,
)
from lab.plan.plan import Plan
from lab.schedule.administered import Administered
from lab.schedule.directory import GroupChange, MailboxMove, ServerChange
from nodes.core.model.resubmit_request import ResubmitDemand, SafetyNetSource
from nodes.shell.verbs.queues import VERB as QUEUES
from nodes.shell.verbs.redirection import format_request
from nodes.shell.verbs.safety_net import format_change, format_demand

DECIDED = "250"
ANSWER_MS = 10_000


def _failover(asked: Failover, plan: Plan) -> str:
    return " ".join(filter(None, ("XFAILOVER", asked.database, asked.to)))


def _switchover(asked: Switchover, plan: Plan) -> str:
    return f"XSWITCHOVER {asked.database} {asked.to}"


def _origin_ms(plan: Plan) -> int:
    return round(parse_origin(plan.clock.origin).timestamp() * 1000)


def _activate_lagged(asked: ActivateLagged, plan: Plan) -> str:
    before_ms = asked.before_ms
    before = "" if before_ms is None else str(_origin_ms(plan) + before_ms)
    return " ".join(filter(None, ("XACTIVATELAGGED", asked.database, asked.to, before)))


def _resubmit(asked: Resubmit, plan: Plan) -> str:
    """To the Primary Safety Net; what a server lacks it asks others for by itself (SN-9)."""
    origin_ms = _origin_ms(plan)
    start_ms, end_ms = origin_ms + asked.start_ms, origin_ms + asked.end_ms
    source = SafetyNetSource.PRIMARY
    return " ".join(
        format_demand(ResubmitDemand(asked.id, source, asked.database, start_ms, end_ms))
    )


def _redirect(asked: RedirectMessages, plan: Plan) -> str:
    return " ".join(format_request(asked.to))


def _change(asked: ChangeRequest, plan: Plan) -> str:
    return " ".join(format_change(asked.kind.partition("_")[0], asked.request))


_LINES: Mapping[type, Callable[[Any, Plan], str]] = {
    Failover: _failover,
    Switchover: _switchover,
    ActivateLagged: _activate_lagged,
    Resubmit: _resubmit,
    ChangeRequest: _change,
    RedirectMessages: _redirect,
    ShowQueues: lambda asked, plan: QUEUES,
}


def line_of(operation: Operation, plan: Plan) -> str:
    """The verb with its arguments, as `nodes.shell.ask` says it."""
    return _LINES[type(operation)](operation, plan)


class Asked(Administered):
    """One operation that servers are asked for."""

    def __init__(self, planned: Operation, lab: RunningLab) -> None:
        super().__init__(planned, lab)
        self._servers = planned.asked(lab.plan.topology)
        self._replies: Mapping[str, Callable[[], str]] = {}

    def start(self) -> Mapping[str, object]:
        line = line_of(self._operation, self._lab.plan)
        self._replies = {each: self._lab.servers.ask(each, line) for each in self._servers}
        return {"asked": list(self._servers)}

    def is_over(self) -> bool:
        """Everybody who is there has answered, or has had the time for it."""
        lab = self._lab
        if lab.clock.lab_ms(lab.monotonic_ns()) >= self.start_ms + ANSWER_MS:
            return True
        return all(
            call() or not lab.servers.is_running(name) for name, call in self._replies.items()
        )

    def evidence(self) -> Evidence:
        """True when somebody who was asked has decided on it."""
        with ThreadPoolExecutor(max(1, len(self._replies))) as pool:  # nobody waits for another one
            heard = dict(zip(self._replies, pool.map(_call, self._replies.values()), strict=True))
        decided = any(reply.startswith(DECIDED) for reply in heard.values())
        if len(heard) == 1:
            [(server, reply)] = heard.items()
            return Evidence(decided, (), reply or f"{server} did not answer")
        said = (f"{server}: {reply or 'no answer'}" for server, reply in heard.items())
        return Evidence(decided, (), "; ".join(said))


def _call(reply: Callable[[], str]) -> str:
    return reply()


def operations_of(plan: Plan, lab: RunningLab) -> list[Fault]:
    """The operations of a plan, ready for the schedule."""
    return [operation_of(each, lab) for each in plan.operations]


def operation_of(planned: Operation, lab: RunningLab) -> Fault:
    """One of them."""
    match planned:
        case ChangeGroup():
            return GroupChange(planned, lab)
        case SetComponentState() | SetReceiveConnector():
            return ServerChange(planned, lab)
        case MoveMailbox():
            return MailboxMove(planned, lab)
    return Asked(planned, lab)
