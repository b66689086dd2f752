"""`python -m tests.lab.drawn_scenarios COUNT [--seed N]`: scenario files that nobody has written.

Sites, servers, databases and their copies, settings, streams of mail, faults and operations are
drawn; what `shadowlab validate` refuses is drawn again. The files go into `scenarios/` below the
present folder, tagged `drawn`, so that `shadowlab sweep --tag drawn --seeds 5` judges sound nodes
by all of them: whatever is violated then is a false alarm, or a bug of a node. The same count and
seed give the same files. No claim is expected to have anything to ask, and any loss may have an
excuse.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any, TypeAlias

from ruamel.yaml import YAML

from lab.scenario.random_faults import DRAWABLE
from lab.validation.validate import check

Section: TypeAlias = dict[str, Any]
Choices: TypeAlias = Mapping[str, Sequence[Any]]

SITES = ("paris", "lyon", "nice")
DOMAINS = ("partner.example", "other.example")
TRANSPORT_CONFIG: Choices = {
    "ShadowRedundancyEnabled": (True, True, True, True, True, False),
    "RejectMessageOnShadowFailure": (False, True),
    "ShadowMessagePreferenceSetting": ("PreferRemote", "LocalOnly", "RemoteOnly"),
    "MaxRetriesForRemoteSiteShadow": (1, 4, 20),
    "MaxRetriesForLocalSiteShadow": (0, 1, 2, 20),
    "ShadowHeartbeatFrequency": ("10s", "30s", "1m", "3m", "5m"),
    "ShadowResubmitTimeSpan": ("1m", "5m", "15m", "45m", "3h", "1d"),
    "ShadowMessageAutoDiscardInterval": ("5m", "10m", "1h", "2d", "90d"),
    "SafetyNetHoldTime": ("2m", "8m", "30m", "2d", "7d"),
    "MaxReceiveSize": ("10240KB", "32KB", "4KB"),
}
TRANSPORT_SERVICE: Choices = {
    "MessageExpirationTimeout": ("5m", "20m", "2d"),
    "DelayNotificationTimeout": ("2m", "10m", "4h"),
    "QueueGlitchRetryCount": (0, 1, 4, 15),
    "QueueGlitchRetryInterval": ("2s", "30s", "5m"),
    "TransientFailureRetryCount": (0, 2, 6, 15),
    "TransientFailureRetryInterval": ("5s", "1m", "5m"),
    "OutboundConnectionFailureRetryInterval": ("10s", "2m", "10m"),
    "IntraOrgConnectorSmtpMaxMessagesPerConnection": (0, 1, 2, 20),
    "MaxPerDomainOutboundConnections": (1, 2, 20, "unlimited"),
    "DiscardNotificationsPerAnswer": (1, 3, 200),
    "PromotionPageSize": (1, 5, 50, 1000),
    "SafetyNetPageSize": (1, 5, 50, 1000),
}
RECEIVE_CONNECTOR: Sequence[Section] = (
    {},
    {"ConnectionTimeout": "1h", "ConnectionInactivityTimeout": "30m"},
    {"ConnectionTimeout": "2m", "ConnectionInactivityTimeout": "30s"},
    {"ConnectionTimeout": "10m", "ConnectionInactivityTimeout": "1m"},
)
SEND_CONNECTOR: Choices = {"ConnectionInactivityTimeOut": ("20s", "1m", "3m", "10m")}
MAILBOX_DATABASE: Choices = {"DuplicateDetectionWindow": ("10s", "5m", "1h", "7d", "30d")}
OF_A_SERVER: Choices = {
    "MessageExpirationTimeout": ("5m", "30m", "2d"),
    "TransientFailureRetryInterval": ("10s", "3m"),
    "OutboundConnectionFailureRetryInterval": ("30s", "10m"),
}


class Drawing:
    """One scenario. `draw` asks one source of chance, in order."""

    def __init__(self, seed: str) -> None:
        self._of = Random(seed)
        self._servers: dict[str, Section] = {}
        self._mailbox: list[str] = []
        self._in_dag: list[str] = []
        self._databases: dict[str, list[str]] = {}
        self._users: dict[str, int] = {}
        self._is_managed = False

    def draw(self, name: str) -> Section:
        topology = self._topology()
        drawn = {
            "version": 1,
            "scenario": name,
            "summary": "Drawn; nobody has written it.",
            "tags": ["drawn"],
            "topology": topology,
            "settings": self._settings(),
            "workload": [self._mail() for _ in range(self._one(1, 2, 2, 3))],
            "faults": [*self._random_faults(), *self._faults()],
            "operations": list(self._operations()),
            "settle": self._one("30m", "1h30m", "3h"),
            "expect": {"unprotected_loss": "0..9999"},
        }
        return {key: value for key, value in drawn.items() if value}

    def _one(self, *choices: Any) -> Any:
        return self._of.choice(choices)

    def _chance(self, of_one: float) -> bool:
        return self._of.random() < of_one

    def _some(self, choices: Choices, each: float) -> Section:
        return {name: self._one(*of) for name, of in choices.items() if self._chance(each)}

    # -------------------------------------------------------------- who is there

    def _topology(self) -> Section:
        sites = SITES[: self._one(1, 2, 2, 2, 3)]
        layout = self._one("one DAG", "one DAG", "one DAG", "a DAG in one site", "no DAG")
        for site in sites:
            for number in range(1, self._one(2, 2, 3, 3, 4) + 1):
                self._mailbox.append(name := f"{site[:3]}-mbx{number}")
                self._servers[name] = {"role": "mailbox", "site": site}
                if layout == "one DAG" or (layout != "no DAG" and site == sites[0]):
                    self._join_dag(name)
        self._is_managed = bool(self._in_dag) and self._chance(0.7)
        for number, domain in enumerate(DOMAINS[: self._one(1, 1, 2)], start=1):
            outside = {"role": "external", "site": "internet", "domain": domain}
            self._servers[f"ext{number}"] = outside
        manager = {"active_manager": {"name": "am1", "site": self._one(*sites)}}
        between = [[a, b] for i, a in enumerate(sites) for b in sites[i + 1 :]]
        drawn = {
            "sites": {site: {} for site in sites} | {"internet": {"outside": True}},
            "site_links": [{"between": pair, "cost": self._one(1, 10, 100)} for pair in between],
            "servers": self._servers,
            "dags": {"DAG1": manager if self._is_managed else {}} if self._in_dag else {},
            "databases": dict(self._draw_databases()),
            "mailboxes": self._users,
        }
        return {key: value for key, value in drawn.items() if value}

    def _join_dag(self, server: str) -> None:
        self._in_dag.append(server)
        self._servers[server]["dag"] = "DAG1"
        if self._chance(0.1):
            policy = self._one("Blocked", "IntrasiteOnly")
            self._servers[server]["DatabaseCopyAutoActivationPolicy"] = policy

    def _draw_databases(self) -> Iterator[tuple[str, Section]]:
        for number in range(1, self._one(1, 2, 2, 3) + 1):
            name, copies = f"DB{number}", [self._one(*self._mailbox)]
            if self._is_managed and self._chance(0.8):
                count = min(len(self._in_dag), self._one(1, 2, 2, 3, 4))
                copies = self._of.sample(self._in_dag, count)
            self._databases[name], self._users[name] = copies, self._one(1, 3, 12, 40)
            window = {"DuplicateDetectionWindow": self._one("2m", "1h", "30d")}
            yield name, {"copies": copies} | (window if self._chance(0.15) else {})

    # -------------------------------------------------------------- settings

    def _settings(self) -> Section:
        each = self._one(0.1, 0.3, 0.6)
        drawn = {
            "TransportConfig": self._some(TRANSPORT_CONFIG, each),
            "TransportService": self._some(TRANSPORT_SERVICE, each),
            "ReceiveConnector": self._one(*RECEIVE_CONNECTOR),
            "SendConnector": self._some(SEND_CONNECTOR, each),
            "MailboxDatabase": self._some(MAILBOX_DATABASE, each),
            "servers": self._of_a_server() if self._chance(0.3) else {},
        }
        _fit_preference(drawn["TransportConfig"])
        return {section: values for section, values in drawn.items() if values}

    def _of_a_server(self) -> Section:
        service = self._some(OF_A_SERVER, 0.6) or {"QueueGlitchRetryCount": 1}
        return {self._one(*self._mailbox): {"TransportService": service}}

    # -------------------------------------------------------------- mail

    def _mail(self) -> Section:
        is_inbound = self._chance(0.7)
        drawn: Section = {
            "mail": "inbound" if is_inbound else "outbound",
            "at": self._one("10s", "1m", "5m"),
            "for": self._one("5m", "20m", "40m"),
            "rate": self._one("30/h", "1/m", "2/m"),
            "size": self._one("256B", "1KiB", "4KiB", "64KiB", "300KiB"),
            "retry": self._one("10s", "1m", "5m"),
        }
        if self._chance(0.4):
            drawn["via"] = self._of.sample(self._mailbox, self._one(1, 1, 2))
        drawn["to"] = {"database": self._several(list(self._databases))}
        outside = [each["domain"] for each in self._servers.values() if "domain" in each]
        if not is_inbound:
            drawn["to"] = (drawn["to"] if self._chance(0.5) else {}) | {
                "domain": self._several(outside)
            }
        drawn["recipients"] = self._one(1, "1..2", "1..4", 2, "1..8", "1..40")
        return drawn

    def _several(self, names: Sequence[str]) -> list[str]:
        return self._of.sample(names, self._of.randint(1, len(names)))

    # -------------------------------------------------------------- what goes wrong

    def _random_faults(self) -> Iterator[Section]:
        if self._chance(0.5):
            count = self._of.randint(3, len(DRAWABLE))
            section = {
                "during": self._one("3m..45m", "3m..1h", "3m..2h30m"),
                "faults": sorted(self._of.sample(DRAWABLE, count)),
                "at_most": self._one("one-server-at-a-time", "one-site-at-a-time", "none"),
                "count": self._one("1..3", "2..5"),
                "for": self._one("30s..5m", "2m..25m"),
            }
            yield {"random": section}

    def _faults(self) -> Iterator[Section]:
        for _ in range(self._one(0, 1, 2, 3)):
            at, lasts = f"{self._of.randint(2, 60)}m", f"{self._one(1, 3, 8, 15, 30)}m"
            kind = self._one("kill", "kill", "pause", "stop", "restart", "cut", "slow", "fill_disk")
            if kind == "restart":
                yield {"at": at, "restart": self._one(*self._mailbox)}
                continue
            again = {"for": "2m", "every": "20m", "times": 3} if self._chance(0.15) else {}
            yield {"at": at, "for": lasts} | self._fault(kind) | again

    def _fault(self, kind: str) -> Section:
        victims = [*self._mailbox, *(["am1"] if self._is_managed else [])]
        one, other = self._of.sample(victims, 2)
        match kind:
            case "cut":
                ends = self._one({"from": one, "to": other}, {"between": [one, other]})
                how = self._one("refuse", "blackhole", "stall", "reset", "ack-lost")
                return {"cut": ends | {"kind": how}}
            case "slow":
                late = self._one("200ms", "5s", "30s")
                return {"slow": {"from": one, "to": other, "latency": late}}
            case "fill_disk":
                return {"fill_disk": self._one(*self._mailbox)}
            case "kill" if self._chance(0.4):
                return {"kill": one, "returns_with": "new-queue-database"}
        return {kind: one}

    def _operations(self) -> Iterator[Section]:
        for database, copies in self._databases.items():
            if len(copies) > 1 and self._chance(0.4):
                kind = self._one("failover", "switchover")
                at = f"{self._of.randint(5, 60)}m"
                yield {"at": at, kind: database, "to": self._one(*copies[1:])}


def _fit_preference(config: Section) -> None:
    """What would contradict ShadowMessagePreferenceSetting (SR-13) is set right."""
    preference = config.get("ShadowMessagePreferenceSetting", "PreferRemote")
    if preference == "LocalOnly":
        config["MaxRetriesForRemoteSiteShadow"] = 0
    if preference == "RemoteOnly":
        config.pop("MaxRetriesForLocalSiteShadow", None)


def draw_scenarios(folder: Path, count: int, seed: int) -> list[Path]:
    """The files that were written into `folder`: sound scenarios, each by its own name."""
    written = list[Path]()
    number = 0
    while len(written) < count:
        number += 1
        path = folder / f"drawn-{seed}-{number}.yaml"
        drawn = Drawing(f"{seed}-{number}").draw(path.stem)
        YAML().dump(drawn, path)
        if check([path]).mistakes:
            path.unlink()
        else:
            written.append(path)
    return written


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.lab.drawn_scenarios")
    parser.add_argument("count", type=int, metavar="COUNT")
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    asked = parser.parse_args(words)
    folder = Path("scenarios")
    folder.mkdir(exist_ok=True)
    print(f"{len(draw_scenarios(folder, asked.count, asked.seed))} scenarios in {folder}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
