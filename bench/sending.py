"""The sender that every server under measurement gets: SESSIONS at a time, STARTTLS, one by one.

Sockets and threads, because a library's own cost would count as the server's. A reply other than
the one that is due ends the measurement.
"""

import socket
import ssl
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from lab.program.errors import GroundError

SESSIONS, SIZE_BYTES = 10, 4096
PATIENCE_S = 60.0
FILLER = "x" * 70 + "\r\n"


@dataclass(frozen=True, slots=True)
class Mail:
    """Where it goes and to whom; `authority` is the certificate that the server's is signed by."""

    port: int
    recipient: str
    authority: Path


def send(mail: Mail, marks: Sequence[str]) -> float:
    """A message for each mark, which is unique; the seconds to the last 250 of all.

    Sessions are opened before the clock starts. Raises GroundError for any other reply.
    """
    try:
        with ExitStack() as opened, ThreadPoolExecutor(SESSIONS) as pool:
            sessions = [opened.enter_context(_session(mail)) for _ in range(SESSIONS)]
            shares = [marks[which::SESSIONS] for which in range(SESSIONS)]
            begun = time.monotonic()
            list(pool.map(_Session.send, sessions, shares))
            return time.monotonic() - begun
    except (OSError, EOFError) as error:
        raise GroundError(f"the server at port {mail.port} hung up: {error}") from error


def send_steadily(mail: Mail, marks: Sequence[str], every_s: float) -> dict[str, int]:
    """One message after the other in one session, one each `every_s`; for each mark when it was
    begun, in ns of time.monotonic_ns(). Raises GroundError as `send` does.
    """
    begun: dict[str, int] = {}
    try:
        with _session(mail) as session:
            first = time.monotonic()
            for number, mark in enumerate(marks):
                time.sleep(max(0.0, first + number * every_s - time.monotonic()))
                begun[mark] = time.monotonic_ns()
                session.send([mark])
    except (OSError, EOFError) as error:
        raise GroundError(f"the server at port {mail.port} hung up: {error}") from error
    return begun


def message(mark: str, recipient: str) -> bytes:
    """SIZE_BYTES of it, headers and all."""
    head = (
        f"Message-ID: <{mark}@outside.example>\r\nSubject: bench\r\n"
        f"From: <sender@outside.example>\r\nTo: <{recipient}>\r\n"
        "Date: Mon, 05 Jan 2026 08:00:00 +0000\r\n\r\n"
    )
    room = SIZE_BYTES - len(head) - len("\r\n")
    rest = "x" * (room % len(FILLER)) + "\r\n"
    return (head + FILLER * (room // len(FILLER)) + rest).encode()


@contextmanager
def _session(mail: Mail) -> Iterator["_Session"]:
    """Open and secured on entry, closed on exit."""
    with socket.create_connection(("127.0.0.1", mail.port), PATIENCE_S) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        plain = _Session(connection, mail.recipient)
        plain.expect("220")
        plain.say("EHLO outside.example\r\n", "250")
        plain.say("STARTTLS\r\n", "220")
        with _context(mail.authority).wrap_socket(connection) as secured:
            session = _Session(secured, mail.recipient)
            session.say("EHLO outside.example\r\n", "250")
            yield session
            session.say("QUIT\r\n", "221")


def _context(authority: Path) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=str(authority))
    context.check_hostname = False
    return context


class _Session:
    """Commands and replies, one at a time."""

    def __init__(self, connection: socket.socket, recipient: str) -> None:
        self._socket, self._recipient = connection, recipient

    def send(self, marks: Sequence[str]) -> None:
        for mark in marks:
            self.say("MAIL FROM:<sender@outside.example>\r\n", "250")
            self.say(f"RCPT TO:<{self._recipient}>\r\n", "250")
            self.say("DATA\r\n", "354")
            self._socket.sendall(message(mark, self._recipient) + b".\r\n")
            self.expect("250")

    def say(self, line: str, due: str) -> None:
        self._socket.sendall(line.encode())
        self.expect(due)

    def expect(self, due: str) -> None:
        said = self._reply()
        if not said.startswith(due):
            raise GroundError(f"the reply is {said!r}, not {due}")

    def _reply(self) -> str:
        """The last line of the next reply; one reply is outstanding at any time."""
        said = b""
        while not said.endswith(b"\r\n") or said.splitlines()[-1][3:4] == b"-":
            more = self._socket.recv(65536)
            if not more:
                raise EOFError("no reply")
            said += more
        return said.splitlines()[-1].decode("utf-8", "replace")
