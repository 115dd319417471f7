"""The address of a Redis, and its form without passwords."""

from typing import Final
from urllib.parse import parse_qsl, urlsplit

SCHEMES: Final = ("redis", "rediss", "unix")
OPTIONS: Final = ("ssl_cert_reqs", "ssl_ca_certs", "ssl_certfile", "ssl_keyfile")
"""Of an address, after its `?`: those of TLS; a socket also has `db`."""


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
    options = dict(parse_qsl(parts.query))
    is_socket = parts.scheme == "unix"
    number = options.pop("db", "") if is_socket else parts.path.strip("/")
    if number and not number.isdecimal():
        return "has a database that is not a number"
    unknown = [name for name in options if is_socket or name not in OPTIONS]
    return f"has an unknown option: {unknown[0][:40]!r}" if unknown else ""


def format_redis_address(url: str) -> str:
    """Return an address without its user, passwords and options."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
