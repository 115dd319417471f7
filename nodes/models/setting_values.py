"""Parses settings with their own format: an address, origins, a price."""

from math import inf
from urllib.parse import urlsplit

from nodes.models.settings import Price


def read_price(item: str) -> tuple[str, Price]:
    """Return the model and price of `openai:some-model=0.15/0.6`.

    Raises:
        ValueError: the format is invalid.
    """
    model, equals, price = item.rpartition("=")
    given, slash, made = price.partition("/")
    try:
        read = (float(given), float(made))
    except ValueError:
        read = (-1.0, -1.0)
    if not equals or not slash or ":" not in model or not all(0 <= each < inf for each in read):
        raise ValueError(f"contains {item.strip()[:80]!r}")
    return model.strip(), read


def read_origins(value: str) -> tuple[str, ...]:
    """Return the origins of `http://localhost:3000, https://studio.example`.

    Raises:
        ValueError: one of them is not the address of a host only.
    """
    origins = tuple(part.strip().rstrip("/") for part in value.split(",") if part.strip())
    for origin in origins:
        if problem := find_address_problem(origin):
            raise ValueError(problem)
        if origin.count("/") != 2:
            raise ValueError("continues after the host")
    return origins


def find_address_problem(url: str) -> str:
    """Return the problem of an endpoint's address; empty when it is valid."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return "is not an address"
    if parts.scheme not in ("http", "https"):
        return "does not begin with http:// or https://"
    if not host or any(character.isspace() for character in url):
        return "has no host"
    if parts.username or parts.password:
        return "contains a password, which belongs in OPENAI_API_KEY"
    if parts.query or parts.fragment:
        return "continues after the path with '?' or '#'"
    if "/v1/v1" in parts.path:
        return "contains /v1 twice"
    if parts.path.rstrip("/").endswith(("/chat/completions", "/responses", "/models")):
        return "continues after /v1, where it must end"
    return ""
