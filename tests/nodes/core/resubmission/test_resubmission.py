"""Safety Net answers: what a resubmit request brings back, once, and what it leaves alone."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import pairwise, product
from types import SimpleNamespace
from typing import Any, cast

import pytest

from nodes.core.engine.work import Then
from nodes.core.interface import inputs as on
from nodes.core.model.resubmit_request import ResubmitDemand, ResubmitState, SafetyNetSource
from nodes.core.model.resubmit_states import TRANSITIONS, ResubmitMove
from nodes.core.resubmission.request import Page
from tests.nodes.core.world import (
    HOUR,
    MINUTE,
    OUTSIDE,
    SECOND,
    START_MS,
    USER1,
    USER2,
    World,
)

PRIMARY, SHADOW = SafetyNetSource.PRIMARY, SafetyNetSource.SHADOW


def demand(
    world: World,
    request_id: str = "am:1",
    *,
    source: SafetyNetSource = PRIMARY,
    database: str = "DB1",
    start_ms: int = START_MS,
    end_ms: int | None = None,
    primaries: tuple[str, ...] = (),
) -> ResubmitDemand:
    end_ms = world.now_ms if end_ms is None else end_ms
    return ResubmitDemand(request_id, source, database, start_ms, end_ms, primaries)


def ask(world: World, server: str, wanted: ResubmitDemand) -> Any:
    """A server of the organisation asks; the reply."""
    session = world.connect(server, "lyo2")
    return world.say(server, on.ResubmitRequested(session, wanted))[-1]


def change(world: World, server: str, move: ResubmitMove | None, request_id: str = "am:1") -> Any:
    session = world.connect(server, "lyo2")
    return world.say(server, on.ResubmitChangeAsked(session, request_id, move))[-1]


def listed(world: World, server: str) -> tuple[str, ...]:
    session = world.connect(server, "lyo2")
    reply = world.say(server, on.ResubmitListAsked(session))[-1]
    return tuple(reply.lines)


def resubmitted(world: World, server: str | None = None) -> list[str]:
    rows = [row for row in world.of("RESUBMIT", server) if row.source == "SAFETYNET"]
    return [row.message_id for row in rows]


def delivered(world: World, count: int = 1, *recipients: str, to: str = "par1") -> list[str]:
    """Messages that reach their mailboxes and both Safety Nets."""
    before = len(world.of("RECEIVE"))
    for _ in range(count):
        world.send(to, *(recipients or (USER1,)))
    world.run(5 * MINUTE)
    return [row.message_id for row in world.of("RECEIVE")[before:]]


def events(world: World, name: str) -> list[dict[str, Any]]:
    return [fields for _, event, fields in world.lifecycle if event == name]


def test_what_a_lossy_failover_lost_is_in_the_mailbox_again_once() -> None:
    world = World()
    sent = delivered(world, 3)
    assert world.lose_mailbox(USER1) == sent
    assert ask(world, "par1", demand(world)).code == 250
    world.run(5 * MINUTE)
    assert world.mailboxes[USER1] == sent
    assert resubmitted(world) == sent


def test_each_resubmission_is_logged_with_the_request_and_the_time_of_the_first_delivery() -> None:
    world = World()
    world.send("par1", USER1)
    world.run(MINUTE)
    ask(world, "par1", demand(world))
    (row,) = world.of("RESUBMIT")
    assert (row.source, row.context, row.recipients) == ("SAFETYNET", "am:1", (USER1,))
    assert row.custom["Destination"] == "DB1"
    assert row.custom["SafetyNet"] == "primary"
    assert row.custom["DeliveredAt"] == "2026-01-05T08:00:00.000Z"


def test_who_still_has_the_message_sees_no_second_copy() -> None:
    world = World()
    sent = delivered(world, 2)
    ask(world, "par1", demand(world))
    world.run(5 * MINUTE)
    assert world.mailboxes[USER1] == sent
    assert len(world.of("DUPLICATEDELIVER")) == 2


def test_a_resubmitted_message_is_shadowed_anew_and_kept_in_safety_net_again() -> None:
    world = World()
    delivered(world)
    before = len(world.of("HAREDIRECT"))
    ask(world, "par1", demand(world))
    world.run(5 * MINUTE)
    assert len(world.of("HAREDIRECT")) == before + 1
    assert len(world.hosts["par1"].disk.kept) == 2


def test_only_recipients_of_the_database_get_it_again() -> None:
    world = World()
    delivered(world, 1, USER1, USER2, OUTSIDE)
    world.lose_mailbox(USER1)
    world.lose_mailbox(USER2)
    ask(world, "par1", demand(world))
    world.run(5 * MINUTE)
    assert USER1 in world.mailboxes
    assert USER2 not in world.mailboxes
    assert len(world.external) == 1


def test_a_message_for_another_database_or_the_outside_is_left_alone() -> None:
    world = World()
    delivered(world, 1, USER2, OUTSIDE)
    assert ask(world, "par1", demand(world)).code == 250
    assert world.of("RESUBMIT") == []
    assert world.hosts["par1"].disk.requests["am:1"].state is ResubmitState.COMPLETED


def with_mailbox(world: World, server: str, address: str, database: str) -> None:
    """The server comes back and finds the address in that mailbox database."""
    host = world.hosts[server]
    mailboxes = {**host.config.mailboxes, address: database}
    world.kill(server)
    host.config = replace(host.config, mailboxes=mailboxes)
    world.start(server)


def test_a_message_goes_to_the_database_where_the_mailbox_is_now() -> None:
    world = World()
    (sent,) = delivered(world, 1, USER2)
    for server in ("par1", "par2"):
        with_mailbox(world, server, USER2, "DB1")
    world.lose_mailbox(USER2)
    ask(world, "par1", demand(world, database="DB2"))
    assert resubmitted(world) == []
    ask(world, "par1", demand(world, "am:2", database="DB1"))
    world.run(5 * MINUTE)
    assert world.mailboxes == {USER2: [sent]}


def test_a_message_that_left_the_boundary_stays_away_though_the_address_has_a_mailbox_now() -> None:
    world = World()
    delivered(world, 1, OUTSIDE)
    with_mailbox(world, "par1", OUTSIDE, "DB1")
    assert ask(world, "par1", demand(world)).code == 250
    assert world.of("RESUBMIT") == []


def test_the_start_of_the_interval_is_included_and_its_end_is_not() -> None:
    world = World()
    sent = []
    for _ in range(4):
        sent += [delivered(world)[0]]
    world.run(MINUTE)
    times = [row.at_ms for row in world.of("SEND", "par1")]
    ask(world, "par1", demand(world, start_ms=times[1], end_ms=times[3]))
    assert resubmitted(world) == sent[1:3]


def test_a_fork_that_was_delivered_comes_back_while_another_fork_still_waits() -> None:
    world = World()
    world.cut[("par1", "ext1")] = "refuse"
    (sent,) = delivered(world, 1, USER1, OUTSIDE)
    world.lose_mailbox(USER1)
    ask(world, "par1", demand(world))
    world.run(MINUTE)
    assert world.mailboxes[USER1] == [sent]
    assert world.external == []


def test_nothing_is_read_before_the_interval_is_over() -> None:
    world = World()
    ask(world, "par1", demand(world, end_ms=world.now_ms + 2 * MINUTE))
    world.run(MINUTE)
    world.send("par1", USER1)
    assert resubmitted(world) == []
    world.run(2 * MINUTE)
    assert len(resubmitted(world)) == 1


def test_a_delivery_that_the_disk_does_not_know_yet_is_waited_for() -> None:
    world = World()
    world.cut[("par1", "par2")] = "refuse"
    world.send("par1", USER1)
    world.cut.clear()
    world.hosts["par1"].disk.is_full = True
    world.run(MINUTE + SECOND)
    assert len(world.mailboxes[USER1]) == 1
    world.hosts["par1"].disk.is_full = False
    assert ask(world, "par1", demand(world)).code == 250
    world.run(10 * SECOND)
    assert resubmitted(world) == []
    world.run(2 * MINUTE)
    assert len(resubmitted(world)) == 1


def test_pages_follow_each_other_and_no_copy_comes_twice() -> None:
    world = World()
    sent = delivered(world, 120)
    world.lose_mailbox(USER1)
    ask(world, "par1", demand(world))
    world.run(10 * MINUTE)
    assert Counter(resubmitted(world)) == Counter(sent)
    assert Counter(world.mailboxes[USER1]) == Counter(sent)


def test_a_server_that_never_answers_holds_no_page_up_beyond_the_stay_of_its_copies() -> None:
    world = World(
        TransportConfig={"SafetyNetHoldTime": "00:20:00"}, TransportService={"SafetyNetPageSize": 1}
    )
    sent = delivered(world, 20)
    world.lose_mailbox(USER1)
    for peer in ("lyo1", "lyo2"):
        world.cut[("par1", peer)] = "silent"
    ask(world, "par1", demand(world))
    world.run(HOUR)
    assert resubmitted(world) == sent
    assert Counter(world.mailboxes[USER1]) == Counter(sent)
    (completed,) = events(world, "resubmit-completed")
    assert completed["resubmitted"] == 20


def test_one_page_is_read_after_another_however_late_the_shadows_of_an_earlier_one_are() -> None:
    world = World(TransportService={"SafetyNetPageSize": 1})
    delivered(world, 80)
    for peer in ("lyo1", "lyo2", "par2"):
        world.cut[("par1", peer)] = "silent"
    ask(world, "par1", demand(world))
    world.run(20 * MINUTE)
    times = [row.at_ms for row in world.of("RESUBMIT")]
    assert {after - before for before, after in pairwise(times)} == {10 * SECOND}


def test_a_request_is_completed_when_all_that_it_gave_back_is_on_its_way() -> None:
    world = World(TransportService={"SafetyNetPageSize": 1})
    delivered(world, 3)
    for peer in ("lyo1", "lyo2"):
        world.cut[("par1", peer)] = "silent"
    ask(world, "par1", demand(world))
    world.run(2 * MINUTE)
    assert len(resubmitted(world)) == 3
    assert not events(world, "resubmit-completed")
    world.run(HOUR)
    assert len(events(world, "resubmit-completed")) == 1


def test_a_resubmitted_message_that_cannot_be_delivered_causes_no_report() -> None:
    world = World(TransportService={"MessageExpirationTimeout": "06:00:00"})
    delivered(world)
    world.cut[("par1", "par2")] = "refuse"
    ask(world, "par1", demand(world))
    world.run(7 * HOUR)
    assert world.of("DSN") == []
    (row,) = world.of("SUPPRESSED")
    assert (row.context, row.recipients) == ("am:1", (USER1,))
    assert len(world.of("FAIL")) == 1


def test_its_promoted_shadow_causes_no_report_either() -> None:
    world = World(TransportService={"MessageExpirationTimeout": "06:00:00"})
    delivered(world)
    for server in ("par1", "lyo1", "lyo2"):
        world.cut[(server, "par2")] = "refuse"
    ask(world, "par1", demand(world))
    world.run(MINUTE)
    world.kill("par1")
    world.run(12 * HOUR)
    assert [row.source for row in world.of("RESUBMIT")] == ["SAFETYNET", "REDUNDANCY"]
    assert world.of("DSN") == []
    assert len(world.of("SUPPRESSED")) == 1


def test_anyone_outside_the_organisation_is_refused_and_nothing_happens() -> None:
    world = World()
    delivered(world)
    session = world.connect("par1")
    for happened in (
        on.ResubmitRequested(session, demand(world)),
        on.ResubmitListAsked(session),
        on.ResubmitChangeAsked(session, "am:1", None),
    ):
        assert world.say("par1", happened)[-1].code == 550
    assert world.hosts["par1"].disk.requests == {}
    assert world.of("RESUBMIT") == []


def test_a_request_asked_for_again_is_one_request_and_tells_how_far_it_is() -> None:
    world = World()
    delivered(world, 2)
    wanted = demand(world)
    assert ask(world, "par1", wanted).lines == ("2.0.0 running 0",)
    world.run(MINUTE)
    assert ask(world, "par1", wanted).lines == ("2.0.0 completed 2",)
    assert len(resubmitted(world)) == 2


def test_asked_for_again_before_it_is_durable_both_are_answered_then() -> None:
    world = World()
    host = world.hosts["par1"]
    host.held_commits = []
    sessions = [world.connect("par1", peer) for peer in ("lyo1", "lyo2")]
    wanted = demand(world, end_ms=world.now_ms + HOUR)
    for session in sessions:
        assert world.say("par1", on.ResubmitRequested(session, wanted)) == []
    (commit,) = host.held_commits
    world.commit_now("par1", commit)
    assert [host.replies[session][-1].code for session in sessions] == [250, 250]


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"start_ms": START_MS + 1, "end_ms": START_MS + 1}, 501),
        ({"database": "DB9"}, 550),
        ({"database": "DB2"}, 554),
    ],
)
def test_a_request_that_cannot_be_meant_is_refused(fields: dict[str, Any], code: int) -> None:
    world = World()
    world.run(MINUTE)
    assert ask(world, "par1", demand(world)).code == 250
    assert ask(world, "par1", demand(world, **fields)).code == code
    assert len(world.hosts["par1"].disk.requests) == 1


def test_a_request_that_cannot_be_stored_is_not_accepted_and_can_be_made_again() -> None:
    world = World()
    delivered(world)
    world.hosts["par1"].disk.is_full = True
    assert ask(world, "par1", demand(world)).code == 451
    assert world.of("RESUBMIT") == []
    world.hosts["par1"].disk.is_full = False
    assert ask(world, "par1", demand(world)).code == 250
    assert len(resubmitted(world)) == 1


@pytest.mark.parametrize("effects", [*range(9), 54, 55, 56, 58, 70, 100, 150, 200, 280, 400, 600])
def test_a_server_killed_in_the_middle_takes_the_request_up_again_once(effects: int) -> None:
    world = World()
    sent = delivered(world, 60)
    world.lose_mailbox(USER1)
    wanted = demand(world)
    session = world.connect("par1", "lyo2")
    world.hosts["par1"].fuse = effects
    world.say("par1", on.ResubmitRequested(session, wanted))
    world.hosts["par1"].fuse = None
    if world.hosts["par1"].node is None:
        world.start("par1")
    ask(world, "par1", wanted)
    world.run(4 * HOUR)
    assert Counter(world.mailboxes[USER1]) == Counter(sent)
    assert world.hosts["par1"].disk.requests["am:1"].resubmitted == 60
    assert len(world.hosts["par1"].disk.kept) == 120


def test_what_a_full_disk_did_not_take_is_resubmitted_later_and_once() -> None:
    world = World()
    sent = delivered(world, 60)
    world.lose_mailbox(USER1)
    host = world.hosts["par1"]
    ask(world, "par1", demand(world, end_ms=world.now_ms + MINUTE))
    host.disk.is_full = True
    world.run(5 * MINUTE)
    assert resubmitted(world) == []
    host.disk.is_full = False
    world.run(5 * MINUTE)
    assert Counter(world.mailboxes[USER1]) == Counter(sent)
    assert host.disk.requests["am:1"].state is ResubmitState.COMPLETED


def test_a_copy_whose_stay_has_ended_is_not_resubmitted() -> None:
    world = World(TransportConfig={"SafetyNetHoldTime": "00:30:00"})
    delivered(world)
    world.now_ms = world.of("SEND", "par1")[0].at_ms + 30 * MINUTE
    assert ask(world, "par1", demand(world)).code == 250
    assert world.of("RESUBMIT") == []


def test_a_disabled_request_does_nothing_until_it_is_enabled_also_after_a_restart() -> None:
    world = World()
    delivered(world, 2)
    ask(world, "par1", demand(world, end_ms=world.now_ms + MINUTE))
    assert change(world, "par1", ResubmitMove.DISABLE).code == 250
    world.run(5 * MINUTE)
    world.kill("par1")
    world.start("par1")
    world.run(5 * MINUTE)
    assert resubmitted(world) == []
    assert change(world, "par1", ResubmitMove.ENABLE).code == 250
    assert len(resubmitted(world)) == 2


def test_a_removed_request_is_gone_and_does_nothing() -> None:
    world = World()
    delivered(world)
    ask(world, "par1", demand(world, end_ms=world.now_ms + MINUTE))
    assert change(world, "par1", None).code == 250
    world.run(5 * MINUTE)
    assert resubmitted(world) == []
    assert listed(world, "par1") == ("Done 0",)
    assert change(world, "par1", None).code == 550


def test_a_request_that_could_not_be_removed_goes_on() -> None:
    world = World()
    delivered(world)
    ask(world, "par1", demand(world, end_ms=world.now_ms + MINUTE))
    world.hosts["par1"].disk.is_full = True
    assert change(world, "par1", None).code == 451
    world.hosts["par1"].disk.is_full = False
    world.run(5 * MINUTE)
    assert len(resubmitted(world)) == 1


def in_state(world: World, state: ResubmitState) -> None:
    """par1 has the request am:1, in that state."""
    completes = state is ResubmitState.COMPLETED
    ask(world, "par1", demand(world, start_ms=0, end_ms=world.now_ms + (0 if completes else HOUR)))
    if state is ResubmitState.DISABLED:
        change(world, "par1", ResubmitMove.DISABLE)
    assert world.hosts["par1"].disk.requests["am:1"].state is state


ASKED_MOVES = (ResubmitMove.ENABLE, ResubmitMove.DISABLE)


@pytest.mark.parametrize(("state", "move"), list(product(ResubmitState, ASKED_MOVES)))
def test_a_request_changes_as_its_table_says_or_the_asker_is_refused(
    state: ResubmitState, move: ResubmitMove
) -> None:
    world = World()
    in_state(world, state)
    after = TRANSITIONS.get((state, move))
    assert change(world, "par1", move).code == (503 if after is None else 250)
    assert world.hosts["par1"].disk.requests["am:1"].state is (after or state)


def test_a_request_that_is_not_there_cannot_be_changed() -> None:
    assert change(World(), "par1", ResubmitMove.ENABLE, "am:9").code == 550


def test_requests_are_listed_with_everything_about_them() -> None:
    world = World()
    delivered(world)
    end_ms = world.now_ms
    ask(world, "par1", demand(world))
    world.run(MINUTE)
    ask(world, "par1", demand(world, "am:0", source=SHADOW, database="DB2", primaries=("par2",)))
    first, second, last = listed(world, "par1")
    start, now = START_MS, world.now_ms
    assert first == f"am:0 shadow DB2 {start} {now} {now} lyo2 completed 0 - -"
    assert second == f"am:1 primary DB1 {start} {end_ms} {end_ms} lyo2 completed 1 - -"
    assert last == "Done 2"


def test_a_shadow_safety_net_answers_for_the_primaries_that_cannot() -> None:
    world = World()
    sent = delivered(world, 8)
    world.lose_mailbox(USER1)
    world.kill("par1")
    for server in ("par2", "lyo1", "lyo2"):
        asked = demand(world, source=SHADOW, primaries=("par1", "lyo1"))
        assert ask(world, server, asked).code == 250
    world.run(10 * MINUTE)
    assert Counter(resubmitted(world)) == Counter(sent)
    assert Counter(world.mailboxes[USER1]) == Counter(sent)
    assert {row.custom["SafetyNet"] for row in world.of("RESUBMIT")} == {"shadow"}


def test_a_shadow_safety_net_leaves_alone_what_other_primaries_answer_for() -> None:
    world = World()
    delivered(world, 4)
    for server in ("par2", "lyo1", "lyo2"):
        ask(world, server, demand(world, source=SHADOW, primaries=("par2",)))
    assert world.of("RESUBMIT") == []


def test_a_shadow_copy_is_categorised_anew_for_that_database_alone() -> None:
    world = World()
    delivered(world, 1, USER1, USER2, OUTSIDE)
    world.lose_mailbox(USER1)
    world.lose_mailbox(USER2)
    holder = world.of("HADISCARD")[0].server
    ask(world, holder, demand(world, source=SHADOW, database="DB2"))
    world.run(5 * MINUTE)
    assert world.of("RESUBMIT")[0].recipients == (USER2,)
    assert world.mailboxes.keys() == {USER2}
    assert len(world.external) == 1


def young(world: World) -> tuple[list[str], list[str], int]:
    """par1 lost its queue database: what it had delivered before, what after, and when."""
    before = delivered(world, 6)
    world.kill("par1")
    world.hosts["par1"].new_queue_database()
    world.start("par1")
    created_ms = world.now_ms
    return before, delivered(world, 3), created_ms


def test_a_young_primary_resubmits_what_it_has_and_the_others_answer_for_the_head() -> None:
    world = World()
    before, after, created_ms = young(world)
    world.lose_mailbox(USER1)
    assert ask(world, "par1", demand(world)).code == 250
    world.run(10 * MINUTE)
    assert resubmitted(world, "par1") == after
    others = [m for s in ("par2", "lyo1", "lyo2") for m in resubmitted(world, s)]
    assert Counter(others) == Counter(before)
    assert Counter(world.mailboxes[USER1]) == Counter(before + after)
    head_id = f"am:1.par1.{world.hosts['par1'].disk.database_id}"
    for server in ("par2", "lyo1", "lyo2"):
        (head,) = world.hosts[server].disk.requests.values()
        assert head.demand == demand(
            world, head_id, source=SHADOW, end_ms=created_ms, primaries=("par1",)
        )
    assert world.hosts["par1"].disk.requests["am:1"].untold == ()


def test_the_head_that_the_next_queue_database_lacks_is_another_request() -> None:
    """It is longer, and the others know the one before."""
    world = World()
    before, between, _ = young(world)
    ask(world, "par1", demand(world))
    world.run(10 * MINUTE)
    assert Counter(resubmitted(world)) == Counter(before + between)
    world.kill("par1")
    world.hosts["par1"].new_queue_database()
    world.start("par1")
    world.lose_mailbox(USER1)
    ask(world, "par1", demand(world))
    world.run(10 * MINUTE)
    assert world.hosts["par1"].disk.requests["am:1"].untold == ()
    assert len(events(world, "resubmit-head-taken")) == 6
    assert set(world.mailboxes[USER1]) == {*before, *between}


@pytest.mark.parametrize("restarts", [False, True])
def test_a_fork_delivered_in_the_head_comes_back_though_another_was_delivered_after_it(
    restarts: bool,
) -> None:
    world = World()
    world.cut[("par1", "ext1")] = "refuse"
    (early,) = delivered(world, 1, USER1, OUTSIDE)
    end_ms = world.now_ms
    world.run(2 * HOUR)
    world.heal()
    if restarts:
        world.kill("par1")
        world.start("par1")
    world.run(HOUR)
    assert world.external
    young(world)
    world.lose_mailbox(USER1)
    assert ask(world, "par1", demand(world, end_ms=end_ms)).code == 250
    world.run(10 * MINUTE)
    assert world.mailboxes[USER1] == [early]


def test_the_head_is_asked_for_at_once() -> None:
    world = World()
    young(world)
    asked_ms = world.now_ms
    ask(world, "par1", demand(world))
    assert world.now_ms == asked_ms
    assert len(events(world, "resubmit-head-taken")) == 3


def test_an_interval_that_the_queue_database_covers_has_no_head() -> None:
    world = World()
    _, after, created_ms = young(world)
    ask(world, "par1", demand(world, start_ms=created_ms))
    world.run(5 * MINUTE)
    assert resubmitted(world) == after
    assert events(world, "resubmit-head-asked") == []


def test_an_interval_from_before_the_queue_database_is_all_head() -> None:
    world = World()
    before, _, created_ms = young(world)
    ask(world, "par1", demand(world, end_ms=created_ms - MINUTE))
    world.run(5 * MINUTE)
    assert resubmitted(world, "par1") == []
    assert Counter(resubmitted(world)) == Counter(before)


def test_a_server_that_cannot_be_reached_is_told_of_the_head_later_also_after_a_kill() -> None:
    world = World()
    before, after, _ = young(world)
    world.lose_mailbox(USER1)
    for server in ("lyo1", "lyo2"):
        world.cut[("par1", server)] = "refuse"
    ask(world, "par1", demand(world))
    world.run(5 * MINUTE)
    assert world.hosts["par1"].disk.requests["am:1"].untold == ("lyo1", "lyo2")
    world.kill("par1")
    world.cut.clear()
    world.start("par1")
    world.run(10 * MINUTE)
    assert Counter(world.mailboxes[USER1]) == Counter(before + after)
    assert Counter(resubmitted(world)) == Counter(before + after)


def test_a_head_whose_answer_was_lost_is_one_request_there() -> None:
    world = World()
    before, after, _ = young(world)
    world.lose_reply_from = {"lyo1", "lyo2"}
    ask(world, "par1", demand(world))
    world.run(5 * MINUTE)
    world.lose_reply_from = set()
    world.run(30 * MINUTE)
    assert Counter(resubmitted(world)) == Counter(before + after)
    assert world.hosts["par1"].disk.requests["am:1"].untold == ()


def test_a_server_that_refuses_the_head_is_asked_again() -> None:
    world = World()
    before, after, _ = young(world)
    for server in ("lyo1", "lyo2"):
        world.hosts[server].disk.is_full = True
    ask(world, "par1", demand(world))
    assert world.hosts["par1"].disk.requests["am:1"].untold == ("lyo1", "lyo2")
    for server in ("lyo1", "lyo2"):
        world.hosts[server].disk.is_full = False
    world.run(10 * MINUTE)
    assert Counter(resubmitted(world)) == Counter(before + after)


def test_a_head_that_nobody_can_have_any_more_is_given_up() -> None:
    world = World(TransportConfig={"SafetyNetHoldTime": "01:00:00"})
    young(world)
    for server in ("par2", "lyo1", "lyo2"):
        world.cut[("par1", server)] = "refuse"
    ask(world, "par1", demand(world))
    world.run(2 * HOUR)
    assert len(events(world, "resubmit-head-given-up")) == 3
    assert world.hosts["par1"].disk.requests["am:1"].untold == ()


def test_a_shadow_request_has_no_head() -> None:
    world = World()
    young(world)
    ask(world, "par1", demand(world, source=SHADOW))
    assert events(world, "resubmit-head-asked") == []


def test_a_removed_request_asks_for_no_head_any_more() -> None:
    world = World()
    young(world)
    for server in ("par2", "lyo1", "lyo2"):
        world.cut[("par1", server)] = "refuse"
    ask(world, "par1", demand(world))
    change(world, "par1", None)
    world.cut.clear()
    world.run(HOUR)
    assert events(world, "resubmit-head-taken") == []
    assert all(world.hosts[s].disk.requests == {} for s in ("par2", "lyo1", "lyo2"))


class Ways:
    """Messages on their way by a page, in order; each is done when a test says so."""

    def __init__(self, count: int) -> None:
        self.sent: list[Then] = []
        self.went_on = 0
        messages = [SimpleNamespace(message=number) for number in range(count)]
        self.page = Page(
            cast(Any, messages), lambda _message, then: self.sent.append(then), self.on
        )

    def on(self) -> None:
        self.went_on += 1


def test_no_more_than_four_messages_of_a_page_are_on_their_way_at_once() -> None:
    """Live mail has no more before it (SN-19)."""
    ways = Ways(10)
    ways.page.begin()
    assert len(ways.sent) == 4
    for done in range(10):
        assert len(ways.sent) == min(10, 4 + done)
        assert not ways.went_on
        ways.sent[done]()
    assert ways.went_on == 1
    ways.page.hurry()
    assert ways.went_on == 1, "it went on once already"


def test_a_page_that_waits_for_long_sends_the_rest_at_once_and_is_waited_for_no_more() -> None:
    ways = Ways(10)
    ways.page.begin()
    ways.page.hurry()
    assert (len(ways.sent), ways.went_on) == (10, 1)
    for done in ways.sent:
        done()
    assert ways.went_on == 1
