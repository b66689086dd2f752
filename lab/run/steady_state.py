"""Before the first fault: every server shows its banner, and a probe message goes over every link
that mail takes; the others show the banner behind them.

What is broken before anything was broken on purpose would be taken for an effect of a fault, so
a lab that is not steady does not run. Probe messages are ordinary mail with a Message-Id that
begins `<probe.`, and the evaluation passes them over. Lab time stands still meanwhile.
"""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from lab.faults.observer.evidence import link_row
from lab.faults.observer.target import Wire
from lab.hosts.host import MessageProber
from lab.plan.links import SMTP
from lab.plan.plan import Plan
from lab.plan.topology import LinkName, Server
from lab.program.errors import GroundError
from lab.record.folder import JsonLines
from lab.workload.agent import AgentError, ProbeMessageReply
from lab.workload.probe import Seen

BANNER_WITHIN_SECONDS = 30.0
LOOK_WAIT_SECONDS = 1.0
LOOK_EVERY_SECONDS = 0.1
REPLY_WAIT_SECONDS = 10.0
AT_ONCE = 6
SENDER = ""
"""Nobody hears what becomes of a probe, by a DSN or by a journal report."""


@dataclass(frozen=True, slots=True)
class SteadyState:
    """The check of one run; `links` are all links of the plan with their addresses."""

    plan: Plan
    run_id: str
    links: dict[LinkName, Wire]
    prober: MessageProber
    record: JsonLines
    monotonic: Callable[[], float] = time.monotonic
    pause: Callable[[float], None] = time.sleep

    def check(self) -> int:
        """How many links were found to work. Raises GroundError naming those that do not."""
        pool = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="steady state")
        try:
            silent = list(pool.map(self._without_banner, self.plan.topology.servers))
            _refuse("no banner from", [name for name in silent if name])
            numbers = range(1, 1 + len(self.links))
            broken = list(pool.map(self._without_passage, self.links, numbers))
            _refuse("nothing gets through", [name for name in broken if name])
        finally:
            pool.shutdown(wait=False, cancel_futures=True)  # an interrupted check waits for none
        return len(self.links)

    def _without_banner(self, server: Server) -> str | None:
        """The server's name when no link to it shows a banner in time."""
        addresses = [
            wire.address for link, wire in self.links.items() if link.target == server.name
        ]
        deadline = self.monotonic() + BANNER_WITHIN_SECONDS
        while addresses and not self._shows_banner(addresses[0]):
            if self.monotonic() > deadline:
                return server.name
            self.pause(LOOK_EVERY_SECONDS)
        return None

    def _shows_banner(self, address: str) -> bool:
        try:
            return self.prober.probe(address, LOOK_WAIT_SECONDS).seen is Seen.BANNER
        except AgentError:
            return False

    def _without_passage(self, link: LinkName, number: int) -> str | None:
        """The link's name and the reason when nothing gets through; the record has a line."""
        if link.service == SMTP:
            return self._without_mail(link, number)
        ok = self._shows_banner(self.links[link].address)
        self.record.append({"link": link_row(link), "ok": ok})
        return None if ok else f"{link.source} to {link.target} ({link.service})"

    def _without_mail(self, link: LinkName, number: int) -> str | None:
        """The same of a link that mail takes, by a probe message."""
        server = next(each for each in self.plan.topology.servers if each.name == link.target)
        message_id = f"<probe.{number:04}.{self.run_id}@outside.example>"
        try:
            answer = self.prober.probe_message(
                self.links[link].address,
                fqdn=server.fqdn,
                sender=SENDER,
                recipient=recipient_at(self.plan, server),
                message_id=message_id,
                wait_seconds=REPLY_WAIT_SECONDS,
            )
        except AgentError as error:
            answer = ProbeMessageReply("failed", None, str(error))
        ok = answer.outcome == "ok"
        self.record.append(
            {
                "link": link_row(link),
                "message_id": message_id,
                "reply": answer.reply,
                "reason": answer.reason,
                "ok": ok,
            }
        )
        said = answer.reply or answer.reason
        return None if ok else f"{link.source} to {link.target} ({said})"


def recipient_at(plan: Plan, server: Server) -> str:
    """Somebody whom that server takes mail for: best a mailbox of its own."""
    topology = plan.topology
    if server.domain is not None:
        return f"probe@{server.domain}"
    own = {each.name for each in topology.databases if each.copies[0].server == server.name}
    addresses = [mailbox.address for mailbox in topology.mailboxes if mailbox.database in own]
    everyone = [mailbox.address for mailbox in topology.mailboxes]
    outside = [f"probe@{each.domain}" for each in topology.servers if each.domain]
    return (addresses + everyone + outside + [f"probe@{topology.accepted_domain}"])[0]


def _refuse(what: str, names: Sequence[str]) -> None:
    if names:
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        raise GroundError(
            f"no steady state: {what} {', '.join(names[:3])}{more}",
            "probes.jsonl and logs/ in the run folder say more",
        )
