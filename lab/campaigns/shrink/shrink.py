"""From a run that fails to the smallest scenario that still fails in the same way.

In stages (faults, mail, servers, time) and in rounds: all reductions of a stage are simulated and
judged together, under the seed that failed and, where that shows nothing, under a few more; those
that still fail are taken together where that still fails, else the best of them alone. A stage ends
when none does. "In the same way" means that the
claim which the run violated first is violated, or that a server crashes where one crashed.
"""

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import reduce
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

from ruamel.yaml import YAML

from lab.campaigns.shrink.draft import STAGES, Draft, Json, Reduction, Stage
from lab.campaigns.shrink.trial import CRASH, Trial, Trials
from lab.planning.write_out import with_plain_faults
from lab.program.errors import ScenarioError
from lab.program.given_json import read_json
from lab.program.whole_file import write_whole
from lab.replay.run import read_simulated
from lab.run.outcome import Say, say_to_stderr
from lab.validation.library import load_scenario
from lab.validation.validate import CheckedScenario, check, find_topology

SHRUNK = "# The smallest scenario that was found to fail by "
SEEDS_BESIDE = 3
MOST_ROUNDS = 40
MOST_TRIALS = 96


@dataclass(frozen=True, slots=True)
class Failing:
    """A draft, and the seed under which it was seen to fail."""

    draft: Draft
    seed: int
    what: str = "the run itself"


@dataclass(slots=True)
class Shrink:
    """`name` is what the smaller scenario is called, `way` how it must fail."""

    trials: Trials
    name: str
    way: str
    seed: int
    say: Say = say_to_stderr
    rounds: int = field(default=0)

    def run(self, draft: Draft) -> Failing:
        """The smallest that was found. Raises ScenarioError where the draft does not fail."""
        found = self._first_failing([Failing(draft, self.seed)], beside=0)
        if found is None:
            hint = "the scenario or the code has changed; run it again first"
            raise ScenarioError(f"it does not violate {self.way} any more", hint)
        for stage in STAGES:
            while (smaller := self._smaller(found, stage)) is not None:
                found = smaller
                self.say(f"{_counted(found.draft)}, seed {found.seed} ({found.what})")
        return found

    def _smaller(self, found: Failing, stage: Stage) -> Failing | None:
        """One round: the best of a stage's reductions, or those that can be taken together. The
        seed that failed is tried first, others where it shows nothing.
        """
        if self.rounds >= MOST_ROUNDS:
            return None
        self.rounds += 1
        every = [(each, draft) for each in stage(found.draft) if (draft := each.apply(found.draft))]
        failing = self._all_failing(found, every, beside=0)
        if not failing:
            failing = self._all_failing(found, every, beside=SEEDS_BESIDE)
        if not failing:
            return None
        best = min(failing, key=lambda each: each[1].draft.size)[1]
        together = self._together(found, [reduction for reduction, _ in failing])
        both = self._first_failing(together, beside=0) if together else None
        if both is not None and both.draft.size < best.draft.size:
            return both
        return best

    def _together(self, found: Failing, taken: Sequence[Reduction]) -> list[Failing]:
        """All that failed alone, in one draft; and the first half of them, and so on."""
        drafts = []
        while len(taken) > 1:
            combined = reduce(lambda d, each: each.apply(d) or d, taken, found.draft)
            drafts.append(Failing(combined, found.seed, f"{len(taken)} reductions together"))
            taken = taken[: len(taken) // 2]
        return drafts

    def _all_failing(
        self, found: Failing, candidates: Sequence[tuple[Reduction, Draft]], *, beside: int
    ) -> list[tuple[Reduction, Failing]]:
        drafts = [Failing(draft, found.seed, each.what) for each, draft in candidates]
        failing = self._tried(drafts, beside=beside)
        return [(candidates[number][0], each) for number, each in failing]

    def _first_failing(self, drafts: Sequence[Failing], *, beside: int) -> Failing | None:
        return next((failing for _, failing in self._tried(drafts, beside=beside)), None)

    def _tried(self, drafts: Sequence[Failing], *, beside: int) -> Iterator[tuple[int, Failing]]:
        """Those that fail in the same way, with their place and the first seed that shows it."""
        checked = [(n, s) for n, d in enumerate(drafts) if (s := checked_draft(d.draft, self.name))]
        trials = [
            (n, Trial(scenario, seed))
            for n, scenario in checked
            for seed in range(drafts[n].seed, drafts[n].seed + beside + 1)
        ]
        ways = self._judged([trial for _, trial in trials])
        seen = set()
        for (number, trial), way in zip(trials, ways, strict=True):
            if self.way in way and number not in seen:
                seen.add(number)
                yield number, Failing(drafts[number].draft, trial.seed, drafts[number].what)

    def _judged(self, trials: Sequence[Trial]) -> list[frozenset[str]]:
        found: list[frozenset[str]] = []
        for start in range(0, len(trials), MOST_TRIALS):
            found += self.trials.failures(trials[start : start + MOST_TRIALS])
        return found


def way_of(folder: Path) -> str:
    """How a judged run fails. Raises ScenarioError for one that does not."""
    try:
        claims = read_json(folder / "verdict.json")["claims"]
        exits = read_json(folder / "host.json")["server_exit_codes"]
        violated = [each["name"] for each in claims if each["status"] == "violated"]
        crashed = [CRASH] if 70 in exits.values() else []
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ScenarioError(f"{folder} was not judged", "shadowlab evaluate does it") from error
    for way in (*violated, *crashed):
        return str(way)
    raise ScenarioError(f"{folder} does not fail", "only a run that fails can be made smaller")


def checked_draft(draft: Draft, name: str) -> CheckedScenario | None:
    """The draft as a person's file would be read; None when it is no scenario any more."""
    with TemporaryDirectory(prefix="shadowlab-shrink-") as folder:
        path = Path(folder) / f"{name}.yaml"
        path.write_text(scenario_text(draft.document(name)), encoding="utf-8")
        scenarios = check([path]).scenarios
        return scenarios[0] if scenarios else None


def scenario_text(document: Json) -> str:
    """A scenario file of plain values."""
    yaml, text = YAML(), StringIO()
    yaml.default_flow_style = None
    yaml.width = 100
    yaml.dump(document, text)
    return text.getvalue()


def shrink_run(folder: Path, target: Path, say: Say = say_to_stderr) -> Failing:
    """Make the scenario of a simulated run that fails smaller, and write it to `target`.

    Raises ScenarioError where the run does not fail or was not simulated, OSError.
    """
    plan = read_simulated(folder)
    way, draft = way_of(folder), draft_of(folder, plan.seed)
    say(f"{folder} fails by {way}: {_counted(draft)}")
    with Trials() as trials:
        found = Shrink(trials, target.stem, way, plan.seed, say).run(draft)
    target.parent.mkdir(parents=True, exist_ok=True)
    told = f"{SHRUNK}{way} as {folder} does:\n"
    seeded = f"# shadowlab run {shlex.quote(str(target))} --on simulator --seed {found.seed}\n"
    document = {**found.draft.document(target.stem), "expect": {"verdict": "fail"}}
    write_whole(target, told + seeded + scenario_text(document))
    return found


def draft_of(folder: Path, seed: int) -> Draft:
    """What the run's scenario stands for, random schedules written out. Raises ScenarioError."""
    authored, mistakes = load_scenario(str(folder / "scenario.yaml"))
    if authored is None:
        raise ScenarioError(mistakes[0], f"the scenario of {folder} cannot be read any more")
    text = with_plain_faults(authored.text, authored.scenario, authored.topology, seed, apart=True)
    document = YAML(typ="safe").load(text)
    topology = document["topology"]
    if isinstance(topology, str):
        path = find_topology(authored.path, topology)
        assert path is not None, "the scenario was read with it"
        topology = YAML(typ="safe").load(path.read_text(encoding="utf-8"))
    return Draft.of(document, topology)


def _counted(draft: Draft) -> str:
    _, servers, messages, _, _ = draft.size
    numbers = [(len(draft.faults), "fault"), (servers, "server"), (messages, "message")]
    if draft.operations:
        numbers.insert(1, (len(draft.operations), "operation"))
    return ", ".join(f"{number} {noun}{'' if number == 1 else 's'}" for number, noun in numbers)
