"""What it meant: a Spark program that judges a run from its folder alone.

Reads tables, derives what should have happened, checks claims, reaches a verdict.
It imports neither `lab` nor `nodes`: what judges shares no code with what is judged.
"""
