"""The request of a model call as a recorder knows it, and its reply as JSON."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from langchain_core.messages import AIMessage, BaseMessage

from nodes.limits.recorder import Effect, get_recorder, hash_section

if TYPE_CHECKING:
    from nodes.models.guarded_model import GuardedModel

CACHE_CONTROL: Final = "cache_control"
"""A parameter of the client's own, not of the request."""


def build_model_effect(
    model: "GuardedModel",
    purpose: str,
    messages: Sequence[BaseMessage],
    kwargs: Mapping[str, Any],
    task: str,
    attempt: int,
) -> Effect:
    """Return a call of a model as an effect; the hashes of its parts only where one keeps them."""
    return Effect(
        kind="model",
        purpose=purpose,
        task=task,
        attempt=attempt,
        sections=_hash_request(model, messages, kwargs) if get_recorder() else {},
        dump=_dump_reply,
        load=_load_reply,
    )


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
