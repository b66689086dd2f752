"""The measurement beside Postfix: its arithmetic, and what it says where Postfix is missing."""

import itertools
import os
import shutil
import socket
from pathlib import Path

import pytest

import bench.__main__ as collection
import bench.rows.durable_messages_vs_postfix as measurement
from bench import postfix
from bench.result import Unmeasurable, in_pairs
from bench.rows.durable_messages_vs_postfix import Rates, Side, measured, result_of
from bench.sending import SIZE_BYTES, Mail, message, send
from lab.program.errors import GroundError
from tests.integration.recording_server import recording

NOWHERE = Mail(1, "user@shadowlab.example", Path("none"))
OURS, THEIRS = Rates(100.0, 60.0), Rates(400.0, 80.0)
HAS_POSTFIX = shutil.which("postfix") is not None and os.geteuid() == 0


@pytest.fixture
def no_postfix(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))


@pytest.mark.usefixtures("no_postfix")
def test_without_postfix_there_is_no_number_but_how_to_install_it() -> None:
    row = measurement.measure()
    assert (row.ours, row.theirs, row.ratio) == (None, None, None)
    assert row.against.startswith("not measured")
    assert "apt-get install postfix" in row.against


@pytest.mark.usefixtures("no_postfix")
def test_without_postfix_the_table_and_the_file_lose_an_old_number(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(collection, "RESULTS", tmp_path / "results.json")
    collection.keep([in_pairs(measurement.NAME, [(432.1, 864.2)], "messages/s", "Postfix")])
    collection.main([measurement.NAME])
    assert "432.1" not in (tmp_path / "results.json").read_text()
    shown = capsys.readouterr().out
    assert "not measured" in " ".join(shown.split())
    assert "432.1" not in shown


def test_without_root_postfix_is_not_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: "/usr/sbin/postfix")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(Unmeasurable, match="root"):
        postfix.check_it_is_there()


def test_the_ratio_is_the_median_of_the_rounds_not_the_ratio_of_the_medians() -> None:
    row = in_pairs("n", [(100, 100), (50, 200), (90, 300)], "messages/s", "theirs")
    assert (row.ours, row.theirs, row.ratio) == (90, 200, 0.3)
    assert row.against == "theirs; ratio 0.25 to 1 in 3 rounds"


def test_250s_are_laid_side_by_side_and_the_ratio_of_deliveries_is_told_with_them() -> None:
    row = result_of([(OURS, THEIRS)])
    assert (row.ours, row.theirs, row.ratio) == (100, 400, 0.25)
    assert "250 follows one copy" in row.against
    assert "until delivered 0.75;" in row.against


def test_who_goes_first_changes_from_round_to_round(monkeypatch: pytest.MonkeyPatch) -> None:
    went: list[str] = []

    def fake(side: Side, marks: object, count: int) -> Rates:
        went.append(side.name)
        return {"ours": OURS, "Postfix": THEIRS}[side.name]

    monkeypatch.setattr(measurement, "measured", fake)
    sides = (Side("ours", NOWHERE, lambda: 0), Side("Postfix", NOWHERE, lambda: 0))
    pairs = list(measurement.rounds(sides, iter(())))
    assert pairs == [(OURS, THEIRS)] * measurement.ROUNDS
    assert went[:4] == ["ours", "Postfix", "Postfix", "ours"]


def test_a_round_counts_acknowledgements_and_ends_when_all_is_delivered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sent: list[str] = []

    def sends(mail: Mail, marks: list[str]) -> float:
        sent.extend(marks)
        return 0.5

    monkeypatch.setattr(measurement, "send", sends)
    monkeypatch.setattr(measurement, "LOOK_S", 0)
    looks = iter([7, 7, 9, 11])  # 7 of earlier rounds
    marks = (str(number) for number in itertools.count())
    rates = measured(Side("ours", NOWHERE, lambda: next(looks)), marks, 4)
    assert rates.acknowledged == 8.0
    assert sent == ["0", "1", "2", "3"]
    assert next(looks, None) is None


def test_mail_that_is_never_delivered_ends_the_measurement(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(measurement, "send", lambda mail, marks: 0.5)
    monkeypatch.setattr(measurement, "DELIVERED_WITHIN_S", 0)
    with pytest.raises(GroundError, match="2 messages are not delivered"):
        measured(Side("ours", NOWHERE, lambda: 0), iter(["a", "b"]), 2)


def test_messages_of_ours_that_went_unprotected_are_no_measurement() -> None:
    measurement.check_each_had_its_shadow(450, 450)
    with pytest.raises(GroundError, match="449 of 450"):
        measurement.check_each_had_its_shadow(449, 450)


@pytest.mark.parametrize("length", range(1, 80))
def test_messages_have_the_size_that_is_said_and_lines_that_smtp_allows(length: int) -> None:
    one = message("m" * length, "user@shadowlab.example")
    assert len(one) == SIZE_BYTES
    assert one.endswith(b"\r\n")
    assert max(map(len, one.splitlines())) <= 998
    assert one.count(b"\r") == one.count(b"\n") == one.count(b"\r\n")


def test_a_server_that_does_not_answer_as_it_should_ends_the_measurement() -> None:
    with recording() as server:  # 250 to everything, STARTTLS too
        mail = Mail(server.port, "user@shadowlab.example", Path("none"))
        with pytest.raises(GroundError, match="not 220"):
            send(mail, ["m1"])


@pytest.mark.skipif(not HAS_POSTFIX, reason="Postfix is not installed, or this user is not root")
@pytest.mark.timeout(120)
def test_postfix_relays_over_tls_keeps_a_copy_and_leaves_nothing_running(tmp_path: Path) -> None:
    for folder in (tmp_path, *tmp_path.parents[:2]):
        folder.chmod(0o755)
    with postfix.postfix_pair(tmp_path / "pair") as pair:
        mail = Mail(pair.port, postfix.USER, tmp_path / "pair" / "authority.pem")
        side = Side("Postfix", mail, pair.delivered)
        measured(side, iter([f"m{number}" for number in range(12)]), 12)
        assert pair.delivered() == 12
    log = (tmp_path / "pair" / postfix.FIRST / "mail.log").read_text()
    assert "status=sent" in log
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", pair.port), 1)
