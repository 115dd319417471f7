"""Makes a model's reply the message with tool calls that was asked for, whatever its form."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import uuid4

from langchain_core.messages import AIMessage
from langchain_core.messages.tool import ToolCall, tool_call

from nodes.limits.patterns import PatternTimeout
from nodes.models.completeness import was_cut
from nodes.models.run_on import RunOnWatch
from nodes.models.structured.json_reading import InvalidJson, read_json_object
from nodes.models.structured.methods import OutputMethod
from nodes.models.structured.request_form import ToolOffer
from nodes.models.structured.shown_schema import NO_ARGUMENTS
from nodes.models.structured.text_calls import (
    ENCODED_TWICE,
    MIN_TELLING_KEYS,
    decode_arguments,
    find_tool_for_arguments,
    is_encoded_twice,
    read_text_calls,
    strip_thinking,
)


def read_reply(
    message: AIMessage, offer: ToolOffer, method: OutputMethod
) -> tuple[AIMessage, list[str]] | None:
    """Return the message with its tool calls, and its corrections; None if it has no call."""
    corrections: list[str] = []
    calls = _read_tool_calls(message, offer, corrections)
    if not calls and (text := _read_text(message, corrections)):
        by_tool = method not in ("json_schema", "json_prompt")
        calls = [] if by_tool else _read_plain_value(text, offer)
        calls = calls or _read_calls_from_text(text, offer)
        if calls and by_tool:
            corrections.append(f"the call of {calls[0]['name']} was written as text")
        elif calls and not text.lstrip().startswith("{"):
            corrections.append("the JSON was inside other text")
    if was_cut(message):
        calls = _keep_complete(calls, message, offer, corrections)
    if not calls:
        return None
    _drop_shown_arguments(calls, offer)
    update: dict[str, Any] = {"tool_calls": calls, "invalid_tool_calls": []}
    if not message.tool_calls:  # the text is the call
        update["content"] = ""
    return message.model_copy(update=update), corrections


def _keep_complete(
    calls: Sequence[ToolCall], message: AIMessage, offer: ToolOffer, corrections: list[str]
) -> list[ToolCall]:
    """Return the first call of a reply that was cut, if it is complete: it is what was meant.

    A call without arguments may have lost them; a value after which another one begins may be an
    example of it.
    """
    whole = [
        call
        for call in calls
        if call["args"] or not (offer.parameters.get(call["name"]) or {}).get("properties")
    ]
    if offer.purpose == "value" and not message.tool_calls and _has_open_value(str(message.text)):
        return []
    if len(whole) > 1:
        corrections.append(f"the reply was cut after {len(whole)} calls: the first is taken")
    return whole[:1]


def _has_open_value(text: str) -> bool:
    """Return whether a text ends inside a JSON value."""
    watch = RunOnWatch()
    watch.follow(text)
    return watch.is_inside


def _drop_shown_arguments(calls: Sequence[ToolCall], offer: ToolOffer) -> None:
    for call in calls:
        if offer.parameters.get(call["name"]) == NO_ARGUMENTS:
            call["args"] = {}


def clean_words(message: AIMessage) -> AIMessage:
    """Return a reply in words without a reasoning model's thoughts."""
    text = str(message.text)
    words = strip_thinking(text)
    return message if words == text else message.model_copy(update={"content": words})


def _read_text(message: AIMessage, corrections: list[str]) -> str:
    text = str(message.text)
    words = strip_thinking(text)
    if words != text:
        corrections.append("thoughts before the reply were removed")
    return words


def _read_tool_calls(
    message: AIMessage, offer: ToolOffer, corrections: list[str]
) -> list[ToolCall]:
    """Return a message's calls, with arguments decoded, under the names of tools on offer."""
    tools, calls = offer.parameters, list[ToolCall]()
    for name in message.response_metadata.get(ENCODED_TWICE) or ():
        corrections.append(f"the arguments of {name} were encoded twice")
    for call in message.tool_calls:
        name, arguments = call["name"], _unwrap_arguments(call["args"], tools.get(call["name"], {}))
        if arguments != call["args"]:
            corrections.append(f"the arguments of {name} were inside another object")
        if name not in tools and (fitting := find_tool_for_arguments(arguments, tools)):
            corrections.append(f"{name} was called for {fitting}")
            name = fitting
        calls.append(tool_call(name=name, args=arguments, id=call["id"]))
    return calls


def _unwrap_arguments(arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments that were put under a key of their own: `{"arguments": {...}}`."""
    if len(arguments) == 1 and not set(arguments) & set(schema.get("properties") or {}):
        ((key, value),) = arguments.items()
        inner = decode_arguments(value) if key in ("arguments", "parameters", "args") else None
        if inner is not None:
            return inner
    return dict(arguments)


def _read_plain_value(text: str, offer: ToolOffer) -> list[ToolCall]:
    """Return the call that a reply by schema is, if it is the only tool's arguments and no more."""
    if len(offer.parameters) != 1 or not text.lstrip().startswith("{"):
        return []
    ((name, schema),) = offer.parameters.items()
    try:
        value = read_json_object(text)
    except InvalidJson:
        return []
    known = set(schema.get("properties") or {})
    if not value or not set(value) <= known:
        return []
    return [tool_call(name=name, args=value, id=f"call_{uuid4().hex}")]


def _read_calls_from_text(text: str, offer: ToolOffer) -> list[ToolCall]:
    tools = offer.parameters
    try:
        found: Sequence[tuple[str, dict[str, Any]]] = read_text_calls(text, tools)
    except PatternTimeout:
        found = ()
    if not found and (value := _read_value(text, tools)):
        found = [value]
    return [tool_call(name=n, args=args, id=f"call_{uuid4().hex}") for n, args in found]


def _read_value(
    text: str, tools: Mapping[str, Mapping[str, Any]]
) -> tuple[str, dict[str, Any]] | None:
    """Return the arguments in a text that share most keys with a tool; None without shared keys.

    They may be invalid: their validation says what is wrong.
    """
    try:
        inner = decode_arguments(text) if is_encoded_twice(text) else None
        value = read_json_object(text) if inner is None else inner
    except InvalidJson:
        return None
    shared = {
        name: len(set(value) & set(schema.get("properties") or {}))
        for name, schema in tools.items()
    }
    best = max(shared, key=lambda name: shared[name], default="")
    needed = 1 if len(tools) == 1 else MIN_TELLING_KEYS
    return (best, value) if best and shared[best] >= needed else None
