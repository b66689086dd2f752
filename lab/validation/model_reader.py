"""A document read into a strict model, with every mistake of its shape at its place.

Pydantic reports many mistakes at once but gives no model then. So what is wrong is cut out, or
replaced by something sound where the model needs a value, and the rest read again until a model
comes of it: whatever can be asked of the rest (do the names exist, do the faults fit together) is
asked although something else is wrong. What follows from a cut of ours is no mistake of the
person's and is not reported; a check that depends on what was cut asks `touched` first.
"""

import copy
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import NoneType, UnionType
from typing import Annotated, Any, Generic, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from lab.plan.names import PATTERN_WORDS
from lab.validation.former_words import written_now
from lab.validation.mistakes import Mistake
from lab.validation.not_built import key_is_not_built, value_is_not_built
from lab.validation.other_words import hint_for_key, hint_for_value
from lab.validation.yaml_document import Document, Trail
from nodes.core.config.error import ConfigurationError, shown, suggestion

Model = TypeVar("Model", bound=BaseModel)

MISTAKES_MAX = 100
NOT_BUILT = "is not built yet"
_KEY = "[key]"
_BOUNDS = {"ge": "{:g} or more", "gt": "more than {:g}", "le": "at most {:g}"}
_RULES = {
    "string_type": "must be text",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "bool_type": "must be true or false",
    "list_type": "must be a list",
    "dict_type": "must be a mapping",
    "model_type": "must be a mapping",
    "model_attributes_type": "must be a mapping",
}


# a key that is not needed beside another one, even where that one is wrong
_INSTEAD = {"at": "when"}


@dataclass(slots=True)
class Read(Generic[Model]):
    """What came of a document: `model` None when too little was left; `whole` if nothing was cut.

    Paths of the model and of the file differ where an item of a list was cut: ask `trail`.
    """

    document: Document
    base: Trail
    model: Model | None = None
    mistakes: list[Mistake] = field(default_factory=list)
    cut: set[Trail] = field(default_factory=set)
    kept: dict[Trail, list[int]] = field(default_factory=dict)

    @property
    def whole(self) -> bool:
        """Whether the model holds all that the file says."""
        return self.model is not None and not self.cut

    def trail(self, *path: str | int) -> Trail:
        """The path in the file of what stands at that path of the model."""
        trail = self.base
        for part in path:
            if isinstance(part, int) and trail in self.kept:
                part = self.kept[trail][part]
            trail = (*trail, part)
        return trail

    def touched(self, *path: str | int) -> bool:
        """Whether anything at or below that path of the model is not what the file says."""
        trail = self.trail(*path)
        return any(cut[: len(trail)] == trail for cut in self.cut)

    def mistake(
        self, path: Trail, value: str, rule: str, hint: str = "", *, of_key: bool = False
    ) -> Mistake:
        """A mistake about what stands at that path of the model."""
        return self.document.mistake(self.trail(*path), value, rule, hint, of_key=of_key)


def read_model(
    kind: type[Model],
    document: Document,
    base: Trail = (),
    placeholders: Mapping[str, Any] | None = None,
) -> Read[Model]:
    """Read what stands at `base` in the document as a model of that kind.

    `placeholders` are sound values by key, for keys that are needed and missing or wrong.
    """
    read: Read[Model] = Read(document, base)
    data = copy.deepcopy(document.at(base))
    while document.data is not None:
        try:
            read.model = kind.model_validate(data)
            break
        except ValidationError as error:
            details = error.errors(include_url=False)
        if len(details) > MISTAKES_MAX:
            _report_some(read, kind, details)
            break
        for detail in details:
            _report(read, kind, detail)
        if not _cut_all(read, data, [_location(detail) for detail in details], placeholders or {}):
            break
    return read


def _location(detail: ErrorDetails) -> Trail:
    location = tuple(detail["loc"])
    return location[:-1] if location[-1:] == (_KEY,) else location


def _report_some(read: Read[Any], kind: type[BaseModel], details: list[ErrorDetails]) -> None:
    """As many as a person can use at once; the rest of such a file is not looked at."""
    for detail in details[:MISTAKES_MAX]:
        _report(read, kind, detail)
    more = len(details) - MISTAKES_MAX
    hint = "mend these first"
    read.mistakes.append(read.mistake((), "", f"has at least {more} mistakes more", hint))


def _report(read: Read[Any], kind: type[BaseModel], detail: ErrorDetails) -> None:
    location = _location(detail)
    trail = read.trail(*location)
    if any(cut[: len(trail)] == trail or cut == trail for cut in read.cut):
        return
    instead = _INSTEAD.get(str(location[-1])) if detail["type"] == "missing" else None
    if instead is not None and (*trail[:-1], instead) in read.cut:
        return
    read.mistakes.append(_mistake(read, kind, detail, location))


def _mistake(
    read: Read[Any], kind: type[BaseModel], detail: ErrorDetails, location: Trail
) -> Mistake:
    error = detail["type"]
    if error == "extra_forbidden":
        return _unknown_key(read, kind, location)
    if error == "missing":
        hint = _description(kind, location)
        return read.mistake(location[:-1], str(location[-1]), "is missing", hint)
    of_key = detail["loc"][-1:] == (_KEY,)
    value = str(location[-1]) if of_key else _value(detail["input"])
    rule, hint = _rule(read, detail, location)
    return read.mistake(location, value, rule, hint, of_key=of_key)


def _unknown_key(read: Read[Any], kind: type[BaseModel], location: Trail) -> Mistake:
    key, around = str(location[-1]), _model_at(kind, location[:-1])
    trail = read.trail(*location)
    hint = hint_for_key(trail)
    if key_is_not_built(trail):
        return read.mistake(location, key, NOT_BUILT, hint or "leave it out", of_key=True)
    now = written_now(trail)
    if now is not None:
        return read.mistake(location, key, "is of an older version", f"write {now}", of_key=True)
    names = {item.alias or name for name, item in around.model_fields.items()} if around else set()
    hint = hint or (suggestion(key, names) if names else "nothing can be set here: write {}")
    return read.mistake(location, key, "is an unknown key", hint, of_key=True)


def _rule(read: Read[Any], detail: ErrorDetails, location: Trail) -> tuple[str, str]:
    error, context = detail["type"], detail.get("ctx", {})
    if isinstance(context.get("error"), ConfigurationError):
        return context["error"].rule, context["error"].hint
    if value_is_not_built(read.trail(*location), detail["input"]):
        return NOT_BUILT, _words_hint(context)
    if error == "literal_error":
        words = set(re.findall(r"'([^']*)'", context["expected"]))
        if not words:
            return f"must be {context['expected']}", ""
        hint = hint_for_value(read.trail(*location), detail["input"])
        if not hint and isinstance(detail["input"], str):
            hint = suggestion(detail["input"], words)
        return "is not one of its words", hint or _words_hint(context)
    if error in ("too_short", "string_too_short"):
        return f"must have {context['min_length']} or more", ""
    if error in ("too_long", "string_too_long"):
        return f"must have at most {context['max_length']}", ""
    if error == "string_pattern_mismatch":
        return "is not a name that fits here", PATTERN_WORDS[context["pattern"]]
    for bound, words_of in _BOUNDS.items():
        if bound in context:
            return f"must be {words_of.format(context[bound])}", ""
    return _RULES.get(error, detail["msg"].removeprefix("Input ").lower()), ""


def _words_hint(context: Mapping[str, Any]) -> str:
    return f"write {context['expected']}" if "expected" in context else ""


def _value(raw: object) -> str:
    if raw is None:
        return "nothing"
    if isinstance(raw, bool):
        return str(raw).lower()
    if isinstance(raw, Mapping):
        return "a mapping" if raw else "an empty mapping"
    if isinstance(raw, list | tuple):
        return "a list" if raw else "an empty list"
    return shown(raw)


def _model_at(kind: Any, location: Trail) -> type[BaseModel] | None:
    """The model that stands at that place of another one, if one does."""
    found = _bare(kind)
    for part in location:
        if isinstance(found, type) and issubclass(found, BaseModel):
            fields = {item.alias or name: item for name, item in found.model_fields.items()}
            found = _bare(fields[str(part)].annotation) if str(part) in fields else None
        else:
            found = _bare(get_args(found)[-1]) if get_args(found) else None
    return found if isinstance(found, type) and issubclass(found, BaseModel) else None


def _bare(kind: Any) -> Any:
    while get_origin(kind) in (Annotated, Union, UnionType):
        kind = next(choice for choice in get_args(kind) if choice is not NoneType)
    return kind


def _description(kind: type[BaseModel], location: Trail) -> str:
    around = _model_at(kind, location[:-1])
    if around is None:
        return ""
    for name, item in around.model_fields.items():
        if (item.alias or name) == location[-1] and item.description:
            return f"{location[-1]}: {item.description}"
    return ""


def _cut_all(
    read: Read[Any], data: Any, locations: list[Trail], placeholders: Mapping[str, Any]
) -> bool:
    """Cut what is wrong out of the data, the last first; False when nothing is left to read."""
    wrong = set()
    for location in dict.fromkeys(locations):
        trail, found = read.trail(*location), _existing(data, location)
        fresh = trail not in read.cut
        read.cut.add(trail)
        if fresh and len(found) >= len(location) - 1 and location and location[-1] in placeholders:
            _at(data, location[:-1])[location[-1]] = copy.deepcopy(placeholders[str(location[-1])])
        elif found == ():
            return False
        else:
            wrong.add(found)
    for found in sorted(wrong, key=_order, reverse=True):
        _cut(read, data, found)
    return True


def _at(data: Any, location: Trail) -> Any:
    for part in location:
        data = data[part]
    return data


def _order(location: Trail) -> list[tuple[int, int, str]]:
    return [(1, part, "") if isinstance(part, int) else (0, 0, part) for part in location]


def _existing(data: Any, location: Trail) -> Trail:
    """The longest beginning of that path that exists in the data."""
    for length, part in enumerate(location):
        in_mapping = isinstance(data, dict) and part in data
        in_list = isinstance(data, list) and isinstance(part, int) and part < len(data)
        if not in_mapping and not in_list:
            return location[:length]
        data = data[part]
    return location


def _cut(read: Read[Any], data: Any, location: Trail) -> None:
    trail, around = read.trail(*location), _at(data, location[:-1])
    if isinstance(around, list):
        left = read.kept.setdefault(trail[:-1], list(range(len(around))))
        del left[int(location[-1])]
    del around[location[-1]]
    read.cut.add(trail)
