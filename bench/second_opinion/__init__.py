"""Four claims judged a second time, by DuckDB, from the record and the promise alone.

No product: tests compare it with the evaluation, and a bench measures the evaluation beside it.
The SQL in `sql/` was written from what the transport promises, apart from the evaluation's own, and
reads the same lines: ledger, journal of faults, logs, mailboxes. They share the record alone.

Agreement is exact, case by case. Of `no_loss` and `promotion_on_time` there are two readings (see
their SQL): the loose one agrees exactly; the strict one takes the promise at its word, and finds
violated whatever the loose one does, and more. Hops inside a boundary (SR-12) are asked in every
run, as the evaluation asks them where a batch holds a plan with several boundaries.

Refuses to know a record that is not whole: damaged lines, servers whose logs are missing, clocks
too coarse. That is the evaluation's own matter, and has its own tests.
"""
