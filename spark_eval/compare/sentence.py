"""A sentence with names and lab times filled in, as Spark SQL: text in, text out."""

from __future__ import annotations

import re

HOLE = re.compile(r"\{(@?)([^{}]+)\}")


def sentence(template: str) -> str:
    """SQL for text in which `{column}` is filled in as it is and `{@column}` as lab time.

    Any SQL expression without braces may stand for a column; what is null reads as a question mark.
    """
    parts = []
    end = 0
    for hole in HOLE.finditer(template):
        parts.append(_quoted(template[end : hole.start()]))
        value = _stamp(hole[2]) if hole[1] else f"coalesce(CAST({hole[2]} AS STRING), '?')"
        parts.append(value)
        end = hole.end()
    parts.append(_quoted(template[end:]))
    return f"concat({', '.join(parts)})"


def _stamp(ms: str) -> str:
    """Lab time as `0:40:00.000`, hours, minutes, seconds since the start."""
    whole = f"CAST({ms} AS BIGINT)"
    return (
        f"format_string('%d:%02d:%02d.%03d', {whole} DIV 3600000, {whole} DIV 60000 % 60, "
        f"{whole} DIV 1000 % 60, {whole} % 1000)"
    )


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
