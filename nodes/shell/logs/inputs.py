"""Inputs of the core as plain JSON, and back: what a node heard is written down, and can be
replayed.

`{"input": "RecipientOffered", "session": "in-3", "address": "…"}`: the name of the class and its
fields. Dataclasses inside are objects, tuples are lists, enum members their values. Bodies are
handles, never bytes. The types of the fields in `nodes.core.interface.inputs` are the schema. What
follows from other fields is neither compared nor written down: it is read out of them again.
"""

from __future__ import annotations

import json
import types
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from typing import Any, TypeAlias, Union, cast, get_args, get_origin, get_type_hints

from nodes.core.interface.inputs import Input, TransmissionAnswered
from nodes.shell.verbs.replication import understood

Json: TypeAlias = Mapping[str, Any]
Decoder: TypeAlias = Callable[[Any], Any]

INPUTS: Mapping[str, type] = {kind.__name__: kind for kind in get_args(Input)}


def to_text(happened: Input, **before: int) -> str:
    """One line of JSON without its newline; `before` comes first, such as the time."""
    document = {**before, "input": type(happened).__name__, **_as_object(happened)}
    return json.dumps(document, default=_as_object, separators=(",", ":"))


def from_json(document: Json) -> Input:
    """The input of a parsed line; other keys, such as the time, are passed over.

    Raises KeyError, TypeError, ValueError for what no node wrote.
    """
    happened = cast("Input", _decoder(INPUTS[document["input"]])(document))
    return understood(happened) if isinstance(happened, TransmissionAnswered) else happened


def _as_object(value: Any) -> Any:
    if isinstance(value, Enum):
        return value.value
    return {name: getattr(value, name) for name in _names(value.__class__)}


@cache
def _names(kind: Any) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind) if field.compare)


@cache
def _decoder(hint: Any) -> Decoder:
    if isinstance(hint, type) and is_dataclass(hint):
        return _dataclass_decoder(hint)
    if isinstance(hint, type) and issubclass(hint, Enum):
        return hint
    if get_origin(hint) is tuple:
        return _tuple_decoder(get_args(hint))
    if get_origin(hint) in (Union, types.UnionType):
        return _optional_decoder(get_args(hint))
    if hint in (bool, float, int, str):
        return _scalar_decoder(hint)
    return lambda value: value


def _scalar_decoder(kind: type) -> Decoder:
    kinds = (int, float) if kind is float else (kind,)

    def decode(value: Any) -> Any:
        if type(value) not in kinds:
            raise TypeError(f"{str(value)[:80]!r} is no {kind.__name__}")
        return value

    return decode


def _dataclass_decoder(kind: type) -> Decoder:
    hints = get_type_hints(kind)
    decoders = {name: _decoder(hints[name]) for name in _names(kind)}
    return lambda document: kind(**{n: decode(document[n]) for n, decode in decoders.items()})


def _tuple_decoder(items: tuple[Any, ...]) -> Decoder:
    if items[-1] is Ellipsis:
        every = _decoder(items[0])
        return lambda values: tuple(map(every, _list(values)))
    each = [_decoder(item) for item in items]
    return lambda values: tuple(decode(v) for decode, v in zip(each, _list(values), strict=True))


def _list(values: Any) -> list[Any]:
    if not isinstance(values, list):
        raise TypeError(f"{str(values)[:80]!r} is no list")
    return values


def _optional_decoder(choices: tuple[Any, ...]) -> Decoder:
    (inner,) = (choice for choice in choices if choice is not type(None))
    decode = _decoder(inner)
    return lambda value: None if value is None else decode(value)
