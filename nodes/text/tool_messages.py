"""Prepares a tool's messages for a user."""

from nodes.limits.patterns import Pattern

_ADVICE = Pattern(r"; [^;]*\breport what is missing\.?$")
"""A tool's advice to its worker does not concern the user who reads the answer."""


def drop_advice(reason: str) -> str:
    """Return a tool's message without its advice to the worker."""
    return _ADVICE.sub("", reason)
