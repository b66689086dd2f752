"""Reasons as Spark SQL: a sentence with names and lab times filled in, and a judgement that carries
one.

Text in, text out; nothing is evaluated here.
"""

from __future__ import annotations

import re

HOLE = re.compile(r"\{(@?)([^{}]+)\}")


def stamp(ms: str) -> str:
    """SQL: lab time as `0:40:00.000`, hours, minutes, seconds since the start."""
    whole = f"CAST({ms} AS BIGINT)"
    return (
        f"format_string('%d:%02d:%02d.%03d', {whole} DIV 3600000, {whole} DIV 60000 % 60, "
        f"{whole} DIV 1000 % 60, {whole} % 1000)"
    )


def sentence(template: str) -> str:
    """SQL for text in which `{column}` is filled in as it is and `{@column}` as lab time.

    Any SQL expression without braces may stand for a column; what is null reads as a question mark.
    """
    parts = []
    end = 0
    for hole in HOLE.finditer(template):
        parts.append(_quoted(template[end : hole.start()]))
        value = stamp(hole[2]) if hole[1] else f"coalesce(CAST({hole[2]} AS STRING), '?')"
        parts.append(value)
        end = hole.end()
    parts.append(_quoted(template[end:]))
    return f"concat({', '.join(parts)})"


def judgement(status: str | None, template: str = "", kind: str = "") -> str:
    """SQL: a struct of `status` (null: not asked), `kind` and `reason`, for the arms of a CASE."""
    told = f"'{status}'" if status else "CAST(NULL AS STRING)"
    reason = sentence(template) if template else "''"
    return f"named_struct('status', {told}, 'kind', '{kind}', 'reason', {reason})"


def holds() -> str:
    return judgement("holds")


def violated(template: str, kind: str = "") -> str:
    return judgement("violated", template, kind)


def unknown(template: str) -> str:
    return judgement("unknown", template)


def not_asked() -> str:
    return judgement(None)


def cases(*arms: tuple[str, str], otherwise: str) -> str:
    """SQL: the value of the first (condition, value) whose condition is true."""
    told = " ".join(f"WHEN {condition} THEN {value}" for condition, value in arms)
    return f"CASE {told} ELSE {otherwise} END"


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
