import json
from dataclasses import replace
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path
from typing import Any

import jinja2
import pytest

from lab.hosts.containers.ground import inventory
from lab.hosts.containers.ground.inventory import Layout
from lab.hosts.containers.images.ensure import Images
from lab.hosts.node_config import organisation
from lab.plan.faults import Pause
from lab.plan.parts import Stranger
from lab.plan.when import When
from lab.program.sources import ROOT
from nodes.core.config.config import read_config
from nodes.core.config.error import ConfigurationError
from nodes.shell.chaos.places import Breakpoint
from nodes.shell.config_file import read_node_file
from tests.lab.hosts.containers.six_servers import MEMBERS, six_servers

BLOCK = IPv4Network("10.70.3.0/24")


def layout_of(**transport_config: str | int) -> Layout:
    plan = six_servers(**transport_config)
    return Layout(plan, "run-1", Path("/somewhere/run-1"), Images("node:1", "toxi:1"), BLOCK)


def hosts_of(layout: Layout) -> dict[str, dict[str, Any]]:
    return inventory.hosts(json.loads(inventory.to_text(layout)))


def rendered(role: str, template: str, variables: dict[str, Any]) -> Any:
    """A role's template as Ansible renders it, read as the JSON that it is."""
    folder = ROOT / "playbooks" / "roles" / role / "templates"
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined, trim_blocks=True)
    environment.filters["to_json"] = json.dumps
    return json.loads(environment.from_string((folder / template).read_text()).render(variables))


def test_the_same_layout_gives_the_same_text() -> None:
    assert inventory.to_text(layout_of()) == inventory.to_text(layout_of())


def test_hosts_are_the_servers_toxiproxy_the_workload_and_the_authority() -> None:
    assert set(hosts_of(layout_of())) == {*MEMBERS, "ext1", "toxiproxy", "workload", "authority"}


def test_a_server_reaches_its_peers_through_toxiproxys_address_in_its_own_network() -> None:
    layout = layout_of()
    for name, host in hosts_of(layout).items():
        for services in host.get("links", {}).values():
            address, _, port = services["smtp"].rpartition(":")
            assert IPv4Address(address) == layout.networks()[name].toxiproxy
            assert int(port) >= 21_000


def test_toxiproxy_is_in_every_network_and_each_proxy_leads_to_the_links_target() -> None:
    layout = layout_of()
    host = hosts_of(layout)["toxiproxy"]
    assert len(host["networks"]) == len(layout.networks()) == 8
    proxies = rendered("toxiproxy", "config.json.j2", host)
    upstreams = {proxy["name"]: proxy["upstream"] for proxy in proxies}
    assert len(proxies) == len(layout.plan.links)
    assert upstreams["par-mbx1--lyo-mbx2--smtp"] == layout.upstream("lyo-mbx2")
    assert all(proxy["enabled"] and "toxics" not in proxy for proxy in proxies)


def test_only_the_labs_own_network_is_not_internal() -> None:
    networks = [host["network"] for host in hosts_of(layout_of()).values() if "network" in host]
    assert [network["name"] for network in networks if not network["internal"]] == ["run-1-lab"]


def test_a_node_accepts_the_configuration_that_is_rendered_for_it() -> None:
    host = hosts_of(layout_of())["par-mbx1"]
    document = rendered("transport_node", "config.json.j2", host)
    config = read_config(document)
    assert config.me.name == "par-mbx1"
    assert config.transport.shadow_resubmit_time_span_ms == 3 * 3_600_000
    assert document["TransportConfig"]["ShadowResubmitTimeSpan"] == "03:00:00"
    assert document["Databases"] == [
        {
            "Name": "DB1",
            "Server": "par-mbx2",
            "Track Duplicates": "7.00:00:00",
            "Background Cleanup": "01:00:00",
        }
    ]
    assert document["Listen"] == {"smtp": "0.0.0.0:2525"}


def test_a_node_is_given_all_that_active_directory_has() -> None:
    layout = layout_of()
    document = rendered("transport_node", "config.json.j2", hosts_of(layout)["par-mbx1"])
    known = organisation(layout.plan)
    assert {key: document[key] for key in known} == known


def test_remote_only_leaves_local_attempts_at_their_default_unnamed() -> None:
    layout = layout_of(ShadowMessagePreferenceSetting="RemoteOnly")
    document = rendered("transport_node", "config.json.j2", hosts_of(layout)["par-mbx1"])
    assert "MaxRetriesForLocalSiteShadow" not in document["TransportConfig"]
    assert read_config(document).transport.shadow_message_preference == "RemoteOnly"


def test_a_contradiction_reaches_the_node_that_refuses_it() -> None:
    layout = layout_of(ShadowMessagePreferenceSetting="LocalOnly")
    document = rendered("transport_node", "config.json.j2", hosts_of(layout)["par-mbx1"])
    with pytest.raises(ConfigurationError, match="LocalOnly"):
        read_config(document)


def test_nobody_may_reach_another_server_directly() -> None:
    layout = layout_of()
    for name, host in hosts_of(layout).items():
        others = {*MEMBERS, "ext1"} - {name}
        if "look" in host:
            assert set(host["look"]["forbidden"]) == others
            assert set(host["look"]["forbidden"].values()) == {*map(layout.upstream, others)}


def test_the_block_of_a_run_is_read_back_from_its_inventory(tmp_path: Path) -> None:
    assert inventory.block_of(tmp_path / inventory.FILE) is None
    (tmp_path / inventory.FILE).write_text(inventory.to_text(layout_of()))
    assert inventory.block_of(tmp_path / inventory.FILE) == BLOCK


def test_a_server_has_breakpoints_only_where_the_plan_asks_for_them() -> None:
    layout = layout_of()
    when = When("par-mbx1", "before-shadow-250", 3, 90_000, 5_000)
    fault = Pause("f1", "pause", 60_000, 95_000, "lyo-mbx1", when)
    asked = replace(layout, plan=replace(layout.plan, faults=(fault,)))
    document = rendered("transport_node", "config.json.j2", hosts_of(asked)["par-mbx1"])
    found = read_node_file(document).breakpoints
    assert found == (Breakpoint("f1", "before-shadow-250", 3, 60_000, 90_000),)
    for server in ("lyo-mbx1", "ext1"):
        document = rendered("transport_node", "config.json.j2", hosts_of(asked)[server])
        assert "Breakpoints" not in document


def test_nodes_with_a_defect_run_it_from_its_file_and_nobody_else_does() -> None:
    layout = layout_of()
    manager = replace(layout.plan.topology.servers[0], name="am1", role="active_manager")
    topology = replace(layout.plan.topology, servers=(*layout.plan.topology.servers, manager))
    broken = replace(layout, plan=replace(layout.plan, topology=topology), defect="eats-mail")
    commands = {name: host["command"] for name, host in hosts_of(broken).items() if "node" in host}
    config = inventory.CONFIG
    start = ["python3", "/etc/shadowlab/defect.pyz", "eats-mail"]
    assert commands == {
        **{name: [*start, "nodes.shell.runner", config] for name in MEMBERS},
        "am1": [*start, "nodes.shell.active_manager", config],
        "ext1": ["python3", "-m", "nodes.shell.external", config],
    }
    assert hosts_of(layout)["par-mbx1"]["command"] == ["python3", "-m", *commands["par-mbx1"][3:]]


def test_the_authority_is_asked_for_what_strangers_show() -> None:
    layout = layout_of()
    own = hosts_of(layout)["authority"]["certificates"]
    assert len(own) == len(layout.plan.topology.servers)
    callers = tuple(
        Stranger(f"s{number}", "other-server", 0, "par-mbx1", shown, (), None)
        for number, shown in enumerate(("par-mbx3", "par-mbx2", "par-mbx3"))
    )
    called = replace(layout, plan=replace(layout.plan, strangers=callers))
    asked = hosts_of(called)["authority"]["certificates"]
    assert asked == [*own, "--strangers", "par-mbx2", "par-mbx3"]
