"""A plan to provision: two sites, one DAG of six mailbox servers, one external server, no faults;
and one with two of the servers, for what needs no more.

Put together by hand from the plan's own parts, so that these tests need no scenario file.
"""

from lab.plan.links import mesh
from lab.plan.parts import Clock, Expect, Message, Settings
from lab.plan.plan import Plan
from lab.plan.topology import (
    Dag,
    Database,
    DatabaseCopy,
    Mailbox,
    PlanTopology,
    Server,
    Site,
    SiteLink,
)
from nodes.core.config.parameters import SERVER_SECTIONS, Value, defaults

DOMAIN = "shadowlab.example"
MEMBERS = ("par-mbx1", "par-mbx2", "par-mbx3", "lyo-mbx1", "lyo-mbx2", "lyo-mbx3")
SITES = {"par": "paris", "lyo": "lyon"}


def six_servers(**transport_config: Value) -> Plan:
    """The plan, with some parameters of TransportConfig changed."""
    return _plan(MEMBERS, transport_config)


def two_servers() -> Plan:
    """Of Paris: the one that is given the message, and the one with the mailbox."""
    return _plan(MEMBERS[:2], {})


def _plan(members: tuple[str, ...], transport_config: dict[str, Value]) -> Plan:
    topology = _topology(members)
    return Plan(
        version=1,
        scenario="six-servers",
        summary="six mailbox servers in two sites stand and answer",
        proves=(),
        tags=(),
        seed=7,
        seed_from="argument",
        clock=Clock("2026-01-05T08:00:00Z", 60.0),
        duration_ms=60_000,
        workload_end_ms=60_000,
        last_heal_ms=None,
        settle_ms=0,
        topology=topology,
        settings=_settings(members, transport_config),
        links=mesh(topology),
        messages=(_message(),),
        faults=(),
        operations=(),
        expect=Expect(None, None, None, "pass"),
    )


def _topology(members: tuple[str, ...]) -> PlanTopology:
    servers = [
        Server(name, f"{name}.{DOMAIN}", "mailbox", SITES[name[:3]], "DAG1", None)
        for name in members
    ]
    outside = Server("ext1", f"ext1.{DOMAIN}", "external", "internet", None, "partner.example")
    sites = (Site("paris", False), Site("lyon", False), Site("internet", True))
    return PlanTopology(
        name="two-site-dag",
        accepted_domain=DOMAIN,
        sites=sites,
        site_links=(SiteLink(("paris", "lyon"), 10),),
        servers=(*servers, outside),
        dags=(Dag("DAG1", members),),
        databases=(Database("DB1", (DatabaseCopy("par-mbx2", 1, 0),)),),
        mailboxes=(Mailbox(f"db1-user01@{DOMAIN}", "DB1"),),
    )


def _settings(members: tuple[str, ...], transport_config: dict[str, Value]) -> Settings:
    own = {section: defaults(section) for section in SERVER_SECTIONS}
    return Settings(
        TransportConfig=defaults("TransportConfig") | transport_config,
        servers=dict.fromkeys((*members, "ext1"), own),
    )


def _message() -> Message:
    return Message(
        message_id="<m000001.six-servers.7@partner.example>",
        at_ms=1_000,
        mail="inbound",
        sender="sender01@partner.example",
        recipients=(f"db1-user01@{DOMAIN}",),
        via=("par-mbx1",),
        size_bytes=600,
        retry_ms=60_000,
    )
