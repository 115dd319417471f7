"""Read a chat completion request: which schema it asks for, for which task, at which turn."""

import re
from dataclasses import dataclass
from typing import Any

Body = dict[str, Any]

_DESCRIBED = re.compile(r"^Answer with one JSON object \((\w+)\) of this form", re.MULTILINE)
_LISTED = re.compile(r"^- (\w+): .*\n  arguments: ", re.MULTILINE)
_TASK_LINE = re.compile(r"^(?:task|id):[ \t]*([A-Za-z0-9_.\-]+)[ \t]*$", re.MULTILINE)
_CALL_AS_JSON = re.compile(r'\s*\{"name": "(\w+)", "arguments"')


@dataclass(frozen=True)
class ModelRequest:
    """What one request wants."""

    schema: str
    """Name of the forced or offered schema; empty when only words are asked for."""
    is_by_tool: bool
    task: str
    tools: tuple[str, ...]
    turn: int
    """Turns in which the model has already called tools other than the schema."""
    is_forced: bool
    parameters: Body
    """JSON schema of the answer."""
    is_call_as_json: bool = False
    """The response format is the call of one of the tools."""


def read_request(body: Body) -> ModelRequest:
    """Return what a request wants."""
    offered = {tool["function"]["name"]: tool["function"] for tool in body.get("tools") or ()}
    choice = body.get("tool_choice")
    only = next(iter(offered)) if choice in ("required", "any") and len(offered) == 1 else ""
    forced = choice["function"]["name"] if isinstance(choice, dict) else only
    by_format = (body.get("response_format") or {}).get("json_schema") or {}
    is_call_as_json = by_format.get("name") == "ToolCall"
    if is_call_as_json:
        offered, by_format = _read_calls_on_offer(by_format["schema"]), {}
    if not offered and not by_format and (listed := _find_listed_tools(body)):
        offered, is_call_as_json = listed, True
    schema = forced or by_format.get("name") or _find_offered_schema(tuple(offered))
    schema = schema or _find_described_schema(body)
    parameters = offered.get(schema, {}).get("parameters") or by_format.get("schema") or {}
    return ModelRequest(
        schema=schema,
        is_by_tool=schema in offered,
        task=_find_task(body),
        tools=tuple(offered),
        turn=_count_turns(body, schema),
        is_forced=bool(forced or by_format),
        parameters=parameters,
        is_call_as_json=is_call_as_json,
    )


def _read_calls_on_offer(schema: Body) -> dict[str, Body]:
    """Return the tools in a schema that admits a call of any of them."""
    calls = [choice["properties"] for choice in schema["anyOf"]]
    return {call["name"]["const"]: {"parameters": call["arguments"]} for call in calls}


def _find_offered_schema(names: tuple[str, ...]) -> str:
    if "Report" in names:
        return "Report"
    return next((name for name in names if name[:1].isupper()), "")


def _find_described_schema(body: Body) -> str:
    """Return the name of a schema that only the prompt describes."""
    for message in body.get("messages") or ():
        if message.get("role") == "system" and (
            found := _DESCRIBED.search(get_message_text(message))
        ):
            return found.group(1)
    return ""


def _find_listed_tools(body: Body) -> dict[str, Body]:
    """Return the tools that only the prompt describes."""
    first: Body = next(iter(body.get("messages") or ()), {})
    text = get_message_text(first) if first.get("role") == "system" else ""
    return {name: {} for name in _LISTED.findall(text)}


def _find_task(body: Body) -> str:
    for message in body.get("messages") or ():
        if message.get("role") == "user" and (
            found := _TASK_LINE.search(get_message_text(message))
        ):
            return found.group(1)
    return ""


def _count_turns(body: Body, schema: str) -> int:
    said = [m for m in body.get("messages") or () if m.get("role") == "assistant"]
    return sum(
        any(call["function"]["name"] != schema for call in message.get("tool_calls") or ())
        or bool((call := _CALL_AS_JSON.match(get_message_text(message))) and call[1] != schema)
        for message in said
    )


def get_message_text(message: Body) -> str:
    """Return the text of a message, whether it comes as a string or in parts."""
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text", "") for part in content if isinstance(part, dict))
