"""The request of a model call as a recorder knows it, and its reply as JSON."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from langchain_core.messages import AIMessage, BaseMessage

from nodes.limits.recorder import Effect, get_recorder, hash_section, take_effect
from nodes.models.run_context import RunContext, get_run_context

if TYPE_CHECKING:
    from nodes.models.guarded_model import GuardedModel

CACHE_CONTROL: Final = "cache_control"
"""A parameter of the client's own, not of the request."""


async def take_reply(
    model: "GuardedModel",
    *,
    purpose: str,
    messages: Sequence[BaseMessage],
    kwargs: Mapping[str, Any],
    answer: Callable[[RunContext], Awaitable[AIMessage]],
) -> AIMessage:
    """Return the reply of a call through the recorder of the run around, if it has one."""
    run_context = get_run_context()
    if get_recorder() is None:
        return await answer(run_context)
    effect = Effect(
        kind="model",
        purpose=purpose,
        task=run_context.task,
        attempt=run_context.attempt,
        sections=_hash_request(model, messages, kwargs),
        dump=_dump_reply,
        load=_load_reply,
        listeners=run_context.listeners,
    )
    if effect.listeners:
        run_context = replace(run_context, listeners=(*effect.listeners, effect.hear))
    return await take_effect(effect, partial(answer, run_context))


def _hash_request(
    model: "GuardedModel", messages: Sequence[BaseMessage], kwargs: Mapping[str, Any]
) -> dict[str, str]:
    """Return the hash of each section of a request, by its name as a user reads it."""
    # The settings of a machine are no part of what a team asks.
    settings = {CACHE_CONTROL, *model.settings.get_tier(model.tier).parameters}
    own = {name: value for name, value in model.parameters.items() if name not in settings}
    given = {name: value for name, value in kwargs.items() if name not in ("tools", "shown_tools")}
    sections = {
        "model": hash_section(model.model),
        "parameters": hash_section({**own, **given}),
        "tools": hash_section([kwargs.get("tools") or (), kwargs.get("shown_tools") or ()]),
    }
    for number, message in enumerate(messages, 1):
        calls = message.tool_calls if isinstance(message, AIMessage) else ()
        said = [message.content, [[call["name"], call["args"]] for call in calls]]
        sections[f"message {number} ({message.type})"] = hash_section(said)
    return sections


def _dump_reply(reply: AIMessage | None) -> Any:
    return None if reply is None else reply.model_dump(mode="json", exclude_defaults=True)


def _load_reply(kept: Any) -> AIMessage | None:
    return None if kept is None else AIMessage.model_validate(kept)
