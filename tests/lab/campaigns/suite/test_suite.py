"""A suite runs everything it was asked for, one after the other, whatever becomes of one run."""

from pathlib import Path

import pytest

from lab.campaigns.suite.folder import alone_in
from lab.program.errors import LabError, ScenarioError
from tests.lab.campaigns.suite.nightly import Night, results
from tests.lab.scenario.sample_scenario import changed

pytestmark = pytest.mark.slow

EVERYTHING = [
    "alpha on containers",
    "alpha on simulator",
    "alpha compared",
    "beta on containers",
    "beta on simulator",
    "beta compared",
    "gamma on simulator",
]


def test_a_night_runs_both_hosts_and_compares_them_and_the_simulators_own_there_alone(
    night: Night,
) -> None:
    assert night.suite().run() == 0
    assert night.acted() == EVERYTHING


def test_a_scenario_with_a_power_loss_is_simulated_alone(night: Night) -> None:
    beta = night.root / "scenarios" / "beta.yaml"
    kill = "kill: par-mbx1, returns_with: new-queue-database"
    beta.write_text(changed(beta.read_text(), kill, "power_loss: par-mbx1"))
    assert night.suite("beta").run() == 0
    assert night.acted() == ["beta on simulator"]


def test_without_an_engine_every_run_is_simulated_and_nothing_is_compared(night: Night) -> None:
    assert night.suite(engine=lambda: False).run() == 0
    assert night.acted() == ["alpha on simulator", "beta on simulator", "gamma on simulator"]
    assert "no Docker engine answers: every run is simulated" in night.said


@pytest.mark.parametrize(
    ("on", "ran"),
    [
        ("containers", ["alpha on containers", "beta on containers"]),
        ("simulator", ["alpha on simulator", "beta on simulator", "gamma on simulator"]),
    ],
)
def test_on_names_the_one_host(night: Night, on: str, ran: list[str]) -> None:
    assert night.suite(on=on).run() == 0
    assert night.acted() == ran


def test_another_tag_and_names_choose_other_scenarios(night: Night) -> None:
    assert night.suite(tag="other", on="simulator").run() == 0
    assert night.suite("gamma", "alpha", on="simulator").run() == 0
    assert night.acted() == ["delta on simulator", "gamma on simulator", "alpha on simulator"]


def test_a_tag_that_nothing_has_is_a_wrong_call(night: Night) -> None:
    with pytest.raises(ScenarioError, match="there is no scenario tagged nowhere"):
        night.suite(tag="nowhere").run()


def test_a_mistake_in_a_scenario_starts_nothing(night: Night) -> None:
    path = night.root / "scenarios/beta.yaml"
    path.write_text(path.read_text().replace("kind: stall", "kind: x"))
    with pytest.raises(ScenarioError, match=r"1 mistakes, the first: .*beta\.yaml:16:"):
        night.suite().run()
    assert night.acted() == []


def test_it_goes_on_after_failures_and_ends_with_the_worst_of_all(night: Night) -> None:
    night.acts({"alpha on containers": 2, "beta on simulator": 1})
    assert night.suite().run() == 1
    assert night.acted() == EVERYTHING
    night.acts({"alpha on containers": 2})
    assert night.suite().run() == 2


def test_a_run_without_a_verdict_is_the_worst_and_is_compared_with_nothing(night: Night) -> None:
    night.acts({"alpha on containers": 3, "beta on simulator": 1})
    suite = night.suite()
    assert suite.run() == 3
    told = results(suite)
    assert told["alpha on containers"]["cause"] == "the ground shook"
    assert told["alpha compared"]["cause"] == "not compared: a run has no verdict"
    assert told["alpha compared"]["counts"] == 2
    assert "alpha compared" not in night.acted()


def test_hosts_that_disagree_fail_the_suite(night: Night) -> None:
    night.acts({"alpha compared": 1})
    assert night.suite().run() == 1


@pytest.mark.parametrize(("expected", "code"), [("fail", 1), ("unknown", 2)])
def test_a_run_that_ends_as_its_scenario_expects_counts_as_a_pass(
    night: Night, expected: str, code: int
) -> None:
    night.expect("alpha", expected)
    night.acts({"alpha on containers": code, "alpha on simulator": code})
    assert night.suite().run() == 0


@pytest.mark.parametrize(("expected", "code"), [("fail", 0), ("unknown", 1)])
def test_a_run_that_ends_otherwise_than_expected_counts_as_a_failure(
    night: Night, expected: str, code: int
) -> None:
    night.expect("alpha", expected)
    night.acts({"alpha on simulator": code})
    assert night.suite("alpha", on="simulator").run() == 1


def test_a_run_that_fails_in_another_way_than_expected_counts_as_a_failure(night: Night) -> None:
    night.expect("alpha", "fail")
    night.acts({"alpha on simulator": 1, "not as expected": ["expect.lost: 3, not 5"]})
    suite = night.suite("alpha", on="simulator")
    assert suite.run() == 1
    told = results(suite)["alpha on simulator"]
    assert (told["verdict"], told["counts"]) == ("fail", 1)
    assert told["cause"] == "not as expected: expect.lost: 3, not 5"


def test_a_run_that_dies_is_healed_by_its_id_and_the_rest_goes_on(night: Night) -> None:
    night.acts({"alpha on containers": 9})
    assert night.suite(on="containers").run() == 3
    assert night.calls("down") == ["down alpha-containers-id"]
    assert night.acted() == ["alpha on containers", "beta on containers"]


def test_a_run_that_dies_before_it_has_a_folder_leaves_nothing_to_heal(night: Night) -> None:
    night.acts({"alpha on containers": "mute"})
    suite = night.suite(on="containers")
    assert suite.run() == 3
    assert night.calls("down") == []
    assert results(suite)["alpha on containers"]["cause"] == "ended by SIGKILL"


@pytest.mark.parametrize("act", ["hang", "deaf"])
def test_a_run_that_hangs_is_ended_and_healed_and_the_rest_goes_on(night: Night, act: str) -> None:
    night.acts({"alpha on containers": act})
    suite = night.suite(on="containers", at_most=8.0, patience=0.5)
    assert suite.run() == 3
    assert night.calls("down") == ["down alpha-containers-id"]
    told = results(suite)
    assert told["alpha on containers"]["cause"] == "hung, and was ended"
    assert told["beta on containers"]["verdict"] == "pass"
    pid = night.wait_for("hangs").split()[-1]
    assert not Path(f"/proc/{pid}").exists()


def test_an_engine_that_restarts_between_two_runs_is_waited_for_and_said(night: Night) -> None:
    answers = iter([True, True, False, False, True])
    assert night.suite(on="containers", engine=lambda: next(answers, True)).run() == 0
    assert night.acted() == ["alpha on containers", "beta on containers"]
    assert "the Docker engine does not answer before beta on containers; waiting" in night.said
    assert any(line.startswith("the Docker engine answers again") for line in night.said)


def test_an_engine_that_stays_away_fails_its_runs_and_not_those_of_the_simulator(
    night: Night,
) -> None:
    answers = iter([True, True])
    suite = night.suite(engine=lambda: next(answers, False))
    assert suite.run() == 3
    assert night.acted() == [*EVERYTHING[:3], "beta on simulator", "gamma on simulator"]
    assert results(suite)["beta on containers"]["cause"] == "no Docker engine answered"
    assert "the Docker engine did not come back within 2 s" in night.said


def test_a_run_under_which_the_engine_went_away_is_done_again(night: Night) -> None:
    night.acts({"alpha on containers": "once-3"})
    answers = iter([True, True, False])
    suite = night.suite("alpha", on="containers", engine=lambda: next(answers, True))
    assert suite.run() == 0
    assert night.acted() == ["alpha on containers", "alpha on containers"]
    said = "the Docker engine went away under alpha on containers; it is done again"
    assert said in night.said


def test_two_suites_do_not_work_in_one_folder(night: Night) -> None:
    suite = night.suite()
    with alone_in(suite.folder), pytest.raises(LabError, match="a suite is at work in it"):
        suite.run()
