"""Reading settings that have a form of their own: an address, origins, a price."""

from math import inf
from urllib.parse import urlsplit

from nodes.models.settings import Price


def read_price(item: str) -> tuple[str, Price]:
    """Read `openai:some-model=0.15/0.6`.

    Raises:
        ValueError: it is written otherwise.
    """
    model, equals, price = item.rpartition("=")
    given, slash, made = price.partition("/")
    try:
        read = (float(given), float(made))
    except ValueError:
        read = (-1.0, -1.0)
    if not equals or not slash or ":" not in model or not all(0 <= each < inf for each in read):
        raise ValueError(f"holds {item.strip()[:80]!r}")
    return model.strip(), read


def read_origins(value: str) -> tuple[str, ...]:
    """Read `http://localhost:3000, https://studio.example`.

    Raises:
        ValueError: one of them is no address of a host alone.
    """
    origins = tuple(part.strip().rstrip("/") for part in value.split(",") if part.strip())
    for origin in origins:
        if problem := find_address_problem(origin):
            raise ValueError(problem)
        if origin.count("/") != 2:
            raise ValueError("goes on after the host")
    return origins


def find_address_problem(url: str) -> str:
    """Return what is wrong with the address of an endpoint; empty when nothing is."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return "is no address"
    if parts.scheme not in ("http", "https"):
        return "does not begin with http:// or https://"
    if not host or any(character.isspace() for character in url):
        return "names no host"
    if parts.username or parts.password:
        return "holds a password, which belongs into OPENAI_API_KEY"
    if parts.query or parts.fragment:
        return "goes on after the path with '?' or '#'"
    if "/v1/v1" in parts.path:
        return "holds /v1 twice"
    if parts.path.rstrip("/").endswith(("/chat/completions", "/responses", "/models")):
        return "goes on after /v1, where it must end"
    return ""
