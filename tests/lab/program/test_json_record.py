"""Records as JSON: strict in both directions."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import pytest

from lab.program.json_record import LEFT_OUT_IF_EMPTY, decode, encode, from_text, to_text


@dataclass(frozen=True, slots=True)
class Way:
    source: str
    target: str | None
    lengths: tuple[int, ...] = ()
    pair: tuple[int, str] = (1, "x")
    kind: Literal["in", "out"] = "in"
    speed: float = 1.0
    more: Mapping[str, int] | None = None


def test_source_and_target_are_from_and_to() -> None:
    assert list(encode(Way("a", "b")))[:2] == ["from", "to"]


def test_a_record_that_is_written_is_read_back() -> None:
    way = Way("à", None, (1, 2), (3, "y"), "out", 2.5, {"k": 1})
    assert from_text(Way, to_text(way)) == way


@dataclass(frozen=True, slots=True)
class Stop:
    name: str
    lines: tuple[str, ...] = field(default=(), metadata=LEFT_OUT_IF_EMPTY)


@pytest.mark.parametrize(
    ("stop", "names"), [(Stop("a"), ["name"]), (Stop("a", ("7",)), ["name", "lines"])]
)
def test_what_is_left_out_where_it_is_empty_is_read_back(stop: Stop, names: list[str]) -> None:
    assert list(encode(stop)) == names
    assert from_text(Stop, to_text(stop)) == stop


def test_a_whole_number_is_a_number() -> None:
    assert from_text(Way, to_text(Way("a", "b")).replace("1.0", "3")).speed == 3.0


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"from": 1}, "Way.from is '1', wanted str"),
        ({"lengths": ["1"]}, r"Way.lengths\[0\]"),
        ({"lengths": 1}, "Way.lengths is '1', wanted a list"),
        ({"pair": [1]}, "wanted a list of 2"),
        ({"kind": "up"}, "wanted 'in' or 'out'"),
        ({"speed": "fast"}, "wanted a number"),
        ({"speed": True}, "wanted a number"),
        ({"more": {"k": True}}, "Way.more.k"),
        ({"extra": 1}, "wanted an object with"),
    ],
)
def test_anything_else_is_refused_with_its_place(change: dict[str, object], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        decode(Way, encode(Way("a", "b")) | change, "Way")
