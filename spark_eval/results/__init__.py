"""From histories to what stays of a run: rows of tables, counts, what met what; and the files that
hold it.

Rows of a message are a function of it and its run; what is counted over messages is a sum, and the
sums of parts of a run add up to the sum of the whole.
"""
