"""One message's story for a terminal: `python -m spark_eval RUN --story MESSAGE-ID`."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterator
from difflib import get_close_matches
from itertools import islice

from spark_eval.read.folder.run_folder import RunFolder, RunFolderError
from spark_eval.story.lines import MOST_KEPT, FolderLines
from spark_eval.story.row import StoryLine, text
from spark_eval.story.story import LEDGER, MOST_LINES, stories
from spark_eval.story.tracking import bracketed
from spark_eval.story.words import lab_moment

NEIGHBOURS = 50  # of an id in the order of ids: comparing with all of a long run would take minutes


def story_lines(folder: RunFolder, message_id: str) -> list[str]:
    """A line for each line of the record. Raises RunFolderError when it names no such message."""
    named = bracketed(message_id)
    rows = stories(folder, [named]) if named else []
    if not rows:
        cause = f"run folder {folder.path.name}: no line is about {named or 'an empty Message-Id'}"
        raise RunFolderError(cause, _nearest(folder, named or ""))
    return list(_lines(rows))


def _lines(rows: list[StoryLine]) -> Iterator[str]:
    width = max(len(row.place) for row in rows)
    for row in rows:
        yield f"{lab_moment(row.at_ms)}  {row.place:<{width}}  {row.what}  ({row.file}:{row.line})"
    if len(rows) >= MOST_LINES:
        yield f"there is more: {MOST_LINES} lines are the most that are shown"


def _nearest(folder: RunFolder, named: str) -> str:
    """Which id was meant, if one is near."""
    known = sorted(_sent(folder))
    reversed_ids = sorted(name[::-1] for name in known)
    ends = [name[::-1] for name in _around(reversed_ids, named[::-1])]
    near = get_close_matches(named, {*_around(known, named), *ends}, n=1, cutoff=0.5)
    if near:
        return f"did you mean {near[0]}?"
    return "the ids of all messages are in ledger.jsonl"


def _sent(folder: RunFolder) -> set[str]:
    rows = (line.json_object() for line in FolderLines(folder).records(LEDGER))
    ids = (bracketed(text(row, "message_id")) for row in rows)
    return set(islice(filter(None, ids), MOST_KEPT))


def _around(ordered: list[str], name: str) -> list[str]:
    place = bisect(ordered, name)
    return ordered[max(place - NEIGHBOURS, 0) : place + NEIGHBOURS]
