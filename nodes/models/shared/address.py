"""The address of a Redis, and its form without passwords."""

from typing import Final
from urllib.parse import urlsplit

SCHEMES: Final = ("redis", "rediss", "unix")


def find_redis_problem(url: str) -> str:
    """Return what is wrong with an address; empty if nothing is."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        return "is not a valid address"
    if parts.scheme not in SCHEMES:
        return "is not the address of a Redis"
    if not (parts.path.strip("/") if parts.scheme == "unix" else host) or port == 0:
        return "names no server"
    number = "" if parts.scheme == "unix" else parts.path.strip("/")
    return "has a path that is not the number of a database" if not _is_number(number) else ""


def format_redis_address(url: str) -> str:
    """Return an address without its user, passwords and options."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def _is_number(text: str) -> bool:
    return not text or text.isdecimal()
