"""Defects of resubmit requests that an administrator changes (SN-16)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from defects.decisions import does
from defects.defect import Defect
from defects.door import Door, behind
from nodes.core.config.config import NodeConfig
from nodes.core.engine.work import Because, Then
from nodes.core.interface.effects import Effect, SendReply
from nodes.core.interface.inputs import Input, ResubmitChangeAsked, ResubmitListAsked
from nodes.core.interface.replies import R250_REQUEST_CHANGED, R503_NOT_IN_THIS_STATE
from nodes.core.model.resubmit_request import ResubmitState
from nodes.core.resubmission.request import Resubmitting

CHANGED = "requests-changed"
ChangeState = Callable[[Resubmitting, ResubmitState, Then, Because], None]


def says_disabled(
    method: ChangeState,
    request: Resubmitting,
    state: ResubmitState,
    changed: Then,
    failed: Because,
) -> None:
    """It says so, and goes on."""
    if state is ResubmitState.COMPLETED:
        method(request, state, changed, failed)
    else:
        changed()


class Replies(Door):
    """What was asked for is answered, and nothing done about it."""

    is_removal, reply = True, R250_REQUEST_CHANGED

    def __init__(self, config: NodeConfig) -> None:
        super().__init__(config)
        self._sessions: set[str] = set()

    def enters(self, happened: Input) -> Iterable[Input]:
        if not isinstance(happened, ResubmitChangeAsked):
            return (happened,)
        if (happened.move is None) != self.is_removal:
            return (happened,)
        # a question instead, whose answer is not given
        self._sessions.add(happened.session)
        return (ResubmitListAsked(happened.session),)

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        if isinstance(effect, SendReply) and effect.session in self._sessions:
            self._sessions.discard(effect.session)
            effect = replace(effect, reply=self.reply)
        return (effect,)


class RefusesAChange(Replies):
    is_removal, reply = False, R503_NOT_IN_THIS_STATE


def stays_disabled(method: Callable[[Resubmitting], None], request: Resubmitting) -> None:
    """Of a request that has given something back already."""
    if not request.request.resubmitted:
        method(request)


SN_16 = ("requests_changed",)
DEFECTS = (
    Defect(
        "goes-on-with-a-disabled-request",
        "A server says that a resubmit request is disabled, and goes on with it.",
        "SN-16", CHANGED, SN_16, lambda: does(Resubmitting, "change_state", says_disabled),
    ),
    Defect(
        "goes-on-with-a-removed-request",
        "A server says that a resubmit request is removed, and goes on with it.",
        "SN-16", CHANGED, SN_16,
        lambda: behind(Replies),
    ),
    Defect(
        "has-no-request-disabled",
        "A server refuses to disable or enable a resubmit request.",
        "SN-16", CHANGED, SN_16,
        lambda: behind(RefusesAChange),
    ),
    Defect(
        "forgets-a-request-that-is-enabled-again",
        "A resubmit request that is enabled again does not go on.",
        "SN-16", CHANGED, ("resubmission_complete",),
        lambda: does(Resubmitting, "begin", stays_disabled),
    ),
)  # fmt: skip
