"""Quantities as a person reads and writes them: `1h30m`, `500ms`, `-5m`, `4KiB`, `10KiB/s`."""

from nodes.core.config.units import format_timespan

SIZE_MAX_BYTES = 10 * 1024 * 1024  # of a message
SIZE_UNITS = {"B": 1, "KiB": 1024, "MiB": 1024 * 1024}


def format_duration(value_ms: int) -> str:
    """As a person writes it: `1h30m`, `45s`; Exchange's form where that cannot say it."""
    seconds, rest_ms = divmod(value_ms, 1000)
    if rest_ms or seconds == 0:
        return format_timespan(value_ms) if rest_ms else "0s"
    counts = (seconds // 3600, seconds // 60 % 60, seconds % 60)
    return "".join(f"{count}{unit}" for count, unit in zip(counts, "hms", strict=True) if count)


def format_latency(value_ms: int) -> str:
    """`500ms`, `2s`."""
    seconds, rest_ms = divmod(value_ms, 1000)
    return f"{value_ms}ms" if rest_ms else f"{seconds}s"


def format_skew(value_ms: int) -> str:
    """`5m` ahead, `-5m` behind."""
    return f"{'-' if value_ms < 0 else ''}{format_duration(abs(value_ms))}"


def format_size(size_bytes: int) -> str:
    """`4KiB`, in the largest unit that leaves nothing over."""
    unit = next(unit for unit in ("MiB", "KiB", "B") if size_bytes % SIZE_UNITS[unit] == 0)
    return f"{size_bytes // SIZE_UNITS[unit]}{unit}"


def format_byte_rate(bytes_per_second: int) -> str:
    """`10KiB/s`."""
    return f"{format_size(bytes_per_second)}/s"
