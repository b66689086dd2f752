"""Whatever happens to one server at a time, no acknowledged message is lost (no_loss,
no_visible_duplicate).

Hypothesis draws a story of mail, cuts, kills, returns with the same or a new queue database, and
passing time. Then everything is healed, and time passes until nothing can be pending. A message
that was accepted without a shadow copy is excused if its server lost its queue database (SR-5,
SM-15).

Shadow messages may remain of what a dying server never came to acknowledge, or whose 250 it
never heard: SN-2 ends them.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from hypothesis import given, settings
from hypothesis import strategies as st

from nodes.core.interface import inputs as on
from nodes.core.model.resubmit_request import ResubmitDemand, SafetyNetSource
from tests.nodes.core.world import HOUR, MINUTE, SERVERS, START_MS, USER1, USER2, World

servers = st.sampled_from(SERVERS)
steps = st.one_of(
    st.tuples(st.just("send"), servers, st.sampled_from([(USER1,), (USER2,), (USER1, USER2)])),
    st.tuples(st.just("cut"), servers, servers, st.sampled_from(["refuse", "silent"])),
    st.tuples(st.just("heal")),
    st.tuples(st.just("kill"), servers),
    st.tuples(st.just("kill after"), servers, st.integers(0, 12)),
    st.tuples(st.just("return"), st.booleans()),
    st.tuples(st.just("pass"), st.sampled_from([1000, MINUTE, 7 * MINUTE, HOUR, 4 * HOUR])),
)


@dataclass
class Story:
    """A world, who is down, and what was promised."""

    world: World
    wiped: str | None = None
    sent: int = 0

    @property
    def down(self) -> str | None:
        """One server at a time: it is down, or about to be."""
        hosts = self.world.hosts.values()
        return next((h.name for h in hosts if h.node is None or h.fuse is not None), None)

    def send(self, server: str, recipients: tuple[str, ...]) -> None:
        if self.world.hosts[server].node is not None:
            self.sent += 1
            self.world.send(server, *recipients, message_id=f"<s{self.sent}@x>")

    def cut(self, a: str, b: str, kind: str) -> None:
        if a != b:
            self.world.cut[(a, b)] = kind

    def heal(self) -> None:
        """Sessions that hung in a silent link are closed, as Toxiproxy's `timeout` does."""
        self.world.cut.clear()
        for host in self.world.hosts.values():
            for session, (_, remote) in list(host.peers.items()):
                if remote == "nowhere":
                    self.world.lose(host, session)
        self.world.settle()

    def kill(self, server: str) -> None:
        if self.down is None:
            self.world.kill(server)

    def kill_after(self, server: str, effects: int) -> None:
        if self.down is None:
            self.world.hosts[server].fuse = effects

    def come_back(self, new_queue_database: bool) -> None:
        server = self.down
        if server is None:
            return
        host = self.world.hosts[server]
        if host.node is not None:
            host.fuse = None
            return
        if new_queue_database and self.wiped is None:
            self.wiped = server
            self.world.run(1)  # no machine makes one in the millisecond of its last delivery
            host.new_queue_database()
        self.world.start(server)


def tell(story: Story, step: tuple) -> None:  # type: ignore[type-arg]
    match step:
        case ("send", server, recipients):
            story.send(server, recipients)
        case ("cut", a, b, kind):
            story.cut(a, b, kind)
        case ("heal",):
            story.heal()
        case ("kill", server):
            story.kill(server)
        case ("kill after", server, effects):
            story.kill_after(server, effects)
        case ("return", new_queue_database):
            story.come_back(new_queue_database)
        case ("pass", for_ms):
            story.world.run(for_ms)


@settings(max_examples=300, deadline=None)
@given(st.lists(steps, min_size=5, max_size=40))
def test_no_single_failure_loses_an_acknowledged_message(story_steps: list) -> None:  # type: ignore[type-arg]
    story = Story(World())
    for step in story_steps:
        tell(story, step)
    story.heal()
    story.come_back(False)
    story.world.run(8 * HOUR)
    world = story.world
    unprotected = {r.message_id for r in world.of("HAREDIRECTFAIL", story.wiped)}
    promised = {
        (recipient, row.message_id)
        for row in world.of("RECEIVE")
        for recipient in row.recipients
        if not (story.wiped and row.message_id in unprotected)
    }
    copies = Counter((user, mid) for user, mids in world.mailboxes.items() for mid in mids)
    assert not promised - copies.keys()
    assert all(count == 1 for count in copies.values())
    assert not any(host.disk.messages for host in world.hosts.values())
    acknowledged = {row.message_id for row in world.of("RECEIVE")}
    protected = {(r.message_id, r.custom["ShadowServer"]) for r in world.of("HAREDIRECT")}
    left = {
        (shadow.header.message_id, host.name)
        for host in world.hosts.values()
        for shadow in host.disk.shadows.values()
    }
    assert not {one for one in left & protected if one[0] in acknowledged}


@settings(max_examples=200, deadline=None)
@given(st.lists(steps, min_size=5, max_size=40))
def test_after_any_single_failure_safety_nets_bring_a_lost_mailbox_back(
    story_steps: list,  # type: ignore[type-arg]
) -> None:
    """Every server is asked for everything; a server that has lost its queue database passes its
    part on (SN-9). Excused is what that server held alone.
    """
    story = Story(World())
    for server in SERVERS:
        story.send(server, (USER1,))
    story.world.run(5 * MINUTE)
    for step in story_steps:
        tell(story, step)
    story.heal()
    story.come_back(False)
    story.world.run(8 * HOUR)
    world = story.world
    alone = {r.message_id for r in world.of("HAREDIRECTFAIL", story.wiped)}
    lost = world.lose_mailbox(USER1)
    ask_everybody(world)
    world.run(HOUR)
    copies = Counter(world.mailboxes.get(USER1, []))
    missing = set(lost) - copies.keys()
    assert not (missing - alone if story.wiped else missing)
    assert all(count == 1 for count in copies.values())


def ask_everybody(world: World) -> None:
    demand = ResubmitDemand("am:1", SafetyNetSource.PRIMARY, "DB1", START_MS, world.now_ms)
    for server in SERVERS:
        session = world.connect(server, next(name for name in SERVERS if name != server))
        world.say(server, on.ResubmitRequested(session, demand))
