"""Two runs of one plan side by side: the same verdict, and the same fate of every message.

The hosts of a lab must agree on what a node does; they may differ in what timing leaves open, and
each such difference is named with the rule that leaves it open. Judges nothing anew: it reads
verdict.json and the tables of `evaluation/`.
"""
