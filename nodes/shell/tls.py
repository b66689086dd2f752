"""Mutual TLS between servers of the organisation, by the authority of the run (design decision 11).

A client need not show a certificate, and then is nobody; one that shows a certificate which the
authority did not sign does not get through the handshake. The outside is never verified: towards it
TLS is for privacy alone (RFC 7435).
"""

from __future__ import annotations

import ssl
from asyncio.sslproto import SSLProtocol
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nodes.core.config.config import TRUSTED_ROLES, Server
from nodes.core.config.error import ConfigurationError

# what asyncio sets aside for each session, 256 KiB otherwise: a TLS record has no more, and a
# client that only stays should cost little
SSLProtocol.max_size = 16_384


@dataclass(frozen=True, slots=True)
class Certificates:
    """Three PEM files: the server's certificate, its key, and the authority of the run."""

    certificate: Path
    key: Path
    authority: Path

    def towards_clients(self) -> ssl.SSLContext:
        """Whoever calls may show a certificate of the authority. Raises ConfigurationError."""
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        self._load(context)
        context.verify_mode = ssl.CERT_OPTIONAL
        return context

    def towards_servers(self) -> ssl.SSLContext:
        """Both sides show one, and the server's carries its name. Raises ConfigurationError."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        self._load(context)
        return context

    def _load(self, context: ssl.SSLContext) -> None:
        try:
            context.load_verify_locations(self.authority)
            context.load_cert_chain(self.certificate, self.key)
        except OSError as error:  # an SSLError is one too
            files = f"{self.certificate}, {self.key}, {self.authority}"
            raise ConfigurationError(f"Tls: {error}", f"the files are {files}") from error


def towards_the_outside() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def peer_named_by(certificate: Mapping[str, Any] | None, servers: Iterable[Server]) -> str | None:
    """The server of the organisation that a verified certificate names, None where it names none
    (TL-6). A front end has no right of its own: what it passes on comes from outside (TP-7).

    `certificate` is what `SSLSocket.getpeercert` gives.
    """
    alternatives = (certificate or {}).get("subjectAltName", ())
    names = {value.lower() for kind, value in alternatives if kind == "DNS"}
    found = (s.name for s in servers if s.role in TRUSTED_ROLES and s.fqdn.lower() in names)
    return next(found, None)
