"""What strangers say that is a little more than a server takes from one client: octets or Received
fields of a message, recipients, also such as nobody knows, lines that are no commands (TL-5).

Counted from the settings of the server that is called. A front end passes a message on, so there
it is beyond the limits of every mailbox server.
"""

from collections.abc import Mapping, Sequence

from lab.plan.parts import Section, StrangerKind, TooMuch
from lab.workload.content import STRANGER
from lab.workload.stranger_record import MAIL, RCPT

BEYOND = 2
"""So many recipients, or lines, come after the last that is within the limit."""
SAYING: tuple[StrangerKind, ...] = ("too-many-recipients", "unknown-recipients", "no-commands")
LINES_MAX = 100
MESSAGES: tuple[StrangerKind, ...] = ("too-large", "too-many-hops", "too-many-local-hops")


def commands_beyond(
    kind: StrangerKind, connector: Section, sender: str, recipients: Sequence[str]
) -> tuple[str, ...]:
    """Of the kinds that say commands, by the Receive connector of the server that they call."""
    if kind == "no-commands":
        most = min(int(connector["MaxProtocolErrors"]), LINES_MAX)
        return tuple(f"NONSENSE {number}" for number in range(1, most + BEYOND + 1))
    begin = f"{MAIL}<{sender}>"
    if kind == "unknown-recipients":
        domain = recipients[0].rpartition("@")[2]
        return (begin, *(f"{RCPT}<nobody{number}@{domain}>" for number in range(1, BEYOND + 1)))
    most = int(connector["MaxRecipientsPerMessage"])
    named = (recipients[number % len(recipients)] for number in range(most + BEYOND))
    return (begin, *(f"{RCPT}<{recipient}>" for recipient in named))


def too_much(
    kind: StrangerKind, connectors: Sequence[Section], limits: Mapping[str, object], fqdn: str
) -> TooMuch | None:
    """Of the kinds that say a message: `connectors`, of the servers that may take it; `limits` of
    the organisation; `fqdn` of a server of it.
    """
    hops = 1 + max(int(each["MaxHopCount"]) for each in connectors)
    local = [int(each["MaxLocalHopCount"]) for each in connectors]
    match kind:
        case "too-large":
            return TooMuch((), int(str(limits["MaxReceiveSize"])) + 1)
        case "too-many-hops":
            return TooMuch(tuple(f"hop{n}.{STRANGER}" for n in range(hops)), 0)
        case "too-many-local-hops":
            return TooMuch((fqdn,) * (hops if 0 in local else min(hops, 1 + max(local))), 0)
    return None
