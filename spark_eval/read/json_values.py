"""JSON of a record read strictly: one value and no more, no key twice, the types that its kind has.

`json` takes NaN and the last of two keys; what was damaged would be passed over as if it were not
there. A number where a text belongs is the text of it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache
from types import UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

Row = TypeVar("Row", bound=tuple[Any, ...])
Convert = Callable[[Any], Any]
_LEAST, _MOST = -(2**63), 2**63 - 1


class Malformed(ValueError):
    """Says what is wrong, and with what."""


def strict_json(text: str | bytes) -> Any:
    """Raises `Malformed`."""
    try:
        return _DECODER.decode(text if isinstance(text, str) else _decoded(text))
    except (ValueError, RecursionError) as error:
        raise Malformed(str(error)) from error


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise Malformed("a key stands there twice")
    return found


def _no_number(text: str) -> float:
    raise Malformed(f"{text} is no number of JSON")


def _decoded(text: bytes) -> str:
    return text.decode(json.detect_encoding(text), "surrogatepass")


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_no_number)


def row_of(kind: type[Row], value: Any) -> Row:
    """`value`, an object of JSON, as a row of `kind`, a NamedTuple whose fields are all None where
    a key is missing or null; other keys are passed over. Raises `Malformed`.
    """
    if type(value) is not dict:
        raise Malformed("no object")
    fields, found = _fields(kind), [None] * len(kind._fields)  # type: ignore[attr-defined]
    for key, given in value.items():
        if given is not None and key in fields:
            place, convert = fields[key]
            found[place] = convert(given)
    return kind._make(found)  # type: ignore[attr-defined, no-any-return]


@cache
def _fields(kind: type) -> dict[str, tuple[int, Convert]]:
    """By key: which field, and what makes its value."""
    hints = get_type_hints(kind)
    names: tuple[str, ...] = kind._fields  # type: ignore[attr-defined]
    return {name.rstrip("_"): (place, _converter(hints[name])) for place, name in enumerate(names)}


def _converter(hint: Any) -> Convert:
    if get_origin(hint) in (Union, UnionType):
        (hint,) = (each for each in get_args(hint) if each is not type(None))
    if hint in _PLAIN:
        return _PLAIN[hint]
    if get_origin(hint) is tuple:
        return _list_of(_converter(get_args(hint)[0]))
    if get_origin(hint) in (dict, Mapping):
        return _map_of(_converter(get_args(hint)[1]))
    return lambda value: row_of(hint, value)


def _list_of(convert: Convert) -> Convert:
    def of_list(value: Any) -> Any:
        if type(value) is not list:
            raise Malformed("no list")
        return tuple([None if each is None else convert(each) for each in value])

    return of_list


def _map_of(convert: Convert) -> Convert:
    def of_map(value: Any) -> Any:
        if type(value) is not dict:
            raise Malformed("no object")
        return {key: None if each is None else convert(each) for key, each in value.items()}

    return of_map


def _text(value: Any) -> str:
    if type(value) is str:
        return value
    if type(value) is bool:
        return "true" if value else "false"
    if type(value) in (int, float):
        return str(value)
    raise Malformed("no text")


def _integer(value: Any) -> int:
    if type(value) is int and _LEAST <= value <= _MOST:
        return value
    raise Malformed("no integer of 64 bits")


def _number(value: Any) -> float:
    if type(value) in (int, float):
        return float(value)
    raise Malformed("no number")


def _truth(value: Any) -> bool:
    if type(value) is bool:
        return value
    raise Malformed("neither true nor false")


def _anything(value: Any) -> Any:
    return value


_PLAIN: dict[Any, Convert] = {
    str: _text, int: _integer, float: _number, bool: _truth, Any: _anything
}  # fmt: skip
