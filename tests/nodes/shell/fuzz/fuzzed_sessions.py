"""Sessions that no client in its right mind would hold, as Hypothesis draws them.

A session is who connects, what is said packet by packet, and how it ends. Packets are whole
commands and messages, in order or not, then mutated: cut, doubled, spoilt by single bytes, joined.
"""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

ANYBODY = "anybody"
PEER = "par-mbx2"
TLS = b"<the handshake, if the node offers it>"
NUMBER = b"<a number of its own>"

USER = b"db1-user01@shadowlab.example"
MESSAGE = b"Message-ID: <fuzz-" + NUMBER + b"@outside.example>\r\n"
DATE = b"Date: Mon, 05 Jan 2026 08:00:00 +0000\r\n"
MAIL, RCPT, DATA = b"MAIL FROM:<a@outside.example>\r\n", b"RCPT TO:<" + USER + b">\r\n", b"DATA\r\n"
WHOLE = MAIL + RCPT + DATA + MESSAGE + b"\r\nhello\r\n.\r\n"


@dataclass(frozen=True, repr=False)
class FuzzedSession:
    """`ending`: quit, drop, half-close or silence."""

    client: str
    packets: tuple[bytes, ...]
    ending: str

    def __repr__(self) -> str:
        """Short enough to be read where a session has done harm."""
        packets = ", ".join(f"{len(p)}: {p[:300]!r}" for p in self.packets)
        return f"FuzzedSession({self.client}, [{packets}], {self.ending})"


_WORDS = b"par-mbx1 par-mbx2 lyo-mbx1 ext1 am1 DB1 DB2 DB9 - net-1 primary shadow ADD LIST ENABLE"
_NUMBERS = b"r1 0 1 7 1767600000000 999999999999999999 1e9 -1 0x1"
_VERBS = (
    b"XSHADOWREQUEST XDELIVER XQDISCARD XQUERYDISCARD XRESUBMIT XACTIVE XCOPYSTATUS XMOUNT"
    b" XDISMOUNT XCORRUPT XFAILOVER XSWITCHOVER XACTIVATELAGGED XLOG XSEED XREDIRECT XQUEUES"
    b" XOUTBOX XMOVE XMAILBOX XNETWORKMESSAGEID"
)
WORDS = st.sampled_from(
    [*_WORDS.split(), *_NUMBERS.split(), b"9" * 40, b"x" * 200, b"<>", b"\xff", b"a" * 64]
)
VERBS = st.sampled_from(_VERBS.split())
ARGUED = st.builds(
    lambda verb, words: b" ".join([verb, *words]) + b"\r\n", VERBS, st.lists(WORDS, max_size=8)
)
RIGHT = st.sampled_from(
    [
        b"XSHADOWREQUEST par-mbx2 id-2 " + NUMBER + b" net-2\r\n",
        b"XDELIVER DB1 net-1\r\n",
        b"XNETWORKMESSAGEID net-1\r\n",
        b"XQDISCARD par-mbx2 - 0\r\n",
        b"XRESUBMIT ADD r" + NUMBER + b" primary DB1 0 999999999999999999 -\r\n",
        b"XRESUBMIT ADD r" + NUMBER + b" shadow DB1 1767600000000 1767600000001 par-mbx1\r\n",
        b"XRESUBMIT LIST\r\n",
        b"XCOPYSTATUS DB1\r\n",
        b"XACTIVE DB1 par-mbx1 3\r\n",
        b"XCORRUPT DB1\r\n",
        b"XFAILOVER DB1\r\n",
        b"XSWITCHOVER DB1 par-mbx2\r\n",
        b"XACTIVATELAGGED DB1 par-mbx2 1767600000000\r\n",
        b"XLOG DB1 1 1 1 0 1767600000000 " + b"a" * 64 + b"\r\n",
        b"XSEED DB1 1\r\n",
    ]
)
PLAIN = st.sampled_from(
    [
        b"EHLO client\r\n",
        b"HELO client\r\n",
        b"EHLO\r\n",
        b"NOOP\r\n",
        b"RSET\r\n",
        b"VRFY x\r\n",
        b"EXPN x\r\n",
        b"HELP\r\n",
        b"AUTH PLAIN AGEAYg==\r\n",
        b"STARTTLS\r\n",
        b"STARTTLS\r\n\x16\x03\x01\x02\x00\x01\x00",
        b"QUIT\r\nNOOP\r\n",
        b"\r\n",
        b"BDAT 10 LAST\r\n0123456789",
        b"BDAT 99999999999999999999\r\n",
        b"MAIL FROM:<> SIZE=10485761\r\n",
        b"MAIL FROM:<> SIZE=" + b"9" * 300 + b"\r\n",
        b"MAIL FROM:(<a@b> BODY=8BITMIME SMTPUTF8\r\n",
        b"RCPT TO:<nobody@elsewhere.example>\r\n",
        b'RCPT TO:<"a b"@[127.0.0.1]>\r\n',
        b"".join(b"X%d\r\n" % number for number in range(7)),
    ]
)
MAILED = st.sampled_from(
    [
        MAIL,
        RCPT,
        DATA,
        MAIL + RCPT,
        MESSAGE + DATE + b"\r\n..\r\n.\r\n",
        b".\r\n",
        b".\n.\r.\r\n",
        WHOLE,
        WHOLE * 3,
        MAIL + RCPT * 250,
        MAIL + RCPT + DATA + MESSAGE + b"Date: " + b"9" * 900 + b"\r\n\r\n.\r\n",
        MAIL
        + RCPT
        + DATA
        + b"Message-ID: <"
        + b"i" * 900
        + b"\r\n "
        + b"i" * 900
        + b">\r\n\r\n.\r\n",
        MAIL + RCPT + DATA + b"\x00\xff\n\n.\n.\r\n",
    ]
)
# in a Message-Id: nothing of it is thrown away, so that each is another
ODD = [b"", b"\xff", b"\xfe", b"\xe9", b"\xe8", b" ", b"  ", b"\x00", b"\xc2\xa0", b"\\", b"\\xff"]
DATES = [DATE, b"Date: yesterday\r\n", b"Date: \xff\r\n", b"Date: " + b"(" * 900 + b"\r\n", b""]
FIELDS = [
    b"Received: from a by b\r\n",
    b"RECEIVED :\r\n\tfrom a by b\r\n",
    b"X-:\r\n",
    b"Content-Type: multipart/report; boundary=a" + b";a=b" * 200 + b"\r\n",
    b"MIME-Version: 1.0\r\n" + b" \r\n" * 200,
]


def _odd_message(odd: bytes, date: bytes, field: bytes, times: int) -> bytes:
    """Again and again the same number: only what is odd tells one of them from another."""
    message_id = b"Message-ID: <fuzz-odd" + odd + b"@outside.example>\r\n"
    return MAIL + RCPT + DATA + field * times + message_id + date + b"\r\n--a\r\n\r\n.\r\n"


HEADED = st.builds(
    _odd_message,
    st.sampled_from(ODD),
    st.sampled_from(DATES),
    st.sampled_from(FIELDS),
    st.sampled_from([0, 1, 60, 61, 3000]),
)
ENDLESS = st.builds(
    lambda piece, times: piece * times,
    st.sampled_from([b"x", b".", b"\x00", b"\r", b"\n"]),
    st.sampled_from([600, 1500, 9000, 70_000, 400_000]),
)
SAID = st.one_of(
    PLAIN, MAILED, MAILED, HEADED, RIGHT, ARGUED, ENDLESS, st.just(TLS), st.binary(max_size=40)
)


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """One thing said, most often as it should be."""
    said: bytes = draw(SAID)
    if said == TLS or not said:
        return said
    match draw(st.sampled_from(["as it is"] * 5 + ["cut", "doubled", "spoilt", "bare", "lower"])):
        case "cut":
            return said[: draw(st.integers(0, len(said)))]
        case "doubled":
            return said + said
        case "spoilt":
            at, byte = draw(st.integers(0, len(said) - 1)), draw(st.binary(min_size=1, max_size=2))
            return said[:at] + byte + said[at + 1 :]
        case "bare":
            return said.replace(b"\r\n", draw(st.sampled_from([b"\n", b"\r", b"\r\r\n"])), 1)
        case "lower":
            return said.lower()
    return said


@st.composite
def sessions(draw: st.DrawFn) -> FuzzedSession:
    said = draw(st.lists(mutated(), max_size=10))
    if draw(st.booleans()):
        said = [b"EHLO client\r\n", TLS, b"EHLO client\r\n", *said]
    elif draw(st.booleans()):
        said = [b"EHLO client\r\n", *said]
    return FuzzedSession(
        draw(st.sampled_from([ANYBODY, PEER])),
        _joined(said, pipelines=draw(st.booleans())),
        draw(st.sampled_from(["quit", "quit", "quit", "drop", "half-close", "silence"])),
    )


def _joined(said: list[bytes], *, pipelines: bool) -> tuple[bytes, ...]:
    """As many packets as things said, or as few as there can be."""
    if not pipelines:
        return tuple(said)
    packets: list[bytes] = []
    for each in said:
        if packets and TLS not in (each, packets[-1]):
            packets[-1] += each
        else:
            packets.append(each)
    return tuple(packets)
