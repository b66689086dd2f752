"""What a sweep could meet: kinds of fault, and the parts of what is drawn as settings.

A plan says what was drawn and not among what, so the evaluation is given this beside it.
"""

from collections.abc import Iterator
from typing import Any

from lab.planning.random_settings import Key, drawn_parts, drawn_values
from lab.scenario.faults import FaultModel
from lab.scenario.random_faults import WAYS
from lab.scenario.scenario import ScenarioModel
from lab.scenario.topology import TopologyModel
from nodes.core.config.parameters import BACKGROUND_CLEANUP, TRACK_DUPLICATES, Value

# field of a topology's database, and of a plan's
OF_DATABASES = {
    TRACK_DUPLICATES.name: ("track_duplicates_ms", "duplicate_detection_window_ms"),
    BACKGROUND_CLEANUP.name: ("background_cleanup_ms", "background_cleanup_ms"),
}


def settings_asked(scenario: ScenarioModel, topology: TopologyModel) -> dict[str, Any]:
    """By parameter: `path` of its value in a plan, and `parts` with `name`, `low` and `high`."""
    return {
        ".".join(key): {
            "path": _path(key, scenario, topology),
            "parts": [
                {"name": each.name, "low": _as_text(each.low), "high": _as_text(each.high)}
                for each in parts
            ],
        }
        for key, parts in drawn_parts(scenario.settings).items()
    }


def value_parts(scenario: ScenarioModel, seed: int) -> list[str]:
    """`TransportConfig.SafetyNetHoldTime 8m`: in which part each value lies that the seed draws."""
    values, found = drawn_values(scenario.settings, seed), []
    for key, parts in drawn_parts(scenario.settings).items():
        part = next(each.name for each in parts if each.holds(values[key]))
        found.append(f"{'.'.join(key)} {part}")
    return found


def kinds_asked(scenario: ScenarioModel, topology: TopologyModel) -> list[str]:
    """Kinds of fault, as coverage calls them; a database with a second copy may fail over."""
    kinds = {kind for fault in scenario.faults for kind in _kinds(fault)}
    if any(len(each.copies) > 1 for each in topology.databases.values()):
        kinds.add("failover")
    return sorted(kinds)


def _kinds(fault: FaultModel) -> Iterator[str]:
    if fault.random is None:
        own = fault.links.own() if fault.links else {}
        way = own.get("cut_kind", own.get("direction"))
        yield f"{fault.kind}-{way}" if way else fault.kind
        return
    for word in fault.random.faults:
        kind = "cut" if word == "split" else word
        yield from [f"{kind}-{way}" for way in WAYS.get(kind, ())] or [kind]


def _path(key: Key, scenario: ScenarioModel, topology: TopologyModel) -> str:
    """Of a server or database that has no value of its own, if there is one."""
    section, name = key
    if section == "TransportConfig":
        return f"$.settings.TransportConfig.{name}"
    if section == TRACK_DUPLICATES.section:
        given, planned = OF_DATABASES[name]
        own = [getattr(each, given) is not None for each in topology.databases.values()]
        at = own.index(False) if False in own else 0
        return f"$.topology.databases[{at}].{planned}"
    servers = [each for each, server in topology.servers.items() if server.role == "mailbox"]
    settings: Any = scenario.settings
    common = [each for each in servers if each not in settings.servers]
    return f"$.settings.servers['{(common or servers)[0]}'].{section}.{name}"


def _as_text(value: Value) -> int | str:
    """As JSON has it, which does not distinguish a number from a text here."""
    return str(value).lower() if isinstance(value, bool) else value
