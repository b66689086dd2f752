"""A proof on containers: each defect on real servers, one run after another, judged as any run is.

    runs/proofs/<UTC date and time>/runs/<scenario>/…

What a defect comes to is counted as in the simulator. Sound nodes are not run beside them: the
suite does that. A run that the lab could not carry out says nothing of its defect.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from defects.defect import Defect
from lab.campaigns.prove.verdict import Finding, Proof, Runs, content, finding, proof, violated_in
from lab.campaigns.suite.plan import CONTAINERS, round_a_run
from lab.hosts.containers.host import ContainerHost
from lab.plan.plan import Plan
from lab.planning.moments import wall_seconds
from lab.program.errors import INTERRUPTED, VERDICTS
from lab.program.given_json import read_json
from lab.program.watchdog import Interrupted
from lab.program.whole_file import write_whole
from lab.record.folder import VERDICT, json_text
from lab.run.durations import Durations
from lab.run.judge import Judge
from lab.run.judgement import SOCKET
from lab.run.live import run
from lab.run.outcome import RunOptions, RunOutcome, Say, say_to_stderr, span
from lab.validation.library import RUNS

CRASH = "no_crash"  # the claim that separates a node that broke down from one that breaks a promise

RunOne = Callable[[Defect, Plan], RunOutcome]


@dataclass(frozen=True, slots=True)
class OnContainers:
    """One proof into `folder`, which is empty; `run` it once, in the main thread. `plans` has those
    of each defect by its name; `run_one` runs one to its verdict.
    """

    defects: Sequence[Defect]
    plans: Mapping[str, Sequence[Plan]]
    folder: Path
    run_one: RunOne
    say: Say = say_to_stderr
    durations: Durations = field(default_factory=lambda: Durations(RUNS))

    def run(self) -> Proof:
        """Raises Interrupted where a person ends a run."""
        seconds = [self._seconds(plan) for each in self.defects for plan in self.plans[each.name]]
        what = f"{len(self.defects)} defects on containers, {len(seconds)} runs"
        self.say(f"{self.folder}: {what}, about {span(sum(seconds))}")
        made = proof([self._finding(at, each) for at, each in enumerate(self.defects, 1)], ())
        text = json_text({**content(made), "on": CONTAINERS})
        write_whole(self.folder / "prove.json", text)
        return made

    def _seconds(self, plan: Plan) -> float:
        around = self.durations.expected(round_a_run(CONTAINERS), plan.scenario)
        return wall_seconds(plan) + around

    def _finding(self, at: int, defect: Defect) -> Finding:
        self.say(f"{at} of {len(self.defects)}: {defect.name} in {defect.scenario}")
        found = finding(defect, self._runs(defect))
        self.say(f"  {found.status}")
        return found

    def _runs(self, defect: Defect) -> Runs:
        plans = self.plans[defect.name]
        results, crashes, ground = [], [], []
        for plan in plans:
            outcome = self.run_one(defect, plan)
            name = f"{defect.name}/{plan.scenario}/{plan.seed}"
            if outcome.exit_code == INTERRUPTED:
                raise Interrupted(name)
            if outcome.exit_code not in VERDICTS:
                ground.append(f"{name}: {_cause(outcome.folder)}")
                continue
            result = read_json(outcome.folder / VERDICT)
            results.append(result)
            if CRASH in violated_in(result):
                crashes.append(f"{name}: {CRASH} is violated, see {outcome.folder}")
        seeds = range(plans[0].seed, plans[-1].seed + 1)
        return Runs(defect.scenario, seeds, results, crashes, ground=ground)


@contextmanager
def real_servers(
    folder: Path, state: Path, texts: Mapping[str, str], say: Say = say_to_stderr
) -> Iterator[RunOne]:
    """Runs on the Docker engine, into `folder`/runs, judged in one session; `texts` has scenarios
    as authored, by name.
    """
    with Judge(folder / "logs" / "judge.log", say) as judge:

        def run_one(defect: Defect, plan: Plan) -> RunOutcome:
            os.environ.update(judge.environment())
            options = RunOptions(
                runs=folder / "runs",
                state=state,
                scenario=texts[plan.scenario],
                summary_to_stderr=True,
            )
            return run(plan, options, ContainerHost(state, defect.name), say=say)

        try:
            yield run_one
        finally:
            os.environ.pop(SOCKET, None)


def _cause(folder: Path) -> str:
    """Why a run has no verdict, as its record says."""
    try:
        said = read_json(folder / "host.json")["cause"]
    except (OSError, ValueError, KeyError, TypeError):
        said = ""
    return str(said or f"no verdict, see {folder}")
