"""Clients on sockets of their own, for what no library would say."""

from __future__ import annotations

import socket
import ssl

from tests.nodes.shell.organisation import DOMAIN, Organisation, fqdn


def with_tls(organisation: Organisation, port: int, host: str | None = None) -> ssl.SSLSocket:
    """A client inside TLS, by the name of a server or of nobody."""
    plain = socket.create_connection(("127.0.0.1", port), timeout=20)
    plain.recv(512)
    plain.sendall(b"EHLO c\r\nSTARTTLS\r\n")
    heard = b""
    while b"\r\n220 " not in heard:
        heard += plain.recv(512)
    context = organisation.authority.client_context(host)
    return context.wrap_socket(plain, server_hostname=fqdn("par-mbx1"))


def in_a_message(port: int, to: str = f"db1-user01@{DOMAIN}") -> socket.socket:
    """A client that may say its message now."""
    client = socket.create_connection(("127.0.0.1", port), timeout=20)
    mail = f"EHLO c\r\nMAIL FROM:<a@outside.example>\r\nRCPT TO:<{to}>\r\nDATA\r\n"
    client.sendall(mail.encode())
    heard = b""
    while b"\r\n354 " not in heard:
        said = client.recv(512)
        assert said, heard
        heard += said
    return client
