"""A sender outside the organisation, as blunt as a test needs it."""

from __future__ import annotations

import smtplib
from dataclasses import dataclass

from tests.nodes.shell.organisation import DOMAIN

SENDER = "sender01@outside.example"


@dataclass(frozen=True)
class Sent:
    """What became of one message: acknowledged with this reply, or not (None)."""

    message_id: str
    reply: str | None


def message(number: int, size: int = 0) -> tuple[str, str]:
    """Message-Id and text of a message."""
    message_id = f"<m{number:06}@outside.example>"
    text = (
        f"Message-ID: {message_id}\r\n"
        "Date: Mon, 05 Jan 2026 08:00:00 +0000\r\n"
        f"Subject: message {number}\r\n\r\n.\r\n{'x' * 70}\r\n" + ("y" * 70 + "\r\n") * (size // 72)
    )
    return message_id, text


def send(port: int, number: int, user: str = "db1-user01", size: int = 0) -> Sent:
    """One message over a connection of its own. A connection that breaks is no acknowledgement."""
    message_id, text = message(number, size)
    try:
        with smtplib.SMTP("127.0.0.1", port, "client.example", timeout=20) as client:
            return _offer(client, message_id, text, user)
    except (OSError, smtplib.SMTPException):
        return Sent(message_id, None)


def send_many(port: int, first: int, count: int, user: str = "db1-user01") -> list[Sent]:
    """Messages one after the other on one connection, until it breaks."""
    sent: list[Sent] = []
    try:
        with smtplib.SMTP("127.0.0.1", port, "client.example", timeout=20) as client:
            for number in range(first, first + count):
                sent.append(_offer(client, *message(number), user))
    except (OSError, smtplib.SMTPException):
        pass
    return sent


def _offer(client: smtplib.SMTP, message_id: str, text: str, user: str) -> Sent:
    address = user if "@" in user else f"{user}@{DOMAIN}"
    client.ehlo_or_helo_if_needed()
    for code, said in (client.mail(SENDER), client.rcpt(address)):
        if code != 250:
            return Sent(message_id, f"{code} {said.decode()}")
    code, said = client.data(text)
    return Sent(message_id, f"{code} {said.decode()}")
