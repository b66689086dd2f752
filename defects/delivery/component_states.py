"""Defects of a server whose component HubTransport is Inactive, or was (TL-5)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from unittest.mock import patch

from defects.decisions import does
from defects.defect import Defect
from defects.door import Door, behind
from nodes.core.interface.effects import CloseSession, Effect
from nodes.core.interface.inputs import DirectoryRead, Input
from nodes.core.interface.replies import R421_INACTIVE, R451_REDIRECTING
from nodes.core.receiving.component_state import ComponentState

SCENARIO = "left-inactive"
INTAKE, REFUSED = ("intake_for_cause",), ("refused_for_cause",)
Read = Callable[[ComponentState, DirectoryRead], None]


class ForgetsAtItsStart(Door):
    def enters(self, happened: Input) -> Iterable[Input]:
        if isinstance(happened, DirectoryRead) and happened.at_start:
            return (replace(happened, inactive=()),)
        return (happened,)


class SaysAnotherWord(Door):
    """The session goes on."""

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        if isinstance(effect, CloseSession) and effect.reply == R421_INACTIVE:
            return (replace(effect, reply=R451_REDIRECTING),)
        return (effect,)


def _stays_inactive(read: Read, self: ComponentState, happened: DirectoryRead) -> None:
    if not self.is_inactive:
        read(self, happened)


@contextmanager
def holds_shadows() -> Iterator[None]:
    """As if it were Active, for this one verb."""
    with patch.object(ComponentState, "refuses_shadows", property(lambda component: False)):
        yield


DEFECTS = (
    Defect(
        "takes-mail-while-inactive",
        "A server whose HubTransport is Inactive takes mail and shadow messages as ever.",
        "TL-5", SCENARIO, INTAKE,
        lambda: does(ComponentState, "read", lambda read, self, happened: None),
    ),
    Defect(
        "active-after-a-restart",
        "A server whose HubTransport is Inactive is Active once it has been restarted.",
        "TL-5", SCENARIO, INTAKE, lambda: behind(ForgetsAtItsStart),
    ),
    Defect(
        "holds-shadows-while-inactive",
        "A server whose HubTransport is Inactive refuses mail, and takes shadow messages.",
        "TL-5", SCENARIO, INTAKE, holds_shadows,
    ),
    Defect(
        "inactive-for-ever",
        "A server whose HubTransport was Inactive refuses mail after it is set Active.",
        "TL-5", SCENARIO, REFUSED, lambda: does(ComponentState, "read", _stays_inactive),
    ),
    Defect(
        "another-word-while-inactive",
        "A server whose HubTransport is Inactive says 451 4.3.2 Service not active.",
        "TL-5", SCENARIO, REFUSED, lambda: behind(SaysAnotherWord),
    ),
)  # fmt: skip
