"""The command lines of the evaluation's programs."""

from __future__ import annotations

import argparse
import sys
from typing import NoReturn

from spark_eval.program.exit_codes import WRONG_CALL


class Parser(argparse.ArgumentParser):
    """argparse ends a wrong call with 2, which here means unknown."""

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(WRONG_CALL, f"error: {message}\n")
