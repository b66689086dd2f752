"""The run's own certificate authority, and a certificate for each of its servers.

Run by Ansible as a program, once: `python -m lab.hosts.containers.ground.certificates STATE
name=fqdn …`; where strangers call, `--strangers` follows, and the servers whose certificates some
of them show. EC P-256 throughout. The authority's key never touches a disk, so nobody can issue
another certificate for this run; a server's key lies in the state directory alone, for its owner's
eyes, and goes when the run is taken down. Keys are never encrypted: who can read them can run the
lab.
"""

import datetime
import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from lab.hosts.containers.ground import confinement
from lab.program.outer_edge import guarded
from lab.workload.strangers import FOREIGN

ORGANISATION = "shadowlab"
STRANGERS = "--strangers"
BEFORE = datetime.timedelta(days=1)
AFTER = datetime.timedelta(days=30)


def issue(
    state_dir: Path, fqdns: Mapping[str, str], strangers: Iterable[str] | None = None
) -> None:
    """Write `servers/<name>/etc/tls/` of every server, `workload/tls/` and, last, `authority.pem`.

    The one at the top of the state directory says that all are there. `strangers` are the servers
    whose certificates strangers show; None where nobody calls.
    """
    key = ec.generate_private_key(ec.SECP256R1())
    authority = _authority(key)
    pem = authority.public_bytes(serialization.Encoding.PEM)
    for name, fqdn in fqdns.items():
        folder = state_dir / "servers" / name / "etc" / "tls"
        _issue_to(fqdn, folder / "server", authority, key)
        _write(folder / "authority.pem", pem, 0o644)
    if strangers is not None:
        _issue_to_strangers(state_dir / "workload", fqdns, strangers, authority, key)
    _write(state_dir / "workload" / "tls" / "authority.pem", pem, 0o644)
    _write(state_dir / "authority.pem", pem, 0o644)


def _issue_to_strangers(
    workload: Path,
    fqdns: Mapping[str, str],
    names: Iterable[str],
    authority: x509.Certificate,
    key: ec.EllipticCurvePrivateKey,
) -> None:
    """Certificates of servers, and one with a server's name by an authority of its own."""
    folder = workload / "tls" / "strangers"
    folder.mkdir(parents=True, exist_ok=True)
    confinement.hand_over(folder)
    for name in names:
        _issue_to(fqdns[name], folder / name, authority, key)
    other_key = ec.generate_private_key(ec.SECP256R1())
    _issue_to(next(iter(fqdns.values())), folder / FOREIGN, _authority(other_key), other_key)


def _issue_to(
    fqdn: str, path: Path, authority: x509.Certificate, key: ec.EllipticCurvePrivateKey
) -> None:
    """`path` with `.key` and `.pem`."""
    own_key = ec.generate_private_key(ec.SECP256R1())
    certificate = _certificate(fqdn, own_key, authority, key)
    pem = certificate.public_bytes(serialization.Encoding.PEM)
    _write(path.with_name(f"{path.name}.key"), _private(own_key), 0o600)
    _write(path.with_name(f"{path.name}.pem"), pem, 0o644)


def _authority(key: ec.EllipticCurvePrivateKey) -> x509.Certificate:
    name = _name(f"{ORGANISATION} authority of one run")
    unsigned = _unsigned(name, name, key).add_extension(
        x509.BasicConstraints(ca=True, path_length=0), critical=True
    )
    return unsigned.add_extension(_usage(signs_certificates=True), critical=True).sign(
        key, hashes.SHA256()
    )


def _certificate(
    fqdn: str,
    key: ec.EllipticCurvePrivateKey,
    authority: x509.Certificate,
    authority_key: ec.EllipticCurvePrivateKey,
) -> x509.Certificate:
    purposes = [ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]
    issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(authority_key.public_key())
    return (
        _unsigned(_name(fqdn), authority.subject, key)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(signs_certificates=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage(purposes), critical=False)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(fqdn)]), critical=False)
        .add_extension(issuer, critical=False)
        .sign(authority_key, hashes.SHA256())
    )


def _unsigned(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey
) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    own_id = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - BEFORE)
        .not_valid_after(now + AFTER)
        .add_extension(own_id, critical=False)
    )


def _name(common_name: str) -> x509.Name:
    return x509.Name(
        [
            x509.NameAttribute(NameOID.ORGANIZATION_NAME, ORGANISATION),
            x509.NameAttribute(NameOID.COMMON_NAME, common_name),
        ]
    )


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _private(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )


def _write(path: Path, content: bytes, mode: int) -> None:
    """Write a file that never had a wider mode than its own."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
    confinement.hand_over(path)


def main(arguments: list[str]) -> int:
    """`STATE name=fqdn … [--strangers name …]`."""
    state_dir, *names = arguments
    strangers = None
    if STRANGERS in names:
        place = names.index(STRANGERS)
        names, strangers = names[:place], names[place + 1 :]
    issue(Path(state_dir), dict(server.split("=", 1) for server in names), strangers)
    return 0


if __name__ == "__main__":
    sys.exit(guarded(lambda: main(sys.argv[1:])))
