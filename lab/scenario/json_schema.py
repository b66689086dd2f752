"""The JSON Schema of scenario and topology files, for editors to complete from.

It comes from the models that read the files, so it cannot say anything else than they do.
"""

import json
from typing import Any, Literal

from lab.scenario.scenario import ScenarioModel
from lab.scenario.topology import TopologyModel

# the newest that every editor's YAML service reads; nothing of a later one is used
DIALECT = "http://json-schema.org/draft-07/schema#"


def schema(kind: Literal["scenario", "topology"]) -> dict[str, Any]:
    """The schema of that kind of file; a scenario's holds the topology's for the inline form."""
    topology = TopologyModel.model_json_schema()
    if kind == "topology":
        topology["required"] = ["version", "topology", *topology["required"]]
        return {"$schema": DIALECT, **_without_defaults(topology)}
    scenario = ScenarioModel.model_json_schema()
    definitions = topology.pop("$defs")
    either = [{"type": "string"}, {"$ref": "#/$defs/TopologyModel"}]
    scenario["properties"]["topology"]["anyOf"] = either
    scenario["$defs"] = {**scenario["$defs"], **definitions, "TopologyModel": topology}
    return {"$schema": DIALECT, **_without_defaults(scenario)}


def _without_defaults(part: Any) -> Any:
    """Defaults are values as read, in milliseconds; an editor would write them into a file."""
    if isinstance(part, list):
        return [_without_defaults(each) for each in part]
    if not isinstance(part, dict):
        return part
    return {
        key: {name: _without_defaults(each) for name, each in value.items()}
        if key in ("properties", "patternProperties", "$defs")
        else _without_defaults(value)
        for key, value in part.items()
        if key != "default"
    }


def schema_text(kind: Literal["scenario", "topology"]) -> str:
    """The schema as a file holds it."""
    return json.dumps(schema(kind), indent=2, ensure_ascii=False) + "\n"
