"""Whatever fails over, whenever, and whatever else happens to one server at a time: every
acknowledged message is in the mailbox once, and the copies are equal (TP-4, TP-6, DD-3, SN-4).

Hypothesis draws a story of mail, failovers, switchovers, cuts, kills and passing time, Active
Manager and the links of replication among them. Then everything is healed, and time passes until
nothing can be pending.
"""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from nodes.core.interface import inputs as on
from tests.nodes.core.copies.copies import status, world_of
from tests.nodes.core.failover.test_active_manager import acknowledged, records
from tests.nodes.core.test_machine import Story
from tests.nodes.core.test_machine import tell as tell_of_one_server
from tests.nodes.core.world import HOUR, MANAGER, MINUTE, SECOND, SERVERS, USER1

COPIES = ("par2", "lyo1", "lyo2")

everybody = st.sampled_from((*SERVERS, MANAGER))
copies = st.sampled_from(COPIES)
steps = st.one_of(
    st.tuples(st.just("send"), st.sampled_from(SERVERS), st.just((USER1,))),
    st.tuples(st.just("cut"), everybody, everybody, st.sampled_from(["refuse", "silent"])),
    st.tuples(st.just("isolate"), st.lists(everybody, min_size=1, max_size=2, unique=True)),
    st.tuples(st.just("cut logs"), copies, copies),
    st.tuples(st.just("heal")),
    st.tuples(st.just("kill"), everybody),
    st.tuples(st.just("kill after"), everybody, st.integers(0, 40)),
    st.tuples(st.just("return"), st.just(False)),
    st.tuples(st.just("failover"), copies),
    st.tuples(st.just("switchover"), copies),
    st.tuples(st.just("pass"), st.sampled_from([SECOND, 20 * SECOND, 7 * MINUTE, HOUR])),
)


def tell(story: Story, step: tuple) -> None:  # type: ignore[type-arg]
    world = story.world
    match step:
        case ("isolate", names):
            world.isolate(*names)
        case ("cut logs", a, b):
            world.cut_service(a, b, "replication")
        case ("failover", server):
            say(story, on.FailoverRequested("", "DB1", server))
        case ("switchover", server):
            say(story, on.SwitchoverRequested("", "DB1", server))
        case _:
            tell_of_one_server(story, step)


def assert_nothing_is_lost_or_doubled(story: Story, active: str) -> None:
    """What a server had on disk when it was killed before it could answer is delivered, too."""
    shown = story.world.shows(active)
    assert acknowledged(story.world) <= set(shown)
    assert set(shown) <= {f"<s{number}@x>" for number in range(1, story.sent + 1)}
    assert len(shown) == len(set(shown))


def say(story: Story, asked: on.FailoverRequested | on.SwitchoverRequested) -> None:
    world = story.world
    session = world.connect(MANAGER, "par1")
    world.say(MANAGER, type(asked)(session, asked.database, str(asked.server)))


@settings(max_examples=25, deadline=None)
@given(st.lists(steps, min_size=5, max_size=30))
def test_no_failover_loses_or_doubles_an_acknowledged_message(
    story_steps: list,  # type: ignore[type-arg]
) -> None:
    story = Story(world_of(*COPIES, managed=True))
    story.world.run(20 * SECOND)
    for step in story_steps:
        tell(story, step)
    story.heal()
    story.world.cut_services.clear()
    story.come_back(False)
    story.world.run(2 * HOUR)
    world = story.world
    known = records(world)
    (active,) = {each.server for each in known.databases} or {"par2"}
    assert status(world, active)[0] == "active"
    assert_nothing_is_lost_or_doubled(story, active)
    assert not known.askings
    for server in COPIES:
        assert world.shows(server) == world.shows(active)
    assert world.of("DSN") == []
