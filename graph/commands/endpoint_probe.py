"""Asks an OpenAI-compatible endpoint for its list of models, the cheapest health check."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from time import monotonic
from typing import Final

import httpx

from graph.display.text import to_one_line

OPENAI_URL: Final = "https://api.openai.com/v1"
TIMEOUT_S: Final = 5.0
MAX_BYTES: Final = 2_000_000


@dataclass(frozen=True)
class EndpointReply:
    """The reply: names of models, or the problem and its fix."""

    is_reachable: bool
    seconds: float = 0.0
    models: tuple[str, ...] = ()
    problem: str = ""
    fix: str = ""


def fetch_model_list(base_url: str | None, api_key: str | None) -> EndpointReply:
    """Ask for the list of models; the key is sent but never shown."""
    headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
    began = monotonic()
    try:
        with httpx.stream(
            "GET", f"{base_url or OPENAI_URL}/models", headers=headers, timeout=TIMEOUT_S
        ) as response:
            body = b"".join(_read_capped(response))
    except httpx.HTTPError as error:
        cause = to_one_line(str(error) or type(error).__name__, 120)
        fix = "check OPENAI_BASE_URL and the network; the server must be running"
        return EndpointReply(False, problem=f"cannot be reached ({cause})", fix=fix)
    return _parse_response(response.status_code, body, monotonic() - began)


def _parse_response(status: int, body: bytes, seconds: float) -> EndpointReply:
    if status in (401, 403):
        fix = "set OPENAI_API_KEY to a valid key"
        return EndpointReply(False, seconds, problem="refuses the key", fix=fix)
    if status >= 500:
        fix = "try again later, or ask the operator of the server"
        return EndpointReply(False, seconds, problem=f"answers with status {status}", fix=fix)
    if status != 200:
        fix = "not every server has a list; if runs fail, check that OPENAI_BASE_URL ends in /v1"
        return EndpointReply(True, seconds, problem=f"{status} for /models", fix=fix)
    return EndpointReply(True, seconds, _parse_model_names(body))


def _read_capped(response: httpx.Response) -> Iterator[bytes]:
    left, until = MAX_BYTES, monotonic() + TIMEOUT_S
    for chunk in response.iter_bytes():
        left -= len(chunk)
        if left < 0 or monotonic() > until:
            return
        yield chunk


def _parse_model_names(body: bytes) -> tuple[str, ...]:
    try:
        listed = json.loads(body)["data"]
        return tuple(sorted(str(model["id"]) for model in listed))
    except (ValueError, TypeError, KeyError, RecursionError):
        return ()
