"""How many sessions there are at a time, how many messages in a minute, and who is sent away."""

from __future__ import annotations

from typing import Any

import pytest

from nodes.core.config.units import MINUTE_MS
from nodes.core.engine.work import Work
from nodes.core.interface.effects import HangUp, OpenSession
from nodes.core.interface.inputs import (
    CommandNotUnderstood,
    OutboxRequested,
    RecipientOffered,
    SessionActive,
    SessionOpened,
)
from nodes.core.sessions.outbound import Sessions
from nodes.core.sessions.rate import RatePerMinute
from tests.nodes.core.world import MINUTE, SECOND, USER1, World, config

SERVER = "par1"
OF_SOURCE, IN_ALL = {"MaxInboundConnectionPerSource": 2}, {"MaxInboundConnection": 2}
TEN_PERCENT = {"MaxInboundConnection": 20, "MaxInboundConnectionPercentagePerSource": 10}


def heard(world: World, session: str) -> list[str]:
    replies: list[Any] = world.hosts[SERVER].replies[session]
    return [f"{reply.code} {reply.lines[0]}" for reply in replies]


@pytest.mark.parametrize(
    ("limits", "words"), [(OF_SOURCE, "a per-source limit"), (IN_ALL, "a limit")]
)
def test_the_client_that_was_silent_the_longest_gives_way(limits: Any, words: str) -> None:
    world = World(ReceiveConnector=limits)
    first, second = world.connect(SERVER), world.connect(SERVER)
    world.run(SECOND)
    world.say(SERVER, SessionActive(first))
    third = world.connect(SERVER)
    (reply,) = heard(world, second)
    assert reply.startswith("421 4.3.2 The maximum number of concurrent server connections has ")
    assert f"exceeded {words}, closing" in reply
    assert heard(world, first) == heard(world, third) == []


def test_a_percentage_is_of_the_connections_that_are_left() -> None:
    """Of 20 less one, then less two: always one."""
    world = World(ReceiveConnector=TEN_PERCENT)
    first, second = world.connect(SERVER), world.connect(SERVER)
    assert len(heard(world, first)) == 1
    assert heard(world, second) == []


def test_servers_of_the_organisation_never_give_way_and_are_of_no_source() -> None:
    world = World(ReceiveConnector=OF_SOURCE)
    servers = [world.connect(SERVER, "par2") for _ in range(3)]
    clients = [world.connect(SERVER) for _ in range(2)]
    assert [heard(world, each) for each in servers + clients] == [[]] * 5
    world = World(ReceiveConnector=IN_ALL)
    servers = [world.connect(SERVER, "par2") for _ in range(2)]
    newcomer = world.connect(SERVER)
    assert [len(heard(world, each)) for each in [*servers, newcomer]] == [0, 0, 1]


def test_a_client_that_waits_for_an_answer_does_not_give_way() -> None:
    world = World(ReceiveConnector={**OF_SOURCE, "TarpitInterval": "1m"})
    waits, silent = world.connect(SERVER), world.connect(SERVER)
    world.say(SERVER, RecipientOffered(waits, "nobody@lab.example"))
    world.run(SECOND)
    world.connect(SERVER)
    assert (heard(world, waits), len(heard(world, silent))) == ([], 1)


def test_a_tarpit_holds_up_no_longer_than_it_says_and_outlasts_inactivity() -> None:
    world = World(ReceiveConnector={"TarpitInterval": "2m", "ConnectionInactivityTimeout": "1m"})
    session = world.connect(SERVER)
    world.say(SERVER, RecipientOffered(session, "nobody@lab.example"))
    world.run(2 * MINUTE - SECOND)
    assert heard(world, session) == []
    world.run(SECOND)
    assert heard(world, session)[0].startswith("550 5.1.10 ")


def test_a_session_that_is_over_while_it_is_held_up_ends_behind_the_answer() -> None:
    limits = {
        "TarpitInterval": "10m",
        "ConnectionTimeout": "5m",
        "ConnectionInactivityTimeout": "1m",
    }
    world = World(ReceiveConnector=limits)
    session = world.connect(SERVER)
    world.say(SERVER, RecipientOffered(session, "nobody@lab.example"))
    world.run(11 * MINUTE)
    assert [reply[:3] for reply in heard(world, session)] == ["550", "421"]


@pytest.mark.parametrize(("limit", "errors"), [(0, 1), (1, 1), (3, 3)])
def test_a_client_that_is_not_understood_is_sent_away(limit: int, errors: int) -> None:
    world = World(ReceiveConnector={"MaxProtocolErrors": limit})
    session = world.connect(SERVER)
    for number in range(errors):
        assert heard(world, session) == [], number
        world.say(SERVER, CommandNotUnderstood(session))
    assert heard(world, session) == [
        "421 4.7.0 Too many errors on this connection, closing transmission channel"
    ]


def test_a_source_sends_no_more_messages_in_a_minute_than_its_limit() -> None:
    rate = RatePerMinute(2)
    said = [rate.lets_through("a", at) for at in (0, 10 * SECOND, 20 * SECOND)]
    assert said == [True, True, False]
    assert rate.lets_through("b", 20 * SECOND)
    # what was refused does not count
    assert [rate.lets_through("a", at) for at in (MINUTE - 1, MINUTE)] == [False, True]


def test_who_exceeds_the_rate_hears_so_and_its_session_ends() -> None:
    world = World(ReceiveConnector={"MessageRateLimit": 1})
    world.run(SECOND)
    session = world.connect(SERVER)
    world.offer(SERVER, session)
    world.run(SECOND)
    world.offer(SERVER, session)
    world.run(SECOND)
    assert heard(world, session)[-1] == (
        "421 4.4.2 Message submission rate for this client has exceeded the configured limit"
    )
    assert len(world.of("RECEIVE", SERVER)) == 1
    world.run(MINUTE)
    assert world.send(SERVER)[-1].code == 250


def test_before_lab_time_goes_on_nothing_is_in_a_minute() -> None:
    """Whoever looks whether each link lets mail through is no client that sends too much."""
    world = World(ReceiveConnector={"MessageRateLimit": 1})
    session = world.connect(SERVER)
    for _ in range(3):
        world.offer(SERVER, session)
    world.run(SECOND)
    assert len(world.of("RECEIVE", SERVER)) == 3
    assert world.send(SERVER)[-1].code == 250


def named(world: World, session: str) -> list[str]:
    """What it hears when it says a recipient."""
    world.say(SERVER, RecipientOffered(session, USER1))
    return heard(world, session)


def test_clients_open_no_more_connections_in_a_minute_than_permitted() -> None:
    world = World(TransportService={"MaxConnectionRatePerMinute": 2})
    world.run(SECOND)
    first, second, third = (world.connect(SERVER) for _ in range(3))
    assert named(world, first)[-1][:3] == named(world, second)[-1][:3] == "250"
    assert named(world, third) == ["421 4.3.2 Service not available"]
    assert named(world, first)[-1][:3] == "250"  # it counts once
    world.run(MINUTE)
    assert named(world, world.connect(SERVER))[-1][:3] == "250"


def test_servers_and_who_submits_from_a_mailbox_are_no_connections_of_clients() -> None:
    world = World(TransportService={"MaxConnectionRatePerMinute": 1})
    world.run(SECOND)
    for _ in range(3):
        assert named(world, world.connect(SERVER, "par2"))[-1][:3] == "250"
    for _ in range(3):
        client = world.connect("par2")
        assert world.say("par2", OutboxRequested(client, "DB1"))[-1].code == 250
        assert world.say("par2", RecipientOffered(client, USER1))[-1].code == 250
    assert named(world, world.connect(SERVER))[-1][:3] == "250"
    assert named(world, world.connect(SERVER))[-1][:3] == "421"


def test_before_lab_time_goes_on_no_connection_is_in_a_minute() -> None:
    world = World(TransportService={"MaxConnectionRatePerMinute": 1})
    for _ in range(3):
        assert named(world, world.connect(SERVER))[-1][:3] == "250"
    world.run(SECOND)
    assert named(world, world.connect(SERVER))[-1][:3] == "250"


class Opened:
    """par1's sessions, of which two may be open; what was opened and hung up, in order."""

    def __init__(self) -> None:
        self.work = Work(lambda event: None)
        service = {"MaxOutboundConnections": 2, "MaxPerDomainOutboundConnections": 2}
        self.sessions = Sessions(config(SERVER, TransportService=service), self.work)
        self.leases: list[Any] = []

    def ask(self, peer: str, service: str = "smtp") -> None:
        self.sessions.request(peer, "delivery", self.leases.append, lambda _: None, service)

    def take(self) -> list[str]:
        """Sessions that are opened stand at once."""
        found = []
        for effect in self.work.take_effects():
            if isinstance(effect, OpenSession):
                found.append(f"open {effect.peer}")
                self.sessions.opened(SessionOpened(effect.session, offers_shadow=True))
            elif isinstance(effect, HangUp):
                found.append("hang up")
        return found


def test_who_waits_for_another_server_has_the_place_of_a_session_that_is_free() -> None:
    par1 = Opened()
    for peer in ("par2", "lyo1", "lyo2"):
        par1.ask(peer)
    assert par1.take() == ["open par2", "open lyo1"]
    par1.leases[0].release()
    assert par1.take() == ["hang up", "open lyo2"]


def test_an_idle_session_gives_its_place_to_who_needs_another_server() -> None:
    par1 = Opened()
    par1.ask("par2")
    par1.ask("lyo1")
    assert par1.take() == ["open par2", "open lyo1"]
    par1.leases[0].release()
    assert par1.take() == []
    par1.ask("lyo2")
    assert par1.take() == ["hang up", "open lyo2"]


def test_replication_is_not_among_the_connections_of_transport() -> None:
    par1 = Opened()
    for peer in ("par2", "lyo1"):
        par1.ask(peer)
    par1.ask("lyo2", "replication")
    assert par1.take() == ["open par2", "open lyo1", "open lyo2"]


def test_a_source_that_is_silent_for_a_minute_is_forgotten() -> None:
    """Sources are many: whoever wants to may come from each address once."""
    rate = RatePerMinute(1)
    for number in range(1000):
        assert rate.lets_through(f"192.0.2.{number}", number)
    assert rate.lets_through("192.0.2.0", 3 * MINUTE_MS)
    assert rate.sources == 1
