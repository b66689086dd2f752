"""Sites, servers, DAGs, databases and their copies: a topology that is drawn."""

from __future__ import annotations

from collections.abc import Iterator

from tests.lab.drawn_scenarios.chance import Chance, Section, without_empty

SITES = ("paris", "lyon", "nice")
DOMAINS = ("partner.example", "other.example")
MANAGED = "DAG1"  # by Active Manager, if one is drawn
WINDOWS = ("2m", "1h", "30d")


class Organisation:
    """What the rest of a scenario names: `servers` (mailbox), `managers`, `databases`."""

    def __init__(self, chance: Chance) -> None:
        self._chance = chance
        self.sites = SITES[: chance.one(1, 2, 2, 2, 3)]
        self.domains = DOMAINS[: chance.one(1, 1, 2)]
        self._of: dict[str, Section] = dict(self._draw_servers())
        self.servers = list(self._of)
        self._dags = {each["dag"] for each in self._of.values() if "dag" in each}
        is_managed = MANAGED in self._dags and chance.happens(0.7)
        self.managers = ["am1"] if is_managed else []
        self.databases: dict[str, list[str]] = {}
        self.mailboxes: dict[str, int] = {}
        self._windows: dict[str, Section] = {}
        for number in range(1, chance.one(1, 2, 2, 3, 5) + 1):
            self._draw_database(f"DB{number}")

    def topology(self) -> Section:
        """As a scenario file has it."""
        outside = {
            f"ext{number}": {"role": "external", "site": "internet", "domain": domain}
            for number, domain in enumerate(self.domains, start=1)
        }
        databases = {
            name: {"copies": copies} | self._windows[name]
            for name, copies in self.databases.items()
        }
        drawn = {
            "sites": {site: {} for site in self.sites} | {"internet": {"outside": True}},
            "site_links": list(self._site_links()),
            "servers": self._of | outside,
            "dags": {dag: self._manager(dag) for dag in sorted(self._dags)},
            "databases": databases,
            "mailboxes": self.mailboxes,
        }
        return without_empty(drawn)

    def _draw_servers(self) -> Iterator[tuple[str, Section]]:
        layouts = ("one DAG", "one DAG", "one DAG", "a DAG in one site", "a DAG a site", "no DAG")
        layout = self._chance.one(*layouts)
        for of_site, site in enumerate(self.sites, start=1):
            for number in range(1, self._chance.one(1, 2, 2, 3, 3, 4) + 1):
                server: Section = {"role": "mailbox", "site": site}
                if layout == "one DAG" or (layout == "a DAG in one site" and of_site == 1):
                    server |= self._member(MANAGED)
                if layout == "a DAG a site":
                    server |= self._member(f"DAG{of_site}")
                yield f"{site[:3]}-mbx{number}", server

    def _member(self, dag: str) -> Section:
        policy = self._chance.one("Blocked", "IntrasiteOnly")
        key = "DatabaseCopyAutoActivationPolicy"
        return {"dag": dag} | ({key: policy} if self._chance.happens(0.1) else {})

    def _site_links(self) -> Iterator[Section]:
        """Between all, or in a row, so that mail to the last site costs more."""
        is_row = self._chance.happens(0.3)
        for first, one in enumerate(self.sites):
            for other in self.sites[first + 1 : first + 2] if is_row else self.sites[first + 1 :]:
                yield {"between": [one, other], "cost": self._chance.one(1, 10, 100)}

    def _manager(self, dag: str) -> Section:
        if dag != MANAGED or not self.managers:
            return {}
        return {"active_manager": {"name": "am1", "site": self._chance.one(*self.sites)}}

    def _draw_database(self, name: str) -> None:
        copies = [self._chance.one(*self.servers)]
        members = [each for each, of in self._of.items() if of.get("dag") == MANAGED]
        if self.managers and self._chance.happens(0.8):
            copies = self._chance.sample(members, self._chance.one(1, 2, 2, 3, 4))
        self.databases[name] = copies
        self.mailboxes[name] = self._chance.one(1, 3, 12, 40)
        window = {"Track Duplicates": self._chance.one(*WINDOWS)}
        self._windows[name] = window if self._chance.happens(0.15) else {}
