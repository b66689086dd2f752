"""The simulated link does under every cut what the real proxy was measured to do."""

from typing import Any

import pytest

from lab.hosts.simulator.connection import Connection, End
from lab.hosts.simulator.controls import SimulatedProber, SimulatedProxies, SimulatedServers
from lab.hosts.simulator.event_loop import MS, SECOND, World
from lab.hosts.simulator.network import Link
from lab.plan.effects import Effect, by_toxic
from lab.plan.link_faults import LinkFault
from lab.plan.topology import LinkName
from lab.planning.faults import ON_LINKS
from lab.scenario.link_faults import LINK_MODELS
from lab.workload.probe import Seen
from tests.lab.plan.crowded_plans import GIVEN, OF_LINKS
from tests.parity.cut_table import EFFECTS, TABLE, Measured

SOON = 10 * SECOND


class Recording:
    """Greets, answers every line, remembers what reached it."""

    listens = True

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.ended = 0

    def accept(self, connection: Connection, opener: str) -> End:
        connection.say("220 recording", forward=False)
        return Conversation(self, connection)


class Conversation:
    def __init__(self, server: Recording, connection: Connection) -> None:
        self.server, self.connection = server, connection

    def received(self, said: Any) -> None:
        self.server.lines.append(said)
        self.connection.say(f"250 {said}", forward=False)

    def closed(self, reason: str) -> None:
        self.server.ended += 1


class Client:
    def __init__(self, link: Link) -> None:
        self.heard: list[str] = []
        self.world = link.world
        self.connection = link.connect(self)

    def received(self, said: Any) -> None:
        self.heard.append(said)

    def closed(self, reason: str) -> None:
        ends = {"connection refused": "refused", "connection reset by peer": "reset"}
        self.heard.append(ends.get(reason, "closed"))

    def tell(self, line: str) -> None:
        self.connection.say(line, forward=True)

    def hear(self) -> str:
        self.world.run_until(self.world.now_us + SOON)
        return self.heard.pop(0) if self.heard else "silent"


@pytest.fixture
def server() -> Recording:
    return Recording()


@pytest.fixture
def link(server: Recording) -> Link:
    return Link(World(0), LinkName("a", "b", "smtp"), server, far=True, seed=1)


@pytest.mark.parametrize("kind", TABLE)
def test_a_simulated_cut_does_what_the_table_says(kind: str, link: Link, server: Recording) -> None:
    assert measure(link, server, EFFECTS[kind]) == TABLE[kind]


def measure(link: Link, server: Recording, effect: Effect) -> Measured:
    old = Client(link)
    assert old.hear() == "220 recording"
    link.apply(effect)
    old.tell("during")
    old_during = old.hear()
    at_once = "during" in server.lines
    new = Client(link)
    heard = new.hear()
    new_during = "banner" if heard.startswith("220") else heard
    link.undo()
    old_at_heal, new_at_heal = after(old, old_during), after(new, new_during)
    in_the_end = "during" in server.lines
    return Measured(
        old_during,
        new_during,
        old_at_heal,
        new_at_heal,
        whereabouts(at_once, in_the_end, old_during),
    )


def after(client: Client, during: str) -> str:
    if during in ("refused", "closed", "reset"):
        return "dead" if client.hear() == "silent" else "alive"
    if during == "banner":
        client.tell("after")
        heard = client.hear()
        return "usable" if heard == "250 after" else heard
    return client.hear()


def whereabouts(at_once: bool, in_the_end: bool, old_during: str) -> str:
    if at_once:
        return "delivered"
    if in_the_end:
        return "after the heal"
    return "lost" if old_during == "closed" else "discarded"


def test_what_is_said_arrives_in_order_whatever_the_delays(link: Link, server: Recording) -> None:
    client = Client(link)
    client.hear()
    for number in range(200):
        client.tell(str(number))
    client.hear()
    assert server.lines == [str(number) for number in range(200)]


def test_a_slow_link_is_late_in_both_directions(link: Link) -> None:
    client = Client(link)
    client.hear()
    link.apply(by_toxic("latency", latency=3000, jitter=0))
    began_us = link.world.now_us
    client.tell("late")
    link.world.run_until(began_us + 5 * SECOND)
    assert not client.heard
    link.world.run_until(began_us + 8 * SECOND)
    assert client.heard == ["250 late"]


@pytest.mark.parametrize("is_old", [True, False])
@pytest.mark.parametrize("direction", ["requests", "replies"])
@pytest.mark.parametrize(("kind", "late_ms"), [("slow", 2000), ("throttle", 1000), ("drip", 6000)])
def test_a_link_is_late_in_its_direction_alone(
    kind: str, late_ms: int, direction: str, is_old: bool, link: Link, server: Recording
) -> None:
    """By so much with 4096 bytes, of which `throttle` carries 4096 a second, and `drip` 1024."""
    client = Client(link) if is_old else None
    link.world.run_until(SECOND)
    link.apply(effect_of(f"{kind}-{direction}"))
    client = client or Client(link)
    link.world.run_until(2 * SECOND)
    is_greeted = is_old or direction == "requests" or kind == "throttle"
    assert client.heard == ["220 recording"] * is_greeted
    link.world.run_until(4 * SECOND)
    assert client.heard.pop() == "220 recording"
    asks = direction == "requests"
    late, free = (server.lines, client.heard) if asks else (client.heard, server.lines)
    client.connection.say("late", forward=asks, size_bytes=4096)
    client.connection.say("freely", forward=not asks, size_bytes=4096)
    link.world.run_until(4 * SECOND + 900 * MS)
    assert (late, free) == ([], ["freely"])
    link.world.run_until(4 * SECOND + (late_ms - 100) * MS)
    assert late == []
    link.world.run_until(5 * SECOND + late_ms * MS)
    assert late[0] == "late"
    link.undo()
    client.connection.say("after", forward=asks, size_bytes=4096)
    link.world.run_until(link.world.now_us + SECOND)
    assert "after" in late


def test_an_answer_that_is_late_at_the_heal_still_comes(link: Link, server: Recording) -> None:
    client = Client(link)
    assert client.hear() == "220 recording"
    link.apply(effect_of("slow-replies"))  # 2 s
    began_us = link.world.now_us
    client.tell("during")
    link.world.run_until(began_us + SECOND)
    link.undo()
    link.world.run_until(began_us + 3 * SECOND)
    assert client.heard == ["250 during"]
    client.tell("after")
    link.world.run_until(link.world.now_us + SECOND)
    assert client.heard == ["250 during", "250 after"]


def test_a_throttled_link_takes_its_time_for_every_byte(link: Link, server: Recording) -> None:
    client = Client(link)
    client.hear()
    link.apply(by_toxic("bandwidth", rate=100))
    began_us = link.world.now_us
    client.connection.say("long", forward=True, size_bytes=1000)
    link.world.run_until(began_us + 9 * SECOND)
    assert server.lines == []
    link.world.run_until(began_us + 12 * SECOND)
    assert server.lines == ["long"]


class Answering(SimulatedServers):
    """No server is away."""

    def answers(self, server: str) -> bool:
        return True


@pytest.mark.parametrize(
    ("kind", "is_late"),
    [
        ("throttle-both", True),
        ("throttle-replies", True),
        ("throttle-requests", False),
        ("drip-replies", True),
    ],
)
def test_a_banner_is_late_by_what_throttles_answers_alone(
    kind: str, is_late: bool, link: Link
) -> None:
    link.apply(effect_of(kind))  # 4096 bytes a second, or 2 s and 1024
    seen = SimulatedProber({"p": link}, Answering(link.world, {})).probe("p", 5)
    assert (seen.seen, seen.took_ms > 0) == (Seen.BANNER, is_late)


def test_a_limited_link_ends_a_session_that_has_carried_so_much(
    link: Link, server: Recording
) -> None:
    old = Client(link)
    assert old.hear() == "220 recording"
    old.connection.say("before", forward=True, size_bytes=900)
    assert old.hear() == "250 before"
    link.apply(by_toxic("limit_data", bytes=1000))
    for client in (old, Client(link)):
        if client is not old:
            assert client.hear() == "220 recording"
        client.connection.say("small", forward=True, size_bytes=500)
        assert client.hear() == "250 small"
        client.connection.say("too much", forward=True, size_bytes=501)
        assert client.hear() == "closed"
    link.undo()
    again = Client(link)
    assert again.hear() == "220 recording"
    again.connection.say("too much", forward=True, size_bytes=2000)
    assert again.hear() == "250 too much"
    assert server.lines == ["before", "small", "small", "too much"]


def test_a_sliced_link_carries_all_of_it_in_pieces_with_a_pause_after_each(
    link: Link, server: Recording
) -> None:
    old = Client(link)
    assert old.hear() == "220 recording"
    link.apply(by_toxic("slicer", average_size=256, size_variation=0, delay=2000))
    for client in (old, Client(link)):
        if client is not old:
            assert client.hear() == "220 recording"
        client.connection.say("four pieces", forward=True, size_bytes=1000)
        link.world.run_until(link.world.now_us + 5 * SECOND)
        assert server.lines == []
        link.world.run_until(link.world.now_us + 2 * SECOND)
        assert server.lines == ["four pieces"]
        client.tell("next")
        assert len(server.lines) == 1
        assert client.hear() == "250 four pieces"
        assert server.lines == ["four pieces", "next"]
        server.lines.clear()


def test_what_a_slicing_link_still_has_goes_on_at_the_heal(link: Link, server: Recording) -> None:
    client, sliced = (
        Client(link),
        by_toxic("slicer", average_size=256, size_variation=0, delay=2000),
    )
    assert client.hear() == "220 recording"
    link.apply(sliced)
    client.connection.say("long", forward=True, size_bytes=8000)
    client.tell("and more")
    link.world.run_until(link.world.now_us + 3 * SECOND)
    link.undo()
    link.world.run_until(link.world.now_us + SECOND)
    assert server.lines == ["long", "and more"]
    link.apply(sliced)
    client.connection.say("two pieces", forward=True, size_bytes=500)
    client.connection.close(by_opener=True)
    link.world.run_until(link.world.now_us + SECOND)
    assert server.lines == ["long", "and more"]
    client.hear()
    assert server.lines == ["long", "and more", "two pieces"]


def test_a_dripping_link_is_late_and_takes_its_time_for_every_byte(
    link: Link, server: Recording
) -> None:
    client = Client(link)
    client.hear()
    link.apply(effect_of("drip-both"))  # 2 s, and 1024 bytes a second
    began_us = link.world.now_us
    client.connection.say("long", forward=True, size_bytes=4096)
    link.world.run_until(began_us + 5900 * MS)
    assert server.lines == []
    link.world.run_until(began_us + 8 * SECOND)
    assert server.lines == ["long"]
    assert not client.heard
    link.undo()
    again_us = link.world.now_us
    Client(link).tell("and soon")
    link.world.run_until(again_us + SECOND)
    assert server.lines == ["long", "and soon"]


def test_a_link_that_resets_answers_nothing_and_resets_each_connection_in_time(
    link: Link, server: Recording
) -> None:
    old, idle = Client(link), Client(link)
    assert (old.hear(), idle.hear()) == ("220 recording", "220 recording")
    link.apply(effect_of("reset_after"))  # 5 s
    old.tell("during")
    new = Client(link)
    began_us = link.world.now_us
    link.world.run_until(began_us + 4900 * MS)
    assert (old.heard, new.heard, server.lines) == ([], [], ["during"])
    new.tell("not greeted")
    link.world.run_until(began_us + 6 * SECOND)
    assert (old.heard, new.heard) == (["closed"], ["reset"])
    assert server.lines == ["during", "not greeted"]
    link.undo()
    again = Client(link)
    assert again.hear() == "220 recording"
    for client in (idle, again):
        client.tell("after")
        assert client.hear() == "250 after"


def test_what_waits_to_be_reset_at_the_heal_still_is(link: Link, server: Recording) -> None:
    old = Client(link)
    assert old.hear() == "220 recording"
    link.apply(effect_of("reset_after"))
    old.tell("during")
    new = Client(link)
    link.world.run_until(link.world.now_us + SECOND)
    link.undo()
    new.tell("after")
    assert (old.hear(), new.hear()) == ("closed", "reset")
    assert server.lines == ["during", "after"]


def test_a_server_that_hangs_up_over_a_link_that_resets_is_noticed_in_time(link: Link) -> None:
    client = Client(link)
    assert client.hear() == "220 recording"
    link.apply(effect_of("reset_after"))
    began_us = link.world.now_us
    client.connection.close(by_opener=False)
    link.world.run_until(began_us + 4900 * MS)
    assert client.heard == []
    link.world.run_until(began_us + 6 * SECOND)
    assert client.heard == ["closed"]


@pytest.mark.parametrize("is_old", [True, False])
@pytest.mark.parametrize("by_opener", [True, False])
def test_a_link_that_is_slow_to_close_is_late_with_ends_alone_whoever_hangs_up(
    by_opener: bool, is_old: bool, link: Link, server: Recording
) -> None:
    client = Client(link) if is_old else None
    link.world.run_until(link.world.now_us + SECOND)
    link.apply(effect_of("slow_close"))  # 5 s
    client = client or Client(link)
    client.tell("during")
    link.world.run_until(link.world.now_us + SECOND)
    assert client.heard == ["220 recording", "250 during"]
    began_us = link.world.now_us
    client.connection.say("last", forward=by_opener)
    client.connection.close(by_opener=by_opener)
    link.world.run_until(began_us + 4900 * MS)
    heard = server.lines[1:] if by_opener else client.heard[2:]
    assert (server.ended, heard) == (0, ["last"])
    link.world.run_until(began_us + 6 * SECOND)
    assert (server.ended, client.heard[2:]) == ((1, []) if by_opener else (0, ["last", "closed"]))


@pytest.mark.parametrize("by_opener", [True, False])
def test_an_end_that_waits_at_the_heal_comes_at_once(
    by_opener: bool, link: Link, server: Recording
) -> None:
    client = Client(link)
    assert client.hear() == "220 recording"
    link.apply(effect_of("slow_close"))
    client.connection.close(by_opener=by_opener)
    link.world.run_until(link.world.now_us + SECOND)
    assert (server.ended, client.heard) == (0, [])
    link.undo()
    link.world.run_until(link.world.now_us + SECOND)
    assert (server.ended, client.heard) == ((1, []) if by_opener else (0, ["closed"]))


def effect_of(word: str) -> Effect:
    """Of a fault of links as a random schedule names it."""
    kind, _, way = word.partition("-")
    ways = {"kind" if kind == "cut" else "direction": way} if way else {}
    model = LINK_MODELS[kind].model_validate({"from": "a", "to": "b", **GIVEN[kind], **ways})
    planned = ON_LINKS[kind](id="f1", kind=kind, start_ms=0, end_ms=1, links=(), **model.own())
    assert isinstance(planned, LinkFault)
    return planned.effect


@pytest.mark.parametrize("kind", OF_LINKS)
def test_what_is_read_back_of_a_link_shows_each_fault_and_its_end(kind: str, link: Link) -> None:
    """A fault that no probe sees is believed for what the proxies say of themselves."""
    proxies, effect = SimulatedProxies({"p": link}), effect_of(kind)
    before = proxies.read_back(["p"])
    proxies.apply("f1", effect, ["p"])
    assert proxies.read_back(["p"]) != before
    proxies.undo("f1", effect, ["p"])
    assert proxies.read_back(["p"]) == before


def test_a_server_that_is_down_lets_a_connection_end_without_a_banner(
    link: Link, server: Recording
) -> None:
    server.listens = False
    assert Client(link).hear() == "closed"
