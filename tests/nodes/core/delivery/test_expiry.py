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


def test_a_restart_takes_nothing_off_the_age_that_mail_may_reach_since_it_was_accepted() -> None:
    """Making its shadow took some minutes before that."""
    world = World(
        TransportService={"MessageExpirationTimeout": "00:20:00"},
        SendConnector={"ConnectionInactivityTimeOut": "00:01:00"},
    )
    world.cut |= {("par1", "lyo1"): "silent", ("par1", "lyo2"): "silent"}
    world.cut[("par1", "ext1")] = "refuse"
    session = world.connect("par1")
    offered_ms = world.now_ms
    world.offer("par1", session, OUTSIDE)
    world.run(10 * MINUTE)
    (received,) = world.of("RECEIVE")
    assert received.at_ms - offered_ms > 2 * MINUTE
    world.kill("par1")
    world.start("par1")
    world.run(TIMEOUT)
    (failed,) = world.of("FAIL")
    assert failed.at_ms - received.at_ms >= TIMEOUT
