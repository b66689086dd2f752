"""Text of a record as a terminal may show it: nothing in it acts there, or forges a line.

Names, replies and log lines come from whoever wrote them, and so does the name of a folder.
"""

from __future__ import annotations

from collections.abc import Iterable


def visible(text: str) -> str:
    r"""The text on one line, each character that cannot be seen as an escape: `\x1b`."""
    if text.isprintable():
        return text
    return "".join(
        sign if sign.isprintable() else sign.encode("unicode_escape").decode("ascii")
        for sign in text
    )


def visible_lines(lines: Iterable[str]) -> str:
    """Several of them, a line each."""
    return "\n".join(map(visible, lines))
