"""A tool as a server lists it: checked, made safe to show, and with a digest to compare."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from jsonschema.exceptions import SchemaError  # type: ignore[import-untyped]
from mcp.types import Tool

from nodes.errors.redaction import redact_text
from nodes.limits.patterns import Pattern
from nodes.security.mcp_access import ServerHints
from nodes.text.plain_text import sanitize_line, sanitize_text

MAX_DESCRIPTION_CHARS: Final = 1_000
MAX_TEXT_CHARS: Final = 300
"""Limit for each text inside a schema."""
MAX_SCHEMA_CHARS: Final = 32_000
MAX_SCHEMA_DEPTH: Final = 12
_NAME: Final = Pattern(r"[A-Za-z0-9_.\-/]{1,128}")
_WORDS: Final = frozenset(("description", "title", "$comment", "markdownDescription"))


@dataclass(frozen=True, kw_only=True)
class ListedTool:
    """A tool of a server."""

    name: str
    description: str
    """The server's words, sanitized and cut, on one line."""
    schema: Mapping[str, Any]
    """Of its arguments, as it may be shown to a model."""
    hints: ServerHints
    digest: str
    """Of the description, the schema and the hints as the server sent them."""
    problem: str = ""
    """Why it cannot be used; empty if it can."""


def read_tool(tool: Tool) -> ListedTool | None:
    """Return a tool as it may be shown to a model; None where even its name may not."""
    if not _NAME.fullmatch(tool.name):
        return None
    sent = json.dumps([tool.description, tool.inputSchema], sort_keys=True)
    problem, hints = _find_schema_problem(tool.inputSchema, sent), _read_hints(tool)
    description = redact_text(sanitize_line(tool.description or "", MAX_DESCRIPTION_CHARS))
    return ListedTool(
        name=tool.name,
        description=description,
        schema={} if problem else _clean_schema(tool.inputSchema),
        hints=hints,
        digest="sha256:" + hashlib.sha256(f"{sent} {hints}".encode()).hexdigest(),
        problem=problem,
    )


def _read_hints(tool: Tool) -> ServerHints:
    hints = tool.annotations
    if hints is None:
        return ServerHints()
    return ServerHints(
        read_only=hints.readOnlyHint,
        destructive=hints.destructiveHint,
        open_world=hints.openWorldHint,
    )


def _find_schema_problem(schema: Mapping[str, Any], sent: str) -> str:
    """Return why a schema is refused; empty if it is a schema of arguments within the limits."""
    if len(sent) > MAX_SCHEMA_CHARS:
        return f"its description and schema have {len(sent):,} characters; {MAX_SCHEMA_CHARS:,} fit"
    if _measure_depth(schema) > MAX_SCHEMA_DEPTH:
        return f"its schema is nested deeper than {MAX_SCHEMA_DEPTH} levels"
    if schema.get("type") != "object" or not isinstance(schema.get("properties", {}), dict):
        return "its schema is not one of an object"
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        return f"its schema is invalid: {sanitize_line(error.message, MAX_TEXT_CHARS)}"
    shown = json.dumps(_clean_schema(schema), ensure_ascii=False)
    return "" if sanitize_text(shown) == shown else "its schema has invisible characters"


def _measure_depth(value: Any) -> int:
    """Return how deep objects and lists are nested; counting ends beyond the limit."""
    level, depth = [value], 0
    while level and depth <= 2 * MAX_SCHEMA_DEPTH + 1:
        inner = [each for each in level if isinstance(each, dict | list)]
        level = [
            part for each in inner for part in (each.values() if isinstance(each, dict) else each)
        ]
        depth += bool(inner)
    return depth // 2


def _clean_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    cleaned = {key: _clean_value(key, value) for key, value in schema.items()}
    return {"properties": {}, **cleaned}


def _clean_value(key: str, value: Any) -> Any:
    """Return a part of a schema whose words are on one line, and short."""
    match value:
        case str() if key in _WORDS:
            return redact_text(sanitize_line(value, MAX_TEXT_CHARS))
        case dict():
            return {name: _clean_value(name, part) for name, part in value.items()}
        case list():
            return [_clean_value(key, part) for part in value]
        case _:
            return value
