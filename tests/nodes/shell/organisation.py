"""A small organisation for tests: three mailbox servers in one DAG over two sites, one server
outside, certificates of an authority of its own, and node configuration files on loopback.
"""

from __future__ import annotations

import datetime
import json
import socket
import ssl
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

DOMAIN = "shadowlab.example"
ORIGIN = "2026-01-05T08:00:00Z"
ORIGIN_MS = 1_767_600_000_000
SITES = {"par-mbx1": "paris", "par-mbx2": "paris", "lyo-mbx1": "lyon"}
DATABASES = {"DB1": "par-mbx1", "DB2": "par-mbx2"}
MAILBOXES = {"db1-user01": "DB1", "db1-user02": "DB1", "db2-user01": "DB2"}


def fqdn(server: str) -> str:
    return f"{server}.{DOMAIN}"


class Authority:
    """Signs certificates; keeps everything it makes in `folder`."""

    def __init__(self, folder: Path, name: str = "authority of a test") -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.file = folder / "authority.pem"
        self._name = _name(name)
        self._key = ec.generate_private_key(ec.SECP256R1())
        constraints = x509.BasicConstraints(ca=True, path_length=0)
        usage = _usage(signs=True)
        certificate = (
            self._unsigned(self._name, self._key)
            .add_extension(constraints, critical=True)
            .add_extension(usage, critical=True)
            .sign(self._key, hashes.SHA256())
        )
        self.file.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))

    def issue(self, host: str) -> tuple[Path, Path]:
        """Certificate and key for that DNS name."""
        key = ec.generate_private_key(ec.SECP256R1())
        authority = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
        certificate = (
            self._unsigned(_name(host), key)
            .add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False)
            .add_extension(authority, critical=False)
            .sign(self._key, hashes.SHA256())
        )
        paths = self.folder / f"{host}.pem", self.folder / f"{host}.key"
        paths[0].write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
        private = key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        paths[1].write_bytes(private)
        return paths

    def client_context(self, host: str | None) -> ssl.SSLContext:
        """As that server calls another one; None: as somebody outside, who shows nothing."""
        context = ssl.create_default_context(cafile=str(self.file))
        if host is not None:
            context.load_cert_chain(*self.issue(host))
        return context

    def _unsigned(
        self, name: x509.Name, key: ec.EllipticCurvePrivateKey
    ) -> x509.CertificateBuilder:
        now = datetime.datetime.now(datetime.UTC)
        return (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(days=1))
            .not_valid_after(now + datetime.timedelta(days=1))
        )


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _usage(*, signs: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs,
        crl_sign=signs,
        encipher_only=False,
        decipher_only=False,
    )


@dataclass
class Organisation:
    """Everything below `folder`: `tls/`, and for each server `data/`, `logs/`, `config.json`."""

    folder: Path
    speed: float = 60.0
    ports: dict[str, int] = field(default_factory=dict)
    sections: dict[str, Any] = field(default_factory=dict)
    links: dict[str, list[str]] = field(default_factory=dict)
    services: tuple[str, ...] = ("smtp",)
    managers: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self.authority = Authority(self.folder / "tls")
        self.start_file = self.folder / "start.json"

    def data(self, server: str) -> Path:
        return self.folder / server / "data"

    def logs(self, server: str) -> Path:
        return self.folder / server / "logs"

    def document(self, server: str) -> dict[str, Any]:
        """The node configuration of a server; `links` says whom it can reach."""
        outside = server == "ext1"
        linked = self.links.get(server, [])
        links = {
            peer: dict.fromkeys(self.services, f"127.0.0.1:{self.ports[peer]}") for peer in linked
        }
        return {
            "Version": 1,
            **_server(server),
            "LabClock": {
                "Origin": ORIGIN,
                "Speed": self.speed,
                "SkewMs": 0,
                "StartFile": str(self.start_file),
            },
            "AcceptedDomain": DOMAIN,
            "Servers": [_server(name) for name in (*SITES, "ext1", *self.managers)],
            "Databases": [{"Name": n, "Server": s} for n, s in DATABASES.items()],
            "Mailboxes": [
                {"Address": f"{user}@{DOMAIN}", "Database": database}
                for user, database in MAILBOXES.items()
            ],
            "Links": links,
            "Listen": {"smtp": f"127.0.0.1:{self.ports.get(server, 0)}"},
            "Tls": None if outside else self._tls(server),
            "Data": str(self.data(server)),
            "Logs": str(self.logs(server)),
            **self.sections,
        }

    def write_config(self, server: str) -> Path:
        path = self.folder / server / "config.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(self.document(server)))
        return path

    def start_lab_time(self, zero_ns: int) -> None:
        partial = self.start_file.with_suffix(".partial")
        partial.write_text(json.dumps({"monotonic_zero_ns": zero_ns}))
        partial.rename(self.start_file)

    def _tls(self, server: str) -> dict[str, str]:
        certificate, key = self.authority.issue(fqdn(server))
        files = {"Certificate": certificate, "Key": key, "Authority": self.authority.file}
        return {name: str(path) for name, path in files.items()}


def _server(name: str) -> dict[str, Any]:
    if name == "ext1":
        described = {"Name": name, "Fqdn": "mx.partner.example", "Role": "external"}
        return described | {
            "Site": "internet",
            "DatabaseAvailabilityGroup": None,
            "Domain": "partner.example",
        }
    role = "mailbox" if name in SITES else "active_manager"
    described = {"Name": name, "Fqdn": fqdn(name), "Role": role}
    return described | {
        "Site": SITES.get(name, "lyon"),
        "DatabaseAvailabilityGroup": "DAG1",
        "Domain": None,
    }


def free_port() -> int:
    """A port of loopback that nobody had a moment ago."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])
