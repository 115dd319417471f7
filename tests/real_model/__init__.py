"""Runs of every shipped team with a small language model on a real server; see `make real`."""
