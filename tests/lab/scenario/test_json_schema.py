"""The JSON Schema says what the models say: sound files pass, each with words for a person."""

from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator  # type: ignore[import-untyped]
from ruamel.yaml import YAML

from lab.scenario.json_schema import schema, schema_text
from tests.lab.scenario.sample_scenario import SCENARIO, TOPOLOGY, changed

ROOT = Path(__file__).resolve().parents[3]


def load(text: str) -> Any:
    return YAML(typ="safe", pure=True).load(text)


def says(kind: Any, text: str) -> list[str]:
    return [error.message for error in Draft7Validator(schema(kind)).iter_errors(load(text))]


@pytest.mark.parametrize("kind", ["scenario", "topology"])
def test_a_schema_is_one(kind: Any) -> None:
    Draft7Validator.check_schema(schema(kind))


@pytest.mark.parametrize("kind", ["scenario", "topology"])
def test_an_editor_is_offered_no_default_that_a_file_could_not_hold(kind: Any) -> None:
    assert '"default"' not in schema_text(kind)


def test_sound_files_pass() -> None:
    assert says("scenario", SCENARIO) == []
    assert says("topology", TOPOLOGY) == []


@pytest.mark.parametrize(
    "path", sorted((ROOT / "scenarios").rglob("*.yaml")), ids=lambda path: path.stem
)
def test_the_files_that_come_with_the_lab_pass(path: Path) -> None:
    kind = "topology" if path.parent.name == "topologies" else "scenario"
    assert says(kind, path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("summary:", "sumary:"),
        ("settle: 10m", "settle: 10"),
        ("settle: 10m", "settle: ''"),
        ("rate: 10/m", "rate: 10 per m"),
        ("kind: stall", "kind: stal"),
        ("Frequency: 1m", "Frequency: 1"),
        ("lost: 0", "lost: -1"),
    ],
)
def test_what_validate_refuses_by_its_shape_the_schema_refuses(old: str, new: str) -> None:
    assert says("scenario", changed(SCENARIO, old, new)) != []


def test_a_topology_inside_a_scenario_is_looked_into() -> None:
    inside = TOPOLOGY.replace("role: mailbox", "role: postbox").splitlines()[2:]
    text = "\n".join(["topology:", *(f"  {line}" for line in inside), ""])
    assert says("scenario", changed(SCENARIO, "topology: pair\n", text)) != []


@pytest.mark.parametrize("kind", ["scenario", "topology"])
def test_every_key_is_described(kind: Any) -> None:
    whole = schema(kind)
    for model in [whole, *whole["$defs"].values()]:
        for name, key in model.get("properties", {}).items():
            assert key.get("description"), f"{model.get('title')}.{name}"
