"""A YAML file as plain data together with the place of every key and value.

Reads bytes, gives back dicts, lists and scalars, and says what is wrong with the text itself:
not UTF-8, not YAML, a key or an anchor given twice, a tag or merge key, a file too large, aliases
that unfold into more than a scenario can need. It knows nothing of what the keys mean.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias
from warnings import catch_warnings, simplefilter

from ruamel.yaml import YAML
from ruamel.yaml.composer import MaxDepthExceededError
from ruamel.yaml.error import (
    MarkedYAMLError,
    ReusedAnchorWarning,
    YAMLError,
    YAMLWarning,
)
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode
from ruamel.yaml.reader import ReaderError

from lab.program.given_file import UnreadableFile, read_given
from lab.program.printable import code_point, unprintable
from lab.validation.mistakes import FilePosition, Mistake, display_name

BYTES_MAX = 64 * 1024
VALUES_MAX = 20_000
DEPTH_MAX = 20
START = FilePosition(1, 1)
FLATTER = "a scenario needs no more than a few levels"

Trail: TypeAlias = tuple[str | int, ...]

_TAG = "tag:yaml.org,2002:"
_WORDS: dict[str, bool | None] = {"true": True, "false": False, "null": None, "~": None, "": None}


@dataclass(frozen=True, slots=True)
class Document:
    """What a file says: `data` is None when its text could not be read at all.

    `values` and `keys` give the place of what stands at a path such as ("faults", 0, "kill").
    """

    file: str
    text: str
    data: Any
    values: dict[Trail, FilePosition]
    keys: dict[Trail, FilePosition]
    mistakes: tuple[Mistake, ...]

    def place(self, path: Trail, of_key: bool = False) -> FilePosition:
        """The place of a value or key, or of the nearest thing around it that has one."""
        if of_key and path in self.keys:
            return self.keys[path]
        for length in range(len(path), -1, -1):
            if path[:length] in self.values:
                return self.values[path[:length]]
        return START

    def mistake(
        self, path: Trail, value: str, rule: str, hint: str = "", *, of_key: bool = False
    ) -> Mistake:
        """A mistake about what stands at that path; about its key's place with `of_key`."""
        alone = path[-1:] == (0,) and not isinstance(self.at(path[:-1]), list)
        what = path[:-1] if of_key or alone else path
        return Mistake(self.file, self.place(path, of_key), dotted(what), value, rule, hint)

    def at(self, path: Trail) -> Any:
        """The value at that path, or None where there is none."""
        found = self.data
        for part in path:
            try:
                found = found[part]
            except (KeyError, IndexError, TypeError):
                return None
        return found


def dotted(path: Trail) -> str:
    """A path as messages show it: `faults[0].cut.kind`; the whole file has no name."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return text.removeprefix(".") or "the file"


def read_document(path: Path) -> Document:
    """Read a YAML file; whatever is wrong with it comes back in `mistakes`.

    Raises GroundError where the machine cannot read.
    """
    name = display_name(path)
    try:
        raw = read_given(path, BYTES_MAX + 1)
    except UnreadableFile as error:
        return _unreadable(name, "", START, str(error), "name a file of text")
    return parse_document(name, raw)


def parse_document(name: str, raw: bytes) -> Document:
    """Read the bytes of a YAML file called `name`."""
    if len(raw) > BYTES_MAX:
        rule = f"is larger than {BYTES_MAX // 1024} KiB"
        return _unreadable(name, "", START, rule, "split it: one experiment per file")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        place = _place_of(raw[: error.start].decode("utf-8"))
        value = f"byte 0x{raw[error.start]:02x}"
        return _unreadable(name, value, place, "is not UTF-8", "save the file as UTF-8", "")
    if (at := unprintable(text)) is not None:
        rule = "acts on terminals and cannot be seen"
        return _unreadable(name, code_point(text[at]), _place_of(text[:at]), rule, "remove it")
    return _compose(name, text)


def _compose(name: str, text: str) -> Document:
    try:
        yaml = YAML(typ="safe", pure=True)
        yaml.max_depth = DEPTH_MAX
        with catch_warnings():
            simplefilter("error", YAMLWarning)
            simplefilter("ignore", ReusedAnchorWarning)  # a mistake, with its place, further down
            node = yaml.compose(text)
    except ReaderError as error:
        value = f"character 0x{ord(text[error.position]):02x}"
        place = _place_of(text[: error.position])
        return _unreadable(name, value, place, "is not allowed in YAML", "", text)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = FilePosition(mark.line + 1, mark.column + 1) if mark else START
        if isinstance(error, MaxDepthExceededError):
            return _unreadable(name, "", place, f"is nested deeper than {DEPTH_MAX}", FLATTER, text)
        rule = f"is not YAML: {error.problem or error.context}"
        return _unreadable(name, "", place, rule, "", text)
    except (YAMLError, YAMLWarning, ValueError) as error:
        return _unreadable(name, "", START, f"is not YAML: {error}", "", text)
    if node is None or (isinstance(node, ScalarNode) and node.tag == _TAG + "null"):
        return _unreadable(name, "", START, "is empty", "start from calm.yaml", text)
    unfolding = _Unfolding(name)
    data = unfolding.value(node, ())
    data = None if unfolding.overrun else data
    mistakes = tuple(unfolding.mistakes)
    return Document(name, text, data, unfolding.values, unfolding.keys, mistakes)


def _unreadable(
    name: str, value: str, place: FilePosition, rule: str, hint: str = "", text: str = ""
) -> Document:
    mistake = Mistake(name, place, "the file", value, rule, hint)
    return Document(name, text, None, {}, {}, (mistake,))


def _place_of(before: str) -> FilePosition:
    line = before.count("\n") + 1
    return FilePosition(line, len(before) - (before.rfind("\n") + 1) + 1)


@dataclass(slots=True)
class _Unfolding:
    """One walk over the composed nodes; aliases cost what they unfold to, and that is bounded."""

    file: str
    values: dict[Trail, FilePosition] = field(default_factory=dict)
    keys: dict[Trail, FilePosition] = field(default_factory=dict)
    mistakes: list[Mistake] = field(default_factory=list)
    anchors: dict[str, Node] = field(default_factory=dict)
    count: int = 0
    overrun: bool = False

    def value(self, node: Node, path: Trail) -> Any:
        place = _mark(node)
        self.values.setdefault(path, place)
        self._anchor(node, path)
        self.count += 1
        if self.count > VALUES_MAX or len(path) > DEPTH_MAX:
            self._overrun(place, path)
            return None
        if isinstance(node, MappingNode):
            return self._mapping(node, path)
        if isinstance(node, SequenceNode):
            return [self.value(item, (*path, at)) for at, item in self._items(node.value)]
        return self._scalar(node, path)

    def _items(self, nodes: list[Any]) -> Iterator[tuple[int, Any]]:
        for at, node in enumerate(nodes):
            if self.overrun:
                return
            yield at, node

    def _mapping(self, node: MappingNode, path: Trail) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for _, (key_node, value_node) in self._items(node.value):
            key = self._key(key_node, path)
            if key is None:
                continue
            if key in found:
                first = self.keys[(*path, key)]
                hint = f"it stands first at line {first.line}; keep one of them"
                self._mistake(_mark(key_node), path, key, "is given twice", hint)
                continue
            self.keys[(*path, key)] = _mark(key_node)
            if value_node.tag == _TAG + "null" and not value_node.value:
                # what is not there has no place of its own
                self.values[(*path, key)] = _mark(key_node)
            found[key] = self.value(value_node, (*path, key))
        return found

    def _key(self, node: Node, path: Trail) -> str | None:
        if node.tag == _TAG + "merge":
            hint = "write the keys out, or give the whole value an alias"
            self._mistake(_mark(node), path, "<<", "merge keys are not used here", hint)
            return None
        self._anchor(node, path)
        if not isinstance(node, ScalarNode) or not isinstance(node.value, str):
            self._mistake(_mark(node), path, "", "a key must be a word", "")
            return None
        return node.value

    def _anchor(self, node: Node, path: Trail) -> None:
        """An alias is the very node that had its anchor last."""
        if not node.anchor:
            return
        before = self.anchors.get(node.anchor, node)
        self.anchors[node.anchor] = node
        if before is not node:
            hint = f"it stands at line {before.start_mark.line + 1} already; give each its own"
            self._mistake(_mark(node), path, f"&{node.anchor}", "is given twice", hint)

    def _scalar(self, node: Node, path: Trail) -> Any:
        text = str(node.value)
        kind = str(node.tag).removeprefix(_TAG)
        try:
            if kind in ("str", "timestamp"):
                return text
            if kind in ("bool", "null"):
                return _WORDS[text.lower()]
            if kind == "int":
                return _whole_number(text)
            if kind == "float":
                return float(text.replace("_", "").replace(".inf", "inf").replace(".nan", "nan"))
        except (KeyError, ValueError):
            pass
        self._mistake(_mark(node), path, str(node.tag), "tags are not used here", "remove the tag")
        return None

    def _overrun(self, place: FilePosition, path: Trail) -> None:
        if self.overrun:
            return
        self.overrun = True
        place = self.keys.get(path[:1], place)
        if len(path) > DEPTH_MAX:
            rule = f"is nested deeper than {DEPTH_MAX}, or contains itself"
            hint = "an alias must not stand inside its own anchor"
            self._mistake(place, path[:1], "", rule, hint)
        else:
            rule = f"unfolds into more than {VALUES_MAX} values"
            self._mistake(place, path[:1], "", rule, "use fewer aliases")

    def _mistake(self, place: FilePosition, path: Trail, value: str, rule: str, hint: str) -> None:
        self.mistakes.append(Mistake(self.file, place, dotted(path), value, rule, hint))


def _whole_number(text: str) -> int:
    digits = text.replace("_", "")
    if len(digits) > 30:
        return 10**30
    try:
        return int(digits, 10)
    except ValueError:
        return int(digits, 0)


def _mark(node: Node) -> FilePosition:
    return FilePosition(node.start_mark.line + 1, node.start_mark.column + 1)
