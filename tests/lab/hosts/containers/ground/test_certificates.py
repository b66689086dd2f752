import ssl
from pathlib import Path

import pytest
from cryptography import x509

from lab.hosts.containers.ground import certificates as authority

FQDNS = {"par-mbx1": "par-mbx1.shadowlab.example", "lyo-mbx1": "lyo-mbx1.shadowlab.example"}


@pytest.fixture(scope="module")
def state_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("state")
    authority.issue(folder, FQDNS)
    return folder


def context_of(purpose: ssl.Purpose, state_dir: Path, server: str) -> ssl.SSLContext:
    """Mutual TLS as a server of the run sets it up."""
    tls = state_dir / "servers" / server / "etc" / "tls"
    context = ssl.create_default_context(purpose, cafile=str(tls / "authority.pem"))
    context.load_cert_chain(tls / "server.pem", tls / "server.key")
    context.verify_mode = ssl.CERT_REQUIRED
    return context


def shake_hands(client: ssl.SSLContext, server: ssl.SSLContext, called: str) -> ssl.SSLObject:
    """A handshake in memory; what the server sees of it."""
    to_client, to_server = ssl.MemoryBIO(), ssl.MemoryBIO()
    ends = [
        client.wrap_bio(to_client, to_server, server_hostname=called),
        server.wrap_bio(to_server, to_client, server_side=True),
    ]
    for _ in range(4):
        for end in ends:
            try:
                end.do_handshake()
            except ssl.SSLWantReadError:
                continue
    return ends[1]


def test_two_servers_of_a_run_know_each_other_by_name(state_dir: Path) -> None:
    client = context_of(ssl.Purpose.SERVER_AUTH, state_dir, "par-mbx1")
    server = context_of(ssl.Purpose.CLIENT_AUTH, state_dir, "lyo-mbx1")
    seen = shake_hands(client, server, FQDNS["lyo-mbx1"]).getpeercert()
    assert seen is not None
    assert seen["subjectAltName"] == (("DNS", FQDNS["par-mbx1"]),)
    assert (("commonName", FQDNS["par-mbx1"]),) in seen["subject"]


def test_a_server_that_is_not_the_one_called_is_not_believed(state_dir: Path) -> None:
    client = context_of(ssl.Purpose.SERVER_AUTH, state_dir, "par-mbx1")
    server = context_of(ssl.Purpose.CLIENT_AUTH, state_dir, "lyo-mbx1")
    with pytest.raises(ssl.SSLCertVerificationError, match="Hostname mismatch"):
        shake_hands(client, server, "lyo-mbx2.shadowlab.example")


def test_a_server_of_another_run_is_not_believed(state_dir: Path, tmp_path: Path) -> None:
    authority.issue(tmp_path, FQDNS)
    client = context_of(ssl.Purpose.SERVER_AUTH, tmp_path, "par-mbx1")
    server = context_of(ssl.Purpose.CLIENT_AUTH, state_dir, "lyo-mbx1")
    with pytest.raises(ssl.SSLCertVerificationError):
        shake_hands(client, server, FQDNS["lyo-mbx1"])


def test_keys_are_the_owners_alone_and_the_authoritys_is_nowhere(state_dir: Path) -> None:
    files = [path for path in state_dir.rglob("*") if path.is_file()]
    keys = [path for path in files if b"PRIVATE KEY" in path.read_bytes()]
    assert {path.name for path in keys} == {"server.key"}
    assert {path.stat().st_mode & 0o777 for path in keys} == {0o600}


def test_a_servers_certificate_cannot_issue_others(state_dir: Path) -> None:
    pem = (state_dir / "servers" / "par-mbx1" / "etc" / "tls" / "server.pem").read_bytes()
    certificate = x509.load_pem_x509_certificate(pem)
    assert not certificate.extensions.get_extension_for_class(x509.BasicConstraints).value.ca


def test_the_workload_gets_the_authority_and_no_certificate(state_dir: Path) -> None:
    found = sorted(path.name for path in (state_dir / "workload" / "tls").iterdir())
    assert found == ["authority.pem"]


def test_strangers_get_certificates_of_servers_and_one_that_nobody_believes(tmp_path: Path) -> None:
    authority.issue(tmp_path, FQDNS, ["par-mbx1"])
    folder = tmp_path / "workload" / "tls" / "strangers"
    names = ["foreign.key", "foreign.pem", "par-mbx1.key", "par-mbx1.pem"]
    assert sorted(path.name for path in folder.iterdir()) == names
    assert {(folder / name).stat().st_mode & 0o777 for name in names if "key" in name} == {0o600}
    server = context_of(ssl.Purpose.CLIENT_AUTH, tmp_path, "lyo-mbx1")
    client = ssl.create_default_context(cafile=str(tmp_path / "authority.pem"))
    client.load_cert_chain(folder / "par-mbx1.pem", folder / "par-mbx1.key")
    seen = shake_hands(client, server, FQDNS["lyo-mbx1"]).getpeercert()
    assert seen is not None
    assert seen["subjectAltName"] == (("DNS", FQDNS["par-mbx1"]),)
    client.load_cert_chain(folder / "foreign.pem", folder / "foreign.key")
    with pytest.raises(ssl.SSLCertVerificationError):
        shake_hands(client, server, FQDNS["lyo-mbx1"])


def test_the_program_takes_names_from_its_arguments(tmp_path: Path) -> None:
    assert authority.main([str(tmp_path), "a=a.example"]) == 0
    assert (tmp_path / "servers" / "a" / "etc" / "tls" / "server.pem").exists()
    assert (tmp_path / "authority.pem").exists()
    assert not (tmp_path / "workload" / "tls" / "strangers").exists()


def test_the_program_takes_those_of_strangers_behind_them(tmp_path: Path) -> None:
    assert authority.main([str(tmp_path), "a=a.example", "--strangers", "a"]) == 0
    assert (tmp_path / "workload" / "tls" / "strangers" / "a.pem").exists()
