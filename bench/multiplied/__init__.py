"""One recorded run, multiplied into a run of as many rows as are wanted.

What is multiplied stays consistent, so that its verdict is that of the recorded run. Whatever a
claim asks of a message it asks as often as there are copies; what it asks of a server or a request,
as often as there are groups; what it asks of the run as a whole, once.

Two things can be done with a message and all its rows:

- a *group* is the whole organisation again: servers, databases, mailboxes, sites, DAGs, faults and
  operations under names of their own, some seconds later. Outside servers stay one for all groups.
- a *clone* is one message again on the same servers at the same times, under ids of its own.

So groups are more servers, and clones are more mail for each of them. `python -m bench.multiplied`
writes a run folder. Refuses a record whose Message-Ids are not the lab's own.
Counts that connectivity logs state are multiplied as well, other counts of servers' own
(`resubmitted`) stay as recorded: nothing is judged by them.
"""
