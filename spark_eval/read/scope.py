"""What plans may hold: nothing is spent on what none of them does.

Asked twice, of a folder by the driver before there is a session, and of many plans in SQL; both say
the same. A plan of another shape may hold anything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True, slots=True)
class Scope:
    """`may_resubmit`: something makes somebody ask a Safety Net. `may_cross`: there is more than
    one boundary. `has_strangers`: somebody calls. `may_delay`: mail can wait for
    DelayNotificationTimeout before the run is over. `may_choose`: a mailbox database has more than
    one copy that could be mounted next.
    """

    may_resubmit: bool = True
    may_cross: bool = True
    has_strangers: bool = True
    may_delay: bool = True
    may_choose: bool = True


ANYTHING = Scope()
NAMES = tuple(each.name for each in fields(Scope))


def together(scopes: Sequence[Scope]) -> Scope:
    """What one of them may hold."""
    return Scope(*(any(getattr(each, name) for each in scopes) for name in NAMES))


def scope_of(plan: Mapping[str, Any]) -> Scope:
    """Of plan.json."""
    asked = (_resubmits, _crosses, _has_strangers, _delays, _has_a_choice)
    return Scope(*(_may(each, plan) for each in asked))


def _may(asked: Callable[[Mapping[str, Any]], bool], plan: Mapping[str, Any]) -> bool:
    try:
        return asked(plan)
    except (AttributeError, KeyError, TypeError, ValueError):
        return True


def _resubmits(plan: Mapping[str, Any]) -> bool:
    several = _most_copies(plan) > 1
    expected = (plan.get("expect") or {}).get("resubmissions")
    return several or bool(plan.get("operations")) or expected is not None


def _crosses(plan: Mapping[str, Any]) -> bool:
    servers = [each for each in plan["topology"]["servers"] if each["role"] == "mailbox"]
    return len({(each["dag"], None if each["dag"] else each["site"]) for each in servers}) > 1


def _has_strangers(plan: Mapping[str, Any]) -> bool:
    return bool(plan.get("strangers"))


def _delays(plan: Mapping[str, Any]) -> bool:
    services = [each["TransportService"] for each in plan["settings"]["servers"].values()]
    least_ms = min(int(each["DelayNotificationTimeout"]) for each in services)
    return least_ms < int(plan["duration_ms"])


def _has_a_choice(plan: Mapping[str, Any]) -> bool:
    return _most_copies(plan) > 2


def _most_copies(plan: Mapping[str, Any]) -> int:
    return max((len(each["copies"]) for each in plan["topology"]["databases"]), default=0)


_DELAYS_MS = (
    "transform(map_values(plan.settings.servers), s -> try_cast(try_element_at("
    "try_element_at(s, 'TransportService'), 'DelayNotificationTimeout') AS BIGINT))"
)
# in the order of NAMES
_IN_SQL = (
    "(coalesce(exists(plan.topology.databases, d -> size(d.copies) > 1), false) "
    "OR coalesce(size(plan.operations) > 0, false) "
    "OR plan.expect.resubmissions IS NOT NULL)",
    # mailbox servers in more than one DAG, or site without a DAG (TP-3)
    "coalesce(size(array_distinct(transform(filter(plan.topology.servers, s -> s.role = "
    "'mailbox'), s -> coalesce(concat('dag:', s.dag), concat('site:', s.site))))) > 1, false)",
    "coalesce(size(plan.strangers) > 0, false)",
    f"coalesce(array_min({_DELAYS_MS}) < plan.duration_ms, true)",
    "coalesce(exists(plan.topology.databases, d -> size(d.copies) > 2), true)",
)
COLUMNS = tuple(f"{sql} AS {name}" for name, sql in zip(NAMES, _IN_SQL, strict=True))
