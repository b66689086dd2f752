"""The folder of a run: which files it holds, here or elsewhere. Judges nothing."""
