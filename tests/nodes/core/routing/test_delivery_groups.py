"""Next hops over several sites: hub sites, connectors, and who stands in (RT-2, RT-3, RT-5)."""

from __future__ import annotations

from typing import Any

import pytest

from nodes.core.config.config import NodeConfig
from nodes.core.config.error import ConfigurationError
from nodes.core.model.next_hop import DeliveryType, NextHop
from nodes.core.routing.categorizer import forks_of
from nodes.core.routing.delivery_groups import servers_in_turn
from nodes.core.routing.routing import TOO_LARGE, next_hop
from tests.nodes.core.world import MINUTE, OUTSIDE, USER1, USER2, World, config
from tests.nodes.next_hops import DAG1, DB2, EXT1

HUB = NextHop(DeliveryType.SITE, "metz")
SOURCES = NextHop(DeliveryType.CONNECTOR_SOURCES, "out")
LINKS = [
    {"Sites": ["paris", "metz"], "Cost": 10},
    {"Sites": ["metz", "lyon"], "Cost": 10, "MaxMessageSize": "1MB"},
]
OUT = {"Name": "out", "SmartHost": "ext1", "SourceTransportServers": ["lyo1"], "Cost": 1}


def spread(name: str, *, hub: bool = False, **more: Any) -> NodeConfig:
    """par1 in paris, par2 in metz, lyo1 and lyo2 in lyon; each of the first two in no DAG."""
    sites = [{"Name": site, "HubSiteEnabled": hub and site == "metz"} for site in SITES]
    policies: dict[str, Any] = {"par1": {"DatabaseAvailabilityGroup": None}}
    policies["par2"] = {"DatabaseAvailabilityGroup": None, "Site": "metz"}
    document: dict[str, Any] = {"Sites": sites, "SiteLinks": LINKS, "Policies": policies}
    return config(name, **(document | more))


SITES = ("paris", "metz", "lyon")


def test_delivery_is_direct_over_a_site_that_is_no_hub() -> None:
    assert next_hop(spread("par1"), USER2) == DAG1


def test_a_hub_site_on_the_path_is_a_stop_for_all_beyond_it() -> None:
    known = spread("par1", hub=True, SendConnectors=[OUT])
    assert [next_hop(known, user) for user in (USER2, OUTSIDE)] == [HUB, HUB]
    assert [fork.recipients for fork in forks_of(known, (USER2, OUTSIDE))] == [(USER2, OUTSIDE)]


def test_from_the_hub_on_mail_goes_to_its_destination() -> None:
    known = spread("par2", hub=True, SendConnectors=[OUT])
    assert [next_hop(known, user) for user in (USER2, OUTSIDE)] == [DAG1, SOURCES]


def test_a_hub_site_that_is_the_destination_is_a_stop_as_well() -> None:
    assert next_hop(spread("lyo1", hub=True), USER1) == HUB


def test_servers_of_a_connector_send_and_others_hand_over_to_them() -> None:
    assert next_hop(spread("lyo1", SendConnectors=[OUT]), OUTSIDE) == EXT1
    assert next_hop(spread("lyo2", SendConnectors=[OUT]), OUTSIDE) == SOURCES
    assert next_hop(spread("par1"), OUTSIDE) == EXT1, "without a connector each server sends"


def test_of_connectors_that_which_costs_least_with_its_path_counts() -> None:
    near = {**OUT, "Name": "near", "SourceTransportServers": ["par2"], "Cost": 12}
    assert next_hop(spread("par1", SendConnectors=[OUT, near]), OUTSIDE) == SOURCES
    cheap = {**near, "Cost": 10}
    named = next_hop(spread("par1", SendConnectors=[OUT, cheap]), OUTSIDE)
    assert named == NextHop(DeliveryType.CONNECTOR_SOURCES, "near")


def test_a_connector_that_a_message_is_too_large_for_is_passed_over() -> None:
    small = {**OUT, "MaxMessageSize": "1KB"}
    large = {**OUT, "Name": "large", "Cost": 50}
    assert next_hop(spread("lyo1", SendConnectors=[small]), OUTSIDE, 2000) == TOO_LARGE
    found = next_hop(spread("lyo2", SendConnectors=[small, large]), OUTSIDE, 2000)
    assert found == NextHop(DeliveryType.CONNECTOR_SOURCES, "large")


def test_a_link_that_a_message_is_too_large_for_closes_the_way() -> None:
    assert next_hop(spread("par1"), USER2, 1 << 20) == DAG1
    assert next_hop(spread("par1"), USER2, (1 << 20) + 1) == TOO_LARGE
    assert next_hop(spread("lyo1"), USER2, 1 << 30) == DB2


def test_who_cannot_reach_a_destination_goes_back_along_the_path() -> None:
    assert servers_in_turn(spread("par1"), DAG1, "lyo2") == ("lyo2", "lyo1", "par2")
    assert servers_in_turn(spread("par2"), DAG1, None) == ("lyo1", "lyo2")


def test_members_elsewhere_come_after_those_of_the_nearest_site() -> None:
    policies: dict[str, Any] = {"lyo1": {"Site": "metz"}}
    policies |= {"par1": {"DatabaseAvailabilityGroup": None}}
    policies |= {"par2": {"DatabaseAvailabilityGroup": None, "Site": "metz"}}
    known = spread("par1", Policies=policies)
    assert servers_in_turn(known, DAG1, "lyo2") == ("lyo1", "lyo2", "par2")


def test_a_member_in_the_own_site_leaves_nobody_to_stand_in() -> None:
    known = spread("lyo2", SendConnectors=[OUT])
    assert servers_in_turn(known, SOURCES, None) == ("lyo1",)


def test_mail_that_cannot_reach_its_destination_waits_as_near_to_it_as_it_can() -> None:
    policies: dict[str, Any] = {"par1": {"DatabaseAvailabilityGroup": None}}
    policies |= {"par2": {"DatabaseAvailabilityGroup": None, "Site": "metz"}}
    sites = [{"Name": site} for site in SITES]
    world = World(Sites=sites, SiteLinks=LINKS, Policies=policies)
    for server in ("par1", "par2"):
        for peer in ("lyo1", "lyo2"):
            world.cut[server, peer] = "refuse"
    world.send("par1", USER2)
    world.run(5 * MINUTE)
    (sent,) = world.of("SEND", "par1")
    assert sent.recipients == (USER2,)
    assert "Hostname=par2." in sent.context
    assert world.of("DEFER", "par2")


def test_what_is_too_large_is_given_up_and_its_sender_told() -> None:
    world = World(SendConnectors=[{**OUT, "MaxMessageSize": "1B"}])
    world.send("par1", OUTSIDE)
    world.run(MINUTE)
    (row,) = world.of("FAIL", "par1")
    assert row.recipients == (OUTSIDE,)
    assert not world.of("DEFER")
    assert not world.external


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"SiteLinks": [{"Sites": ["paris"], "Cost": 10}]}, "Sites: .*: must be two"),
        ({"SiteLinks": [{"Sites": ["paris", "lyon"], "Cost": 0}]}, "Cost: 0: must be a number"),
        ({"SendConnectors": [{**OUT, "SourceTransportServers": []}]}, "must name a server"),
        ({"Sites": ["paris"]}, "Sites: must be a list of objects"),
    ],
)
def test_a_wrong_network_is_refused(wrong: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigurationError, match=says):
        config("par1", **wrong)
