"""The steady state before the first fault."""

import json
from pathlib import Path
from typing import Any

import pytest

from lab.program.errors import GroundError
from lab.record.folder import JsonLines
from lab.run.steady_state import SteadyState
from lab.workload.agent import ProbeMessageReply
from lab.workload.probe import Probe, Seen
from tests.lab.faults.fake_target import FakeGround
from tests.lab.plan.small_plan import small_plan


@pytest.fixture
def ground() -> FakeGround:
    return FakeGround(small_plan())


def steady(ground: FakeGround, folder: Path) -> SteadyState:
    times = iter(range(0, 10_000, 10))
    return SteadyState(
        ground.plan,
        "run-1",
        ground.links(),
        ground,
        JsonLines(folder / "probes.jsonl"),
        monotonic=lambda: next(times),
        pause=lambda _: None,
    )


def test_every_link_is_tried(ground: FakeGround, tmp_path: Path) -> None:
    assert steady(ground, tmp_path).check() == len(ground.plan.links)


def test_every_probe_is_in_the_record(ground: FakeGround, tmp_path: Path) -> None:
    steady(ground, tmp_path).check()
    rows = [json.loads(line) for line in (tmp_path / "probes.jsonl").read_text().splitlines()]
    assert {(row["link"]["from"], row["link"]["to"]) for row in rows} == {
        (link.source, link.target) for link in ground.plan.links
    }
    assert all(row["ok"] for row in rows)


def test_nobody_hears_what_becomes_of_a_probe(ground: FakeGround, tmp_path: Path) -> None:
    """With a null reverse-path it has no DSN and no journal report, which nobody could explain."""
    senders = set[str]()
    sent = ground.probe_message

    def probe_message(address: str, *, sender: str, **rest: Any) -> ProbeMessageReply:
        senders.add(sender)
        return sent(address, sender=sender, **rest)

    ground.probe_message = probe_message  # type: ignore[method-assign]
    steady(ground, tmp_path).check()
    assert senders == {""}


def test_message_ids_of_probes_are_marked_and_differ(ground: FakeGround, tmp_path: Path) -> None:
    steady(ground, tmp_path).check()
    lines = (tmp_path / "probes.jsonl").read_text().splitlines()
    ids = {json.loads(line)["message_id"] for line in lines}
    assert len(ids) == len(ground.plan.links)
    assert all(message_id.startswith("<probe.") for message_id in ids)


def test_a_server_without_a_banner_is_named(ground: FakeGround, tmp_path: Path) -> None:
    ground.down.add("b")
    with pytest.raises(GroundError, match="no steady state: no banner from b"):
        steady(ground, tmp_path).check()


def test_a_server_may_take_a_while_to_show_its_banner(
    ground: FakeGround, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = iter([Seen.CLOSED] * 3)
    monkeypatch.setattr(
        ground, "probe", lambda *_: Probe(next(looks, Seen.BANNER), ""), raising=True
    )
    assert steady(ground, tmp_path).check() == len(ground.plan.links)


def test_a_link_that_takes_no_mail_is_named_with_the_reply(
    ground: FakeGround, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = ProbeMessageReply("failed", "451 4.3.0 not now", "refused at MAIL")
    monkeypatch.setattr(ground, "probe_message", lambda *_, **__: refused)
    with pytest.raises(GroundError, match=r"through a to b \(451 4.3.0 not now\).* and 3 more"):
        steady(ground, tmp_path).check()
