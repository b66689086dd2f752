"""A scenario to start from: a commented one, or another one under a new name. It validates at once.

No scenario is ever overwritten, and no name is given twice. The first line names a JSON Schema,
which is written beside it as this version of the lab has it: editors complete keys and words
from it.
"""

import re
from pathlib import Path

from lab.plan.names import PATTERN_WORDS, SLUG
from lab.program.errors import ScenarioError
from lab.program.whole_file import write_whole
from lab.record.folder import BESIDE_SCENARIOS
from lab.scenario.json_schema import schema_text
from lab.validation.library import find_scenario, scenario_paths
from lab.validation.validate import check
from lab.validation.yaml_document import read_document

SCHEMA_FILE = "scenario.schema.json"
# read by the YAML language server (VS Code, Vim, Emacs …); the path is relative to the file
SCHEMA_LINE = f"# yaml-language-server: $schema={SCHEMA_FILE}"
OTHER_SCHEMA = re.compile(r"^# *yaml-language-server:.*\n", re.MULTILINE)
NAME_LINE = re.compile(r"^scenario:.*$", re.MULTILINE)
COMMENTED = """\
# What happens here, and which promise it puts to the test. Times are lab time since the start.
version: 1
scenario: {name}
summary: One server dies with mail in its queue and comes back; nothing is lost.
proves: [SR-1, DD-1]          # the requirements that it is there to prove
tags: [draft]                 # `nightly` makes it part of the nightly suite
topology: two-site-dag        # scenarios/topologies, or a whole topology here

settings:                     # Exchange's own parameters; what is left out has Exchange's defaults
  TransportConfig:
    ShadowHeartbeatFrequency: 1m
    ShadowResubmitTimeSpan: 3h

clock: {{speed: 60}}            # a minute of lab time is a second here; the simulator needs none

workload:
  # Without `via` each mailbox server gets its share; without `to`, every mailbox.
  - {{mail: inbound, at: 1m, for: 20m, rate: 10/m, recipients: 1..3, size: 4KiB}}
  # - {{mail: outbound, at: 1m, for: 20m, rate: 1/m, from: {{database: DB1}}}}

faults:
  # Every lasting fault has `for`; it is healed when that is over.
  - {{at: 8m, for: 5m, kill: par-mbx1, returns_with: same-queue-database}}
  # - {{at: 8m, for: 5m, cut: {{from: site lyon, to: site paris, kind: stall}}}}
  # - {{at: 8m, for: 5m, slow: {{from: par-mbx1, to: par-mbx2, latency: 2s}}}}

settle: 20m                   # how long the run goes on after the last mail and the last heal

expect:                       # every claim is checked whatever stands here
  lost: 0
  promotions: []              # or [{{of: par-mbx1, cause: …, after: 13m, within: 2m}}]
  verdict: pass
"""


def new_scenario(name: str, source: str | None = None) -> Path:
    """The file `<name>.yaml` in `scenarios/` where one stands, written, and the folder where there
    is none. Raises ScenarioError."""
    if not re.fullmatch(SLUG, name):
        raise ScenarioError(f"{name!r} is no name for a scenario", PATTERN_WORDS[SLUG])
    if name in BESIDE_SCENARIOS:
        raise ScenarioError(f"{name} is no name for a scenario", "runs/ has a folder of that name")
    folder = Path("scenarios")
    taken = [path for path in (*scenario_paths(), folder / f"{name}.yaml") if path.exists()]
    for path in taken:
        if path.stem == name:
            raise ScenarioError(f"{path} is there already", "choose another name")
    text = COMMENTED.format(name=name) if source is None else _renamed(find_scenario(source), name)
    folder.mkdir(exist_ok=True)
    path = _written(folder / f"{name}.yaml", f"{SCHEMA_LINE}\n{OTHER_SCHEMA.sub('', text)}")
    write_whole(folder / SCHEMA_FILE, schema_text("scenario"))
    return path


def _renamed(source: Path, name: str) -> str:
    document = read_document(source)
    text, found = NAME_LINE.subn(f"scenario: {name}", document.text, count=1)
    if document.data is None or not found:
        rule = document.mistakes[0].rule if document.mistakes else "names no scenario"
        raise ScenarioError(f"{source} {rule}", "shadowlab validate says what is wrong")
    return text


def _written(path: Path, text: str) -> Path:
    """The file, if it could be written and has no mistake; else it is not left there."""
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except OSError:
        path.unlink(missing_ok=True)
        raise
    mistakes = check([path]).mistakes
    if mistakes:
        path.unlink()
        what, _, hint = str(mistakes[0]).partition("\nhint: ")
        raise ScenarioError(what, hint)
    return path
