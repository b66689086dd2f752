"""Ask a server on its own machine: `python3 -m nodes.shell.ask CONFIG XFAILOVER DB1 lyo-mbx1`.

Over TLS with the server's own certificate, past every link, as an administrator who is logged in
there. Prints the reply, its code first; exits 0 for 250, 1 for another reply, 69 where none comes.
"""

from __future__ import annotations

import json
import smtplib
import ssl
import sys
from pathlib import Path
from typing import Any

EX_USAGE, EX_UNAVAILABLE = 64, 69
PATIENCE_SECONDS = 10.0


def ask(config: dict[str, Any], line: str) -> tuple[int, str]:
    """Code and text of the reply. Raises OSError and smtplib.SMTPException."""
    tls, port = config["Tls"], int(config["Listen"]["smtp"].rpartition(":")[2])
    context = ssl.create_default_context(cafile=tls["Authority"])
    context.check_hostname = False  # it is reached by address
    context.load_cert_chain(tls["Certificate"], tls["Key"])
    with smtplib.SMTP("127.0.0.1", port, config["Fqdn"], PATIENCE_SECONDS) as session:
        session.starttls(context=context)
        session.ehlo()
        code, text = session.docmd(line)
    return code, text.decode("ascii", "replace")


def main(arguments: list[str]) -> int:
    if len(arguments) < 2:
        print("usage: python3 -m nodes.shell.ask CONFIG VERB [ARGUMENT …]", file=sys.stderr)
        return EX_USAGE
    try:
        config = json.loads(Path(arguments[0]).read_text(encoding="utf-8"))
        code, text = ask(config, " ".join(arguments[1:]))
    except (OSError, ValueError, smtplib.SMTPException) as error:
        print(error, file=sys.stderr)
        return EX_UNAVAILABLE
    print(code, text)
    return 0 if code == 250 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
