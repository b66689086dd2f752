"""The run's own certificate authority, and a certificate for each of its servers.

Run by Ansible as a program, once: `python -m lab.hosts.containers.ground.certificates STATE
name=fqdn …`; where strangers call, `--strangers` follows, and the servers whose certificates some
of them show. EC P-256 throughout. The authority's key never touches a disk, so nobody can issue
another certificate for this run; a server's key lies in the state directory alone, for its owner's
eyes, and goes when the run is taken down. Keys are never encrypted: who can read them can run the
lab.
"""

import os
import sys
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

from trustme import CA

from lab.hosts.containers.ground import confinement
from lab.program.outer_edge import guarded
from lab.workload.strangers import FOREIGN

ORGANISATION = "shadowlab"
STRANGERS = "--strangers"
VALID_FOR = timedelta(days=30)


def issue(
    state_dir: Path, fqdns: Mapping[str, str], strangers: Iterable[str] | None = None
) -> None:
    """Write `servers/<name>/etc/tls/` of every server, `workload/tls/` and, last, `authority.pem`.

    The one at the top of the state directory says that all are there. `strangers` are the servers
    whose certificates strangers show; None where nobody calls.
    """
    authority = _authority()
    pem = authority.cert_pem.bytes()
    for name, fqdn in fqdns.items():
        folder = state_dir / "servers" / name / "etc" / "tls"
        _issue_to(fqdn, folder / "server", authority)
        _write(folder / "authority.pem", pem, 0o644)
    if strangers is not None:
        _issue_to_strangers(state_dir / "workload", fqdns, strangers, authority)
    _write(state_dir / "workload" / "tls" / "authority.pem", pem, 0o644)
    _write(state_dir / "authority.pem", pem, 0o644)


def _authority() -> CA:
    return CA(path_length=0, organization_name=ORGANISATION)


def _issue_to_strangers(
    workload: Path, fqdns: Mapping[str, str], names: Iterable[str], authority: CA
) -> None:
    """Certificates of servers, and one with a server's name by an authority of its own."""
    folder = workload / "tls" / "strangers"
    folder.mkdir(parents=True, exist_ok=True)
    confinement.hand_over(folder)
    for name in names:
        _issue_to(fqdns[name], folder / name, authority)
    _issue_to(next(iter(fqdns.values())), folder / FOREIGN, _authority())


def _issue_to(fqdn: str, path: Path, authority: CA) -> None:
    """`path` with `.key` and `.pem`."""
    ends = datetime.now(UTC) + VALID_FOR
    issued = authority.issue_cert(
        fqdn, common_name=fqdn, organization_name=ORGANISATION, not_after=ends
    )
    (certificate,) = issued.cert_chain_pems
    _write(path.with_name(f"{path.name}.key"), issued.private_key_pem.bytes(), 0o600)
    _write(path.with_name(f"{path.name}.pem"), certificate.bytes(), 0o644)


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
