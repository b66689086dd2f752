"""Lab time as text. Arithmetic only: the core may not read a clock, and needs no calendar but
this.
"""

from __future__ import annotations

from functools import lru_cache

_DAY_MS = 86_400_000
_WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def iso(epoch_ms: int) -> str:
    """`2026-01-05T08:00:00.000Z` of Unix epoch milliseconds, as in Exchange's logs (F§1.1)."""
    seconds, ms = divmod(epoch_ms, 1000)
    return f"{_whole_second(seconds)}.{ms:03}Z"


@lru_cache(maxsize=1024)
def _whole_second(epoch_seconds: int) -> str:
    """Rows of one moment come together, and a date costs more than looking it up."""
    days, seconds = divmod(epoch_seconds, _DAY_MS // 1000)
    year, month, day = _civil(days)
    hours, minutes = seconds // 3600, seconds // 60 % 60
    return f"{year:04}-{month:02}-{day:02}T{hours:02}:{minutes:02}:{seconds % 60:02}"


def rfc5322(epoch_ms: int) -> str:
    """`Mon, 05 Jan 2026 08:00:00 +0000`, whole seconds rounded down (RFC 5322 section 3.3)."""
    year, month, day = _civil(epoch_ms // _DAY_MS)
    weekday = _WEEKDAYS[(epoch_ms // _DAY_MS + 3) % 7]
    time = iso(epoch_ms)[11:19]
    return f"{weekday}, {day:02} {_MONTHS[month - 1]} {year:04} {time} +0000"


def _civil(days: int) -> tuple[int, int, int]:
    """Gregorian date of days since 1970-01-01, by eras of 400 years that begin on 1 March."""
    era, day_of_era = divmod(days + 719_468, 146_097)
    year_of_era = (
        day_of_era - day_of_era // 1460 + day_of_era // 36_524 - day_of_era // 146_096
    ) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    month_from_march = (5 * day_of_year + 2) // 153
    day = day_of_year - (153 * month_from_march + 2) // 5 + 1
    month = month_from_march + 3 if month_from_march < 10 else month_from_march - 9
    return year_of_era + era * 400 + (month <= 2), month, day
