"""One file for each system; each runs in a process, and where it needs packages, an environment."""
