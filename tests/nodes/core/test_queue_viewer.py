"""XQUEUES: what somebody sees of the queues of a server while it runs (TL-9)."""

from __future__ import annotations

from nodes.core.interface import inputs as on
from nodes.shell.verbs.queues import read_reply
from tests.nodes.core.world import MINUTE, OUTSIDE, SECOND, USER1, USER2, World


def shown(world: World, server: str) -> dict[tuple[str, str], tuple[int, int | None, str]]:
    """Length, next retry and last error of each queue."""
    session = world.connect(server, server)
    reply = world.say(server, on.QueuesAsked(session))[-1]
    queues, _ = read_reply(" ".join(reply.lines))
    return {(q.kind, q.name): (q.length, q.next_retry_ms, q.last_error) for q in queues}


def figures(world: World, server: str) -> dict[str, str]:
    session = world.connect(server, server)
    reply = world.say(server, on.QueuesAsked(session))[-1]
    return dict(read_reply("\n".join(reply.lines))[1])


def test_a_delivery_queue_shows_its_length_its_next_retry_and_its_last_error() -> None:
    world = World()
    world.cut[("par1", "lyo2")] = "refuse"
    world.send("par1", USER2)
    world.send("par1", USER2)
    length, retry_ms, error = shown(world, "par1")[("delivery", "database:DB2")]
    assert (length, retry_ms) == (2, world.now_ms + MINUTE)
    assert error
    assert shown(world, "par1")[("messages", "")][0] == 2


def test_a_shadow_queue_is_named_after_its_primary_server() -> None:
    world = World()
    world.cut[("par1", "lyo2")] = "refuse"
    for _ in range(4):
        world.send("par1", USER2)
    held = [shown(world, name).get(("shadow", "par1"), (0,))[0] for name in ("lyo1", "lyo2")]
    assert sum(held) == 4


def is_there(world: World) -> bool:
    return ("delivery", "database:DB1") in shown(world, "par1")


def test_an_empty_queue_is_there_for_queue_max_idle_time() -> None:
    world = World()
    assert not is_there(world)
    world.send("par1", USER1)
    world.run(3 * MINUTE - SECOND)
    assert is_there(world)
    world.run(SECOND)
    assert not is_there(world)


def test_it_is_empty_since_its_last_message_went() -> None:
    world = World(TransportService={"QueueMaxIdleTime": "10s"})
    for _ in range(4):
        world.send("par1", USER1)
        world.run(9 * SECOND)
        assert is_there(world)
    world.run(SECOND)
    assert not is_there(world)


def test_a_queue_that_holds_a_message_is_never_removed() -> None:
    world = World(TransportService={"QueueMaxIdleTime": "5s"})
    world.cut[("par1", "lyo2")] = "refuse"
    world.send("par1", USER2)
    world.run(20 * MINUTE)
    assert shown(world, "par1")[("delivery", "database:DB2")][0] == 1


def test_one_whose_message_expired_is_removed_and_the_next_one_begins_the_ladder_anew() -> None:
    times = {"MessageExpirationTimeout": "3m30s", "QueueMaxIdleTime": "10s"}
    world = World(TransportService={**times, "DelayNotificationTimeout": "1h"})
    world.cut[("par1", "ext1")] = "refuse"
    world.send("par1", OUTSIDE, sender="")
    world.run(3 * MINUTE + 45 * SECOND)
    assert ("delivery", "external:ext1") not in shown(world, "par1")
    world.send("par1", OUTSIDE, sender="")
    _, retry_ms, _ = shown(world, "par1")[("delivery", "external:ext1")]
    assert retry_ms == world.now_ms + MINUTE
    world.run(MINUTE + SECOND)
    _, retry_ms, _ = shown(world, "par1")[("delivery", "external:ext1")]
    assert retry_ms is not None
    assert retry_ms <= world.now_ms + MINUTE


def test_what_was_delivered_is_in_the_safety_net_and_in_an_empty_queue() -> None:
    world = World()
    world.send("par1", USER1)
    world.run(SECOND)
    seen = shown(world, "par1")
    assert seen[("delivery", "database:DB1")] == (0, None, "")
    assert seen[("primary-safety-net", "")][0] == 1
    assert [name for kind, name in seen if kind == "discard"] in (["lyo1"], ["lyo2"])


def test_counters_are_those_of_the_tracking_log() -> None:
    world = World()
    for _ in range(3):
        world.send("par1", USER1)
    world.run(10 * MINUTE)
    assert figures(world, "par1")["HAREDIRECT"] == "3"
    counted = [int(figures(world, name)["HARECEIVE"]) for name in ("lyo1", "lyo2")]
    assert counted == [len(world.of("HARECEIVE", name)) for name in ("lyo1", "lyo2")]
    assert figures(world, "par1")["SubmissionQueue"] == "normal"


def test_only_a_server_of_the_organisation_sees_them() -> None:
    world = World()
    session = world.connect("par1")
    assert world.say("par1", on.QueuesAsked(session))[-1].code == 550
