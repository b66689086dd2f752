"""Where the Receive connector authenticates no other server: who is sent away, and who is not."""

from __future__ import annotations

from nodes.core.interface import inputs as on
from nodes.core.interface.replies import R454_LOGON_DENIED
from tests.nodes.core.world import MINUTE, USER1, World


def deny(world: World, *denying: str) -> None:
    world.hosts["par1"].directory = on.DirectoryRead((), True, not_authenticating=denying)
    world.say("par1", on.DirectoryRead((), False, not_authenticating=denying))


def heard(world: World, peer: str) -> list[object]:
    return list(world.hosts["par1"].replies[world.connect("par1", peer)])


def test_another_server_is_sent_away_and_the_administrator_is_not() -> None:
    world = World()
    deny(world, "par1")
    assert heard(world, "lyo1") == [R454_LOGON_DENIED]
    assert heard(world, "par1") == []
    deny(world)
    assert heard(world, "lyo1") == []


def test_a_client_knows_nothing_of_it() -> None:
    world = World()
    deny(world, "par1")
    assert world.send("par1", USER1)[-1].code == 250


def test_it_lasts_over_a_restart() -> None:
    world = World()
    deny(world, "par1")
    world.kill("par1")
    world.start("par1")
    assert heard(world, "lyo1") == [R454_LOGON_DENIED]


def test_whoever_is_in_stays_until_its_session_is_over() -> None:
    world = World()
    session = world.connect("par1", "lyo1")
    deny(world, "par1")
    asked = on.DiscardAsked(session, "lyo1", "", 0)
    [answer] = world.say("par1", asked)
    assert answer.code == 250


def test_nobody_holds_a_shadow_message_there() -> None:
    world = World()
    deny(world, "par1")
    for _ in range(8):
        assert world.send("lyo1", USER1)[-1].code == 250
    world.run(MINUTE)
    assert not world.of("HARECEIVE", "par1")
