"""A plan as a person reads it in a terminal: the timeline, link by link, and what it will take.

Shows what `plan.json` holds and adds nothing to it but how faults were drawn; what differs from
Exchange's defaults is shown, what does not is not.
"""

from collections import Counter
from collections.abc import Sequence
from typing import get_args

from rich.console import Console
from rich.table import Table
from rich.text import Text

from lab.plan.parts import MailKind
from lab.plan.plan import Plan
from lab.planning.moments import moments, wall_seconds
from nodes.core.config.parameters import PARAMETERS, Value, format_value
from nodes.core.config.units import format_timespan


def show(plan: Plan, console: Console, drawn: Sequence[str] = ()) -> None:
    """Print the plan; `drawn` says how its random schedules were."""
    console.print(Text(plan.scenario, style="bold"), Text(f"seed {plan.seed}", style="dim"))
    console.print(Text(plan.summary))
    if plan.proves:
        console.print(Text("proves " + ", ".join(plan.proves), style="dim"))
    console.print()
    console.print(_topology(plan), highlight=False)
    console.print(_mail(plan), highlight=False)
    for line in [*_strangers(plan), *_settings(plan), *drawn]:
        console.print(Text(line))
    console.print()
    console.print(timeline_table(plan))
    console.print()
    console.print(Text(length(plan)))


def timeline_table(plan: Plan) -> Table:
    """Every moment with its lab time and wall time; the links of a cut below it."""
    table = Table(box=None, pad_edge=False)
    table.add_column("lab time", justify="right")
    table.add_column("wall time", justify="right")
    table.add_column("what", overflow="fold")
    for moment in moments(plan):
        wall = f"{moment.at_ms / 1000 / plan.clock.speed:.1f} s"
        table.add_row(format_timespan(moment.at_ms), wall, Text(moment.what))
        for link in moment.links:
            table.add_row("", "", Text(f"  {link.source} -> {link.target} ({link.service})"))
    return table


def length(plan: Plan) -> str:
    """How long the run is, in lab time and in wall time."""
    lab_time = format_timespan(plan.duration_ms)
    return (
        f"{lab_time} of lab time at speed {plan.clock.speed:g}: the timeline takes "
        f"{wall_seconds(plan):.0f} s, setting up and evaluating come on top"
    )


def _topology(plan: Plan) -> Text:
    sites: dict[str, list[str]] = {site.name: [] for site in plan.topology.sites}
    for server in plan.topology.servers:
        sites[server.site].append(server.name)
    places = "; ".join(f"{site}: {', '.join(names)}" for site, names in sites.items())
    return Text(f"{plan.topology.name}: {places}; {len(plan.links)} links")


def _mail(plan: Plan) -> Text:
    kinds = Counter(message.mail for message in plan.messages)
    each = ", ".join(f"{kinds[kind]} {kind}" for kind in get_args(MailKind) if kinds[kind])
    copies = sum(len(message.recipients) for message in plan.messages)
    return Text(f"{len(plan.messages)} messages ({each}) to {copies} recipients")


def _strangers(plan: Plan) -> list[str]:
    """How many of each kind, where there are any."""
    kinds = Counter(stranger.kind for stranger in plan.strangers)
    each = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
    return [f"{len(plan.strangers)} strangers ({each})"] if each else []


def _settings(plan: Plan) -> list[str]:
    """The settings that differ from their defaults; what mailbox servers share is said once."""
    found = [
        _setting("TransportConfig", name, value)
        for name, value in plan.settings.TransportConfig.items()
        if value != PARAMETERS["TransportConfig"][name].default
    ]
    holders: dict[str, list[str]] = {}
    for server, sections in plan.settings.servers.items():
        for section, values in sections.items():
            for name, value in values.items():
                if value != PARAMETERS[section][name].default:
                    holders.setdefault(_setting(section, name, value), []).append(server)
    mailbox_servers = [s.name for s in plan.topology.servers if s.role == "mailbox"]
    for line, servers in holders.items():
        shared = servers == mailbox_servers
        found.append(line if shared else f"{line} on {', '.join(servers)}")
    return found


def _setting(section: str, name: str, value: Value) -> str:
    return f"{section}.{name} {format_value(PARAMETERS[section][name], value)}"
