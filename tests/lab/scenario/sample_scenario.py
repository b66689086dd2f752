"""A sound scenario and topology to break: each test changes one line and says what must be said."""

from pathlib import Path

from lab.validation.validate import Checked, check

TOPOLOGY = """\
version: 1
topology: pair
sites: {paris: {}, lyon: {}, internet: {outside: true}}
site_links: [{between: [paris, lyon], cost: 10}]
servers:
  par-mbx1: {role: mailbox, site: paris, dag: DAG1}
  par-mbx2: {role: mailbox, site: paris, dag: DAG1}
  lyo-mbx1: {role: mailbox, site: lyon, dag: DAG1}
  ext1: {role: external, site: internet, domain: partner.example}
dags: {DAG1: {}}
databases:
  DB1: {copies: [par-mbx2]}
mailboxes: {DB1: 4}
"""

SCENARIO = """\
version: 1
scenario: sound
summary: Nothing is wrong with this file.
proves: [SR-1, SM-7]
tags: [nightly]
topology: pair
settings:
  TransportConfig: {ShadowHeartbeatFrequency: 1m}
  servers: {par-mbx1: {ReceiveConnector: {ConnectionTimeout: 10m}}}
clock: {speed: 60}
workload:
  - {mail: inbound, at: 1m, for: 20m, rate: 10/m, via: par-mbx1, to: {database: DB1}}
  - {mail: outbound, at: 1m, for: 20m, rate: 1/m, from: {database: DB1}}
faults:
  - {at: 10m, for: 5m, kill: par-mbx1, returns_with: new-queue-database}
  - {at: 12m, for: 5m, cut: {from: site lyon, to: site paris, kind: stall}}
settle: 10m
expect:
  lost: 0
  promotions: [{of: par-mbx1, cause: database-id-changed, after: 15m, within: 2m}]
"""


def write(folder: Path, scenario: str, topology: str = TOPOLOGY, name: str = "sound") -> Path:
    """The scenario's path, with its topology beside it."""
    (folder / "topologies").mkdir(exist_ok=True)
    (folder / "topologies" / "pair.yaml").write_text(topology, encoding="utf-8")
    path = folder / f"{name}.yaml"
    path.write_text(scenario, encoding="utf-8")
    return path


def checked(folder: Path, scenario: str = SCENARIO, topology: str = TOPOLOGY) -> Checked:
    """What checking the scenario finds."""
    return check([write(folder, scenario, topology)])


def changed(text: str, old: str, new: str) -> str:
    """The text with one part of it exchanged; the part must stand there once."""
    assert text.count(old) == 1, old
    return text.replace(old, new)


def said(found: Checked) -> list[str]:
    """Every mistake as `line:column: what, value, rule | hint`, without the file's name."""
    return [
        str(mistake).removeprefix(mistake.file).removeprefix(":").replace("\nhint: ", " | ")
        for mistake in found.mistakes
    ]
