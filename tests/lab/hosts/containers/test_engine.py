from pathlib import Path

import pytest

from lab.hosts.containers import engine
from lab.program import processes
from lab.program.errors import GroundError


@pytest.fixture
def no_engine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    """DOCKER_HOST names a socket where nobody listens."""
    where = f"unix://{tmp_path}/nobody.sock"
    monkeypatch.setenv("DOCKER_HOST", where)
    return where


def test_no_engine_says_make_engine(no_engine: str) -> None:
    with pytest.raises(GroundError) as raised:
        engine.connect()
    assert raised.value.cause == f"no Docker engine answers at {no_engine}"
    assert raised.value.hint.startswith("make engine")
    assert raised.value.exit_code == 3


@pytest.mark.parametrize("where", ["tcp://127.0.0.1:99999", "tcp://[::1", "garbage", "ssh://"])
def test_an_address_that_is_none_is_said_like_an_engine_that_is_silent(
    where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCKER_HOST", where)
    with pytest.raises(GroundError, match="no Docker engine answers at"):
        engine.connect()


def test_an_engine_elsewhere_that_is_silent_is_not_replaced(no_engine: str) -> None:
    with pytest.raises(GroundError, match="DOCKER_HOST"):
        engine.start(lambda _: None)


def test_installing_needs_debian_and_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda _: None)
    with pytest.raises(GroundError, match="no Debian machine"):
        engine.require_debian_root("there is no Docker engine")
    monkeypatch.setattr("shutil.which", lambda _: "/usr/bin/apt-get")
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    with pytest.raises(GroundError, match="may not install"):
        engine.require_debian_root("there is no Docker engine")


def test_only_an_engine_that_was_started_here_is_stopped(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ended: list[processes.ProcessRecord] = []
    monkeypatch.setattr(engine, "DAEMON_RECORD", tmp_path / "dockerd.json")
    monkeypatch.setattr(processes, "end", lambda record, **_: ended.append(record))
    engine.stop(lambda _: None)
    assert ended == []
    processes.write(tmp_path / "dockerd.json")
    engine.stop(lambda _: None)
    assert len(ended) == 1


def test_what_dockerd_says_of_its_end_is_found_above_what_follows(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    log = tmp_path / "dockerd.log"
    log.write_text("starting\nfailed to start daemon: no iptables\n (exit status 4)\n")
    monkeypatch.setattr(engine, "DAEMON_LOG", log)
    assert engine._last_words() == "failed to start daemon: no iptables"


@pytest.mark.engine
def test_an_engine_that_answers_is_left_as_it_is() -> None:
    said: list[str] = []
    engine.start(said.append)
    assert said == ["a Docker engine answers already"]
