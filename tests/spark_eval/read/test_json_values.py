from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from spark_eval.read.json_values import Malformed, row_of, strict_json


class Inner(NamedTuple):
    number: int | None


class Outer(NamedTuple):
    text: str | None
    number: int | None
    share: float | None
    truth: bool | None
    from_: str | None
    texts: tuple[str, ...] | None
    inner: Inner | None
    inners: tuple[Inner, ...] | None
    map: dict[str, dict[str, str]] | None


NOTHING = Outer(None, None, None, None, None, None, None, None, None)


@pytest.mark.parametrize(
    "text", ["{", "[1", '{"a": 1, "a": 2}', "NaN", '{"a": Infinity}', "{} {}", "[" * 100_000, ""]
)
def test_what_is_not_one_value_of_json_is_malformed(text: str) -> None:
    with pytest.raises(Malformed):
        strict_json(text)


def test_what_is_missing_or_null_is_none_and_other_keys_are_passed_over() -> None:
    assert row_of(Outer, {"text": None, "other": 1}) == NOTHING


def test_values_have_the_types_of_their_fields() -> None:
    value = {
        "text": "a", "number": 1, "share": 2, "truth": True, "from": "b", "texts": ["c", 1],
        "inner": {"number": 3}, "inners": [{"number": 4}], "map": {"d": {"e": 5}},
    }  # fmt: skip
    assert row_of(Outer, value) == Outer(
        "a", 1, 2.0, True, "b", ("c", "1"), Inner(3), (Inner(4),), {"d": {"e": "5"}}
    )


@pytest.mark.parametrize(
    "value",
    [
        [], "a", {"text": []}, {"number": True}, {"number": 1.0}, {"number": 2**63}, {"share": "1"},
        {"truth": 1}, {"texts": "a"}, {"inner": [1]}, {"inners": {}}, {"map": {"a": "b"}},
        {"inner": {"number": "1"}},
    ],
)  # fmt: skip
def test_a_value_of_another_type_is_malformed(value: Any) -> None:
    with pytest.raises(Malformed):
        row_of(Outer, value)
