"""Exit codes of the evaluation's programs; the first three are verdicts."""

PASS, FAIL, UNKNOWN = 0, 1, 2
CRASHED = 3  # a check crashed, or the record could not be evaluated, or the report not written
WRONG_CALL = 4
INTERRUPTED = 130  # a person ended it
WORST_FIRST = (CRASHED, FAIL, UNKNOWN, PASS)
