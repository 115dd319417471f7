"""Asks an OpenAI-compatible endpoint for its list of models, the cheapest health check."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, Final

import httpx

from graph.display.text import to_one_line
from nodes.limits.nesting import parse_json
from nodes.models.clients import read_model_list
from nodes.models.settings import TierSettings

OPENAI_URL: Final = "https://api.openai.com/v1"
TIMEOUT_S: Final = 5.0
MAX_BYTES: Final = 2_000_000


@dataclass(frozen=True)
class EndpointReply:
    """The reply: models with their context windows, or the problem and its fix."""

    is_reachable: bool
    seconds: float = 0.0
    models: Mapping[str, int | None] = field(default_factory=dict)
    problem: str = ""
    fix: str = ""


def fetch_model_list(endpoint: TierSettings, *, address: str, key: str) -> EndpointReply:
    """Ask for the list of models; the key is sent but never shown.

    Args:
        address: name of the variable that holds the address, for the fix.
        key: name of the variable that holds the key, for the fix.
    """
    headers = {**({"Authorization": f"Bearer {endpoint.api_key}"} if endpoint.api_key else {})}
    headers |= endpoint.headers
    began = monotonic()
    try:
        with httpx.stream(
            "GET", f"{endpoint.base_url or OPENAI_URL}/models", headers=headers, timeout=TIMEOUT_S
        ) as response:
            body = b"".join(_read_capped(response))
    except httpx.HTTPError as error:
        cause = to_one_line(str(error) or type(error).__name__, 120)
        fix = f"check {address} and the network; the server must be running"
        return EndpointReply(False, problem=f"cannot be reached ({cause})", fix=fix)
    return _parse_response(response, body, monotonic() - began, address, key)


def _parse_response(
    response: httpx.Response, body: bytes, seconds: float, address: str, key: str
) -> EndpointReply:
    status = response.status_code
    if status in (401, 403):
        fix = f"set {key} to a valid key"
        return EndpointReply(False, seconds, problem="refuses the key", fix=fix)
    if status >= 500:
        fix = "try again later, or ask the operator of the server"
        return EndpointReply(False, seconds, problem=f"answers with status {status}", fix=fix)
    if status != 200:
        fix = f"not every server has a list; if runs fail, check that {address} ends in /v1"
        return EndpointReply(True, seconds, problem=f"{status} for /models", fix=fix)
    try:
        found: Any = parse_json(body)
    except ValueError:
        kind = response.headers.get("content-type", "no type").partition(";")[0]
        fix = f"check that {address} is that of a model server and ends in /v1"
        problem = f"answers with {to_one_line(kind, 40)}, which is not JSON"
        return EndpointReply(False, seconds, problem=problem, fix=fix)
    return EndpointReply(True, seconds, read_model_list(found))


def _read_capped(response: httpx.Response) -> Iterator[bytes]:
    left, until = MAX_BYTES, monotonic() + TIMEOUT_S
    for chunk in response.iter_bytes():
        left -= len(chunk)
        if left < 0 or monotonic() > until:
            return
        yield chunk
