"""Text of others as it may be shown: on one line, and nothing in it that acts on a terminal.

Names, values and keys of a file, and the file's own name, come from whoever wrote it. An escape
sequence in them would colour, move or clear what a person reads, a bidirectional override would
turn it round, a line feed would forge a line. Whatever is shown of them passes through here.
"""

import unicodedata

LONGEST = 400


def printable(text: str, longest: int = LONGEST) -> str:
    r"""The text on one line; what cannot be seen as an escape, `\x1b`; its middle left out."""
    shown = visible(" ".join(text.split()))
    if len(shown) <= longest:
        return shown
    half = longest // 2
    return f"{shown[:half]} … {shown[-half:]}"


def visible(text: str) -> str:
    """The text with each character that cannot be seen as an escape; a line stays as it is."""
    return "".join(map(_visible, text))


def unprintable(text: str) -> int | None:
    """Where a character stands that acts on a terminal or on the order of text; lines may end.

    Spaces of any width and joiners are harmless in a text of lines, and are let be.
    """
    for at, character in enumerate(text):
        if character not in "\t\n\r" and _acts(character):
            return at
    return None


def code_point(character: str) -> str:
    """`U+202E`."""
    return f"U+{ord(character):04X}"


def _visible(character: str) -> str:
    if character.isprintable():
        return character
    return character.encode("unicode_escape").decode("ascii")


_BIDIRECTIONAL = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
_MARKS = {"\u200e", "\u200f", "\u061c"}


def _acts(character: str) -> bool:
    return (
        unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp")
        or unicodedata.bidirectional(character) in _BIDIRECTIONAL
        or character in _MARKS
    )
