"""The scenarios that come with the lab: sound, sized for a minute, and each asking its question."""

import re
from pathlib import Path

import pytest

from lab.plan.faults import Kill, Pause
from lab.plan.link_faults import Cut
from lab.plan.plan import Plan
from lab.planning.moments import wall_seconds
from lab.planning.resolve import default_seed
from lab.validation.validate import Checked, check
from tests.lab.hosts.simulator.plans import SCENARIOS, plan

ROOT = Path(__file__).resolve().parents[3]
PLANS = {name: plan(name, default_seed(name)) for name in SCENARIOS}
FIRST_EIGHT = [
    "calm",
    "discard-notifications-survive",
    "primary-loses-its-queue-database",
    "primary-returns-after-promotion",
    "primary-returns-in-time",
    "shadow-unreachable-accepted",
    "shadow-unreachable-rejected",
    "site-cut",
]


def every_plan() -> list[object]:
    return [pytest.param(plan, id=name) for name, plan in sorted(PLANS.items())]


def plans_for_containers() -> list[object]:
    """Those that also run on containers in good time; small ones are for exhaustive searches."""
    elsewhere = {"simulator", "small"}
    named = sorted(PLANS.items())
    return [pytest.param(plan, id=name) for name, plan in named if not elsewhere & {*plan.tags}]


def kill_of(plan: Plan) -> Kill:
    [kill] = [fault for fault in plan.faults if isinstance(fault, Kill)]
    return kill


def cuts_of(plan: Plan) -> list[Cut]:
    return [fault for fault in plan.faults if isinstance(fault, Cut)]


def test_no_scenario_has_a_mistake_or_a_warning() -> None:
    checked = check([ROOT / "scenarios"])
    assert checked.mistakes == ()
    assert checked.warnings == ()


def test_the_first_eight_are_there() -> None:
    assert set(FIRST_EIGHT) <= set(PLANS)


@pytest.mark.parametrize("plan", plans_for_containers())
def test_a_scenario_sends_200_messages_through_six_servers_at_two_sites(plan: Plan) -> None:
    """At least."""
    assert len(plan.messages) >= 200
    assert sum(server.role == "mailbox" for server in plan.topology.servers) >= 6
    assert sum(not site.outside for site in plan.topology.sites) >= 2


@pytest.mark.parametrize("plan", plans_for_containers())
def test_a_timeline_takes_about_a_minute(plan: Plan) -> None:
    assert 40 <= wall_seconds(plan) <= 100


@pytest.mark.parametrize("plan", every_plan())
def test_a_scenario_says_what_it_proves_and_expects_no_loss(plan: Plan) -> None:
    assert plan.proves
    assert plan.expect.lost == 0


@pytest.mark.parametrize("plan", plans_for_containers())
def test_a_scenario_for_the_night_expects_its_promotions(plan: Plan) -> None:
    assert plan.expect.promotions is not None


@pytest.mark.parametrize("plan", every_plan())
def test_a_cut_leads_to_a_server_that_is_up_at_both_its_edges(plan: Plan) -> None:
    """Else nobody could see the cut take effect, or end."""
    for cut in cuts_of(plan):
        for edge_ms in (cut.start_ms, cut.end_ms):
            down = {
                kill.server
                for kill in plan.faults
                if isinstance(kill, Kill) and kill.start_ms <= edge_ms <= kill.end_ms
            }
            assert {link.target for link in cut.links} - down


def test_all_five_kinds_of_cut_are_in_use() -> None:
    used = {cut.cut_kind for plan in PLANS.values() for cut in cuts_of(plan)}
    assert used == {"refuse", "blackhole", "stall", "reset", "ack-lost"}


def test_the_readme_names_every_scenario_and_grows_one_that_is_sound(tmp_path: Path) -> None:
    text = (ROOT / "scenarios" / "README.md").read_text(encoding="utf-8")
    linked = set(re.findall(r"\]\(([a-z0-9/_-]+)\.yaml\)", text))
    files = (ROOT / "scenarios").rglob("*.yaml")
    assert linked == {str(path.relative_to(ROOT / "scenarios").with_suffix("")) for path in files}
    blocks = re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)
    for grown in growing(blocks):
        assert [str(mistake) for mistake in grow(tmp_path, grown).mistakes] == []


def growing(blocks: list[str]) -> list[dict[str, str]]:
    """The scenario of the README after each step, as its top-level keys."""
    steps: list[dict[str, str]] = [{}]
    for block in blocks:
        keys = re.split(r"(?m)^(?=[a-z])", block)
        steps.append(steps[-1] | {key.split(":")[0]: key for key in keys if key})
    return steps[1:]


def grow(folder: Path, keys: dict[str, str]) -> Checked:
    (folder / "topologies").mkdir(exist_ok=True)
    topology = (ROOT / "scenarios/topologies/two-site-dag.yaml").read_text(encoding="utf-8")
    (folder / "topologies/two-site-dag.yaml").write_text(topology, encoding="utf-8")
    path = folder / "a-disk-dies.yaml"
    path.write_text("".join(keys.values()), encoding="utf-8")
    return check([path])


def test_the_primary_is_back_in_time_after_more_than_half_the_span() -> None:
    plan = PLANS["primary-returns-in-time"]
    kill, config = kill_of(plan), plan.settings.TransportConfig
    span_ms, beat_ms = (
        int(config[name]) for name in ("ShadowResubmitTimeSpan", "ShadowHeartbeatFrequency")
    )
    due_ms = kill.start_ms - beat_ms + span_ms
    assert due_ms - kill.end_ms >= 5 * beat_ms
    assert kill.end_ms - kill.start_ms > span_ms // 2 + beat_ms
    assert plan.duration_ms > due_ms + 10 * beat_ms


def test_the_primary_is_away_for_longer_than_the_span() -> None:
    plan = PLANS["primary-returns-after-promotion"]
    kill, config = kill_of(plan), plan.settings.TransportConfig
    assert plan.expect.promotions is not None
    [expected] = plan.expect.promotions
    latest_ms = expected.after_ms + expected.within_ms
    assert kill.start_ms + int(config["ShadowResubmitTimeSpan"]) < latest_ms < kill.end_ms


def test_nobody_can_ask_from_before_the_kill_until_after_the_return() -> None:
    plan = PLANS["discard-notifications-survive"]
    [cut], kill = cuts_of(plan), kill_of(plan)
    assert cut.start_ms < kill.start_ms < kill.end_ms < cut.end_ms
    others = [s.name for s in plan.topology.servers if s.role == "mailbox" and s.name != "par-mbx1"]
    assert [(link.source, link.target) for link in cut.links] == [
        (name, "par-mbx1") for name in others
    ]


@pytest.mark.parametrize(
    "name", ["primary-loses-its-queue-database", "primary-returns-after-promotion"]
)
def test_mail_waits_in_the_queue_of_the_primary_when_it_dies(name: str) -> None:
    plan = PLANS[name]
    kill = kill_of(plan)
    cut_off = {
        link.target
        for cut in cuts_of(plan)
        for link in cut.links
        if link.source == kill.server and cut.start_ms < kill.start_ms < cut.end_ms
    }
    holders = {copy.server for database in plan.topology.databases for copy in database.copies}
    assert holders <= cut_off
    members = {member for dag in plan.topology.dags for member in dag.members}
    assert len(members - cut_off - {kill.server}) >= 2, "nobody left to make shadow messages"


@pytest.mark.parametrize("answer", ["accepted", "rejected"])
def test_nobody_is_left_to_hold_a_shadow_message(answer: str) -> None:
    plan = PLANS[f"shadow-unreachable-{answer}"]
    [cut] = cuts_of(plan)
    members = {member for dag in plan.topology.dags for member in dag.members}
    assert {link.target for link in cut.links} == members - {"par-mbx1"}
    rejects = plan.settings.TransportConfig["RejectMessageOnShadowFailure"]
    assert rejects == (answer == "rejected")


def test_the_safety_net_of_the_calm_run_runs_out_for_some_and_lasts_for_others() -> None:
    plan = PLANS["calm"]
    hold_ms = int(plan.settings.TransportConfig["SafetyNetHoldTime"])
    delivered_ms = [message.at_ms + 60_000 for message in plan.messages]
    gone = sum(at_ms + hold_ms < plan.duration_ms for at_ms in delivered_ms)
    assert 50 < gone < len(delivered_ms) - 50


def test_nobody_can_ask_the_primary_for_longer_than_the_span_while_it_opens_sessions() -> None:
    plan = PLANS["one-way-heartbeat"]
    [cut] = cuts_of(plan)
    span_ms = int(plan.settings.TransportConfig["ShadowResubmitTimeSpan"])
    through_it = [m.at_ms for m in plan.messages if m.via == ("par-mbx1",)]
    assert cut.end_ms - cut.start_ms > span_ms + 5 * 60_000
    assert min(through_it) < cut.start_ms < cut.end_ms < max(through_it)
    assert {link.target for link in cut.links} == {"par-mbx1"}


def test_the_shadow_server_sleeps_through_the_span_and_cannot_ask_after_its_restart() -> None:
    plan = PLANS["paused-shadow-server"]
    [pause] = [fault for fault in plan.faults if isinstance(fault, Pause)]
    kill = kill_of(plan)
    asking = next(c for c in cuts_of(plan) if c.links[0].source == pause.server)
    span_ms = int(plan.settings.TransportConfig["ShadowResubmitTimeSpan"])
    assert pause.end_ms - pause.start_ms > span_ms == 3 * 60 * 60_000
    assert pause.end_ms < asking.start_ms < kill.start_ms < kill.end_ms < asking.end_ms
    assert kill.server == pause.server


def test_one_of_two_forks_of_every_message_is_cut_off_when_the_primary_dies() -> None:
    plan = PLANS["half-done-fork"]
    [cut], kill = cuts_of(plan), kill_of(plan)
    database_of = {mailbox.address: mailbox.database for mailbox in plan.topology.mailboxes}
    through_it = [m for m in plan.messages if m.via == (kill.server,)]
    assert {link.target for link in cut.links} == {"lyo-mbx2"}, "where DB2 is, and DB1 is not"
    assert cut.start_ms < kill.start_ms < cut.end_ms < kill.end_ms
    for message in through_it:
        assert {database_of[to] for to in message.recipients} == {"DB1", "DB2"}
        assert message.at_ms + 60_000 <= kill.start_ms, "time enough for the first fork"
    assert sum(message.at_ms > cut.start_ms for message in through_it) >= 40
