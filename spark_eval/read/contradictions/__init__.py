"""What of a record another file of it, or its own other half, denies.

A list of files that was written anew after the damage says nothing; nor does it where the lab
itself wrote nonsense. What was written twice, by two writers or by one with two clocks, still can
be held against itself. Only a run that the lab made is: its plan names what it sends.
"""
