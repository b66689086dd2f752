"""HubTransport is Inactive: the server takes nothing into its queues, and delivers what it has."""

from __future__ import annotations

from typing import Any

from nodes.core.interface import inputs as on
from nodes.core.interface.replies import R421_INACTIVE
from tests.nodes.core.world import MINUTE, USER1, World


def world_in_which(*inactive: str) -> World:
    """par1 has read that these are Inactive."""
    world = World()
    set_inactive(world, *inactive)
    return world


def set_inactive(world: World, *inactive: str) -> None:
    world.hosts["par1"].directory = on.DirectoryRead((), at_start=True, inactive=inactive)
    world.say("par1", on.DirectoryRead((), at_start=False, inactive=inactive))


def states(world: World) -> list[tuple[Any, Any]]:
    said = [fields for _, event, fields in world.lifecycle if event == "component-state"]
    return [(fields["from"], fields["to"]) for fields in said]


def test_a_client_hears_at_its_first_recipient_that_no_mail_is_taken() -> None:
    world = world_in_which("par1")
    session = world.connect("par1")
    assert world.say("par1", on.RecipientOffered(session, USER1)) == [R421_INACTIVE]


def test_a_transaction_that_has_begun_goes_on() -> None:
    world = World()
    session = world.connect("par1")
    world.say("par1", on.RecipientOffered(session, USER1))
    set_inactive(world, "par1")
    [*_, last] = world.say("par1", on.RecipientOffered(session, USER1, taken=1))
    assert last.code == 250


def test_another_server_is_chosen_for_a_shadow_message() -> None:
    world = world_in_which("par1")
    for _ in range(8):
        assert world.send("lyo1", USER1)[-1].code == 250
    world.run(MINUTE)
    assert len(world.of("HAREDIRECT", "lyo1")) == 8
    assert not world.of("HARECEIVE", "par1")


def test_a_server_that_another_one_sets_inactive_takes_mail() -> None:
    world = world_in_which("par2")
    assert world.send("par1", USER1)[-1].code == 250
    assert not states(world)


def test_what_is_in_its_queues_is_delivered() -> None:
    world = World()
    world.cut[("par1", "par2")] = world.cut[("par1", "lyo2")] = "refuse"
    world.send("par1", USER1)
    world.run(MINUTE // 2)
    set_inactive(world, "par1")
    assert not world.mailboxes.get(USER1)
    world.heal()
    world.run(20 * MINUTE)
    assert len(world.mailboxes[USER1]) == 1


def test_it_is_inactive_after_a_restart_until_it_is_set_active() -> None:
    world = world_in_which("par1")
    world.kill("par1")
    world.start("par1")
    assert world.send("par1", USER1)[0] == R421_INACTIVE
    set_inactive(world)
    assert world.send("par1", USER1)[-1].code == 250
    became = ("active", "inactive")
    assert states(world) == [became, became, ("inactive", "active")]
