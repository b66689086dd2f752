"""Mutual TLS between servers of the organisation, by the authority of the run (design decision
11).
"""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nodes.core.config import NodeConfig


@dataclass(frozen=True, slots=True)
class Certificates:
    """Three PEM files: the server's certificate, its key, the authority."""

    certificate: Path
    key: Path
    authority: Path

    @classmethod
    def from_config(cls, document: dict[str, Any]) -> Certificates:
        return cls(*(Path(document[name]) for name in ("Certificate", "Key", "Authority")))

    def server_context(self) -> ssl.SSLContext:
        """A client may show a certificate; one that the authority did not sign ends the
        handshake.
        """
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=str(self.authority))
        context.load_cert_chain(self.certificate, self.key)
        context.verify_mode = ssl.CERT_OPTIONAL
        return context

    def client_context(self) -> ssl.SSLContext:
        """Towards servers of the organisation: both sides are known."""
        context = ssl.create_default_context(ssl.Purpose.SERVER_AUTH, cafile=str(self.authority))
        context.load_cert_chain(self.certificate, self.key)
        return context


def outside_context() -> ssl.SSLContext:
    """Towards servers outside: encrypted where offered, nobody is known (RFC 7435)."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def peer_named_by(certificate: dict[str, Any] | None, config: NodeConfig) -> str | None:
    """Name of the mailbox server that a verified certificate names, None where it names none."""
    names = {
        value for kind, value in (certificate or {}).get("subjectAltName", ()) if kind == "DNS"
    }
    for server in config.servers:
        if server.role == "mailbox" and server.fqdn in names:
            return server.name
    return None
