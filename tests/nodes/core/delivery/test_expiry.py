"""Mail that grows too old: in a queue, and while an attempt is under way."""

from __future__ import annotations

import pytest

from tests.nodes.core.world import MINUTE, OUTSIDE, SECOND, World

TIMEOUT = 20 * MINUTE


@pytest.mark.parametrize("retry", ["00:00:01", "00:00:10", "00:01:00"])
def test_what_is_put_back_too_old_expires_before_it_is_tried_again(retry: str) -> None:
    """Each attempt hangs, so whoever looks now and then may always find it out."""
    world = World(
        TransportService={
            "MessageExpirationTimeout": "00:20:00",
            "QueueGlitchRetryCount": 15,
            "QueueGlitchRetryInterval": retry,
        },
        SendConnector={"ConnectionInactivityTimeOut": "00:03:00"},
    )
    world.cut[("par1", "ext1")] = "silent"
    world.send("par1", OUTSIDE)
    (received,) = world.of("RECEIVE")
    world.run(TIMEOUT + 10 * MINUTE)
    (failed,) = world.of("FAIL")
    late_ms = failed.at_ms - received.at_ms - TIMEOUT
    assert 0 <= late_ms <= 3 * MINUTE + SECOND
    deferred = [r.at_ms for r in world.of("DEFER") if r.message_id == received.message_id]
    assert max(deferred) <= failed.at_ms
    assert late_ms == 0 or failed.at_ms in deferred
