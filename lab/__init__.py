"""The lab: asks the questions (scenario, plan, run) and never judges the answers."""
