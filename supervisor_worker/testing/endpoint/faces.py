"""Servers that speak the protocol with a quirk of their own, on every request of a scenario."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from supervisor_worker.testing.endpoint.faults import Face
from supervisor_worker.testing.endpoint.request import Body
from supervisor_worker.testing.endpoint.scripted_model import ModelReply

THOUGHT = '<think>\nThe user wants {"goal": "..."}; I call [ARGS]{"id": 1} next.\n</think>\n\n'
MAX_GRAMMAR_LENGTH = 2000


def find_refusal(faces: tuple[Face, ...], body: Body) -> str:
    """Return the message of status 400 for a request; empty when no face refuses it."""
    refusals = (_REFUSALS[face](body) for face in faces if face in _REFUSALS)
    return next(filter(None, refusals), "")


def disguise_reply(faces: tuple[Face, ...], reply: ModelReply) -> ModelReply:
    """Return a reply in the form that the faces give it."""
    if "text_tool_call" in faces and reply.name:
        calls = ((reply.name, reply.content), *reply.further_calls)
        text = "\n".join(f"<tool_call>\n{_write_call(*call)}\n</tool_call>" for call in calls)
        reply = ModelReply(content=text)
    if "double_json" in faces and not isinstance(reply.content, str):
        further = tuple((name, _encode_twice(value)) for name, value in reply.further_calls)
        reply = replace(reply, content=_encode_twice(reply.content), further_calls=further)
    if "think_prefix" in faces:
        if reply.name:
            return replace(reply, words=THOUGHT)
        text = reply.content if isinstance(reply.content, str) else json.dumps(reply.content)
        reply = replace(reply, content=THOUGHT + text)
    return reply


def _write_call(name: str, arguments: Any) -> str:
    return json.dumps({"name": name, "arguments": arguments})


def _encode_twice(arguments: Any) -> str:
    return json.dumps(json.dumps(arguments))


def _refuse_object_choice(body: Body) -> str:
    if isinstance(body.get("tool_choice"), dict):
        return "Invalid tool_choice type: 'object'. Supported string values: none, auto, required"
    return ""


def _refuse_forcing(body: Body) -> str:
    if body.get("tool_choice") not in (None, "auto", "none"):
        return "Thinking mode does not support this tool_choice"
    return ""


def _refuse_response_format(body: Body) -> str:
    return "This response_format type is unavailable now" if body.get("response_format") else ""


def _refuse_grammar(body: Body) -> str:
    by_format = (body.get("response_format") or {}).get("json_schema") or {}
    shown = [by_format.get("schema") or {}]
    shown += [tool["function"].get("parameters") or {} for tool in body.get("tools") or ()]
    unfit = any(_is_unfit_for_grammar(part) for schema in shown for part in _walk_schema(schema))
    return "Failed to initialize samplers: failed to parse grammar" if unfit else ""


def _refuse_stream_options(body: Body) -> str:
    if "stream_options" in body:
        return "Unrecognized request argument supplied: stream_options"
    return ""


def _refuse_stream(body: Body) -> str:
    return "stream is not supported" if body.get("stream") else ""


def _is_unfit_for_grammar(schema: Mapping[str, Any]) -> bool:
    is_empty_object = schema.get("properties") == {} and not schema.get("additionalProperties")
    is_long = int(schema.get("maxLength") or 0) >= MAX_GRAMMAR_LENGTH
    return isinstance(schema.get("pattern"), str) or is_long or is_empty_object


def _walk_schema(schema: Any) -> Iterator[Mapping[str, Any]]:
    """Yield each schema inside a schema."""
    if isinstance(schema, list):
        for item in schema:
            yield from _walk_schema(item)
    elif isinstance(schema, Mapping):
        yield schema
        for key, item in schema.items():
            inner = list(item.values()) if key in ("properties", "$defs") else item
            yield from _walk_schema(inner)


_REFUSALS: Mapping[Face, Callable[[Body], str]] = {
    "strict_tool_choice": _refuse_object_choice,
    "no_required": _refuse_forcing,
    "no_response_format": _refuse_response_format,
    "grammar_400": _refuse_grammar,
    "no_stream_options": _refuse_stream_options,
    "no_stream": _refuse_stream,
}
