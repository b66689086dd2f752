"""A scenario file with its random schedules written out: plain faults, and all else as it was.

Comments and layout stay. The result resolves to the same plan under the same seed, since messages
are drawn from the seed and the scenario's name alone.
"""

import io
from collections.abc import Mapping
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq

from lab.plan import place_of
from lab.random_faults import write_out
from lab.scenario import ScenarioModel
from lab.topology import TopologyModel, resolve_topology

WIDTH = 4096  # a fault is a line


def with_plain_faults(
    text: str, scenario: ScenarioModel, topology: TopologyModel, seed: int
) -> str:
    """The text of the file that `scenario` was read from, with what `seed` draws in place."""
    place = place_of(scenario, resolve_topology(topology))
    drawn = write_out(scenario.faults, place, seed)
    if all(written is None for written in drawn):
        return text
    yaml = YAML()
    yaml.width, yaml.preserve_quotes = WIDTH, True
    yaml.indent(mapping=2, sequence=4, offset=2)
    document = yaml.load(text)
    faults = document["faults"]
    for index in reversed(range(len(drawn))):
        written = drawn[index]
        if written is not None:
            del faults[index]
            for plain in reversed(written):
                faults.insert(index, _flow(plain))
    told = io.StringIO()
    yaml.dump(document, told)
    return f"# drawn with seed {seed}; --seed {seed} gives the same mail, too\n{told.getvalue()}"


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
