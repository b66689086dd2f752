"""Timespans and sizes as Exchange writes them; milliseconds and bytes once read (F§3)."""

import re

from nodes.core.config.error import refusal

SECOND_MS = 1_000
MINUTE_MS = 60 * SECOND_MS
HOUR_MS = 60 * MINUTE_MS
DAY_MS = 24 * HOUR_MS
KIB, MIB = 1024, 1024 * 1024


_EXCHANGE_TIMESPAN = re.compile(
    r"(?:([0-9]{1,8})\.)?([0-9]{1,2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]{1,3})0*)?", re.ASCII
)
_UNIT_TIMESPAN = re.compile(
    r"(?:([0-9]{1,9})d)?(?:([0-9]{1,9})h)?(?:([0-9]{1,9})m)?(?:([0-9]{1,9})s)?", re.ASCII
)
_SIZE = re.compile(r"([0-9]{1,10})(B|KB|KiB|MB|MiB)", re.ASCII)
_SIZE_RULE = "write a number with B, KB or MB, such as 10MB; a KB is 1024 B"
_TIMESPAN_RULE = "write a number with its unit as 90s, 2m, 3h, 2d or 1h30m, or [d.]hh:mm:ss"


def parse_timespan(raw: object) -> int:
    """Read `90s`, `2m`, `3h`, `2d`, `1h30m` or Exchange's `[d.]hh:mm:ss[.fff]` as milliseconds.

    Raises ConfigurationError for everything else, a bare number included.
    """
    if not isinstance(raw, str):
        raise refusal("", raw, "is not a timespan", _TIMESPAN_RULE)
    text = raw.strip()
    if match := _EXCHANGE_TIMESPAN.fullmatch(text):
        days, hours, minutes, seconds = (int(part or 0) for part in match.groups()[:4])
        if hours < 24 and minutes < 60 and seconds < 60:
            fraction_ms = int((match[5] or "0").ljust(3, "0"))
            return _total_ms(days, hours, minutes, seconds) + fraction_ms
    if text and (match := _UNIT_TIMESPAN.fullmatch(text)):
        return _total_ms(*(int(part or 0) for part in match.groups()))
    raise refusal("", raw, "is not a timespan", _TIMESPAN_RULE)


def format_timespan(value_ms: int) -> str:
    """Write milliseconds as Exchange does: `00:02:00`, `2.00:00:00`, `00:00:01.500`."""
    seconds, fraction_ms = divmod(value_ms, SECOND_MS)
    days, seconds = divmod(seconds, 86_400)
    hours, minutes, seconds = seconds // 3600, seconds // 60 % 60, seconds % 60
    day_part = f"{days}." if days else ""
    fraction_part = f".{fraction_ms:03d}" if fraction_ms else ""
    return f"{day_part}{hours:02d}:{minutes:02d}:{seconds:02d}{fraction_part}"


def parse_size(raw: object) -> int:
    """Read Exchange's `10MB` or `64KB`, or `64KiB`, as bytes; its KB has 1024.

    Raises ConfigurationError for everything else, a bare number included.
    """
    match = _SIZE.fullmatch(raw) if isinstance(raw, str) else None
    if match is None:
        raise refusal("", raw, "is not a size", _SIZE_RULE)
    return int(match[1]) * {"B": 1, "K": KIB, "M": MIB}[match[2][0]]


def format_size(value_bytes: int) -> str:
    """Write bytes as Exchange does: `10MB`, `64KB`, `1000B`."""
    for unit, unit_bytes in (("MB", MIB), ("KB", KIB)):
        if value_bytes and value_bytes % unit_bytes == 0:
            return f"{value_bytes // unit_bytes}{unit}"
    return f"{value_bytes}B"


def _total_ms(days: int, hours: int, minutes: int, seconds: int) -> int:
    return days * DAY_MS + hours * HOUR_MS + minutes * MINUTE_MS + seconds * SECOND_MS
