"""Shadow redundancy from end to end, on a fake wire: made, kept, let go, promoted."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from nodes.core.interface import inputs as on
from nodes.core.interface.queue_changes import SetShadowServer
from nodes.core.model.message import ForkState
from tests.nodes.core.world import HOUR, MINUTE, OUTSIDE, SECOND, USER1, USER2, World


def last_code(replies: list[Any]) -> int:
    return int(replies[-1].code)


def test_a_message_is_redundant_before_it_is_acknowledged() -> None:
    world = World()
    replies = world.send("par1", USER1)
    assert replies[-1].lines[0].endswith("Queued mail for delivery")
    events = [(row.server, row.event) for row in world.rows]
    assert events.index(("par1", "HAREDIRECT")) < events.index(("par1", "RECEIVE"))
    shadow_server = world.of("HAREDIRECT")[0].custom["ShadowServer"]
    assert shadow_server in ("lyo1", "lyo2")
    assert world.of("HARECEIVE")[0].server == shadow_server
    assert len(world.mailboxes[USER1]) == 1


def test_the_shadow_is_let_go_at_the_next_heartbeat_and_kept_in_the_shadow_safety_net() -> None:
    world = World()
    world.send("par1", USER1)
    assert not world.of("HADISCARD")
    world.run(2 * MINUTE)
    assert len(world.of("HADISCARD")) == 1
    holder = world.hosts[world.of("HADISCARD")[0].server]
    assert not holder.disk.shadows
    assert len(holder.disk.shadow_safety_net) == 1
    assert len(world.hosts["par1"].disk.primary_safety_net) == 1


def test_discard_notifications_are_forgotten_only_after_the_next_query_confirms_them() -> None:
    world = World()
    world.send("par1", USER1)
    world.run(2 * MINUTE)
    assert len(world.hosts["par1"].disk.discards) == 1
    world.send("par1", USER1)
    world.send("par1", USER1)
    world.run(5 * MINUTE)
    holders = [row.server for row in world.of("HADISCARD")]
    assert len(holders) == 3
    assert len(world.hosts["par1"].disk.discards) < 3


def test_a_message_for_two_databases_and_the_outside_is_let_go_only_when_every_fork_is_done() -> (
    None
):
    world = World()
    world.cut[("par1", "ext1")] = "refuse"
    world.send("par1", USER1, USER2, OUTSIDE)
    world.run(10 * MINUTE)
    assert world.mailboxes.keys() == {USER1, USER2}
    assert not world.of("HADISCARD")
    del world.cut[("par1", "ext1")]
    world.run(10 * MINUTE)
    assert len(world.external) == 1
    assert len(world.of("HADISCARD")) == 1


def test_remote_attempts_come_first_then_local_ones_then_the_message_goes_unprotected() -> None:
    world = World()
    for peer in ("lyo1", "lyo2", "par2"):
        world.cut[("par1", peer)] = "refuse"
    replies = world.send("par1", USER1)
    assert last_code(replies) == 250
    (row,) = world.of("HAREDIRECTFAIL")
    tried = [reason.split(":")[0] for reason in row.context.split("; ")]
    assert len(tried) == 6
    assert set(tried[:2]) == {"lyo1", "lyo2"}
    assert set(tried[:4]) == {"lyo1", "lyo2"}
    assert tried[4:] == ["par2", "par2"]
    assert row.custom["Outcome"] == "accepted"


def test_with_rejection_on_the_sender_hears_451_and_nothing_is_kept() -> None:
    world = World(TransportConfig={"RejectMessageOnShadowFailure": True})
    for peer in ("lyo1", "lyo2", "par2"):
        world.cut[("par1", peer)] = "refuse"
    replies = world.send("par1", USER1)
    assert replies[-1].code == 451
    assert replies[-1].lines == ("4.4.0 Message failed to be made redundant",)
    assert not world.hosts["par1"].disk.messages
    assert not world.of("RECEIVE")


def test_silent_servers_cannot_use_up_the_senders_session() -> None:
    world = World()
    world.cut[("par1", "lyo1")] = world.cut[("par1", "lyo2")] = "silent"
    session = world.connect("par1")
    world.offer("par1", session, USER1)
    world.run(10 * MINUTE - SECOND)
    assert last_code(world.hosts["par1"].replies[session]) == 250
    said = world.of("HAREDIRECT")[0].custom
    assert said["ShadowServer"] == "par2"
    assert set(said["Silent"].split()) == {"lyo1", "lyo2"}


def test_no_shadow_is_made_with_shadow_redundancy_off() -> None:
    world = World(
        TransportConfig={"ShadowRedundancyEnabled": False, "RejectMessageOnShadowFailure": True}
    )
    assert last_code(world.send("par1", USER1)) == 250
    assert not world.of("HAREDIRECT")
    assert not world.of("HAREDIRECTFAIL")


def queued_on_a_dead_primary(world: World, count: int = 1) -> None:
    """Messages accepted by par1, shadowed at lyo1 or lyo2, that it could not deliver to par2 before
    it died.
    """
    world.cut[("par1", "par2")] = "refuse"
    for _ in range(count):
        world.send("par1", USER1)
    world.run(3 * MINUTE)
    world.kill("par1")


BRIEF_STAY: dict[str, Any] = {
    "TransportConfig": {"SafetyNetHoldTime": "00:10:00"},
    "TransportService": {"MessageExpirationTimeout": "00:10:00"},
}


def sweeps_in_vain(world: World, server: str) -> None:
    """As if each sweep of its disk were still under way."""
    disk = world.hosts[server].disk
    disk.expire = lambda now_ms: on.SafetyNetExpired((), now_ms + MINUTE)  # type: ignore[method-assign]


def sweeps(world: World, server: str) -> None:
    del world.hosts[server].disk.expire


def test_a_shadow_message_that_a_sweep_may_have_taken_is_not_let_go_any_more() -> None:
    world = World(**BRIEF_STAY)
    world.send("par1", USER1)
    holder = world.of("HARECEIVE")[0].server
    sweeps_in_vain(world, holder)
    world.cut[(holder, "par1")] = "refuse"
    world.run(21 * MINUTE)
    del world.cut[(holder, "par1")]
    world.run(5 * MINUTE)
    assert world.hosts["par1"].disk.discards == {}, "it was notified"
    assert not world.of("HADISCARD")
    assert len(world.hosts[holder].disk.shadows) == 1
    sweeps(world, holder)
    world.run(2 * MINUTE)
    assert not world.hosts[holder].disk.shadows


def test_a_shadow_message_that_a_sweep_may_have_taken_is_not_promoted_any_more() -> None:
    world = World(**BRIEF_STAY)
    queued_on_a_dead_primary(world)
    holder = world.of("HARECEIVE")[0].server
    sweeps_in_vain(world, holder)
    world.run(4 * HOUR)
    assert not [event for _, event, _ in world.lifecycle if event == "promotion-begun"]
    assert len(world.hosts[holder].disk.shadows) == 1
    sweeps(world, holder)
    world.run(2 * MINUTE)
    assert not world.hosts[holder].disk.shadows


def test_a_shadow_message_whose_stay_on_disk_is_over_is_not_promoted_any_more() -> None:
    world = World()
    queued_on_a_dead_primary(world)
    holder = world.of("HARECEIVE")[0].server
    (shadow,) = world.hosts[holder].disk.shadows.values()
    expired = on.ExpiredCopy("shadow", shadow.internal_id, "<m@x>", shadow.network_message_id)
    world.say(holder, on.SafetyNetExpired((expired,), None))
    world.run(4 * HOUR)
    assert not [event for _, event, _ in world.lifecycle if event == "promotion-begun"]


@pytest.mark.parametrize("leaves_after_ms", [-10 * SECOND, 10 * SECOND])
def test_where_the_oldest_leaves_the_span_of_the_next_has_an_attempt_of_its_own(
    leaves_after_ms: int,
) -> None:
    """At the end of the span of the oldest an attempt is begun, which hangs for ten minutes; the
    next message came half a minute after the oldest, which leaves just before or after that.
    """
    world = World()
    world.cut[("par1", "par2")] = world.cut[("par1", "lyo2")] = "refuse"
    world.send("par1", USER1, message_id="<oldest@x>")
    world.run(30 * SECOND)
    world.send("par1", USER1, message_id="<next@x>")
    world.cut_both("par1", "lyo1", "silent")
    world.run(3 * HOUR + leaves_after_ms)
    oldest, _ = world.hosts["lyo1"].disk.shadows.values()
    expired = on.ExpiredCopy("shadow", oldest.internal_id, "<oldest@x>", oldest.network_message_id)
    world.say("lyo1", on.SafetyNetExpired((expired,), None))
    world.run(11 * MINUTE)
    assert [row.message_id for row in world.of("RESUBMIT")] == ["<next@x>"]


def test_the_span_without_contact_promotes_after_a_failed_attempt_and_not_before() -> None:
    world = World()
    queued_on_a_dead_primary(world)
    world.run(3 * HOUR - 5 * MINUTE)
    assert not world.of("RESUBMIT")
    world.run(8 * MINUTE)
    (row,) = world.of("RESUBMIT")
    assert row.source == "REDUNDANCY"
    assert row.context == "resubmit-time-span"
    assert len(world.mailboxes[USER1]) == 1


def test_a_promoted_message_is_shadowed_again_and_that_shadow_is_let_go() -> None:
    world = World()
    queued_on_a_dead_primary(world)
    world.run(3 * HOUR + 10 * MINUTE)
    promoter = world.of("RESUBMIT")[0].server
    assert [row.server for row in world.of("HAREDIRECT")] == ["par1", promoter]
    assert world.of("HAREDIRECT")[1].custom["ShadowServer"] != "par1"
    assert len(world.of("HADISCARD")) == 1


def test_a_full_disk_does_not_forget_who_holds_the_shadow_of_a_promoted_message() -> None:
    world = World()
    queued_on_a_dead_primary(world)
    for host in world.hosts.values():
        host.commit = partial(_not_who_holds_it, host, host.commit)  # type: ignore[method-assign]
    world.run(3 * HOUR + 10 * MINUTE)
    assert len(world.of("HAREDIRECT")) == 2
    assert len(world.of("HADISCARD")) == 1


def test_who_holds_the_shadow_is_written_with_the_first_fork_that_ends_after_a_full_disk() -> None:
    world = World()
    world.cut |= {("par1", "par2"): "refuse"} | {(name, "ext1"): "refuse" for name in world.hosts}
    world.send("par1", USER1, OUTSIDE)
    world.kill("par1")
    for host in world.hosts.values():
        host.commit = partial(_not_who_holds_it, host, host.commit)  # type: ignore[method-assign]
    world.run(3 * HOUR + 10 * MINUTE)
    _, made = world.of("HAREDIRECT")
    (message,) = world.hosts[made.server].disk.messages.values()
    assert {fork.state for fork in message.forks} == {ForkState.DONE, ForkState.QUEUED}
    assert message.shadow_server == made.custom["ShadowServer"]
    world.cut.clear()
    world.run(HOUR)
    assert len(world.external) == 1
    assert len(world.of("HADISCARD")) == 1


def _not_who_holds_it(host: Any, commit: Any, number: int, changes: tuple[Any, ...]) -> Any:
    """There is no room for it alone, and room again at once."""
    host.disk.is_full = all(isinstance(change, SetShadowServer) for change in changes)
    try:
        return commit(number, changes)
    finally:
        host.disk.is_full = False


def test_a_new_queue_database_promotes_within_a_heartbeat() -> None:
    world = World()
    queued_on_a_dead_primary(world, count=120)
    world.run(20 * MINUTE)
    world.hosts["par1"].new_queue_database()
    world.start("par1")
    back_ms = world.now_ms
    world.run(2 * MINUTE)
    rows = world.of("RESUBMIT")
    assert len(rows) == 120
    assert {row.context for row in rows} == {"database-id-changed"}
    assert all(row.at_ms - back_ms <= 2 * MINUTE for row in rows)
    world.run(MINUTE)
    assert len(world.mailboxes[USER1]) == 120


def test_the_same_queue_database_in_time_promotes_nothing() -> None:
    world = World()
    queued_on_a_dead_primary(world)
    world.run(2 * HOUR)
    world.cut.clear()
    world.start("par1")
    world.run(4 * HOUR)
    assert not world.of("RESUBMIT")
    assert len(world.mailboxes[USER1]) == 1
    assert len(world.of("HADISCARD")) == 1


def test_a_primary_back_after_promotion_delivers_too_and_the_mailbox_shows_one_copy() -> None:
    world = World()
    queued_on_a_dead_primary(world)
    world.run(4 * HOUR)
    world.cut.clear()
    world.start("par1")
    world.run(10 * MINUTE)
    assert len(world.of("RESUBMIT")) == 1
    assert len(world.of("DUPLICATEDELIVER")) == 1
    assert len(world.mailboxes[USER1]) == 1


def test_a_restarted_primary_still_tells_what_it_had_delivered() -> None:
    world = World()
    for shadow_server in ("lyo1", "lyo2"):
        world.cut[(shadow_server, "par1")] = "refuse"
    world.send("par1", USER1)
    world.run(5 * MINUTE)
    world.kill("par1")
    world.cut.clear()
    world.start("par1")
    world.run(2 * MINUTE)
    assert len(world.of("HADISCARD")) == 1
    assert not world.of("RESUBMIT")


def test_a_shadow_server_that_slept_through_the_span_asks_first() -> None:
    world = World()
    world.cut[("par1", "par2")] = "refuse"
    world.send("par1", USER1)
    holder = world.of("HARECEIVE")[0].server
    world.kill(holder)
    world.now_ms += 4 * HOUR
    world.start(holder)
    world.run(MINUTE)
    assert not world.of("RESUBMIT")


def test_a_session_that_died_while_a_shadow_server_slept_is_no_reason_to_promote() -> None:
    world = World(TransportConfig={"ShadowHeartbeatFrequency": "00:00:40"})
    world.cut[("par1", "par2")] = "refuse"
    world.send("par1", USER1)
    holder = world.of("HARECEIVE")[0].server
    world.run(2 * MINUTE - 10 * SECOND)
    world.stall(holder, "par1")
    world.run(20 * SECOND)
    world.stall_no_more()
    world.now_ms += 4 * HOUR
    world.run(SECOND)
    world.lose_stalled()
    world.run(MINUTE)
    assert not world.of("RESUBMIT")


def test_the_last_contact_survives_a_restart_of_the_shadow_server() -> None:
    world = World()
    queued_on_a_dead_primary(world)
    holder = world.of("HARECEIVE")[0].server
    world.run(2 * HOUR)
    world.kill(holder)
    world.start(holder)
    world.run(HOUR + 4 * MINUTE)
    assert len(world.of("RESUBMIT")) == 1


def test_a_failed_heartbeat_is_event_22004_once_an_attempt() -> None:
    world = World()
    queued_on_a_dead_primary(world)
    before = len(_heartbeat_failures(world))
    world.run(10 * MINUTE)
    failures = _heartbeat_failures(world)[before:]
    assert len(failures) == 5
    assert {f["event_id"] for f in failures} == {22004}
    assert {f["primary"] for f in failures} == {"par1"}


def _heartbeat_failures(world: World) -> list[dict[str, Any]]:
    return [f for _, event, f in world.lifecycle if event == "shadow-heartbeat-failed"]


def test_a_shadow_whose_250_was_lost_is_stored_once_when_it_is_offered_again() -> None:
    world = World()
    world.lose_reply_from = {"lyo1", "lyo2", "par2"}
    session = world.connect("par1")
    world.offer("par1", session, USER1)
    world.run(9 * MINUTE + 30 * SECOND)
    assert len(world.of("HARECEIVE")) == 3
    assert sum(len(host.disk.shadows) for host in world.hosts.values()) == 3
    assert last_code(world.hosts["par1"].replies[session]) == 250


def test_ids_are_not_used_again_after_a_crash_even_where_nothing_was_committed() -> None:
    """Else a shadow server would take a new message for one that it holds, and acknowledge what it
    has not got.
    """
    world = World()
    world.hosts["par1"].held_commits = []
    world.send("par1", USER1, message_id="<first@x>")
    world.kill("par1")
    world.hosts["par1"].disk.messages.clear()
    world.hosts["par1"].held_commits = None
    world.start("par1")
    for _ in range(4):
        world.send("par1", USER1)
    assert len(world.of("HARECEIVE")) == 5
    assert len({row.custom["PrimaryInternalId"] for row in world.of("HARECEIVE")}) == 5


def test_a_message_that_cannot_be_delivered_expires_with_a_report_and_then_the_shadow_goes() -> (
    None
):
    world = World(TransportService={"MessageExpirationTimeout": "06:00:00"})
    world.cut[("par1", "par2")] = "refuse"
    world.send("par1", USER1)
    world.run(6 * HOUR + 3 * MINUTE)
    assert world.of("FAIL")[0].recipients == (USER1,)
    assert [row.context for row in world.of("DSN")] == ["delayed", ""]
    assert [envelope[1] for envelope in world.external] == [("alice@partner.example",)] * 2
    assert len(world.of("HADISCARD")) == 1
    assert not world.hosts["par1"].disk.messages


def test_copies_leave_both_safety_nets_when_their_time_is_over() -> None:
    world = World(TransportConfig={"SafetyNetHoldTime": "00:30:00"})
    world.send("par1", USER1)
    world.run(29 * MINUTE)
    holder = world.hosts[world.of("HADISCARD")[0].server]
    assert len(world.hosts["par1"].disk.primary_safety_net) == 1
    assert len(holder.disk.shadow_safety_net) == 1
    world.run(3 * MINUTE)
    assert not world.hosts["par1"].disk.primary_safety_net
    assert not holder.disk.shadow_safety_net


def test_a_full_disk_is_451_and_nothing_is_acknowledged() -> None:
    world = World()
    world.hosts["par1"].disk.is_full = True
    assert last_code(world.send("par1", USER1)) == 451
    world.hosts["par1"].disk.is_full = False
    assert last_code(world.send("par1", USER1)) == 250
