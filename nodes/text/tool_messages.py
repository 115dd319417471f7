"""What a tool writes to its worker, made fit for a user."""

from nodes.limits.patterns import Pattern

_ADVICE = Pattern(r"; [^;]*\breport what is missing\.?$")
"""What a tool tells its worker to do next is not for the user who reads the answer."""


def drop_advice(reason: str) -> str:
    """Return a tool's message without what it tells its worker to do next."""
    return _ADVICE.sub("", reason)
