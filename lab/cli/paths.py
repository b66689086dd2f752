"""Paths and words of the command line, checked before anything is started.

A typing error may not cost anybody a file: what is written never takes the place of a file that
holds something else, of a device, of a pipe or of a folder of another kind. An empty word, as of
a variable that is not set, names nothing. Everything wrong here ends the call with 4.
"""

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

import typer

from lab.plan.names import PATTERN_WORDS, SLUG
from lab.program.errors import ScenarioError

NAME_BYTES, PATH_BYTES = 240, 4095  # a temporary name beside it is a little longer

Words = TypeVar("Words", str, Sequence[str], None)


def not_empty(words: Words) -> Words:
    """What was given, if no word of it is empty. Raises BadParameter."""
    every: Sequence[str] = [words] if isinstance(words, str) else words or ()
    for word in every:
        if not word.strip() or "\0" in word:
            raise typer.BadParameter("is empty; a variable of the shell may not be set")
    return words


def path_of(word: str) -> Path:
    """The path that a word names. Raises BadParameter for an empty one and for one too long."""
    not_empty(word)
    encoded = os.fsencode(word)
    if len(encoded) > PATH_BYTES or any(len(part) > NAME_BYTES for part in encoded.split(b"/")):
        raise typer.BadParameter(f"is longer than {NAME_BYTES} bytes a name")
    return Path(word)


def new_file(option: str, path: Path, ours: str) -> Path:
    """A file to be written: a new one, or one whose text `ours` matches from its start, so that it
    was written by us. A link is followed and not replaced. Raises ScenarioError."""
    target = Path(os.path.realpath(path)) if path.is_symlink() else path
    _require_folder(option, path, Path(os.path.realpath(target)).parent)
    if not os.path.lexists(target):
        return target
    if not target.is_file():
        raise ScenarioError(f"{option} {path}: is no file to be written", "name a new file")
    with target.open(encoding="utf-8", errors="replace") as file:
        begins = file.read(PATH_BYTES)
    if begins and not re.match(ours, begins):
        raise ScenarioError(f"{option} {path}: holds something else", "name a new file")
    return target


def new_folder(option: str, path: Path) -> Path:
    """A folder to be written to: a new one, or one that is there and is no run's record. Raises
    ScenarioError."""
    target = Path(os.path.realpath(path))
    if (target / "plan.json").is_file():
        raise ScenarioError(f"{option} {path}: is a run folder", "a record is not written to")
    if os.path.lexists(target) and not target.is_dir():
        raise ScenarioError(f"{option} {path}: is no folder", "name a new folder")
    _require_folder(option, path, target.parent)
    return path


def announcement(path: Path | None) -> Path | None:
    """The file of `--announce`: new, or one that holds the path of an earlier run."""
    return None if path is None else new_file("--announce", path, r"/[^\n]*\n\Z")


def smaller_scenario(path: Path, begins: str) -> Path:
    """The file of `shrink --out`: named as its scenario; new, or of an earlier shrink, which
    `begins` so."""
    if path.suffix != ".yaml" or not re.fullmatch(SLUG, path.stem):
        hint = f"end it with .yaml; for the rest {PATTERN_WORDS[SLUG]}"
        raise ScenarioError(f"--out {path}: is no name for a scenario", hint)
    return new_file("--out", path, re.escape(begins))


def _require_folder(option: str, path: Path, folder: Path) -> None:
    """The nearest folder that is there must be one: what is missing below it is made."""
    while not os.path.lexists(folder):
        folder = folder.parent
    if not folder.is_dir():
        raise ScenarioError(f"{option} {path}: {folder} is no folder", "name another place")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise ScenarioError(f"{option} {path}: {folder} cannot be written", "name another place")
