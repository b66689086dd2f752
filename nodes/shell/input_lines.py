"""Inputs of the core as JSON lines, both ways: `{"now_ms": …, "input": "<type>", …fields}`."""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass
from enum import Enum
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from nodes.core import inputs

_TYPES = {kind.__name__: kind for kind in get_args(inputs.Input)}


def encode(happened: inputs.Input, now_ms: int) -> str:
    """One line, without its newline."""
    line = {"now_ms": now_ms, "input": type(happened).__name__} | _plain(happened)
    return json.dumps(line, separators=(",", ":"))


def decode(line: str) -> tuple[int, inputs.Input]:
    """(lab time in epoch ms, input) of a line; raises ValueError, KeyError or TypeError."""
    document = json.loads(line)
    now_ms, kind = document.pop("now_ms"), _TYPES[document.pop("input")]
    happened: inputs.Input = _rich(kind, document)
    return now_ms, happened


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    return value.value if isinstance(value, Enum) else value


def _rich(kind: Any, value: Any) -> Any:
    if value is None:
        return None
    if get_origin(kind) in (Union, UnionType):
        return _rich(next(part for part in get_args(kind) if part is not type(None)), value)
    if is_dataclass(kind):
        hints = get_type_hints(kind)
        return kind(**{name: _rich(hints[name], part) for name, part in value.items()})  # type: ignore[operator]
    if get_origin(kind) is tuple:
        return _rich_tuple(get_args(kind), value)
    return kind(value)


def _rich_tuple(parts: tuple[Any, ...], value: list[Any]) -> tuple[Any, ...]:
    if len(parts) == 2 and parts[1] is Ellipsis:
        return tuple(_rich(parts[0], item) for item in value)
    return tuple(_rich(part, item) for part, item in zip(parts, value, strict=True))
