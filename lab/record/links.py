"""Links in a folder that the lab goes on in: what is written there would be written elsewhere."""

from pathlib import Path

from lab.program.errors import ScenarioError


def refuse_links(folder: Path) -> None:
    """A folder of the lab's holds none, is none, and may be somebody else's. Raises
    ScenarioError."""
    for place in (folder, *folder.glob("*")):
        if place.is_symlink():
            cause = f"{place}: is a link, and what is written there must stay in the folder"
            raise ScenarioError(cause, "remove the link, or put what it leads to in its place")
