"""Reading a document into a model: whatever stands in the file, mistakes come back and no error."""

import contextlib
import json
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from lab.scenario.scenario import ScenarioModel
from lab.validation.model_reader import read_model
from lab.validation.validate import check
from lab.validation.yaml_document import parse_document
from tests.lab.scenario.sample_scenario import SCENARIO, write

SOUND: dict[str, Any] = YAML(typ="safe", pure=True).load(SCENARIO)

words = st.sampled_from(["at", "for", "kill", "cut", "site lyon", "par-mbx1", "1m", "DB1", "x y"])
scalars = st.one_of(
    st.none(), st.booleans(), st.integers(-5, 5), st.floats(-1, 1), words, st.text(max_size=3)
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=6,
)


def places(data: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    found = [path]
    if isinstance(data, dict):
        for key, value in data.items():
            found += places(value, (*path, key))
    if isinstance(data, list):
        for index, value in enumerate(data):
            found += places(value, (*path, index))
    return found


def put(data: Any, path: tuple[str | int, ...], value: Any) -> None:
    """Set the value at that path, unless an earlier change took the way to it."""
    with contextlib.suppress(KeyError, IndexError, TypeError):
        for part in path[:-1]:
            data = data[part]
        data[path[-1]] = value


PLACES = [path for path in places(SOUND) if path]


@given(st.lists(st.tuples(st.sampled_from(PLACES), values), min_size=1, max_size=4))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_value_anywhere_ends_in_mistakes_or_in_a_scenario(
    tmp_path: Path, changes: list[tuple[tuple[str | int, ...], Any]]
) -> None:
    data = json.loads(json.dumps(SOUND))
    for path, value in changes:
        put(data, path, value)
    found = check([write(tmp_path, json.dumps(data))])
    assert bool(found.mistakes) != bool(found.scenarios)
    assert all(mistake.place.line >= 1 for mistake in found.mistakes)


def test_an_item_that_was_cut_leaves_the_others_their_places() -> None:
    text = """\
version: 1
scenario: x
summary: s
topology: t
workload:
  - nonsense
  - {mail: inbound, at: 1m, for: 1m, rate: 1/m}
"""
    read = read_model(ScenarioModel, parse_document("x", text.encode()))
    assert read.model is not None
    assert len(read.model.workload) == 1
    assert read.trail("workload", 0, "mail") == ("workload", 1, "mail")
    assert not read.whole


def test_a_model_of_nothing_wrong_is_whole() -> None:
    read = read_model(ScenarioModel, parse_document("x", SCENARIO.encode()))
    assert read.whole
    assert read.mistakes == []
