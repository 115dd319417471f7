"""What `supervise doctor` asks of endpoints: a list of models, and with `--probe` small calls."""

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import Final, get_args

import httpx
from langchain_core.messages import HumanMessage, SystemMessage
from pydantic import BaseModel, Field

from graph.display.text import to_one_line
from graph.extensions import DoctorCheck
from graph.settings import EMBEDDED, Settings
from graph.variables import TIERS
from nodes.errors import ResponseCut, SupervisorError
from nodes.limits.nesting import parse_json
from nodes.models.catalog import ModelCatalog
from nodes.models.clients import read_model_list
from nodes.models.failures import format_duration
from nodes.models.guarded_model import GuardedModel
from nodes.models.request_form import OutputMethod, Purpose, get_output_methods
from nodes.models.settings import DEFAULT_CALL_TIMEOUT_S, ModelSettings, TierSettings
from nodes.models.structured_output import UnreadableReply, ask_model
from nodes.models.usage import USUAL_TOKENS_PER_S
from nodes.schemas.team import Limits
from state import Tier

OPENAI_URL: Final = "https://api.openai.com/v1"
TIMEOUT_S: Final = 5.0
MAX_BYTES: Final = 2_000_000
SPEED_TOKENS: Final = 64
"""Limit of the answer whose speed is measured."""
ANSWER_TOKENS: Final = 256
"""Limit of the other answers of a server of one's own; a model that does not end is cut."""
COUNT: Final = "Count from one to fifty in words: one, two, three and so on. Write only the words."
SMALL_CONTEXT_TOKENS: Final = 8192
"""Prompts of planners and workers are 1,000 to 4,000 tokens; results and materials add to them."""
USUAL_OUTPUT_TOKENS: Final = 1000
"""A plan, or a long report."""


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
    """The reply: models with their context windows, or the problem and its fix."""

    is_reachable: bool = False
    seconds: float = 0.0
    models: Mapping[str, int | None] = field(default_factory=dict)
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


class City(BaseModel):
    """A city and its country."""

    city: str
    country: str = Field(description="Its country, such as Italy.")


class LookUp(BaseModel):
    """Look a word up in the encyclopedia."""

    word: str


class Report(BaseModel):
    """Report the result, when it is known."""

    output: str


@dataclass(frozen=True)
class ModelProbe:
    """What the calls of one model showed."""

    model: str
    tiers: tuple[str, ...]
    value_method: OutputMethod | None = None
    """How it gives a value of a schema; None when no method brought a valid one."""
    tools_method: OutputMethod | None = None
    failed_methods: tuple[OutputMethod, ...] = ()
    """Methods that the endpoint refused, or whose answer was none."""
    tokens_per_s: float | None = None
    """Output tokens, time for the prompt included."""
    call_timeout_s: float = DEFAULT_CALL_TIMEOUT_S
    attempt_timeout_s: float = Limits().timeout_s
    """Of a worker whose file sets no timeout."""
    context_tokens: int | None = None
    """None when the server does not say."""
    error: str = ""
    fix: str = ""


def probe_tiers(settings: Settings) -> list[ModelProbe]:
    """Call the model of each tier that has a language model."""
    models = settings.build_model_settings()
    contexts: dict[Tier, int | None] = {}
    for endpoint in list_endpoints(models):
        listed = fetch_models(endpoint).models
        contexts |= {tier: listed.get(name) for tier, name in endpoint.models.items()}
    return asyncio.run(_probe_models(models, contexts))


async def _probe_models(
    settings: ModelSettings, contexts: Mapping[Tier, int | None]
) -> list[ModelProbe]:
    """Call each language model of the tiers, one after another.

    Args:
        contexts: context windows by tier.
    """
    catalog, probes = ModelCatalog(settings), dict[tuple[str, str], ModelProbe]()
    for tier in TIERS:
        try:
            model = catalog.get_chat_model(tier)
        except SupervisorError as error:
            name = getattr(settings, tier)
            probes[tier, ""] = ModelProbe(name, (tier,), error=str(error), fix=error.next)
            continue
        assert isinstance(model, GuardedModel), "the catalog guards its models"
        if model.model == EMBEDDED:
            continue
        key = (model.endpoint, model.model)
        if known := probes.get(key):
            probes[key] = replace(known, tiers=(*known.tiers, tier))
        else:
            probes[key] = await _probe_model(model, contexts.get(tier))
    return list(probes.values())


async def _probe_model(model: GuardedModel, context_tokens: int | None) -> ModelProbe:
    error, fix = "", ""
    if model.kind == "compatible":
        limited = {**model.parameters, "max_tokens": ANSWER_TOKENS}
        model = model.model_copy(update={"parameters": limited})
    works: dict[Purpose, bool] = {"value": False, "tools": False}
    try:
        works["value"] = await _asks_for_value(model)
        works["tools"] = await _asks_for_tool_call(model)
        await _measure_speed(model)
    except SupervisorError as problem:
        error, fix = str(problem), problem.next
    methods = get_output_methods(model.endpoint, model.model, model.kind)
    used = {p: methods.get_current(p) if works[p] else None for p in get_args(Purpose)}
    orders = ((methods.orders[purpose], method) for purpose, method in used.items() if method)
    failed = [each for order, method in orders for each in order[: order.index(method)]]
    factor = model.speed.limit_factor
    return ModelProbe(
        model=model.model,
        tiers=(model.tier,),
        value_method=used["value"],
        tools_method=used["tools"],
        failed_methods=tuple(dict.fromkeys(failed)),
        tokens_per_s=model.speed.tokens_per_s,
        call_timeout_s=model.settings.call_timeout_s or DEFAULT_CALL_TIMEOUT_S * factor,
        attempt_timeout_s=Limits().scale_timeout(factor).timeout_s,
        context_tokens=context_tokens,
        error=error,
        fix=fix,
    )


async def _asks_for_value(model: GuardedModel) -> bool:
    """Return whether the model gives a valid value of a small schema."""
    try:
        await ask_model(model, City, [HumanMessage("Name one city and its country.")])
    except UnreadableReply:
        return False
    return True


async def _asks_for_tool_call(model: GuardedModel) -> bool:
    """Return whether the model calls one of two tools with valid arguments."""
    tools = (LookUp, Report)
    bound = model.bind_tools(tools, tool_choice="any")
    task = [SystemMessage("You work with tools."), HumanMessage("Look up the word 'harbour'.")]
    reply = await bound.ainvoke(task)
    schemas = {tool.__name__: tool for tool in tools}
    try:
        return any(
            schemas[call["name"]].model_validate(call["args"])
            for call in reply.tool_calls
            if call["name"] in schemas
        )
    except ValueError:
        return False


async def _measure_speed(model: GuardedModel) -> None:
    """Make one call whose answer is long enough to measure; one that is cut counts too."""
    bound = model.bind() if model.kind == "other" else model.bind(max_tokens=SPEED_TOKENS)
    try:
        await bound.ainvoke([HumanMessage(COUNT)])
    except ResponseCut:
        return


def describe_probe(probe: ModelProbe, settings: Settings) -> Iterator[DoctorCheck]:
    """Return the lines of one model."""
    tiers = ", ".join(probe.tiers)
    if probe.error:
        yield DoctorCheck("broken", f"probe {tiers}", f"{probe.model}: {probe.error}", probe.fix)
        return
    yield _describe_methods(probe, tiers)
    yield _describe_speed(probe, tiers, "call_timeout_s" in settings.model_fields_set)
    is_slow = probe.tokens_per_s is not None and probe.tokens_per_s < USUAL_TOKENS_PER_S / 2
    if is_slow and "max_concurrency" not in settings.model_fields_set:
        yield DoctorCheck(
            "note",
            f"calls {tiers}",
            f"up to {settings.max_concurrency} at a time; a slow server that answers one at a "
            "time reads each prompt again when tasks take turns",
            "SUPERVISE_MAX_CONCURRENCY=1, unless the server has several slots",
        )
    yield _describe_context(probe, tiers)


def _describe_methods(probe: ModelProbe, tiers: str) -> DoctorCheck:
    failed = f"; without a result: {', '.join(probe.failed_methods)}"
    text = (
        f"{probe.model}: a value by {probe.value_method or 'no method'}, "
        f"a tool call by {probe.tools_method or 'no method'}"
        f"{failed if probe.failed_methods else ''}"
    )
    is_fine = bool(probe.value_method and probe.tools_method)
    fix = "use a larger model, or one that is trained to call tools"
    return _grade(is_fine, f"probe {tiers}", text, fix)


def _describe_speed(probe: ModelProbe, tiers: str, is_set: bool) -> DoctorCheck:
    label, speed = f"speed {tiers}", probe.tokens_per_s
    if speed is None:
        return DoctorCheck("note", label, "its answers were too short to measure")
    room = int(probe.call_timeout_s * speed)
    text = (
        f"{speed:.1f} output tokens a second; a call has {probe.call_timeout_s:.0f} s, about "
        f"{room:,} tokens; an attempt has {probe.attempt_timeout_s:.0f} s, where its worker sets "
        "no timeout"
    )
    unset = "unset SUPERVISE_CALL_TIMEOUT_S, so that the limit follows the speed"
    fix = unset if is_set else "use a smaller or faster model"
    needed = f"{USUAL_OUTPUT_TOKENS:,} tokens need {format_duration(USUAL_OUTPUT_TOKENS / speed)}"
    return _grade(room >= USUAL_OUTPUT_TOKENS, label, text, f"{needed}: {fix}")


def _describe_context(probe: ModelProbe, tiers: str) -> DoctorCheck:
    label, size = f"context {tiers}", probe.context_tokens
    if size is None:
        return DoctorCheck("ok", label, "the server does not name its context window")
    fix = (
        f"start the server with at least {SMALL_CONTEXT_TOKENS:,} tokens a request; llama.cpp "
        "divides -c by its --parallel"
    )
    text = f"{size:,} tokens for one request and its answer"
    return _grade(size >= SMALL_CONTEXT_TOKENS, label, text, fix)


def _grade(is_fine: bool, label: str, text: str, fix: str) -> DoctorCheck:
    return DoctorCheck("ok", label, text) if is_fine else DoctorCheck("note", label, text, fix)
