"""The run folder: the only thing that passes from the lab to the evaluation."""
