"""The folder of a run: which files it holds, and whether they are as the lab left them."""
