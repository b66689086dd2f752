"""`shadowlab` as a person or a script meets it: words, exit codes, and where things are printed."""

import json
import os
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from lab.cli import __main__ as cli
from lab.cli import scenarios
from lab.cli.__main__ import main
from lab.cli.app import GROUPS
from lab.hosts.containers import down, engine, leftovers
from lab.hosts.containers.down import Removed
from lab.plan.plan import Plan
from lab.planning.resolve import default_seed
from lab.program.errors import GroundError
from lab.run.outcome import RunOptions, RunOutcome
from lab.scenario.json_schema import DIALECT
from lab.validation.library import find_run
from tests.lab.scenario.sample_scenario import SCENARIO, changed, write


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A place with one sound scenario, deep in its folder."""
    scenarios = tmp_path / "scenarios"
    (scenarios / "deep").mkdir(parents=True)
    path = write(scenarios, SCENARIO)
    path.rename(scenarios / "deep" / "sound.yaml")
    monkeypatch.setattr("lab.validation.validate.SCENARIOS", scenarios)  # the lab has no more
    monkeypatch.chdir(tmp_path)
    return tmp_path


def call(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of a call."""
    code = main(list(words))
    said = capsys.readouterr()
    return code, said.out, said.err


def test_sound_scenarios_are_counted(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(capsys, "validate") == (0, "1 scenario, no mistakes\n", "")


def test_every_mistake_is_printed_with_its_place_and_the_exit_code_is_4(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = changed(changed(SCENARIO, "kill: par-mbx1", "kill: par-mbx9"), "kind: stall", "kind: x")
    (here / "scenarios/deep/sound.yaml").write_text(wrong)
    code, out, told = call(capsys, "validate", "sound")
    assert (code, out) == (4, "")
    assert told.splitlines() == [
        "scenarios/deep/sound.yaml:15:30: faults[0].kill, par-mbx9, is no server of the topology",
        "hint: did you mean par-mbx2?",
        "scenarios/deep/sound.yaml:16:69: faults[1].cut.kind, 'x', is not one of its words",
        "hint: known are ack-lost, blackhole, refuse, reset, stall",
        "2 mistakes in 1 file",
    ]


@pytest.mark.parametrize("command", ["plan", "run"])
def test_a_wrong_scenario_starts_nothing(
    here: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    command: str,
) -> None:
    monkeypatch.setitem(sys.modules, "lab.run.live", None)  # importing it would be a failure
    (here / "scenarios/deep/sound.yaml").write_text(changed(SCENARIO, "kind: stall", "kind: x"))
    code, out, told = call(capsys, command, "sound")
    assert (code, out) == (4, "")
    assert told.startswith("scenarios/deep/sound.yaml:16:69: ")
    assert not (here / "runs").exists()


@pytest.mark.parametrize(
    "name", ["sound", "scenarios/deep/sound.yaml", "./scenarios/deep/sound.yaml"]
)
def test_a_scenario_is_named_by_stem_or_path(
    here: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    code, out, _ = call(capsys, "plan", name, "--json")
    assert code == 0
    assert Plan.from_json(out).scenario == "sound"


def test_a_plan_tells_the_timeline_link_by_link_and_its_wall_time(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, told = call(capsys, "plan", "sound")
    assert (code, told) == (0, "")
    assert "00:12:00     12.0 s  f2: cut (stall)" in out
    assert "lyo-mbx1 -> par-mbx2 (smtp)" in out
    assert "00:15:00     15.0 s  f1: start par-mbx1 with its new queue database" in out
    assert "the timeline takes 31 s" in out
    assert sorted(path.name for path in here.iterdir()) == ["scenarios"]


def test_a_plan_as_a_scenario_is_one_that_has_the_same_plan(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sound = here / "scenarios" / "deep" / "sound.yaml"
    fixed = "{at: 12m, for: 5m, cut: {from: site lyon, to: site paris, kind: stall}}"
    drawn = "{random: {during: 17m..30m, faults: [cut, pause], count: 2}}"
    sound.write_text(changed(SCENARIO, fixed, drawn), encoding="utf-8")
    planned = call(capsys, "plan", "sound", "--json", "--seed", "5")[1]
    code, plain, told = call(capsys, "plan", "sound", "--as-scenario", "--seed", "5")
    assert (code, told) == (0, "")
    assert "random" not in plain
    sound.write_text(plain, encoding="utf-8")
    assert call(capsys, "plan", "sound", "--json", "--seed", "5")[1] == planned


def test_a_plan_has_the_scenarios_own_seed_unless_one_is_given(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = json.loads(call(capsys, "plan", "sound", "--json")[1])
    assert (own["seed"], own["seed_from"]) == (default_seed("sound"), "scenario")
    given = json.loads(call(capsys, "plan", "sound", "--json", "--seed", "5")[1])
    assert (given["seed"], given["seed_from"]) == (5, "argument")


WRONG_CALLS = {
    "an unknown scenario": (["run", "soond"], "there is no scenario soond", "did you mean sound?"),
    "a file that is not there": (
        ["plan", "gone.yaml"],
        "there is no file gone.yaml",
        "known are sound",
    ),
    "an unknown command": (
        ["rum", "sound"],
        "No such command 'rum'",
        "shadowlab --help says how it is called",
    ),
    "an unknown option": (
        ["plan", "sound", "--sed", "1"],
        "No such option: --sed",
        "shadowlab plan --help says how it is called",
    ),
    "a seed that is no number": (
        ["run", "sound", "--seed", "x"],
        "Invalid value for '--seed'",
        "shadowlab run --help says how it is called",
    ),
    "a seed below zero": (
        ["run", "sound", "--seed", "-1"],
        "Invalid value for '--seed'",
        "shadowlab run --help says how it is called",
    ),
    "no name": (["plan"], "Missing argument", "shadowlab plan --help says how it is called"),
    "a run that is not there": (
        ["evaluate", "runs/gone"],
        "there is no run runs/gone",
        "shadowlab run NAME makes one",
    ),
    "no run yet": (["report"], "there is no run runs/latest", "shadowlab run NAME makes one"),
    "a folder that is no run": (
        ["evaluate", "scenarios"],
        "scenarios is no run folder",
        "it holds no plan.json",
    ),
}


@pytest.mark.parametrize(("words", "cause", "hint"), WRONG_CALLS.values(), ids=WRONG_CALLS)
def test_a_wrong_call_is_told_in_two_lines_and_ends_with_4(
    here: Path, capsys: pytest.CaptureFixture[str], words: list[str], cause: str, hint: str
) -> None:
    code, out, told = call(capsys, *words)
    assert (code, out) == (4, "")
    first, second = told.splitlines()
    assert first.startswith(f"shadowlab: {cause}")
    assert second == f"hint: {hint}"


LAST = 2**53 - 1
BEYOND = [
    ["run", "sound", "--seed", str(LAST + 1)],
    ["repeat", "sound", "2", "--vary", "--seed", str(LAST)],
    ["sweep", "sound", "--seeds", str(LAST + 1)],
    ["sweep", "sound", "--seeds", "1" * 40],
    ["sweep", "sound", "--seeds", "1", "--first", str(LAST + 1)],
    ["sweep", "sound", "--seeds", "2", "--first", str(LAST)],
    ["sweep", "sound", "--seeds", "1", "--first", str(LAST), "--toward", "coverage"],
    ["sweep", "sound", "--per-batch", "1" * 40],
    ["sweep", "--tag", "chaos", "--seeds", "0"],
    ["exhaust", "sound", "--per-batch", "1" * 40],
    ["prove", "--list", "--seeds", "1" * 40],
    ["prove", "--list", "--seeds", "0"],
]


@pytest.mark.parametrize("words", BEYOND, ids=" ".join)
def test_seeds_are_bounded_wherever_they_are_named(
    here: Path, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    code, out, told = call(capsys, *words)
    assert (code, out) == (4, "")
    assert [line.split()[0] for line in told.splitlines()] == ["shadowlab:", "hint:"]
    assert not (here / "runs").exists()


@pytest.mark.parametrize(
    ("words", "said"), [(["FIRST=5"], "--seeds 7 --first 5;"), ([], "--seeds 7 ;")]
)
def test_make_hands_seeds_on(words: list[str], said: str) -> None:
    made = ["make", "-n", "sweep", "SEEDS=7", *words]
    done = subprocess.run(made, cwd=Path(__file__).parents[3], capture_output=True, text=True)
    assert f"shadowlab sweep primary-loses-its-queue-database {said}" in done.stdout


def test_a_call_without_a_word_shows_the_commands(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = call(capsys)
    assert code == 4
    commands = ("validate", "schema", "plan", "run", "evaluate", "report", "down")
    assert all(command in out for command in commands)


def test_commands_that_are_not_built_are_not_offered(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(capsys, "watch")[0] == 4


def test_scenarios_are_listed_and_a_new_one_is_among_them(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(capsys, "new", "second", "--from", "sound")[:2] == (0, "scenarios/second.yaml\n")
    code, out, _ = call(capsys, "list")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines() if line[0] != " "] == ["second", "sound"]
    assert call(capsys, "list", "runs")[:2] == (0, "no runs here\n")
    assert call(capsys, "new", "sound")[0] == 4


def test_lists_are_objects_for_a_program(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recorded(here, "20260105T080000Z-7", "pass")
    [scenario] = json.loads(call(capsys, "list", "--json")[1])
    assert (scenario["scenario"], scenario["sound"]) == ("sound", True)
    assert scenario["proves"] == ["SR-1", "SM-7"]
    [run] = json.loads(call(capsys, "list", "runs", "--json")[1])
    assert (run["folder"], run["verdict"]) == ("runs/sound/20260105T080000Z-7", "pass")
    assert run["started"] == "2026-01-05T08:00:00Z"


def test_requirements_are_listed_with_the_claims_and_scenarios_that_check_them(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = call(capsys, "list", "requirements")
    lines = out.splitlines()
    [at] = [number for number, line in enumerate(lines) if line.startswith("SM-7 ")]
    assert code == 0
    assert lines[at + 1].strip() == (
        "checked by databases_new, promotion_on_time, no_early_promotion; scenarios: sound"
    )
    rows = json.loads(call(capsys, "list", "requirements", "--json")[1])
    by_name = {row["requirement"]: row for row in rows}
    assert by_name["SM-7"]["scenarios"] == ["sound"]
    checking = ["databases_new", "promotion_on_time", "no_early_promotion"]
    assert by_name["SM-7"]["checked_by"] == checking
    assert (by_name["LG-1"]["scenarios"], by_name["LG-1"]["checked_by"]) == ([], [])


def recorded(here: Path, name: str, verdict: str | None) -> Path:
    """A run folder of `sound`, as far as a list needs it."""
    folder = here / "runs/sound" / name
    folder.mkdir(parents=True)
    (folder / "plan.json").write_text("{}")
    (folder / "manifest.json").write_text('{"run": "r", "host": "simulator", "seed": 7}')
    if verdict is not None:
        (folder / "verdict.json").write_text(json.dumps({"verdict": verdict}))
    return folder


def test_a_program_gets_one_line_from_a_run(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = recorded(here, "20260105T080000Z-7", "fail")
    stub = ModuleType("lab.run.live")
    asked: list[bool] = []

    def run(plan: object, options: RunOptions) -> RunOutcome:
        asked.append(options.summary_to_stderr)
        return RunOutcome(folder, 1)

    stub.__dict__.update(run=run)
    monkeypatch.setitem(sys.modules, "lab.run.live", stub)
    code, out, _ = call(capsys, "run", "sound", "--on", "containers", "--json")
    assert (code, asked) == (1, [True])
    told = json.loads(out)
    assert (told["folder"], told["code"], told["verdict"]) == (str(folder), 1, "fail")


def test_a_program_gets_one_line_from_an_evaluation(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded(here, "20260105T080000Z-7", "unknown")
    said: list[int | None] = []

    def program(words: list[str], stdout: int | None, **_: object) -> SimpleNamespace:
        said.append(stdout)
        return SimpleNamespace(returncode=2)

    monkeypatch.setattr(subprocess, "run", program)
    code, out, _ = call(capsys, "evaluate", "sound", "--json")
    assert (code, said) == (2, [2])
    assert json.loads(out)["verdict"] == "unknown"


def test_a_scenario_stands_for_its_latest_run_with_a_verdict(here: Path) -> None:
    judged = recorded(here, "20260105T080000Z-7", "pass")
    recorded(here, "20260104T080000Z-7", "pass")
    interrupted = recorded(here, "20260106T080000Z-7", None)
    (here / "runs/sound/latest").symlink_to(interrupted.name)
    assert find_run("sound").resolve() == judged


def test_an_evaluation_of_what_was_interrupted_may_make_it_the_latest(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = recorded(here, "20260105T080000Z-7", None)

    def program(words: list[str], **_: object) -> SimpleNamespace:
        (folder / "verdict.json").write_text("{}")
        return SimpleNamespace(returncode=0)

    monkeypatch.setattr(subprocess, "run", program)
    assert call(capsys, "evaluate", str(folder))[0] == 0
    assert (here / "runs/latest").resolve() == folder


@pytest.mark.parametrize(
    ("word", "near"),
    [("soond", "sound"), ("runs/sound/20260105T080000Z-8", "runs/sound/20260105T080000Z-7")],
)
def test_a_run_that_is_not_there_gets_the_nearest(
    here: Path, capsys: pytest.CaptureFixture[str], word: str, near: str
) -> None:
    recorded(here, "20260105T080000Z-7", "pass")
    code, _, told = call(capsys, "evaluate", word)
    assert (code, told.splitlines()[1]) == (4, f"hint: did you mean {near}?")


def test_a_scenario_whose_runs_have_no_verdict_is_said_to_have_none(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recorded(here, "20260105T080000Z-7", None)
    code, _, told = call(capsys, "report", "sound")
    assert (code, told.splitlines()[0]) == (4, "shadowlab: no run of sound has a verdict")


@pytest.mark.parametrize("words", [["--help"], ["-h"], ["run", "-h"], ["list", "--help"]])
def test_help_is_cut_nowhere(
    here: Path, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    code, out, told = call(capsys, *words)
    assert (code, told) == (0, "")
    assert "…" not in out
    assert "..." not in out.replace("[ARGS]...", "").replace("[OPTIONS]...", "")


def test_commands_stand_in_groups(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = call(capsys, "--help")[1]
    places = [out.index(title) for title in GROUPS]
    assert places == sorted(places)


def test_the_version_is_that_of_the_package(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(capsys, "--version") == (0, f"shadowlab {metadata.version('shadowlab')}\n", "")


@pytest.mark.parametrize(
    ("words", "completed"),
    [
        ("run so", ["sound"]),
        ("evaluate s", ["sound"]),
        ("down runs/", ["runs/sound/20260105T080000Z-7"]),
        ("sui", ["suite"]),
    ],
)
def test_a_shell_completes_commands_scenarios_and_runs(
    here: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    words: str,
    completed: list[str],
) -> None:
    recorded(here, "20260105T080000Z-7", None)
    monkeypatch.setenv("_SHADOWLAB_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", f"shadowlab {words}")
    monkeypatch.setenv("COMP_CWORD", str(len(words.split())))
    code, out, told = call(capsys)
    assert (code, out.split(), told) == (0, completed, "")


def test_a_story_is_told_by_the_evaluation(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = here / "runs/sound/latest"
    folder.mkdir(parents=True)
    (folder / "plan.json").write_text("{}")
    called: list[list[str]] = []

    def program(words: list[str], stdout: int | None, **_: object) -> SimpleNamespace:
        called.append(words[1:])
        return SimpleNamespace(returncode=0)

    monkeypatch.setattr(subprocess, "run", program)
    assert call(capsys, "story", "sound", "<m1@x>")[0] == 0
    assert called == [["-m", "spark_eval", "runs/sound/latest", "--story", "<m1@x>"]]


def test_the_mistakes_of_an_ambiguous_name_are_its_paths(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "scenarios/other").mkdir()
    (here / "scenarios/other/sound.yaml").write_text(SCENARIO)
    code, _, told = call(capsys, "plan", "sound")
    assert code == 4
    assert "scenarios/deep/sound.yaml and scenarios/other/sound.yaml" in told


def running(monkeypatch: pytest.MonkeyPatch, exit_code: int) -> list[object]:
    """Stand in for the run; the list takes what it was called with."""
    calls: list[object] = []
    module = ModuleType("lab.run.live")

    def run(plan: object, options: object) -> SimpleNamespace:
        calls.extend((plan, options))
        return SimpleNamespace(folder=Path("runs/x"), exit_code=exit_code)

    module.__dict__.update(run=run, RunOptions=SimpleNamespace)
    monkeypatch.setitem(sys.modules, "lab.run.live", module)
    return calls


@pytest.mark.parametrize("exit_code", [0, 1, 2, 3])
def test_the_exit_code_of_a_run_is_that_of_its_verdict(
    here: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    exit_code: int,
) -> None:
    calls = running(monkeypatch, exit_code)
    code, _, _ = call(capsys, "run", "sound", "--seed", "9", "--keep", "--on", "containers")
    plan, options = calls
    assert code == exit_code
    assert isinstance(plan, Plan)
    assert plan.seed == 9
    assert (options.scenario, options.keep) == (SCENARIO, True)  # type: ignore[attr-defined]


def test_a_failure_of_the_ground_is_two_lines_and_3(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    running(monkeypatch, 0)

    def fail(plan: object, options: object) -> None:
        raise GroundError("no engine answers\nat all", "make engine")

    monkeypatch.setattr(sys.modules["lab.run.live"], "run", fail)
    assert call(capsys, "run", "sound", "--on", "containers", "--seed", "9") == (
        3,
        "",
        "seed 9, on containers\nshadowlab: no engine answers at all\nhint: make engine\n",
    )


@pytest.mark.parametrize("answers", [True, False])
def test_the_first_line_says_seed_and_host_and_a_run_without_an_engine_is_simulated(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, answers: bool
) -> None:
    ran: list[str] = []
    for host, module in (("containers", "lab.run.live"), ("simulator", "lab.run.simulated")):
        stub = ModuleType(module)

        def run(plan: object, options: object, host: str = host) -> SimpleNamespace:
            ran.append(host)
            return SimpleNamespace(exit_code=0)

        stub.__dict__.update(run=run, run_simulated=run)
        monkeypatch.setitem(sys.modules, module, stub)
    monkeypatch.setattr("lab.hosts.containers.engine.answers", lambda: answers)
    code, _, error = call(capsys, "run", "sound", "--seed", "9")
    assert code == 0
    assert ran == ["containers" if answers else "simulator"]
    why = "containers" if answers else "the simulator, since no Docker engine answers"
    assert error.splitlines()[0] == f"seed 9, on {why}"


POWERLESS = changed(
    SCENARIO, "kill: par-mbx1, returns_with: new-queue-database", "power_loss: par-mbx1"
)


def test_a_run_with_a_power_loss_is_simulated_though_an_engine_answers(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "scenarios/deep/sound.yaml").write_text(POWERLESS)
    stub = ModuleType("lab.run.simulated")
    ended = SimpleNamespace(exit_code=0)
    stub.__dict__.update(run_simulated=lambda plan, options: ended)
    monkeypatch.setitem(sys.modules, "lab.run.simulated", stub)
    monkeypatch.setattr("lab.hosts.containers.engine.answers", lambda: True)
    code, _, error = call(capsys, "run", "sound", "--seed", "9")
    assert code == 0
    why = "since only there a server can lose its power"
    assert error.splitlines()[0] == f"seed 9, on the simulator, {why}"


def test_containers_refuse_a_power_loss(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "scenarios/deep/sound.yaml").write_text(POWERLESS)
    code, _, error = call(capsys, "run", "sound", "--on", "containers")
    assert code == 4
    assert "a container that is killed loses nothing" in error
    assert "hint: --on simulator, or write kill: in the scenario" in error


def test_ctrl_c_outside_a_run_ends_with_130_and_no_traceback(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(name: str, **_options: bool) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(scenarios, "checked_scenario", interrupted)
    assert call(capsys, "plan", "sound") == (130, "", "")


@pytest.mark.parametrize("kind", ["scenario", "topology"])
def test_a_schema_is_printed_as_json(
    here: Path, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    code, out, _ = call(capsys, "schema", kind)
    assert code == 0
    assert json.loads(out)["$schema"] == DIALECT


@pytest.mark.parametrize(("command", "options"), [("evaluate", []), ("report", ["--report-only"])])
@pytest.mark.parametrize("name", ["sound", "runs/sound/latest"])
def test_the_evaluation_is_a_program_of_its_own(
    here: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    command: str,
    options: list[str],
    name: str,
) -> None:
    folder = here / "runs/sound/latest"
    folder.mkdir(parents=True)
    (folder / "plan.json").write_text("{}")
    called = []

    def program(words: list[str], stdout: int | None, **_: object) -> SimpleNamespace:
        called.append(words[1:])
        return SimpleNamespace(returncode=2)

    monkeypatch.setattr(subprocess, "run", program)
    assert call(capsys, command, name)[0] == 2
    assert called == [["-m", "spark_eval", "runs/sound/latest", *options]]


@pytest.mark.parametrize("options", [[], ["--out", "elsewhere"]])
def test_comparing_is_a_program_of_the_evaluation(
    here: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    options: list[str],
) -> None:
    folders = ["runs/sound/one", "runs/sound/two"]
    for folder in folders:
        (here / folder).mkdir(parents=True)
        (here / folder / "plan.json").write_text("{}")
    called = []

    def program(words: list[str], stdout: int | None, **_: object) -> SimpleNamespace:
        called.append(words[1:])
        return SimpleNamespace(returncode=4)

    monkeypatch.setattr(subprocess, "run", program)
    assert call(capsys, "compare", *folders, *options)[0] == 4
    assert called == [["-m", "spark_eval.compare", *folders, *options]]


def test_comparing_with_a_run_that_is_not_there_starts_nothing(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subprocess, "run", None)
    assert call(capsys, "compare", "nowhere", "nowhere")[0] == 4


def test_an_evaluation_that_dies_is_a_failure_of_the_ground(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "runs/latest").mkdir(parents=True)
    (here / "runs/latest/plan.json").write_text("{}")
    monkeypatch.setattr(subprocess, "run", lambda words, **_: SimpleNamespace(returncode=-9))
    code, _, told = call(capsys, "evaluate")
    assert code == 3
    assert told.startswith("shadowlab: the evaluation ended with -9\n")


@pytest.mark.parametrize(
    ("removed", "says", "tells"),
    [
        (Removed(), "nothing was left\n", ""),
        (Removed(("a", "b"), state_dirs=("c",)), "containers: a, b\nstate dirs: c\n", ""),
        (Removed(kept=("d",)), "nothing was left\n", "left alone: d, its lab is alive"),
        (
            Removed(elsewhere=(Path("/a/.shadowlab/d"),)),
            "nothing was left\n",
            "left alone: d, of another checkout: /a/.shadowlab/d (shadowlab down d)\n",
        ),
    ],
)
def test_a_take_down_tells_what_went(
    here: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    removed: Removed,
    says: str,
    tells: str,
) -> None:
    monkeypatch.setattr(down, "down", lambda client, run, state: removed)
    monkeypatch.setattr(engine, "connect", lambda: None)
    code, out, told = call(capsys, "down")
    assert (code, out) == (0, says)
    assert told.startswith(tells)


@pytest.mark.parametrize("word", ["", " ", "..", "../scenarios", "nobody"])
def test_a_take_down_of_what_is_no_run_touches_nothing(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, word: str
) -> None:
    monkeypatch.setattr(leftovers, "known_runs", lambda *_: {})
    monkeypatch.setattr(down, "known_runs", lambda *_: {})
    monkeypatch.setattr(engine, "connect", lambda: None)
    (here / ".shadowlab").mkdir()
    before = sorted(here.rglob("*"))
    code, out, told = call(capsys, "down", word)
    assert (code, out, told.count("\n")) == (4, "", 2)
    assert sorted(here.rglob("*")) == before


def test_a_reader_who_leaves_early_meets_no_traceback(here: Path) -> None:
    code = "import sys; from lab.cli.__main__ import main; sys.exit(main(['schema']))"
    root = Path(cli.__file__).resolve().parents[2]
    with subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": str(root)},
        text=True,
    ) as program:
        assert program.stdout is not None
        assert program.stderr is not None
        program.stdout.close()
        told = program.stderr.read()
        assert program.wait(timeout=60) == 3
    assert told == ""
