"""Read a chat completion request: which schema it asks for, for which task, at which turn."""

import re
from dataclasses import dataclass
from typing import Any

Body = dict[str, Any]

_TASK_LINE = re.compile(r"^(?:task|id):[ \t]*([A-Za-z0-9_.\-]+)[ \t]*$", re.MULTILINE)


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


def read_request(body: Body) -> ModelRequest:
    """Return what a request wants."""
    offered = {tool["function"]["name"]: tool["function"] for tool in body.get("tools") or ()}
    choice = body.get("tool_choice")
    only = next(iter(offered)) if choice in ("required", "any") and len(offered) == 1 else ""
    forced = choice["function"]["name"] if isinstance(choice, dict) else only
    by_format = (body.get("response_format") or {}).get("json_schema") or {}
    schema = forced or by_format.get("name") or _find_offered_schema(tuple(offered))
    parameters = offered.get(schema, {}).get("parameters") or by_format.get("schema") or {}
    return ModelRequest(
        schema=schema,
        is_by_tool=schema in offered,
        task=_find_task(body),
        tools=tuple(offered),
        turn=_count_turns(body, schema),
        is_forced=bool(forced),
        parameters=parameters,
    )


def _find_offered_schema(names: tuple[str, ...]) -> str:
    if "Report" in names:
        return "Report"
    return next((name for name in names if name[:1].isupper()), "")


def _find_task(body: Body) -> str:
    for message in body.get("messages") or ():
        if message.get("role") == "user" and (
            found := _TASK_LINE.search(get_message_text(message))
        ):
            return found.group(1)
    return ""


def _count_turns(body: Body, schema: str) -> int:
    return sum(
        any(call["function"]["name"] != schema for call in message.get("tool_calls") or ())
        for message in body.get("messages") or ()
        if message.get("role") == "assistant"
    )


def get_message_text(message: Body) -> str:
    """Return the text of a message, whether it comes as a string or in parts."""
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text", "") for part in content if isinstance(part, dict))
