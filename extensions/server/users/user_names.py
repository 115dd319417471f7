"""The names of a server's users, and how they are stored as the owner of what is theirs."""

from typing import Final

from nodes.limits.patterns import Pattern

NAME: Final = Pattern(r"[A-Za-z0-9][A-Za-z0-9._@+-]{0,99}")
RESERVED: Final = frozenset({"system", "anonymous", "langgraph-studio-user"})
"""Servers use these names themselves: `system` owns what all users share."""
DOT: Final = "%2E"
"""A dot in an identity; the parts of a store's namespace cannot hold one."""


def find_name_problem(name: str) -> str:
    """Return why a text cannot be a user's name; empty if it can."""
    if not NAME.fullmatch(name):
        return "is not a name: use letters, digits and . _ @ + - only, at most 100 of them"
    if name.lower() in RESERVED:
        return "is a name that servers use themselves"
    return ""


def encode_identity(name: str) -> str:
    """Return a user's identity, which is unique for the name and holds no dot."""
    return name.replace(".", DOT)
