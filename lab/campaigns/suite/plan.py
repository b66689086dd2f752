"""What a suite does, as a list: which scenarios, on which hosts, and which pairs are compared.

A scenario runs on containers where an engine answers, then on the simulator, then both runs are
compared; tagged `simulator`, or where a server loses its power, it runs there alone. Nothing is
started here.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lab.plan.plan import Plan
from lab.planning.moments import wall_seconds
from lab.planning.resolve import default_seed, resolve
from lab.program.errors import ScenarioError
from lab.run.durations import Durations
from lab.validation.library import find_scenario, scenario_paths
from lab.validation.validate import CheckedScenario, check, scenario_folders

CONTAINERS, SIMULATOR = "containers", "simulator"
NIGHTLY = "nightly"
RUN, COMPARE = "run", "compare"


@dataclass(frozen=True, slots=True)
class Ask:
    """The words of the call. No names: every scenario of `tag` in the nearest folder of scenarios;
    no `on`: both hosts.
    """

    names: tuple[str, ...] = ()
    tag: str = NIGHTLY
    on: str | None = None


@dataclass(frozen=True, slots=True)
class SuiteTask:
    """One run, or (`host` empty) one comparison; `seconds` of wall time are predicted.

    `timeline_seconds` is how long the plan takes on containers.
    """

    name: str
    kind: str
    scenario: str
    path: str
    host: str
    seed: int
    expected: str
    seconds: float
    timeline_seconds: float


def tasks_of(ask: Ask, engine_answers: bool, durations: Durations) -> list[SuiteTask]:
    """Everything that is to be done, in order. Raises ScenarioError before anything is."""
    scenarios = chosen(ask)
    tasks = [task for each in scenarios for task in _tasks(each, ask, engine_answers, durations)]
    if not tasks:
        what = "of these scenarios" if ask.names else f"scenario tagged {ask.tag}"
        where = f" that runs on {ask.on}" if ask.on else ""
        raise ScenarioError(f"there is no {what}{where}", "shadowlab list shows names and tags")
    return tasks


def chosen(ask: Ask) -> Sequence[CheckedScenario]:
    """The scenarios of a call. Raises ScenarioError where one has a mistake, or there is none."""
    names = dict.fromkeys(ask.names)
    nearest = scenario_folders()[0]
    paths = [find_scenario(name) for name in names] if names else scenario_paths(nearest)
    checked = check(paths)
    if checked.mistakes:
        first = str(checked.mistakes[0]).splitlines()[0]
        hint = "shadowlab validate shows every mistake"
        raise ScenarioError(f"{len(checked.mistakes)} mistakes, the first: {first}", hint)
    if ask.names:
        return checked.scenarios
    wanted = {ask.tag, SIMULATOR} if ask.tag == NIGHTLY else {ask.tag}
    found = [each for each in checked.scenarios if wanted & set(each.scenario.tags)]
    if not found:
        hint = "shadowlab list shows names and tags"
        raise ScenarioError(f"there is no scenario tagged {ask.tag}", hint)
    return found


def round_a_run(host: str) -> str:
    """The step that is what a run takes beside its timeline."""
    return f"round a run on {host}"


def is_for_containers(plan: Plan) -> bool:
    """Whether it runs there too: no server loses its power, and it is not meant for the simulator
    alone.
    """
    return not plan.powerless and (NIGHTLY in plan.tags or SIMULATOR not in plan.tags)


def _tasks(
    found: CheckedScenario, ask: Ask, engine_answers: bool, durations: Durations
) -> Iterator[SuiteTask]:
    model = found.scenario
    plan = resolve(model, found.topology, default_seed(model.scenario), "scenario")
    hosts = list(_hosts(plan, ask, engine_answers))
    timeline = wall_seconds(plan)

    def task(name: str, kind: str, host: str, seconds: float) -> SuiteTask:
        return SuiteTask(
            f"{model.scenario} {name}", kind, model.scenario, str(found.path), host,
            plan.seed, model.expect.verdict, seconds, timeline,
        )  # fmt: skip

    for host in hosts:
        lasts = timeline if host == CONTAINERS else 0
        about = durations.expected(round_a_run(host), model.scenario)
        yield task(f"on {host}", RUN, host, about + lasts)
    if len(hosts) == 2:
        yield task("compared", COMPARE, "", durations.expected("comparison", model.scenario))


def _hosts(plan: Plan, ask: Ask, engine_answers: bool) -> Iterator[str]:
    there_is_one = engine_answers or ask.on == CONTAINERS
    if is_for_containers(plan) and ask.on != SIMULATOR and there_is_one:
        yield CONTAINERS
    if ask.on != CONTAINERS:
        yield SIMULATOR
