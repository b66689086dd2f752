"""Who sends what to whom, and who calls without the right to."""

from __future__ import annotations

from typing import get_args

from lab.plan.parts import StrangerKind
from tests.lab.drawn_scenarios.chance import Chance, Section, without_empty
from tests.lab.drawn_scenarios.organisation import Organisation

SIZES = ("256B", "1KiB", "4KiB", "64KiB", "300KiB")


def draw_mail(chance: Chance, organisation: Organisation) -> Section:
    """One stream."""
    is_inbound = chance.happens(0.7)
    drawn: Section = {
        "mail": "inbound" if is_inbound else "outbound",
        "at": chance.one("10s", "1m", "5m", "30m"),
        "for": chance.one("5m", "20m", "40m"),
        "rate": chance.one("30/h", "1/m", "2/m"),
        "size": chance.one(*SIZES),
        "retry": chance.one("30s", "2m", "5m"),
    }
    if chance.happens(0.4):
        drawn["via"] = chance.sample(organisation.servers, chance.one(1, 1, 2))
    databases = chance.several(list(organisation.databases))
    most = min(sum(organisation.mailboxes[each] for each in databases), chance.one(1, 2, 4, 8, 40))
    if is_inbound:
        return drawn | {"to": {"database": databases}, "recipients": f"1..{most}"}
    if chance.happens(0.3):
        drawn["from"] = {"database": chance.several(list(organisation.databases))}
    to = {"domain": chance.several(organisation.domains)}
    if chance.happens(0.5):
        to, drawn["recipients"] = to | {"database": databases}, f"1..{most}"
    return drawn | {"to": to}


def draw_strangers(chance: Chance, organisation: Organisation) -> Section:
    """One stream of strangers."""
    drawn = {
        "who": chance.several(get_args(StrangerKind)),
        "at": f"{chance.between(1, 20)}m",
        "for": chance.one("5m", "20m"),
        "rate": chance.one("30/h", "1/m"),
        "to": chance.several(organisation.servers) if chance.happens(0.3) else [],
    }
    return without_empty(drawn)
