"""Servers that no server in its right mind would be, as Hypothesis draws them.

A conversation is that of a server which does all as it should, but for one reply or a few: those
are spoilt, and the connection may end there.
"""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st
from hypothesis.vendor.pretty import RepresentationPrinter

GOES_ON, CLOSES, RESETS, FALLS_SILENT = "goes on", "closes", "resets", "falls silent"
STEPS = 14


@dataclass(frozen=True, repr=False)
class Spoilt:
    """Reply number `at` of a connection (0 is the banner). `how`: before, after, instead, cut,
    doubled, code; `with_` is the text, and the code's three digits; it comes in pieces of
    `piece` bytes.
    """

    at: int
    how: str
    with_: bytes
    piece: int
    then: str

    def __repr__(self) -> str:
        said = f"{self.with_[:80]!r} ({len(self.with_)})"
        return f"Spoilt({self.at}, {self.how}, {said}, {self.piece}, {self.then})"

    def _repr_pretty_(self, printer: RepresentationPrinter, cycle: bool) -> None:
        """Hypothesis goes by this alone; one that is too long for it hides what went wrong."""
        printer.text(repr(self))

    def said(self, good: bytes) -> bytes:
        match self.how:
            case "before":
                return self.with_ + good
            case "after":
                return good + self.with_
            case "instead":
                return self.with_
            case "cut":
                return good[: len(self.with_) % (len(good) + 1)]
            case "doubled":
                return good + good
            case "code":
                lines = good.split(b"\r\n")
                return b"\r\n".join(self.with_[:3] + line[3:] if line else line for line in lines)
        raise AssertionError(self.how)


@dataclass(frozen=True, repr=False)
class Conversation:
    """Replies that are spoilt; of two for the same place the last."""

    spoilt: tuple[Spoilt, ...]

    def __repr__(self) -> str:
        """Short enough to be read where one has done harm."""
        return f"Conversation({', '.join(map(repr, self.spoilt))})"


_CODES = st.sampled_from(
    b"250 251 252 200 220 221 235 299 354 300 399 100 199 000 001 421 432 450 499 500 503 550 554"
    b" 599 600 999 -25 +25 2_5 2.5 abc 25a \xb2\xb5\xb0 \x00\x00\x00".split(b" ")
)
_NUMBERS = st.sampled_from(
    b"0 1 2 7 1767600000000 999999999999999999 9999999999999999999 -1 1e9 +1 x".split()
)
_TEXTS = st.one_of(
    st.sampled_from(
        [
            b"",
            b"ok",
            b"2.6.0 taken",
            b"2.6.0 seeded 7",
            b"2.6.0 seeded 999999999999999999",
            b"5.5.1 expects 0 after 0",
            b"5.5.1 expects 1 after 1",
            b"5.5.1 expects 999999999999999999 after 0",
            b"5.5.4 active under 0",
            b"5.5.4 active under 999999999999999999",
            b"\x00\x1b[31m\x07\x7f",
            b"\xff\xfe\xed\xa0\x80 \xc2\x85 \xe2\x80\xae \xf0\x9f\x93\xa8",
            b"x" * 600,
            b"x" * 9000,
            b"a,\"b\";c='d'",
            b"\r",
        ]
    ),
    st.builds(
        lambda word, numbers: b" ".join([b"2.0.0", *word, *numbers]),
        st.lists(
            st.sampled_from(
                b"active passive dismounted failed completed running disabled requested".split()
            ),
            max_size=1,
        ),
        st.lists(_NUMBERS, max_size=5),
    ),
    st.binary(max_size=30),
)
_LINES = st.builds(
    lambda code, mark, text, end: code + mark + text + end,
    _CODES,
    st.sampled_from([b" ", b" ", b" ", b"-", b"", b"\t"]),
    _TEXTS,
    st.sampled_from([b"\r\n"] * 8 + [b"\n", b"\r", b"", b"\r\r\n"]),
)
_KEYWORDS = st.sampled_from(
    [
        b"250-x\r\n250-STARTTLS\r\n250 XSHADOWREQUEST\r\n",
        b"250-x\r\n250 XSHADOWREQUEST " + b"d" * 300 + b"\r\n",
        b"250-x\r\n250-XSHADOWREQUEST a\r\n250 XSHADOWREQUEST b\r\n",
        b"250-x\r\n250-starttls=1\r\n250-AUTH=PLAIN \xff\r\n250 SIZE -1\r\n",
        b"250 x\r\n",
        b"250-DatabaseId=other\r\n250 Done 0\r\n",
        b"250-DatabaseId=db\r\n250 More 0\r\n",
        b"250-DatabaseId=db\r\n250-1 1 999999999999999999 0\r\n250 Done 1\r\n",
        b"250-DatabaseId=db\r\n250-5 1 1 1\r\n250-4 2 1 1\r\n250-5 1 1 1\r\n250 More 3\r\n",
        b"250-DatabaseId=db\r\n250 Done 5\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    ]
)
_ENDLESS = st.sampled_from(
    [b"250-" * 20_000, b"250-x\r\n" * 9000, b"x" * 200_000, b"\x00" * 70_000, b"\r\n" * 40_000]
)
WORDS = st.one_of(_LINES, _LINES, _LINES, _KEYWORDS, _ENDLESS, st.binary(max_size=40))


@st.composite
def conversations(draw: st.DrawFn) -> Conversation:
    """What is spoilt in one connection."""
    return Conversation(tuple(_spoilt(draw) for _ in range(draw(st.integers(1, 3)))))


def _spoilt(draw: st.DrawFn) -> Spoilt:
    words = draw(st.one_of(WORDS, st.lists(WORDS, min_size=2, max_size=3).map(b"".join)))
    return Spoilt(
        draw(st.integers(0, STEPS)),
        draw(st.sampled_from(["instead", "instead", "before", "after", "cut", "doubled", "code"])),
        words,
        draw(st.sampled_from([1_000_000, 1_000_000, 1_000_000, 7, 1])),
        draw(st.sampled_from([GOES_ON, GOES_ON, GOES_ON, CLOSES, RESETS, FALLS_SILENT])),
    )
