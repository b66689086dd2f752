"""The JSON Schema of scenario and topology files, for editors to complete from.

It comes from the models that read the files, so it cannot say anything else than they do.
"""

import json
from typing import Any, Literal

from lab.scenario import ScenarioModel
from lab.topology import TopologyModel

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schema(kind: Literal["scenario", "topology"]) -> dict[str, Any]:
    """The schema of that kind of file; a scenario's holds the topology's for the inline form."""
    topology = TopologyModel.model_json_schema()
    if kind == "topology":
        topology["required"] = ["version", "topology", *topology["required"]]
        return {"$schema": DIALECT, **topology}
    scenario = ScenarioModel.model_json_schema()
    definitions = topology.pop("$defs")
    either = [{"type": "string"}, {"$ref": "#/$defs/TopologyModel"}]
    scenario["properties"]["topology"]["anyOf"] = either
    scenario["$defs"] = {**scenario["$defs"], **definitions, "TopologyModel": topology}
    return {"$schema": DIALECT, **scenario}


def schema_text(kind: Literal["scenario", "topology"]) -> str:
    """The schema as a file holds it."""
    return json.dumps(schema(kind), indent=2, ensure_ascii=False) + "\n"
