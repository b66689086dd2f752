"""As whom containers run, and what they are given."""

import os
from pathlib import Path

import pytest

from lab.hosts.containers.ground import confinement


@pytest.mark.parametrize(("caller", "user"), [(0, confinement.ORDINARY), (1000, 1000)])
def test_nobody_is_root_in_a_container(
    caller: int, user: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "getuid", lambda: caller)
    monkeypatch.setattr(os, "getgid", lambda: caller)
    assert confinement.user() == (user, user)


def test_what_root_made_is_handed_over_whole_and_what_links_lead_to_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "etc" / "tls").mkdir(parents=True)
    (tmp_path / "etc" / "tls" / "server.key").touch()
    (tmp_path / "etc" / "elsewhere").symlink_to("/")
    given: list[tuple[str, bool]] = []

    def chown(path: Path, uid: int, gid: int, *, follow_symlinks: bool = True) -> None:
        assert (uid, gid) == (confinement.ORDINARY, confinement.ORDINARY)
        given.append((Path(path).name, follow_symlinks))

    monkeypatch.setattr(os, "getuid", lambda: 0)
    monkeypatch.setattr(os, "chown", chown)
    confinement.hand_over(tmp_path / "etc")
    assert given[0] == ("etc", True)
    assert {name for name, follows in given if not follows} == {"tls", "server.key", "elsewhere"}


def test_who_is_not_root_has_nothing_to_hand_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 1000)
    monkeypatch.setattr(os, "chown", lambda *_: pytest.fail("nothing is to be given"))
    confinement.hand_over(tmp_path)
