"""Two Postfix instances on loopback, the first relaying to the second, under a folder of their own.

Debian's package serves as it is: nothing of /etc/postfix, /var/spool or any mailbox of the machine
is read or written. The sender's 250 follows one durable copy, in the queue of the first. The second
keeps a copy of all (`always_bcc`) beside what it delivers. TLS is the lab's: offered to the sender,
mutual between the two, with the authority of the measurement. Its master process needs root.
"""

import os
import pwd
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from bench.loopback import DOMAIN, START_S, Organisation, free_port, greets
from bench.result import Unmeasurable
from lab.hosts.containers.ground import certificates as authority
from lab.program.errors import GroundError

FIRST, SECOND = "first", "second"
USER, COPY = Organisation.USER, f"copy@{DOMAIN}"
CALL_S = 60.0
SERVICES = """\
127.0.0.1:{port} inet n - n - - smtpd
pickup unix n - n 60 1 pickup
cleanup unix n - n - 0 cleanup
qmgr unix n - n 300 1 qmgr
tlsmgr unix - - n 1000? 1 tlsmgr
tlsproxy unix - - n - 0 tlsproxy
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
proxymap unix - - n - - proxymap
smtp unix - - n - - smtp
relay unix - - n - - smtp
error unix - - n - - error
retry unix - - n - - error
virtual unix - n n - - virtual
anvil unix - - n - 1 anvil
scache unix - - n - 1 scache
postlog unix-dgram n - n - 1 postlogd
"""


class Postfix:
    """Both instances; use `postfix_pair`. `port` is where the first listens."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._ports = {name: free_port() for name in (FIRST, SECOND)}
        self._mailboxes = folder / SECOND / "mail"

    @property
    def port(self) -> int:
        return self._ports[FIRST]

    def start(self) -> None:
        """Both, to their banners. Raises Unmeasurable, or GroundError with what was said."""
        check_it_is_there()
        authority.issue(self._folder, {name: f"{name}.{DOMAIN}" for name in self._ports})
        for name in (SECOND, FIRST):
            self._configure(name)
            self._call(name, "start")
            if not greets(self._ports[name], time.monotonic() + START_S):
                raise GroundError(f"Postfix gave no banner: {self._last_words(name)}")

    def stop(self) -> None:
        for name in self._ports:
            with suppress(GroundError, subprocess.TimeoutExpired):
                self._call(name, "stop")

    def delivered(self) -> int:
        """Messages in the mailbox on the second whose copy is there too."""
        return min(_files(self._mailboxes / name / "new") for name in ("user", "copy"))

    def _configure(self, name: str) -> None:
        own = self._folder / name
        for part in ("etc", "queue", "data", "mail"):
            (own / part).mkdir(parents=True)
        os.chown(own / "data", pwd.getpwnam("postfix").pw_uid, -1)
        nobody = pwd.getpwnam("nobody")
        os.chown(own / "mail", nobody.pw_uid, nobody.pw_gid)
        (own / "mailboxes").write_text(f"{USER} user/\n{COPY} copy/\n")
        settings = {**self._common(name), **(self._relaying() if name == FIRST else {})}
        settings |= self._keeping() if name == SECOND else {}
        (own / "etc" / "main.cf").write_text("".join(f"{k} = {v}\n" for k, v in settings.items()))
        (own / "etc" / "master.cf").write_text(SERVICES.format(port=self._ports[name]))

    def _common(self, name: str) -> dict[str, str]:
        own = self._folder / name
        tls = self._folder / "servers" / name / "etc" / "tls"
        return {
            "compatibility_level": "3.6",
            "queue_directory": f"{own}/queue",
            "data_directory": f"{own}/data",
            "maillog_file": f"{own}/mail.log",
            "maillog_file_prefixes": str(self._folder),
            "myhostname": f"{name}.{DOMAIN}",
            "mydestination": "",
            "alias_maps": "",
            "alias_database": "",
            "inet_protocols": "ipv4",
            "mynetworks": "127.0.0.0/8",
            "smtpd_peername_lookup": "no",
            "disable_dns_lookups": "yes",
            "smtp_host_lookup": "native",
            "in_flow_delay": "0",
            "smtpd_tls_cert_file": f"{tls}/server.pem",
            "smtpd_tls_key_file": f"{tls}/server.key",
            "smtpd_tls_CAfile": f"{tls}/authority.pem",
            "smtpd_tls_security_level": "may",
            "smtp_tls_cert_file": "$smtpd_tls_cert_file",
            "smtp_tls_key_file": "$smtpd_tls_key_file",
            "smtp_tls_CAfile": "$smtpd_tls_CAfile",
        }

    def _relaying(self) -> dict[str, str]:
        return {
            "relayhost": f"[127.0.0.1]:{self._ports[SECOND]}",
            "smtp_tls_security_level": "verify",
            "smtp_tls_verify_cert_match": f"{SECOND}.{DOMAIN}",
            "smtp_tls_connection_reuse": "yes",
        }

    def _keeping(self) -> dict[str, str]:
        nobody = pwd.getpwnam("nobody")
        return {
            "always_bcc": COPY,
            "smtpd_tls_security_level": "encrypt",
            "smtpd_tls_req_ccert": "yes",
            "virtual_mailbox_domains": DOMAIN,
            "virtual_mailbox_maps": f"texthash:{self._folder}/{SECOND}/mailboxes",
            "virtual_mailbox_base": str(self._mailboxes),
            "virtual_uid_maps": f"static:{nobody.pw_uid}",
            "virtual_gid_maps": f"static:{nobody.pw_gid}",
        }

    def _call(self, name: str, verb: str) -> None:
        command = ["postfix", "-c", str(self._folder / name / "etc"), verb]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=CALL_S)
        if done.returncode != 0:
            said = done.stderr.strip()[-300:] or self._last_words(name)
            raise GroundError(f"{' '.join(command)}: {said or 'it said nothing'}")

    def _last_words(self, name: str) -> str:
        log = self._folder / name / "mail.log"
        return log.read_text()[-300:].strip() if log.exists() else "it said nothing"


def check_it_is_there() -> None:
    """Raises Unmeasurable where Postfix is not installed, or this user may not start it."""
    if shutil.which("postfix") is None:
        raise Unmeasurable("Postfix is not installed", "apt-get install postfix")
    if os.geteuid() != 0:
        raise Unmeasurable("Postfix starts as root only", "run make bench as root")


@contextmanager
def postfix_pair(folder: Path) -> Iterator[Postfix]:
    """Up on entry, down on exit; `folder` must be open to everybody, as every folder above it."""
    pair = Postfix(folder)
    try:
        pair.start()
        yield pair
    finally:
        pair.stop()


def _files(folder: Path) -> int:
    return sum(1 for _ in os.scandir(folder)) if folder.exists() else 0
