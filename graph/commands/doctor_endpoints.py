"""What `supervise doctor` asks of endpoints: a list of their models."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from time import monotonic
from typing import Any, Final

import httpx

from graph.display.text import to_one_line
from graph.variables import TIERS
from nodes.limits.nesting import parse_json
from nodes.models.settings import ModelSettings, TierSettings
from state import Tier

OPENAI_URL: Final = "https://api.openai.com/v1"
TIMEOUT_S: Final = 5.0
MAX_BYTES: Final = 2_000_000
MAX_MODELS: Final = 2000


@dataclass(frozen=True)
class TierEndpoint:
    """An OpenAI-compatible endpoint, and the tiers that call it."""

    settings: TierSettings
    models: dict[Tier, str]
    """Names without the provider."""

    prefix: str = "OPENAI_"
    """What the variables of its address and its key begin with."""


@dataclass(frozen=True)
class EndpointReply:
    """The reply: the names of its models, or the problem and its fix."""

    is_reachable: bool = False
    seconds: float = 0.0
    models: Sequence[str] = ()
    problem: str = ""
    fix: str = ""


def fetch_models(endpoint: TierEndpoint) -> EndpointReply:
    """Ask an endpoint for its list of models; the key is sent but never shown."""
    own, address = endpoint.settings, f"{endpoint.prefix}BASE_URL"
    key = {"Authorization": f"Bearer {own.api_key}"} if own.api_key else {}
    url, began = f"{own.base_url or OPENAI_URL}/models", monotonic()
    try:
        with httpx.stream("GET", url, headers={**key, **own.headers}, timeout=TIMEOUT_S) as reply:
            body = b"".join(_read_capped(reply))
    except httpx.HTTPError as error:
        cause = to_one_line(str(error) or type(error).__name__, 120)
        fix = f"check {address} and the network; the server must be running"
        return EndpointReply(problem=f"cannot be reached ({cause})", fix=fix)
    if reply.status_code == 200:
        return _parse_list(reply, body, monotonic() - began, address)
    if reply.status_code in (401, 403):
        fix = f"set {endpoint.prefix}API_KEY to a valid key"
        return EndpointReply(problem="refuses the key", fix=fix)
    if reply.status_code >= 500:
        fix = "try again later, or ask the operator of the server"
        return EndpointReply(problem=f"answers with status {reply.status_code}", fix=fix)
    fix = f"not every server has a list; if runs fail, check that {address} ends in /v1"
    problem = f"{reply.status_code} for /models"
    return EndpointReply(is_reachable=True, problem=problem, fix=fix)


def _parse_list(reply: httpx.Response, body: bytes, seconds: float, address: str) -> EndpointReply:
    try:
        models = read_model_list(parse_json(body))
    except ValueError:
        kind = reply.headers.get("content-type", "no type").partition(";")[0]
        fix = f"check that {address} is that of a model server and ends in /v1"
        problem = f"answers with {to_one_line(kind, 40)}, which is not JSON"
        return EndpointReply(problem=problem, fix=fix)
    return EndpointReply(is_reachable=True, seconds=seconds, models=models)


def read_model_list(body: Any) -> list[str]:
    """Return the names of the models that an endpoint lists; none where it is no such list."""
    listed = body.get("data") if isinstance(body, Mapping) else None
    models = (listed if isinstance(listed, list) else [])[:MAX_MODELS]
    return [str(each["id"]) for each in models if isinstance(each, Mapping) and each.get("id")]


def list_nearest_names(name: str, names: Iterable[str], count: int = 3) -> list[str]:
    """Return the names most like a name; of the last part of a path too."""
    by_key = {key: known for known in names for key in (known.rpartition("/")[2].lower(), known)}
    near = get_close_matches(name.lower(), by_key, n=2 * count, cutoff=0.4)
    return list(dict.fromkeys(by_key[key] for key in near))[:count]


def _read_capped(response: httpx.Response) -> Iterator[bytes]:
    left, until = MAX_BYTES, monotonic() + TIMEOUT_S
    for chunk in response.iter_bytes():
        left -= len(chunk)
        if left < 0 or monotonic() > until:
            return
        yield chunk


def list_endpoints(models: ModelSettings) -> list[TierEndpoint]:
    """Return the endpoints of the tiers, each once; also a common one that no tier uses."""
    found: list[TierEndpoint] = []
    for tier in TIERS:
        provider, _, name = getattr(models, tier).partition(":")
        if provider != "openai":
            continue
        own = replace(models.get_tier(tier), parameters={})
        known = next((each for each in found if each.settings == own), None)
        if known is None:
            has_own = bool(models.tiers.get(tier, TierSettings()).base_url)
            known = TierEndpoint(own, {}, f"SUPERVISE_{tier.upper()}_" if has_own else "OPENAI_")
            found.append(known)
        known.models[tier] = name
    if not found and models.base_url:
        found.append(TierEndpoint(models.get_tier("standard"), {}))
    return found
