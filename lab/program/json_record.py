"""Frozen dataclasses as JSON and back, by their type hints alone.

Field names are the JSON names, but for `source` and `target`, which are `from` and `to` in a
record (`from` is a word of Python's own). Reading is strict: a key too many, a key missing that
has no default or a value of another type is a ValueError that names the place.
"""

import json
import types
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from lab.program.given_json import parse_json

T = TypeVar("T")

_JSON_NAMES = {"source": "from", "target": "to"}
LEFT_OUT_IF_EMPTY = {"left_out_if_empty": True}
"""Metadata of a field with a default: where it is empty, the record does not name it."""


def encode(value: Any) -> Any:
    """Plain JSON values for a dataclass, tuple, mapping or scalar, in the order of its fields."""
    if is_dataclass(value) and not isinstance(value, type):
        return {
            _JSON_NAMES.get(item.name, item.name): encode(getattr(value, item.name))
            for item in fields(value)
            if getattr(value, item.name) or not item.metadata.get("left_out_if_empty")
        }
    if isinstance(value, Mapping):
        return {key: encode(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [encode(item) for item in value]
    return value


def to_text(value: Any) -> str:
    """The JSON text of a record, the same bytes for the same value."""
    return json.dumps(encode(value), ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def to_line(value: Any) -> str:
    """The same in one line."""
    return json.dumps(encode(value), ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def from_text(kind: type[T], text: str) -> T:
    """Read the JSON text of a record of that kind. Raises ValueError."""
    found: T = decode(kind, parse_json(text), kind.__name__)
    return found


def decode(kind: Any, raw: Any, place: str) -> Any:
    """Build a value of the type hint `kind` from plain JSON. Raises ValueError with the place."""
    origin, arguments = get_origin(kind), get_args(kind)
    if is_dataclass(kind):
        return _decode_dataclass(kind, raw, place)
    if origin in (Union, types.UnionType):
        return _decode_union(arguments, raw, place)
    if origin is tuple:
        return _decode_tuple(arguments, raw, place)
    if origin is Literal:
        return _checked(raw in arguments, raw, place, " or ".join(map(repr, arguments)))
    if origin is not None and issubclass(origin, Mapping):
        _checked(isinstance(raw, dict), raw, place, "an object")
        return {key: decode(arguments[1], item, f"{place}.{key}") for key, item in raw.items()}
    if kind is float:
        _checked(type(raw) in (int, float), raw, place, "a number")
        return float(raw)
    exact = type(raw) is kind or (kind is type(None) and raw is None)
    return _checked(exact, raw, place, getattr(kind, "__name__", str(kind)))


def _decode_dataclass(kind: Any, raw: Any, place: str) -> Any:
    _checked(isinstance(raw, dict), raw, place, "an object")
    hints = _hints(kind)
    names = {_JSON_NAMES.get(item.name, item.name): item.name for item in fields(kind)}
    needed = {
        _JSON_NAMES.get(item.name, item.name) for item in fields(kind) if item.default is MISSING
    }
    fits = needed <= set(raw) <= set(names)
    _checked(fits, sorted(raw), place, f"an object with {sorted(names)}")
    return kind(
        **{
            name: decode(hints[name], raw[json_name], f"{place}.{json_name}")
            for json_name, name in names.items()
            if json_name in raw
        }
    )


def _decode_union(choices: tuple[Any, ...], raw: Any, place: str) -> Any:
    """An object says by its `kind` which it is, where they have one; else the first that fits."""
    kinds = {
        kind: each
        for each in choices
        if isinstance(each, type) and is_dataclass(each)
        for kind in get_args(_hints(each).get("kind"))
    }
    if kinds and isinstance(raw, dict):
        kind, wanted = raw.get("kind"), " or ".join(map(repr, kinds))
        return decode(
            kinds[_checked(kind in tuple(kinds), kind, f"{place}.kind", wanted)], raw, place
        )
    reasons = []
    for choice in choices:
        try:
            return decode(choice, raw, place)
        except ValueError as error:
            reasons.append(str(error))
    raise ValueError("; ".join(reasons))


def _decode_tuple(arguments: tuple[Any, ...], raw: Any, place: str) -> tuple[Any, ...]:
    _checked(isinstance(raw, list), raw, place, "a list")
    kinds = [arguments[0]] * len(raw) if arguments[-1] is Ellipsis else list(arguments)
    _checked(len(kinds) == len(raw), raw, place, f"a list of {len(kinds)}")
    return tuple(decode(kinds[at], item, f"{place}[{at}]") for at, item in enumerate(raw))


def _checked(holds: bool, raw: Any, place: str, wanted: str) -> Any:
    if not holds:
        raise ValueError(f"{place} is {str(raw)[:80]!r}, wanted {wanted}")
    return raw


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind)
