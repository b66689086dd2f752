"""A throw-away certificate authority, and certificates of servers by it, as files."""

from __future__ import annotations

import ssl
from pathlib import Path

from trustme import CA


class Authority:
    """Signs certificates; keeps everything it makes in `folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.file = folder / "authority.pem"
        self._signing = CA()
        self._signing.cert_pem.write_to_path(self.file)

    def issue(self, host: str) -> tuple[Path, Path]:
        """Certificate and key for that DNS name."""
        issued = self._signing.issue_cert(host, common_name=host)
        certificate, key = self.folder / f"{host}.pem", self.folder / f"{host}.key"
        issued.cert_chain_pems[0].write_to_path(certificate)
        issued.private_key_pem.write_to_path(key)
        return certificate, key

    def client_context(self, host: str | None) -> ssl.SSLContext:
        """As that server calls another one; None: as somebody outside, who shows nothing."""
        context = ssl.create_default_context(cafile=str(self.file))
        if host is not None:
            context.load_cert_chain(*self.issue(host))
        return context
