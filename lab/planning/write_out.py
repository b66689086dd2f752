"""A scenario file with all that is random written out: plain settings and faults, else as it was.

Comments and layout stay. The result resolves to the same plan under the same seed, since messages
are drawn from the seed and the scenario's name alone.
"""

import io
from collections.abc import Mapping, Sequence
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq

from lab.plan.topology import PlanTopology
from lab.planning.random_fault import Written
from lab.planning.random_schedule import write_out
from lab.planning.random_settings import Drawn, drawn_values, with_drawn_settings
from lab.planning.repeated_faults import spread, written_apart
from lab.planning.resolve import schedule_context
from lab.scenario.scenario import ScenarioModel
from lab.scenario.topology import TopologyModel, resolve_topology
from nodes.core.config.parameters import find, format_value

WIDTH = 4096  # a fault is a line


def with_plain_faults(
    text: str,
    scenario: ScenarioModel,
    topology: TopologyModel,
    seed: int,
    *,
    apart: bool = False,
) -> str:
    """The text of the file that `scenario` was read from, with what `seed` draws in place.

    With `apart`, an entry that repeats, or concerns several servers, is written out too.
    """
    settings = drawn_values(scenario.settings, seed)
    context = schedule_context(with_drawn_settings(scenario, seed), resolve_topology(topology))
    drawn = write_out(scenario.faults, context, seed)
    if apart:
        drawn = _apart(text, scenario, context.topology, drawn)
    if not settings and all(written is None for written in drawn):
        return text
    yaml = YAML()
    yaml.width, yaml.preserve_quotes = WIDTH, True
    yaml.indent(mapping=2, sequence=4, offset=2)
    document = yaml.load(text)
    if settings:
        _write_settings(document["settings"], settings)
    faults = document.get("faults", [])
    for index in reversed(range(len(drawn))):
        written = drawn[index]
        if written is not None:
            del faults[index]
            for plain in reversed(written):
                faults.insert(index, _flow(plain))
    told = io.StringIO()
    yaml.dump(document, told)
    return f"# drawn with seed {seed}; --seed {seed} gives the same mail, too\n{told.getvalue()}"


def _write_settings(document: CommentedMap, drawn: Drawn) -> None:
    """In place of what is random."""
    del document["random"]
    for (section, name), value in drawn.items():
        shown = format_value(find(section, name), value)
        document.setdefault(section, CommentedMap())[name] = shown


def _apart(
    text: str,
    scenario: ScenarioModel,
    topology: PlanTopology,
    drawn: Sequence[Sequence[Written] | None],
) -> list[Sequence[Written] | None]:
    """What was drawn, and for each other entry that stands for several what it stands for."""
    entries = YAML(typ="safe").load(text).get("faults") or []
    return [
        written_apart(entry, fault, topology)
        if written is None and spread(fault, topology) != [fault]
        else written
        for entry, fault, written in zip(entries, scenario.faults, drawn, strict=True)
    ]


def _flow(value: Any) -> Any:
    """On one line, as people write faults."""
    if isinstance(value, Mapping):
        found = CommentedMap({key: _flow(item) for key, item in value.items()})
        found.fa.set_flow_style()
        return found
    if isinstance(value, list):
        items = CommentedSeq([_flow(item) for item in value])
        items.fa.set_flow_style()
        return items
    return value
