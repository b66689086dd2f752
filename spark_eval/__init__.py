"""What it meant: a run is judged from its folder alone.

Bytes of a record become typed rows (`read`), rows become histories of messages and servers
(`histories`), what should have happened is derived from them (`expected`), and a claim is a plain
function from a history to cases (`claims`), which add up to a verdict (`judging`). Spark spreads
it (`spread`). It imports neither `lab` nor `nodes`: what judges shares no code with what is judged.
"""
