"""What a node configuration file's JSON may hold, read out of it key by key. Each function raises
ConfigurationError, which names the key, the value and the rule.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from nodes.core.config.error import ConfigurationError

Json: TypeAlias = Mapping[str, object]


def objects(document: Json, key: str) -> list[Json]:
    entries = document.get(key)
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise ConfigurationError(f"{key}: must be a list of objects", "")
    return entries


def objects_if_any(document: Json, key: str) -> list[Json]:
    """None where nothing is said."""
    return objects(document, key) if key in document else []


def choice(document: Json, key: str, choices: tuple[str, ...]) -> str:
    """The first of the choices where nothing is said."""
    value = document.get(key, choices[0])
    if value not in choices:
        raise ConfigurationError(f"{key}: {value!r}: must be one of {', '.join(choices)}", "")
    return str(value)


def text(document: Json, key: str) -> str:
    value = document.get(key)
    if not isinstance(value, str) or not value:
        raise ConfigurationError(f"{key}: {value!r}: must be a text that is not empty", "")
    return value


def text_if_any(document: Json, key: str) -> str | None:
    return None if document.get(key) is None else text(document, key)


def texts(document: Json, key: str) -> tuple[str, ...]:
    """In order; there may be none."""
    values = document.get(key)
    if not isinstance(values, list) or not all(isinstance(each, str) for each in values):
        raise ConfigurationError(f"{key}: {values!r}: must be a list of texts", "")
    return tuple(values)
