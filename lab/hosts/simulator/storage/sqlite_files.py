"""SQLite's way to a disk that knows what was written and what was made durable.

SQLite reaches files through a VFS (https://sqlite.org/vfs.html). This one is registered with the
very SQLite that Python's `sqlite3` uses, so a database in `written_files.Files` is opened, locked,
written, checkpointed and recovered by SQLite itself, under whatever pragmas a node has set. It says
of its disk what SQLite's own VFS for Unix says of one. One process opens a file at a time, so locks
are granted always. Nothing is decided here, and nothing lost.
"""

import _sqlite3
import ctypes
import sqlite3
from collections.abc import Callable
from ctypes import CDLL, c_char_p, c_double, c_int, c_int64, c_void_p
from functools import cache
from typing import Any
from weakref import WeakValueDictionary

from lab.hosts.simulator.storage.written_files import Files
from lab.program.errors import GroundError

VFS = "shadowlab"

OK, IOERR_SHORT_READ, NOTFOUND, CANTOPEN = 0, 522, 12, 14
OPEN_CREATE = 0x4
SECTOR_BYTES = 4096
POWERSAFE_OVERWRITE = 0x1000
LONGEST_PATH = 512
JULIAN_DAY_OF_1970 = 2_440_587.5

_POINTER = ctypes.sizeof(c_void_p)
_disks: WeakValueDictionary[int, Files] = WeakValueDictionary()


def uri_of(files: Files, name: str) -> str:
    """What `sqlite3.connect` opens that file by, as long as somebody holds `files`.

    Raises GroundError where this Python's SQLite takes no VFS.
    """
    _registered()
    _disks[id(files)] = files
    return f"file:///{id(files)}/{name}?mode=rw&vfs={VFS}"


class _OpenFile(ctypes.Structure):
    """`sqlite3_file`, with the number of what is open."""

    _fields_ = (("methods", c_void_p), ("number", c_int64))


class _OpenFiles:
    """What SQLite has open, by number: the disk and the name on it."""

    def __init__(self) -> None:
        self._open: dict[int, tuple[Files, str]] = {}
        self._count = 0

    def add(self, files: Files, name: str) -> int:
        self._count += 1
        self._open[self._count] = (files, name)
        return self._count

    def of(self, file: int) -> tuple[Files, str]:
        return self._open[_OpenFile.from_address(file).number]

    def close(self, file: int) -> None:
        del self._open[_OpenFile.from_address(file).number]

    def next_unnamed(self) -> str:
        return f"unnamed-{self._count + 1}"


_open_files = _OpenFiles()


def _place(path: bytes) -> tuple[Files | None, str]:
    """`/<disk>/<name>`; no disk where it is gone."""
    _, number, name = path.decode().split("/", 2)
    return _disks.get(int(number)), name


def _open(_vfs: int, path: bytes | None, file: int, flags: int, out_flags: int) -> int:
    opened = _OpenFile.from_address(file)
    opened.methods = None
    files, name = _place(path) if path else (Files(), _open_files.next_unnamed())
    if files is None or not (files.has(name) or flags & OPEN_CREATE):
        return CANTOPEN
    files.make(name)
    opened.number = _open_files.add(files, name)
    opened.methods = _registered()
    if out_flags:
        c_int.from_address(out_flags).value = flags
    return OK


def _delete(_vfs: int, path: bytes, is_synced: int) -> int:
    files, name = _place(path)
    if files is not None:
        files.delete(name, is_synced=bool(is_synced))
    return OK


def _access(_vfs: int, path: bytes, _flags: int, found: int) -> int:
    files, name = _place(path)
    c_int.from_address(found).value = files is not None and files.has(name)
    return OK


def _full_path(_vfs: int, path: bytes, room: int, out: int) -> int:
    if len(path) >= room:
        return CANTOPEN
    ctypes.memmove(out, path + b"\0", len(path) + 1)
    return OK


def _randomness(_vfs: int, count: int, out: int) -> int:
    ctypes.memset(out, 0, count)
    return count


def _sleep(_vfs: int, microseconds: int) -> int:
    return microseconds


def _current_time(_vfs: int, out: int) -> int:
    c_double.from_address(out).value = JULIAN_DAY_OF_1970
    return OK


def _last_error(_vfs: int, _room: int, _out: int) -> int:
    return OK


def _close(file: int) -> int:
    _open_files.close(file)
    return OK


def _read(file: int, out: int, count: int, at: int) -> int:
    files, name = _open_files.of(file)
    found = files.read(name, at, count)
    ctypes.memmove(out, found, len(found))
    if len(found) == count:
        return OK
    ctypes.memset(out + len(found), 0, count - len(found))
    return IOERR_SHORT_READ


def _write(file: int, data: int, count: int, at: int) -> int:
    files, name = _open_files.of(file)
    files.write(name, at, ctypes.string_at(data, count))
    return OK


def _truncate(file: int, size: int) -> int:
    files, name = _open_files.of(file)
    files.truncate(name, size)
    return OK


def _sync(file: int, _flags: int) -> int:
    files, name = _open_files.of(file)
    files.sync(name)
    return OK


def _file_size(file: int, out: int) -> int:
    files, name = _open_files.of(file)
    c_int64.from_address(out).value = files.size(name)
    return OK


def _grant(_file: int, _lock: int) -> int:
    return OK


def _is_reserved(_file: int, out: int) -> int:
    c_int.from_address(out).value = 0
    return OK


def _control(_file: int, _what: int, _argument: int) -> int:
    return NOTFOUND


def _sector_size(_file: int) -> int:
    return SECTOR_BYTES


def _characteristics(_file: int) -> int:
    return POWERSAFE_OVERWRITE


def _map_shared(file: int, page: int, page_bytes: int, is_to_grow: int, out: int) -> int:
    files, name = _open_files.of(file)
    found = files.shared(name, page, page_bytes, is_to_grow=bool(is_to_grow))
    c_void_p.from_address(out).value = None if found is None else ctypes.addressof(found)
    return OK


def _lock_shared(_file: int, _from: int, _count: int, _flags: int) -> int:
    return OK


def _barrier(_file: int) -> int:
    return OK


def _unmap_shared(file: int, is_to_go: int) -> int:
    files, name = _open_files.of(file)
    if is_to_go:
        files.drop_shared(name)
    return OK


_FILE = c_void_p
_METHODS = (
    (_close, (_FILE,)),
    (_read, (_FILE, c_void_p, c_int, c_int64)),
    (_write, (_FILE, c_void_p, c_int, c_int64)),
    (_truncate, (_FILE, c_int64)),
    (_sync, (_FILE, c_int)),
    (_file_size, (_FILE, c_void_p)),
    (_grant, (_FILE, c_int)),
    (_grant, (_FILE, c_int)),
    (_is_reserved, (_FILE, c_void_p)),
    (_control, (_FILE, c_int, c_void_p)),
    (_sector_size, (_FILE,)),
    (_characteristics, (_FILE,)),
    (_map_shared, (_FILE, c_int, c_int, c_int, c_void_p)),
    (_lock_shared, (_FILE, c_int, c_int, c_int)),
    (_barrier, (_FILE,)),
    (_unmap_shared, (_FILE, c_int)),
)
_NO_FUNCTION = (None, ())
_OF_VFS = (
    (_open, (c_void_p, c_char_p, c_void_p, c_int, c_void_p)),
    (_delete, (c_void_p, c_char_p, c_int)),
    (_access, (c_void_p, c_char_p, c_int, c_void_p)),
    (_full_path, (c_void_p, c_char_p, c_int, c_void_p)),
    *(_NO_FUNCTION,) * 4,  # extensions are not loaded
    (_randomness, (c_void_p, c_int, c_void_p)),
    (_sleep, (c_void_p, c_int)),
    (_current_time, (c_void_p, c_void_p)),
    (_last_error, (c_void_p, c_int, c_void_p)),
)


class _Methods(ctypes.Structure):
    """`sqlite3_io_methods`, version 2."""

    _fields_ = (("version", c_int), ("functions", c_void_p * len(_METHODS)))


class _Vfs(ctypes.Structure):
    """`sqlite3_vfs`, version 1."""

    _fields_ = (
        ("version", c_int),
        ("open_file_bytes", c_int),
        ("longest_path", c_int),
        ("next", c_void_p),
        ("name", c_char_p),
        ("own_data", c_void_p),
        ("functions", c_void_p * len(_OF_VFS)),
    )


_kept_alive: list[Any] = []


@cache
def _registered() -> int:
    """Once a process."""
    return register()


def register() -> int:
    """Have the VFS known; the address of what an open file can do. Raises GroundError."""
    methods = _Methods(2, _addresses(_METHODS))
    vfs = _Vfs(1, ctypes.sizeof(_OpenFile), LONGEST_PATH, None, VFS.encode(), None)
    vfs.functions = _addresses(_OF_VFS)
    _kept_alive.extend((methods, vfs))
    try:
        make_known = CDLL(_sqlite3.__file__).sqlite3_vfs_register
    except (AttributeError, OSError) as error:
        raise GroundError(
            f"a power loss cannot be simulated: SQLite {sqlite3.sqlite_version} of this Python "
            f"takes no VFS ({error})",
            "use a Python whose sqlite3 module is a shared library, such as Debian's",
        ) from error
    if make_known(ctypes.byref(vfs), 0) != OK:
        raise GroundError("a power loss cannot be simulated: SQLite refuses the VFS")
    return ctypes.addressof(methods)


def _addresses(functions: tuple[Any, ...]) -> Any:
    return (c_void_p * len(functions))(*(_address(*each) for each in functions))


def _address(act: Callable[..., int] | None, arguments: tuple[Any, ...]) -> int | None:
    if act is None:
        return None
    made = ctypes.CFUNCTYPE(c_int, *arguments)(act)
    _kept_alive.append(made)
    return ctypes.cast(made, c_void_p).value
