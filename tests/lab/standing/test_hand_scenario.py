"""What is done by hand becomes a scenario: checked by its rules, resolved and written as one."""

from pathlib import Path

import pytest

from lab.plan.check import RUN_MAX_MS, check_plan
from lab.plan.plan import Plan
from lab.program.errors import ScenarioError
from lab.standing.hand_scenario import HandScenario, calm
from lab.validation.validate import check
from tests.lab.scenario.sample_scenario import SCENARIO, changed, checked

MINUTE = 60_000


@pytest.fixture
def hand(tmp_path: Path) -> HandScenario:
    return of(tmp_path)


def of(folder: Path, scenario: str = SCENARIO) -> HandScenario:
    [sound] = checked(folder, scenario).scenarios
    return HandScenario(sound, 7)


def test_it_begins_without_the_faults_and_what_the_file_expects_of_them(hand: HandScenario) -> None:
    plan = hand.plan
    assert (plan.scenario, plan.faults, plan.operations) == ("sound-by-hand", (), ())
    assert (plan.proves, plan.expect.promotions) == ((), None)
    assert len(plan.messages) == 220
    assert calm(plan).duration_ms == RUN_MAX_MS
    assert Plan.from_json(calm(plan).to_json()) == calm(plan)


def test_an_entry_begins_at_its_moment_with_all_that_was_done_before(hand: HandScenario) -> None:
    first = hand.add("kill: par-mbx1, for: 5m, returns_with: new-queue-database", 3 * MINUTE)
    second = hand.add("{cut: {from: site lyon, to: site paris, kind: stall}, for: 2m}", 4 * MINUTE)
    assert (first.ids, second.ids) == (("f1",), ("f2",))
    [kill, cut] = hand.plan.faults
    assert kill.kind == "kill"
    assert (kill.start_ms, kill.end_ms) == (3 * MINUTE, 8 * MINUTE)
    assert (cut.start_ms, cut.end_ms) == (4 * MINUTE, 6 * MINUTE)


def test_what_is_done_long_after_the_first_mail_is_in_time(hand: HandScenario) -> None:
    assert hand.add("kill: par-mbx1, for: 5m", 900 * MINUTE).ids == ("f1",)
    assert hand.add("resubmit: DB1, start: 1m, end: 2m", 1900 * MINUTE).ids == ("o1",)
    assert hand.plan.settle_ms == 10 * MINUTE


def test_several_servers_are_several_faults(hand: HandScenario) -> None:
    assert hand.add("pause: [par-mbx1, lyo-mbx1], for: 1m", MINUTE).ids == ("f1", "f2")


def test_an_operation_is_one(tmp_path: Path) -> None:
    hand = of(tmp_path)
    done = hand.add("resubmit: DB1, start: 1m, end: 2m", 5 * MINUTE)
    assert (done.ids, done.operations[0].at_ms) == (("o1",), 5 * MINUTE)


def test_without_a_length_it_lasts_until_it_is_healed(hand: HandScenario) -> None:
    hand.add("kill: par-mbx1", MINUTE)
    hand.healed("f1", 2 * MINUTE + 500)
    assert hand.plan.faults[0].end_ms == 2 * MINUTE + 500
    hand.add("kill: par-mbx1, for: 1m", 3 * MINUTE)  # it is back, so it may die again
    assert [each.end_ms for each in hand.plan.faults] == [2 * MINUTE + 500, 4 * MINUTE]


def test_healing_what_is_over_changes_nothing(hand: HandScenario) -> None:
    hand.add("pause: par-mbx1, for: 1m", MINUTE)
    hand.healed("f1", 9 * MINUTE)
    assert hand.plan.faults[0].end_ms == 2 * MINUTE


@pytest.mark.parametrize(
    ("entry", "cause", "hint"),
    [
        ("kill: par-mbx9", "par-mbx9, is no server of the topology", "did you mean par-mbx"),
        ("kil: par-mbx1", "kil, is an unknown key", "did you mean kill?"),
        ("kill: par-mbx1, for: never", "never", ""),
        ("at: 3m, kill: par-mbx1", "at: what is done by hand is done now", "leave out at:"),
        ("kill: par-mbx1, every: 5m, times: 3, for: 1m", "every", "leave out every:"),
        ("when: {server: par-mbx1, at: after-data-before-250}, kill: par-mbx1", "when", "leave"),
        ("random: {during: 1m..5m, faults: [kill], for: 1m}", "random", "leave out random:"),
        ("disk_use: par-mbx1, percent: 97, for: 1m", "volume of its own", "QueueDatabaseVolume"),
        ("power_loss: par-mbx1, for: 1m", "power_loss", "write kill:"),
        ("{{", "is no entry of a scenario", "kill: par-mbx1, for: 5m"),
        ("par-mbx1", "", ""),
        ("- kill", "", ""),
    ],
)
def test_what_is_no_entry_is_refused_with_its_rule_and_nothing_is_done(
    hand: HandScenario, entry: str, cause: str, hint: str
) -> None:
    before = hand.plan, hand.text(MINUTE)
    with pytest.raises(ScenarioError) as refused:
        hand.add(entry, 2 * MINUTE)
    assert repr(entry) in refused.value.cause
    assert cause in refused.value.cause
    assert hint in refused.value.hint
    assert (hand.plan, hand.text(MINUTE)) == before


def test_what_cannot_hold_with_what_was_done_is_refused(hand: HandScenario) -> None:
    hand.add("kill: par-mbx1, for: 5m", MINUTE)
    with pytest.raises(ScenarioError, match="par-mbx1 is killed already and not back"):
        hand.add("pause: par-mbx1, for: 1m", 2 * MINUTE)


def test_mail_is_a_stream_of_so_many(hand: HandScenario) -> None:
    stream = hand.mail("to: {database: DB1}, size: 64KiB, recipients: 2", 5, 30 * MINUTE)
    assert (stream.mail, stream.at, stream.size) == ("inbound", 30 * MINUTE, 65536)
    assert (stream.rate.count, stream.for_ms) == (5, 1000)
    with pytest.raises(ScenarioError, match="DB7"):
        hand.mail("to: {database: DB7}", 1, 31 * MINUTE)
    with pytest.raises(ScenarioError, match="rate: what is sent by hand is sent now"):
        hand.mail("rate: 5/m", 1, 31 * MINUTE)


def test_in_the_end_nothing_lasts_longer_and_the_plan_is_one(hand: HandScenario) -> None:
    hand.add("kill: par-mbx1", 3 * MINUTE)
    hand.add("pause: lyo-mbx1, for: 1m", 4 * MINUTE)
    begun = hand.plan.messages[:30]
    plan = hand.ended(begun, 10 * MINUTE, 5 * MINUTE)
    assert plan.messages == begun
    assert [each.end_ms for each in plan.faults] == [10 * MINUTE, 5 * MINUTE]
    assert (plan.workload_end_ms, plan.last_heal_ms) == (10 * MINUTE, 10 * MINUTE)
    assert (plan.duration_ms, plan.settle_ms) == (15 * MINUTE, 5 * MINUTE)
    check_plan(Plan.from_json(plan.to_json()))


def test_the_file_is_a_scenario_that_does_the_same_again(
    hand: HandScenario, tmp_path: Path
) -> None:
    hand.add("kill: par-mbx1", 3 * MINUTE)
    hand.add("resubmit: DB1, start: 1m, end: 2m", 5 * MINUTE)
    hand.mail("to: {database: DB1}", 3, 6 * MINUTE)
    hand.ended((), 40 * MINUTE, MINUTE)
    path = tmp_path / "again" / "sound-by-hand.yaml"
    path.parent.mkdir()
    path.write_text(hand.text(40 * MINUTE))
    found = check([path])
    assert found.mistakes == ()
    [again] = found.scenarios
    [kill] = again.scenario.faults
    assert (kill.at, kill.for_ms) == (3 * MINUTE, 37 * MINUTE)
    assert [each.at + each.for_ms for each in again.scenario.workload[:2]] == [40 * MINUTE] * 2
    assert again.scenario.workload[2].rate.count == 3
    assert [each.at for each in again.scenario.operations] == [5 * MINUTE]


def test_strangers_stay_away(tmp_path: Path) -> None:
    text = changed(
        SCENARIO,
        "faults:\n",
        "strangers:\n  - {who: no-certificate, at: 1m, for: 2m, rate: 1/m}\nfaults:\n",
    )
    assert of(tmp_path, text).plan.strangers == ()


def test_a_server_that_is_gone_for_good_has_no_length_and_nothing_heals_it(
    hand: HandScenario,
) -> None:
    hand.add("kill: par-mbx1, returns_with: never", 3 * MINUTE)
    hand.healed("f1", 5 * MINUTE)
    plan = hand.ended(hand.plan.messages, 30 * MINUTE, 10 * MINUTE)
    assert (plan.faults[0].end_ms, plan.last_heal_ms) == (plan.duration_ms, 3 * MINUTE)
    text = hand.text(30 * MINUTE)
    assert "for:" not in text[text.index("faults:") :].partition("\n")[2].partition("\n")[0]
