"""Exit codes of the evaluation's programs: 0 pass, 1 fail, 2 unknown, 3 and 4 as named here."""

CRASHED = 3  # a check crashed, or the record could not be evaluated
WRONG_CALL = 4
WORST_FIRST = (CRASHED, 1, 2, 0)
