"""States of an inbound session, and the one table of what may follow what.

READY takes mail. XSHADOWREQUEST, XDELIVER, XNETWORKMESSAGEID, XOUTBOX, XLOG, XSEED and XMAILBOX
announce what the next message is, for that message alone. OFFERED: the final dot has come and the
answer is this server's to give; nothing else can come meanwhile but the end of the session. A
command that is not in the table is the client's mistake and is answered `503 5.5.1`.
"""

from __future__ import annotations

from enum import Enum


class InboundState(Enum):
    READY = "ready"
    SHADOW_NEXT = "shadow next"
    DELIVERY_NEXT = "delivery next"
    FORK_NEXT = "fork next"
    OUTBOX_NEXT = "Outbox item next"
    LOG_NEXT = "log next"
    OFFERED = "offered"


class InboundMove(Enum):
    REQUEST_SHADOW = "XSHADOWREQUEST"
    REQUEST_DELIVERY = "XDELIVER"
    ANNOUNCE_FORK = "XNETWORKMESSAGEID"
    REQUEST_OUTBOX = "XOUTBOX"
    ANNOUNCE_LOG = "XLOG, XSEED or XMAILBOX"
    RESET = "RSET"
    OFFER = "final dot"
    ANSWER = "answer"


TRANSITIONS: dict[tuple[InboundState, InboundMove], InboundState] = {
    (InboundState.READY, InboundMove.REQUEST_SHADOW): InboundState.SHADOW_NEXT,
    (InboundState.READY, InboundMove.REQUEST_DELIVERY): InboundState.DELIVERY_NEXT,
    (InboundState.READY, InboundMove.ANNOUNCE_FORK): InboundState.FORK_NEXT,
    (InboundState.FORK_NEXT, InboundMove.RESET): InboundState.READY,
    (InboundState.FORK_NEXT, InboundMove.OFFER): InboundState.OFFERED,
    (InboundState.READY, InboundMove.REQUEST_OUTBOX): InboundState.OUTBOX_NEXT,
    (InboundState.OUTBOX_NEXT, InboundMove.RESET): InboundState.READY,
    (InboundState.OUTBOX_NEXT, InboundMove.OFFER): InboundState.OFFERED,
    (InboundState.READY, InboundMove.ANNOUNCE_LOG): InboundState.LOG_NEXT,
    (InboundState.LOG_NEXT, InboundMove.RESET): InboundState.READY,
    (InboundState.LOG_NEXT, InboundMove.OFFER): InboundState.OFFERED,
    (InboundState.READY, InboundMove.RESET): InboundState.READY,
    (InboundState.SHADOW_NEXT, InboundMove.RESET): InboundState.READY,
    (InboundState.DELIVERY_NEXT, InboundMove.RESET): InboundState.READY,
    (InboundState.READY, InboundMove.OFFER): InboundState.OFFERED,
    (InboundState.SHADOW_NEXT, InboundMove.OFFER): InboundState.OFFERED,
    (InboundState.DELIVERY_NEXT, InboundMove.OFFER): InboundState.OFFERED,
    (InboundState.OFFERED, InboundMove.ANSWER): InboundState.READY,
}
