"""`settings: random:` as a person writes it: for each parameter, among what its value is drawn.

    random:
      TransportConfig: {ShadowResubmitTimeSpan: [10m, 3h], ShadowHeartbeatFrequency: 30s..5m}

A list gives each of its entries the same chance; an entry is a value, or a range `low..high` of
which each value has the same chance. The shape only: what is drawn is in
`lab.planning.random_settings`.
"""

from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, TypeAlias

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema, create_model

from lab.plan.quantities import format_duration
from lab.scenario.parameter_type import description, parameter_schema
from lab.scenario.quantities import FixedSeed, as_list
from lab.scenario.strict import Strict
from nodes.core.config.error import ConfigurationError, refusal
from nodes.core.config.parameters import PARAMETERS, Parameter, Value, format_value, parse_value
from nodes.core.config.units import KIB, SECOND_MS

ENTRIES_MAX = 12
STEPS = {"int": 1, "timespan": SECOND_MS, "size": KIB}  # between two values of a range


@dataclass(frozen=True, slots=True)
class Span:
    """From `low` to `high`, both included, in steps of the parameter's kind."""

    low: int
    high: int


Entry: TypeAlias = Value | Span


@dataclass(frozen=True, slots=True)
class Part:
    """A part of what may be drawn, as coverage counts it; where it is one value both ends are."""

    name: str
    low: Value
    high: Value

    def holds(self, value: Value) -> bool:
        """A range of numbers has its ends in it."""
        if isinstance(self.low, str) or isinstance(self.high, str) or isinstance(value, str):
            return value == self.low
        return self.low <= value <= self.high


class RandomSection(Strict):
    """One group of parameters that are drawn."""

    def given(self) -> dict[str, tuple[Entry, ...]]:
        """The entries of each parameter that the file names."""
        return {name: tuple(getattr(self, name)) for name in sorted(self.model_fields_set)}


def parts_of(parameter: Parameter, entries: tuple[Entry, ...]) -> list[Part]:
    """Each value, and each half of a range."""
    found = []
    for entry in entries:
        if not isinstance(entry, Span):
            found.append(Part(_text(parameter, entry), entry, entry))
            continue
        step = STEPS[parameter.kind]
        middle = entry.low + (entry.high - entry.low) // step // 2 * step
        for low, high in ((entry.low, middle), (middle + step, entry.high)):
            name = _text(parameter, low)
            name = name if low == high else f"{name}..{_text(parameter, high)}"
            found.append(Part(name, low, high))
    return found


def _text(parameter: Parameter, value: Value) -> str:
    if parameter.kind == "timespan":
        return format_duration(int(value))
    shown = format_value(parameter, value)
    return str(shown).lower() if isinstance(shown, bool) else str(shown)


def _parse_entry(parameter: Parameter, raw: object) -> Entry:
    if parameter.kind not in STEPS or not isinstance(raw, str) or ".." not in raw:
        return parse_value(parameter, raw)
    ends = [_end(parameter, part.strip()) for part in raw.split("..")]
    if len(ends) != 2:
        raise refusal(parameter.name, raw, "is not a range", "write low..high, with one `..`")
    if ends[0] >= ends[1]:
        raise refusal(parameter.name, raw, "runs backwards", "write the lower end first")
    return Span(*ends)


def _end(parameter: Parameter, text: str) -> int:
    is_number = parameter.kind == "int" and text.isascii() and text.isdecimal()
    return int(parse_value(parameter, int(text) if is_number else text))


def _several(parameter: Parameter, entries: list[Entry]) -> list[Entry]:
    """Raises ConfigurationError where there is nothing to draw, or too much to count."""
    if len(entries) > ENTRIES_MAX:
        rule = f"has {len(entries)} entries, and {ENTRIES_MAX} is the most"
        raise ConfigurationError(rule, "write ranges as low..high")
    if len(set(entries)) == len(entries) and (len(entries) > 1 or isinstance(entries[0], Span)):
        return entries
    if len(set(entries)) > 1:
        raise ConfigurationError("has an entry twice", "keep one of them")
    hint = f"write a list or low..high, or write it under settings.{parameter.section}"
    raise ConfigurationError("is one value: there is nothing to draw", hint)


def _drawn_type(parameter: Parameter) -> Any:
    entry = Annotated[Any, BeforeValidator(partial(_parse_entry, parameter))]
    either = [parameter_schema(parameter)]
    if parameter.kind in STEPS:
        either.append({"type": "string", "pattern": r"^.+\.\..+$"})
    many = {"type": "array", "items": {"anyOf": either}, "minItems": 1, "maxItems": ENTRIES_MAX}
    return Annotated[
        list[entry],
        Field(min_length=1),
        BeforeValidator(as_list),
        AfterValidator(partial(_several, parameter)),
        WithJsonSchema({"anyOf": [*either[1:], many]}),
    ]


def _random_section(section: str) -> type[RandomSection]:
    fields: dict[str, Any] = {
        name: (_drawn_type(parameter), Field(default=None, description=description(parameter)))
        for name, parameter in PARAMETERS[section].items()
    }
    name = f"Random{section}"
    return create_model(name, __base__=RandomSection, __module__=__name__, **fields)


_FIELDS: dict[str, Any] = {
    section: (model, Field(default_factory=model, description=f"what is drawn of {section}"))
    for section, model in ((name, _random_section(name)) for name in PARAMETERS)
}


class _OfSeed(Strict):
    seed: FixedSeed = Field(
        default=None, description="from-run, or a number that gives the same settings in every run"
    )


RandomSettings = create_model("RandomSettings", __base__=_OfSeed, __module__=__name__, **_FIELDS)
