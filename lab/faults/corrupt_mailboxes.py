"""A logical corruption of a mailbox database: what its mailboxes show is gone, as after a faulty
client or script.

An instant that nobody heals: the copies are asked by their servers' own certificates and past every
link, and the active one does it, by its log. Its answer is the evidence, and names the log.
"""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor

from lab.faults.observer.evidence import Evidence
from lab.faults.observer.target import RunningLab
from lab.plan import faults as plan_faults

DONE = "250"


class CorruptMailboxes:
    """One logical corruption of a plan."""

    def __init__(self, planned: plan_faults.CorruptMailboxes, lab: RunningLab) -> None:
        self.id, self.start_ms, self.end_ms = planned.id, planned.start_ms, planned.end_ms
        self._planned, self._lab = planned, lab
        self._replies: Mapping[str, Callable[[], str]] = {}
        self._seen: Evidence | None = None

    def describe(self) -> str:
        return self._planned.words()[0]

    def intent(self) -> Mapping[str, object]:
        return {"kind": "corrupt_mailboxes", "database": self._planned.database}

    def start(self) -> Mapping[str, object]:
        databases = self._lab.plan.topology.databases
        [database] = (each for each in databases if each.name == self._planned.database)
        line = f"XCORRUPT {database.name}"
        servers = [copy.server for copy in database.copies]
        self._replies = {each: self._lab.servers.ask(each, line) for each in servers}
        return {"asked": servers}

    def evidence(self) -> Evidence:
        """True when the server of the active copy says by which log."""
        if self._seen is None:
            with ThreadPoolExecutor(max(1, len(self._replies))) as pool:
                heard = pool.map(lambda wait: wait(), self._replies.values())
                said = dict(zip(self._replies, heard, strict=True))
            done = any(reply.startswith(DONE) for reply in said.values())
            words = (f"{server}: {reply or 'no answer'}" for server, reply in said.items())
            self._seen = Evidence(done, (), "; ".join(words))
        return self._seen

    def confirmed(self) -> Evidence:
        return self.evidence()

    def stop(self) -> None:
        """Nobody heals it."""

    def healed(self) -> Mapping[str, object]:
        return {}

    def evidence_healed(self) -> Evidence:
        return Evidence(True, ())
