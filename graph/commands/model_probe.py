"""`supervise doctor --probe`: small real calls that show what a run can expect of each model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, get_args

from langchain_core.messages import HumanMessage, SystemMessage
from pydantic import BaseModel, Field

from graph.settings import EMBEDDED
from graph.variables import TIERS
from nodes.errors import ResponseCut, SupervisorError
from nodes.models.catalog import ModelCatalog
from nodes.models.guarded_model import GuardedModel
from nodes.models.request_form import OutputMethod, Purpose, get_output_methods
from nodes.models.settings import DEFAULT_CALL_TIMEOUT_S, ModelSettings
from nodes.models.structured_output import UnreadableReply, ask_model
from nodes.schemas.team import Limits

SPEED_TOKENS: Final = 64
"""Limit of the answer whose speed is measured."""
ANSWER_TOKENS: Final = 256
"""Limit of the other answers of a server of one's own; a model that does not end is cut."""
COUNT: Final = "Count from one to fifty in words: one, two, three and so on. Write only the words."


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


async def probe_models(
    settings: ModelSettings, contexts: Mapping[str, int | None]
) -> list[ModelProbe]:
    """Call each language model of the tiers, one after another.

    Args:
        contexts: context windows by tier.
    """
    catalog, probes = ModelCatalog(settings), list[ModelProbe]()
    done: dict[tuple[str, str], int] = {}
    for tier in TIERS:
        try:
            model = catalog.get_chat_model(tier)
        except SupervisorError as error:
            name = getattr(settings, tier)
            probes.append(ModelProbe(name, (tier,), error=str(error), fix=error.next))
            continue
        assert isinstance(model, GuardedModel), "the catalog guards its models"
        key = (model.endpoint, model.model)
        if model.model == EMBEDDED:
            continue
        if key in done:
            known = probes[done[key]]
            probes[done[key]] = replace(known, tiers=(*known.tiers, tier))
            continue
        done[key] = len(probes)
        probes.append(await _probe_model(model, contexts.get(tier)))
    return probes


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
    failed = [
        method
        for purpose, method in used.items()
        if method
        for method in _list_before(methods.orders[purpose], method)
    ]
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


def _list_before(order: Sequence[OutputMethod], method: OutputMethod) -> Sequence[OutputMethod]:
    return order[: order.index(method)]
