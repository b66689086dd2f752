"""A child process ends with the one that started it, however that ends (prctl(2), Linux alone).

For `preexec_fn`: in the child, before its program, hence only a system call, no import and no lock.
"""

import ctypes
import signal
import sys

_SET_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG
_C_LIBRARY = ctypes.CDLL(None, use_errno=True)


def _killed_with_parent() -> None:
    _C_LIBRARY.prctl(_SET_DEATH_SIGNAL, signal.SIGKILL)


def _asked_to_end_with_parent() -> None:
    _C_LIBRARY.prctl(_SET_DEATH_SIGNAL, signal.SIGTERM)


_IS_KNOWN = sys.platform == "linux"
KILLED_WITH_PARENT = _killed_with_parent if _IS_KNOWN else None
ASKED_TO_END_WITH_PARENT = _asked_to_end_with_parent if _IS_KNOWN else None
