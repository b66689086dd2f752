"""Which run a word names; no word leads out of the state folder. No engine is needed here."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from docker.errors import NotFound

from lab.hosts.containers import down
from lab.hosts.containers.engine import RUN_LABEL
from lab.hosts.containers.leftovers import known_runs, run_named
from lab.program.errors import ScenarioError

RUN = "calm-20260105T080000Z-7-ab12"
FOLDER = Path("runs/calm/20260105T080000Z-7")


def engine_with(*runs: str) -> Any:
    """An engine that has a network of each of these runs, and lets none be removed."""
    networks = [SimpleNamespace(attrs={"Labels": {RUN_LABEL: run}}) for run in runs]
    nothing: Callable[..., list[object]] = lambda **_: []  # noqa: E731
    return SimpleNamespace(
        containers=SimpleNamespace(list=nothing),
        networks=SimpleNamespace(
            list=lambda filters: networks if filters["label"] == RUN_LABEL else []
        ),
        volumes=SimpleNamespace(list=nothing),
    )


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with a state folder, a record and a file that nobody may lose."""
    root = tmp_path / "checkout"
    for folder in (root / ".shadowlab" / RUN, root / FOLDER, root / "elsewhere"):
        folder.mkdir(parents=True)
        (folder / "kept").write_text("")
    return root


def files(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*"))


WORDS_OF_NO_RUN = ["", " ", ".", "..", "../elsewhere", "../runs/calm/20260105T080000Z-7", "x" * 300]


@pytest.mark.parametrize("word", [*WORDS_OF_NO_RUN, "absolute"])
def test_a_word_that_is_no_run_removes_nothing(checkout: Path, word: str) -> None:
    name = str(checkout / "elsewhere") if word == "absolute" else word
    before = files(checkout)
    with pytest.raises(ScenarioError):
        down.down(engine_with(), name, checkout / ".shadowlab")
    with pytest.raises(ScenarioError):
        down.down_named(engine_with(), name, checkout / ".shadowlab", {})
    assert files(checkout) == before


@pytest.mark.parametrize("label", ["", ".", "..", "../runs", "/"])
def test_a_label_on_the_engine_that_is_no_run_id_is_passed_over(checkout: Path, label: str) -> None:
    (checkout / ".shadowlab" / RUN / "kept").unlink()
    (checkout / ".shadowlab" / RUN).rmdir()
    before = files(checkout)
    assert down.down(engine_with(label), None, checkout / ".shadowlab") == down.Removed()
    assert files(checkout) == before


def test_a_link_in_the_state_folder_is_no_run(checkout: Path) -> None:
    (checkout / ".shadowlab" / "link").symlink_to(checkout / "elsewhere")
    (checkout / ".shadowlab" / "itself").symlink_to("itself")
    (checkout / ".shadowlab" / "file").write_text("")
    assert list(known_runs(engine_with(), checkout / ".shadowlab")) == [RUN]
    down.down(engine_with(), "link", checkout / ".shadowlab")
    assert (checkout / "elsewhere" / "kept").exists()


def test_a_state_folder_that_is_a_file_has_no_runs(checkout: Path) -> None:
    (checkout / "file").write_text("")
    assert known_runs(engine_with(), checkout / "file") == {}


@pytest.mark.parametrize(
    "word", [RUN, str(FOLDER), f"{FOLDER}/", "calm/20260105T080000Z-7", "./" + str(FOLDER)]
)
def test_a_run_is_named_by_its_id_or_as_it_is_listed(word: str) -> None:
    assert run_named(word, [], {FOLDER: RUN}) == RUN


def test_a_named_run_goes_and_its_neighbour_stays(checkout: Path) -> None:
    (checkout / ".shadowlab" / "other").mkdir()
    removed = down.down_named(engine_with(), RUN, checkout / ".shadowlab", {})
    assert removed.state_dirs == (str(checkout / ".shadowlab" / RUN),)
    assert [path.name for path in (checkout / ".shadowlab").iterdir()] == ["other"]


@pytest.mark.parametrize("word", ["calm", RUN[:-1] + "x", "calm-20260105T080000Z"])
def test_a_name_that_is_nearly_a_runs_gets_the_nearest(word: str) -> None:
    with pytest.raises(ScenarioError) as raised:
        run_named(word, [RUN], {})
    assert raised.value.hint == f"did you mean {RUN}?"


def test_a_run_whose_record_names_a_path_is_not_removed(checkout: Path) -> None:
    with pytest.raises(ScenarioError):
        run_named(str(FOLDER), [], {FOLDER: "../elsewhere"})


def test_two_folders_of_one_simulated_plan_are_the_same_run() -> None:
    recorded = {FOLDER: "calm-7", FOLDER.with_name("20260106T080000Z-7"): "calm-7"}
    assert [run_named(str(folder), [], recorded) for folder in recorded] == ["calm-7", "calm-7"]


class BeingMade:
    """A container that the engine lists and does not know yet when asked to remove it."""

    name = f"{RUN}-box"

    def __init__(self) -> None:
        self.attrs = {"Names": [f"/{self.name}"]}
        self.asked = 0

    def listed(self, *, sparse: bool = False, **_: Any) -> list["BeingMade"]:
        """As the client has it: who is inspected and not known is left out, or raises."""
        return [self] if self.asked == 1 or (sparse and not self.asked) else []

    def remove(self, **_: Any) -> None:
        self.asked += 1
        if self.asked == 1:
            raise NotFound("No such container")


def test_a_container_that_the_engine_is_just_making_goes_too() -> None:
    box = BeingMade()
    engine = engine_with()
    engine.containers.list = box.listed
    removed = down.remove_from_engine(engine, RUN)
    assert box.asked == 2
    assert removed.containers == (f"{RUN}-box",)
