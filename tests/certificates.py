"""A throw-away authority and a server's certificate, as files."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


def write_authority(folder: Path) -> tuple[ec.EllipticCurvePrivateKey, x509.Certificate]:
    """A new authority; its certificate is `folder`/authority.pem."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "authority of a test")])
    made = _builder(name, name, key.public_key()).add_extension(
        x509.BasicConstraints(ca=True, path_length=0), critical=True
    )
    certificate = made.sign(key, hashes.SHA256())
    folder.mkdir(parents=True, exist_ok=True)
    pem = certificate.public_bytes(serialization.Encoding.PEM)
    (folder / "authority.pem").write_bytes(pem)
    return key, certificate


def write_server(folder: Path, fqdn: str) -> tuple[Path, Path]:
    """A certificate for `fqdn` by a new authority in `folder`; certificate and key files."""
    authority_key, authority = write_authority(folder)
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, fqdn)])
    made = _builder(name, authority.subject, key.public_key()).add_extension(
        x509.SubjectAlternativeName([x509.DNSName(fqdn)]), critical=False
    )
    certificate = made.sign(authority_key, hashes.SHA256())
    pem, key_pem = folder / "server.pem", folder / "server.key"
    pem.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    key_pem.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return pem, key_pem


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
    )
