"""Quantities as a person writes them: `2m`, `10/m`, `4KiB`, `1..3`, and as the lab counts them.

Each parser raises ConfigurationError with a rule and a hint; the annotated types carry the same
parsers into pydantic models, with the text form in the JSON Schema.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from lab.plan.quantities import SIZE_MAX_BYTES, SIZE_UNITS, format_duration
from nodes.core.config.error import ConfigurationError, shown
from nodes.core.config.units import DAY_MS, parse_timespan

SEED_MAX = 2**53 - 1
SKEW_MAX_MS = 30 * DAY_MS
TIMESPAN_MAX_MS = 365 * DAY_MS
SIZE_MIN_BYTES = 256

_RATE = re.compile(r"([0-9]{1,6})/([smh])", re.ASCII)
_SIZE = re.compile(r"([0-9]{1,8})(B|KiB|MiB)", re.ASCII)
_MILLISECONDS = re.compile(r"([0-9]{1,6})ms", re.ASCII)
_BYTE_RATE = re.compile(r"([0-9]{1,8})(B|KiB|MiB)/s", re.ASCII)
_RANGE = re.compile(r"([0-9]{1,6})\.\.([0-9]{1,6})", re.ASCII)
_PERIOD_MS = {"s": 1_000, "m": 60_000, "h": 3_600_000}


@dataclass(frozen=True, slots=True)
class Rate:
    """So many messages in a period of `per_ms` milliseconds."""

    count: int
    per_ms: int


@dataclass(frozen=True, slots=True)
class Range:
    """From `low` to `high`, both included."""

    low: int
    high: int


def parse_instant(raw: object) -> int:
    """A moment of lab time, in milliseconds: within a year."""
    value_ms = parse_timespan(raw)
    if value_ms > TIMESPAN_MAX_MS:
        raise _refusal(raw, "is out of range", f"a time is {TIMESPAN_MAX_MS // DAY_MS}d at most")
    return value_ms


def parse_duration(raw: object) -> int:
    """A timespan that lasts, in milliseconds: more than nothing, at most a year."""
    value_ms = parse_instant(raw)
    if value_ms == 0:
        raise _refusal(raw, "must be more than 0", "something that lasts needs a time")
    return value_ms


def parse_rate(raw: object) -> Rate:
    """`10/m`: so many per second, minute or hour."""
    match = _RATE.fullmatch(raw) if isinstance(raw, str) else None
    if match is None or int(match[1]) == 0:
        raise _refusal(raw, "is not a rate", "write a number per s, m or h, such as 10/m")
    return Rate(int(match[1]), _PERIOD_MS[match[2]])


def parse_size(raw: object) -> int:
    """`4KiB`, in bytes."""
    match = _SIZE.fullmatch(raw) if isinstance(raw, str) else None
    if match is None:
        raise _refusal(raw, "is not a size", "write a number with B, KiB or MiB, such as 4KiB")
    size_bytes = int(match[1]) * SIZE_UNITS[match[2]]
    if not SIZE_MIN_BYTES <= size_bytes <= SIZE_MAX_BYTES:
        raise _refusal(raw, "is out of range", "a size is 256B to 10MiB")
    return size_bytes


def parse_latency(raw: object) -> int:
    """`500ms`, or any timespan, in milliseconds: more than nothing."""
    match = _MILLISECONDS.fullmatch(raw) if isinstance(raw, str) else None
    if match is not None and int(match[1]) > 0:
        return int(match[1])
    try:
        return parse_duration(raw)
    except ConfigurationError as error:
        if match is not None or error.rule == "must be more than 0":
            raise _refusal(raw, "must be more than 0", "leave it out for none") from error
        if "timespan" not in error.rule:
            raise
        hint = error.hint.replace("write ", "write milliseconds as 500ms, or ", 1)
        raise _refusal(raw, "is not a latency", hint) from error


def parse_skew(raw: object) -> int:
    """`5m` ahead, `-5m` behind, in milliseconds: not nothing, less than a month."""
    behind = isinstance(raw, str) and raw.startswith("-")
    try:
        value_ms = parse_duration(raw[1:] if isinstance(raw, str) and behind else raw)
    except ConfigurationError as error:
        hint = "write 5m for a clock that is ahead, -5m for one that is behind"
        raise _refusal(raw, "is no time to be wrong by", hint) from error
    if value_ms > SKEW_MAX_MS:
        raise _refusal(raw, "is out of range", "a clock is wrong by 30d at most")
    return -value_ms if behind else value_ms


def parse_byte_rate(raw: object) -> int:
    """`10KiB/s`, in bytes per second."""
    match = _BYTE_RATE.fullmatch(raw) if isinstance(raw, str) else None
    if match is None or int(match[1]) == 0:
        hint = "write a number with B, KiB or MiB per s, such as 10KiB/s"
        raise _refusal(raw, "is not a rate of bytes", hint)
    return int(match[1]) * SIZE_UNITS[match[2]]


def parse_range(raw: object) -> Range:
    """`1..3`, or one number for both ends."""
    if isinstance(raw, int) and not isinstance(raw, bool) and raw >= 0:
        return Range(raw, raw)
    match = _RANGE.fullmatch(raw) if isinstance(raw, str) else None
    if match is None or int(match[1]) > int(match[2]):
        raise _refusal(raw, "is not a range", "write one number, or low..high such as 1..3")
    return Range(int(match[1]), int(match[2]))


def parse_moments(raw: object) -> Range:
    """`5m..2h`: from one moment to a later one, in milliseconds."""
    low_ms, high_ms = _two_timespans(raw, parse_instant)
    if low_ms >= high_ms:
        raise _refusal(raw, "runs backwards", "write the earlier moment first, such as 5m..2h")
    return Range(low_ms, high_ms)


def parse_duration_range(raw: object) -> Range:
    """`1m..20m`, or one duration for both ends, in milliseconds: more than nothing."""
    if isinstance(raw, str) and ".." not in raw:
        value_ms = parse_duration(raw)
        return Range(value_ms, value_ms)
    low_ms, high_ms = _two_timespans(raw, parse_duration)
    if low_ms > high_ms:
        raise _refusal(raw, "runs backwards", "write the shorter one first, such as 1m..20m")
    return Range(low_ms, high_ms)


def _two_timespans(raw: object, parse: Callable[[object], int]) -> tuple[int, int]:
    parts = raw.split("..") if isinstance(raw, str) else []
    if len(parts) != 2:
        raise _refusal(raw, "is not two times", "write from..to, such as 5m..2h")
    return parse(parts[0]), parse(parts[1])


def as_range_text(range_ms: Range) -> str:
    """`1m..20m`; one duration where both ends are the same."""
    low, high = format_duration(range_ms.low), format_duration(range_ms.high)
    return low if low == high else f"{low}..{high}"


def parse_fixed_seed(raw: object) -> int | None:
    """`from-run`, which is None, or a number."""
    if raw == "from-run" or raw is None:
        return None
    if isinstance(raw, int) and not isinstance(raw, bool) and 0 <= raw <= SEED_MAX:
        return raw
    raise _refusal(raw, "is no seed", "write from-run, or a whole number")


def parse_version(raw: object) -> int:
    """1, and neither `true` nor 1.0, which Python takes for it."""
    if type(raw) is not int or raw != 1:
        raise _refusal(raw, "must be 1", "")
    return raw


def parse_sentence(raw: object) -> object:
    """Text that is shown as it is: nothing in it acts on a terminal."""
    if isinstance(raw, str) and not raw.isprintable():
        raise _refusal(raw, "is no line that can be shown", "write it in letters, on one line")
    return raw


def as_list(raw: object) -> object:
    """One thing as a list of one; a list stays what it is."""
    return raw if isinstance(raw, list) else [raw]


def one_or_more(words: Sequence[str] = ()) -> dict[str, Any]:
    """Of a key that takes one word or a list; of these words, or any."""
    word: dict[str, Any] = {"type": "string", **({"enum": list(words)} if words else {})}
    return {"anyOf": [word, {"type": "array", "items": word, "minItems": 1}]}


def _refusal(raw: object, rule: str, hint: str) -> ConfigurationError:
    return ConfigurationError(f"{shown(raw)} {rule}", hint, rule=rule)


def _text(parse: Callable[[object], Any], pattern: str, example: str) -> tuple[Any, Any]:
    schema = {"type": "string", "pattern": pattern, "examples": [example]}
    return BeforeValidator(parse), WithJsonSchema(schema)


TIMESPAN_PATTERN = (
    r"^(([0-9]+\.)?[0-9]{1,2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?"
    r"|(?=.)([0-9]+d)?([0-9]+h)?([0-9]+m)?([0-9]+s)?)$"
)
LATENCY_PATTERN = rf"^[0-9]+ms$|{TIMESPAN_PATTERN}"

_INSTANT = _text(parse_instant, TIMESPAN_PATTERN, "10m")
_DURATION = _text(parse_duration, TIMESPAN_PATTERN, "10m")
_RATE_PARTS = _text(parse_rate, r"^[1-9][0-9]*/[smh]$", "10/m")
_SIZE_PARTS = _text(parse_size, r"^[0-9]+(B|KiB|MiB)$", "4KiB")
_RANGE_SCHEMA = {
    "anyOf": [
        {"type": "integer", "minimum": 0},
        {"type": "string", "pattern": r"^[0-9]+\.\.[0-9]+$", "examples": ["1..3"]},
    ]
}

Instant = Annotated[int, *_INSTANT]
Duration = Annotated[int, *_DURATION]
RateText = Annotated[Rate, *_RATE_PARTS]
Latency = Annotated[int, *_text(parse_latency, LATENCY_PATTERN, "500ms")]
ByteRate = Annotated[int, *_text(parse_byte_rate, r"^[1-9][0-9]*(B|KiB|MiB)/s$", "10KiB/s")]
Size = Annotated[int, *_SIZE_PARTS]
Skew = Annotated[int, *_text(parse_skew, rf"^-?{TIMESPAN_PATTERN[1:]}", "-5m")]
RangeText = Annotated[Range, BeforeValidator(parse_range), WithJsonSchema(_RANGE_SCHEMA)]
_SPANS = {"type": "string", "pattern": r"^.+\.\..+$"}
_ONE_SPAN = {"type": "string", "pattern": TIMESPAN_PATTERN}
_SEED_SCHEMA = {
    "anyOf": [{"const": "from-run"}, {"type": "integer", "minimum": 0, "maximum": SEED_MAX}]
}
MomentsText = Annotated[
    Range, BeforeValidator(parse_moments), WithJsonSchema(_SPANS | {"examples": ["5m..2h"]})
]
DurationRangeText = Annotated[
    Range,
    BeforeValidator(parse_duration_range),
    WithJsonSchema({"anyOf": [_ONE_SPAN, _SPANS | {"examples": ["1m..20m"]}]}),
]
FixedSeed = Annotated[int | None, BeforeValidator(parse_fixed_seed), WithJsonSchema(_SEED_SCHEMA)]
Version = Annotated[Literal[1], BeforeValidator(parse_version)]
Sentence = Annotated[str, BeforeValidator(parse_sentence)]
Names = Annotated[
    list[str], BeforeValidator(as_list), Field(min_length=1), WithJsonSchema(one_or_more())
]
