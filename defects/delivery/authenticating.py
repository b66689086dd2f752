"""Defects of a server whose Receive connector authenticates no other server, or did not (TL-6)."""

from __future__ import annotations

from collections.abc import Callable

from defects.decisions import does
from defects.defect import Defect
from nodes.core.interface.inputs import DirectoryRead
from nodes.core.sessions.inbound import InboundSessions

SCENARIO = "logon-denied"
Read = Callable[[InboundSessions, DirectoryRead], None]


def _denies_for_ever(read: Read, self: InboundSessions, happened: DirectoryRead) -> None:
    if self.authenticates:
        read(self, happened)


DEFECTS = (
    Defect(
        "authenticates-all-the-same",
        "A server lets other servers in whose logon its Receive connector is to deny.",
        "TL-6", SCENARIO, ("intake_for_cause",),
        lambda: does(InboundSessions, "read", lambda read, self, happened: None),
    ),
    Defect(
        "denies-logon-for-ever",
        "A server denies other servers their logon after its Receive connector permits it again.",
        "RT-5", SCENARIO, ("deferred_for_cause", "discard_after_delivery"),
        lambda: does(InboundSessions, "read", _denies_for_ever),
    ),
)  # fmt: skip
