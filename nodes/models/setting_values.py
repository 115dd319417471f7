"""Parses settings with a format of their own: an address, a key, headers, a price and so on."""

from collections.abc import Mapping
from math import inf
from typing import Any, get_args
from urllib.parse import urlsplit

from nodes.limits.nesting import parse_json
from nodes.limits.patterns import Pattern
from nodes.models.settings import OutputPurpose, Price
from nodes.models.structured.json_reading import InvalidJson, require_storable

OWN_PARAMETERS = frozenset(
    {"function_call", "functions", "messages", "model", "n", "response_format", "stop", "stream"}
    | {"stream_options", "tool_choice", "tools"}
)
"""Request parameters that the application sets itself."""
_HEADER_NAME = Pattern(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
OUTPUT_PURPOSES: tuple[OutputPurpose, ...] = get_args(OutputPurpose)


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


def read_output_limits(value: str) -> dict[OutputPurpose, int]:
    """Return the limits of `plan=4000,report=2000` by purpose, or those of one number.

    Raises:
        ValueError: a purpose is unknown, or a limit is not a whole number above 0.
    """
    if value.strip().isdigit():
        value = ",".join(f"{purpose}={value.strip()}" for purpose in OUTPUT_PURPOSES)
    known: dict[str, OutputPurpose] = {purpose: purpose for purpose in OUTPUT_PURPOSES}
    limits: dict[OutputPurpose, int] = {}
    for item in filter(None, map(str.strip, value.split(","))):
        purpose, _, limit = (part.strip() for part in item.partition("="))
        if purpose not in known or not limit.isdecimal() or not 0 < int(limit) < 10**9:
            raise ValueError(f"contains {item[:80]!r}")
        limits[known[purpose]] = int(limit)
    return limits


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
        (host or "").encode("idna")
    except ValueError:
        return "is not an address"
    if parts.scheme not in ("http", "https"):
        return "does not begin with http:// or https://"
    if not host or any(character.isspace() for character in url):
        return "has no host"
    if parts.username or parts.password:
        return "contains a password: a key belongs in the variable for the key"
    if parts.query or parts.fragment:
        return "continues after the path with '?' or '#'"
    if "/v1/v1" in parts.path:
        return "contains /v1 twice"
    if parts.path.rstrip("/").endswith(("/chat/completions", "/responses", "/models")):
        return "continues after /v1, where it must end"
    return ""


def find_key_problem(key: str) -> str:
    """Return the problem of an API key; empty when it is valid or blank."""
    if key.strip() and (not (key.isascii() and key.isprintable()) or " " in key):
        return "contains a line break, a space or another character invalid in a key"
    return ""


def read_headers(value: Any) -> dict[str, str]:
    """Return the HTTP headers of a JSON object; a problem never quotes a value.

    Raises:
        ValueError: one of them cannot be sent.
    """
    headers = _read_object(value)
    for name, text in headers.items():
        if not _HEADER_NAME.fullmatch(name):
            raise ValueError(f"has {name[:80]!r}, which is not the name of a header")
        if not isinstance(text, str) or not text.isascii() or not text.isprintable():
            raise ValueError(f"has {name[:80]!r}, whose value is not a printable text")
    return headers


def read_parameters(value: Any) -> dict[str, Any]:
    """Return the request parameters of a JSON object.

    Raises:
        ValueError: the application sets one of them itself, or a number cannot be sent.
    """
    parameters = _read_object(value)
    if own := sorted(OWN_PARAMETERS & set(parameters)):
        raise ValueError(f"has {own[0]!r}, which the application sets itself")
    try:
        require_storable(parameters)
    except InvalidJson as error:
        raise ValueError(f"cannot be sent: {error}") from None
    return parameters


def _read_object(value: Any) -> dict[str, Any]:
    try:
        found = parse_json(value) if isinstance(value, str) else value
    except ValueError:
        raise ValueError("is not JSON") from None
    if not isinstance(found, Mapping):
        raise ValueError("is JSON, but not an object")
    return dict(found)
