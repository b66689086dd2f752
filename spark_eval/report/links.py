"""Names in sentences as links: claims, requirements, faults, operations, and lines of the record.

A link leads to a part of the same page or to a file beside it; nothing leads out of the run folder.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import quote

from markupsafe import Markup, escape

from spark_eval.judging.catalogue import catalogue

NAME = re.compile(r"[A-Za-z][\w-]*")


def file_href(file: str) -> str:
    """Of a file of the run folder, as seen from the page; `./` keeps any name a path."""
    return "./" + quote(file.lstrip("/"))


@dataclass(frozen=True, slots=True)
class Links:
    """Anchors of a page by the names that its sentences use, and `servers`, whose names do not
    break at the end of a line.
    """

    anchors: Mapping[str, str]
    servers: frozenset[str] = frozenset()

    def line(self, text: str) -> Markup:
        """The whole line as one link to the first name that it holds; without one, as it is."""
        anchor = next(self._anchors(text), None)
        return Markup('<a href="{}">{}</a>').format(anchor, text) if anchor else escape(text)

    def names(self, text: str) -> Markup:
        """Each known name in `text` as a link of its own, or in one piece."""
        parts = []
        end = 0
        for match in NAME.finditer(text):
            if match[0] in self.anchors or match[0] in self.servers:
                parts += [escape(text[end : match.start()]), self.name(match[0])]
                end = match.end()
        return Markup("").join([*parts, escape(text[end:])])

    def name(self, name: str) -> Markup:
        """One name as a link, with the sentence that it stands for; unknown ones as they are."""
        if name in self.servers:
            return Markup('<span class="who">{}</span>').format(name)
        said = catalogue().sentence(name)
        if name not in self.anchors:
            return Markup('<abbr title="{}">{}</abbr>').format(said, name) if said else escape(name)
        link = Markup('<a href="{}" title="{}">{}</a>')
        return link.format(self.anchors[name], said, name) if said else _plain(self, name)

    def _anchors(self, text: str) -> Iterator[str]:
        return (self.anchors[match[0]] for match in NAME.finditer(text) if match[0] in self.anchors)


def _plain(links: Links, name: str) -> Markup:
    return Markup('<a href="{}">{}</a>').format(links.anchors[name], name)


def links_of(
    requirements: Iterable[str],
    claims: Iterable[str],
    faults: Iterable[str],
    operations: Iterable[str],
    servers: Iterable[str],
) -> Links:  # fmt: skip
    """What a run's page has an anchor for."""
    anchors = {name: f"#requirement-{name}" for name in requirements}
    anchors |= {name: f"#claim-{name}" for name in claims}
    anchors |= {name: f"#fault-{name}" for name in faults}
    anchors |= {name: f"#operation-{name}" for name in operations}
    return Links(anchors, frozenset(servers))
