"""Every 250 to somebody outside of the boundary who handed a message over: to the workload, or to a
server of another boundary, from which a message comes as from outside (SR-10), and so it does to
one that had it redirected; and every 250 to the service that submits mail from an Outbox (SR-8).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from spark_eval.expected.mail.acknowledged import acknowledged_primary, primary_behind
from spark_eval.expected.mail.crossings import Hop, hops
from spark_eval.expected.shadow.kept import kept_of
from spark_eval.histories.message import Message
from spark_eval.histories.primary import Primary
from spark_eval.histories.run import Run
from spark_eval.histories.shadow import Shadow, ShadowKey
from spark_eval.read.names import Ref
from spark_eval.read.rows import TrackingRow


class Acceptance(NamedTuple):
    """A 250: of which server, when its sender had it, and the primary message behind it; `shadow`,
    that its server named; `asks`: what is asked beside SR-1 or SR-5 where the sender is a server of
    another boundary, one that had it redirected, or one that submits from an Outbox.
    """

    server: str
    at_ms: int | None
    mono_ns: int | None
    ref: Ref
    primary: Primary | None
    shadow: Shadow | None
    asks: tuple[str, ...]

    @property
    def made(self) -> TrackingRow | None:
        return self.primary.redirect if self.primary else None

    @property
    def failed(self) -> TrackingRow | None:
        """By which its server says that it could make no shadow message."""
        return self.primary.failure if self.primary else None

    @property
    def held(self) -> TrackingRow | None:
        return self.shadow.held if self.shadow else None


def acceptances(message: Message, run: Run) -> Iterator[Acceptance]:
    ok = message.ok
    for row in message.submissions:
        primary = primary_behind(message, row.server, row.internal_id)
        yield Acceptance(
            row.server, row.at_ms, row.mono_ns, row.ref, primary, _shadow(message, primary),
            asks=("SR-8",),
        )  # fmt: skip
    if ok is not None and not message.is_internal:
        primary = acknowledged_primary(message)
        yield Acceptance(
            ok.server, ok.ended_ms, ok.ended_mono_ns, ok.ref, primary, _shadow(message, primary),
            asks=(),
        )  # fmt: skip
    for hop in hops(message, run):
        if hop.crossed:
            primary, row = primary_behind(message, hop.peer, hop.peer_internal_id), hop.row
            yield Acceptance(
                hop.peer, row.at_ms, row.mono_ns, row.ref, primary, _shadow(message, primary),
                asks=_asks(hop, run),
            )  # fmt: skip


def _asks(hop: Hop, run: Run) -> tuple[str, ...]:
    """Within its boundary too a server hands mail on: to an expansion server, say."""
    if hop.redirected:
        return ("SR-12",)
    sender, peer = run.servers[hop.row.server], run.servers[hop.peer]
    return () if sender.boundary == peer.boundary else ("SR-10",)


def _shadow(message: Message, primary: Primary | None) -> Shadow | None:
    if primary is None or primary.redirect is None or primary.redirect.shadow_server is None:
        return None
    return message.shadows.get(ShadowKey(primary.redirect.shadow_server, primary.key))


def is_traced(message: Message, shadow: Shadow, run: Run) -> bool:
    """Whether anything but the row that it was held shows that it stood: its end, or what its store
    kept.
    """
    if shadow.discard is not None or shadow.promoted is not None:
        return True
    kept = kept_of(message, shadow, run)
    return kept.as_shadow or kept.as_primary
