"""How long copies stay after delivery (SN-1, SN-2, SN-13): only time ends a stay.

The copies themselves are on disk alone; this part knows the earliest expiry and asks for one sweep
at that time. Sweeps are at least `SWEEP_INTERVAL_MS` apart, so a copy may stay up to that much
longer than promised.
"""

from __future__ import annotations

from dataclasses import dataclass

from nodes.core.config.config import NodeConfig
from nodes.core.engine.work import Timer, Work
from nodes.core.interface.effects import ExpireSafetyNet, LogLifecycle
from nodes.core.interface.inputs import ExpiredCopy, SafetyNetExpired

SWEEP_INTERVAL_MS = 60_000


@dataclass(frozen=True, slots=True)
class ShadowExpired:
    """A shadow message that nobody acknowledged is gone from the disk (SN-2)."""

    internal_id: int


class SafetyNet:
    def __init__(self, config: NodeConfig, work: Work) -> None:
        self._hold_ms = config.transport.safety_net_hold_time_ms
        self._expiration_ms = config.server.message_expiration_timeout_ms
        self._work = work
        self._sweep: Timer | None = None
        self._swept_ms = 0

    def opened(self, next_expiry_ms: int | None) -> None:
        if next_expiry_ms is not None:
            self._set_sweep(next_expiry_ms)

    def expiry_of_delivered(self, delivered_ms: int) -> int:
        """When a copy leaves: of a delivered message, or of its acknowledged shadow (the same time
        for both).
        """
        return self._note(delivered_ms + self._hold_ms)

    def expiry_of_unacknowledged(self, created_ms: int) -> int:
        """When a shadow leaves that nobody ever acknowledges."""
        return self._note(self._unacknowledged_until(created_ms))

    def is_over(self, created_ms: int) -> bool:
        """Whether a shadow that nobody acknowledged may be gone from the disk by now: a sweep that
        took it answers later.
        """
        return self._unacknowledged_until(created_ms) <= self._work.now_ms

    def _unacknowledged_until(self, created_ms: int) -> int:
        return created_ms + self._hold_ms + self._expiration_ms

    def expired(self, happened: SafetyNetExpired) -> None:
        for copy in happened.removed:
            shadow = copy.which == "shadow"
            event = "shadow-expired" if shadow else "safety-net-expired"
            self._work.emit(LogLifecycle(event, _fields(copy)))
            if shadow:
                self._work.report(ShadowExpired(copy.internal_id))
        if happened.next_expiry_ms is not None:
            self._set_sweep(happened.next_expiry_ms)

    def _note(self, expires_ms: int) -> int:
        self._set_sweep(expires_ms)
        return expires_ms

    def _set_sweep(self, expires_ms: int) -> None:
        due_ms = max(expires_ms, self._swept_ms + SWEEP_INTERVAL_MS)
        if self._sweep is not None and self._sweep.due_ms <= due_ms:
            return
        if self._sweep is not None:
            self._sweep.cancel()
        self._sweep = self._work.at(due_ms, self._begin_sweep)

    def _begin_sweep(self) -> None:
        self._sweep, self._swept_ms = None, self._work.now_ms
        self._work.emit(ExpireSafetyNet(self._work.now_ms))


def _fields(copy: ExpiredCopy) -> tuple[tuple[str, str | int], ...]:
    return (
        ("which", copy.which),
        ("internal_id", copy.internal_id),
        ("message_id", copy.message_id),
        ("network_message_id", copy.network_message_id),
    )
