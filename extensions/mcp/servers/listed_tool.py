"""A tool as a server lists it: checked, safe to show, with a digest; and what it may do."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

from jsonschema import Draft202012Validator  # type: ignore[import-untyped]  # no stubs
from jsonschema.exceptions import SchemaError  # type: ignore[import-untyped]  # no stubs
from mcp.types import Tool

from nodes.errors.redaction import redact_text
from nodes.limits.nesting import SchemaRefused, expand_references, is_nested_too_deeply
from nodes.limits.patterns import Pattern
from nodes.schemas.servers import MCP_PREFIX, matches_pattern
from nodes.schemas.team import DeclaredAccess, Team
from nodes.security.tool_access import UNDECLARED_ACCESS, ToolAccess
from nodes.text.plain_text import sanitize_line, sanitize_text

MAX_DESCRIPTION_CHARS: Final = 1_000
MAX_TEXT_CHARS: Final = 300
"""Limit for each text inside a schema."""
MAX_SCHEMA_CHARS: Final = 32_000
MAX_SCHEMA_DEPTH: Final = 12
_NAME: Final = Pattern(r"[A-Za-z0-9_.\-/]{1,128}")
_WORDS: Final = frozenset(("description", "title", "$comment", "markdownDescription"))
MAX_COMPARISONS: Final = 100_000
"""Of the parts of a schema with those of arguments: less than a second. The server checks more."""
MAX_PROBLEM_CHARS: Final = 300
_OF_VALUES: Final = frozenset(("type", "enum", "const", "required")) | {
    f"{bound}{what}"
    for bound in ("min", "max", "exclusiveMin", "exclusiveMax")
    for what in ("imum", "Length", "Items", "Properties")
}
_OF_SCHEMAS: Final = frozenset(("anyOf", "oneOf", "allOf", "prefixItems"))
"""With these, what is left out of a schema makes it wider: what it accepts, is accepted. Others,
such as `pattern` and `unevaluatedProperties`, may take hours or raise; the server checks them."""


@dataclass(frozen=True)
class ServerHints:
    """What a server says of its tool; None where it says nothing."""

    read_only: bool | None = None
    destructive: bool | None = None
    open_world: bool | None = None


@dataclass(frozen=True)
class McpAccess:
    """What a tool reads and sends, and whether a human is asked before each call."""

    access: ToolAccess
    asks: bool
    may_have_effects: bool = True
    """Whether a call must not be made twice."""


def decide_mcp_access(team: Team, server: str, tool: str, hints: ServerHints) -> McpAccess:
    """Return the access of a server's tool, by its name at the server.

    The user's word counts; a server's own hints only make it stricter, unless the user trusts it.
    """
    name = f"{MCP_PREFIX}{server}/{tool}"
    declared = team.find_declared_access(name)
    believed = hints if team.mcp_servers[server].trust else ServerHints()
    is_harmless = declared is not None and declared.sends != "anything"
    is_risky = hints.read_only is False or bool(hints.destructive and not believed.read_only)
    may_have_effects = is_risky or not (is_harmless or believed.read_only)
    asks = may_have_effects if declared is None or declared.asks is None else declared.asks
    must_ask = any(matches_pattern(name, pattern) for pattern in team.approve)
    return McpAccess(
        access=_decide_access(declared, believed, hints),
        asks=asks or must_ask,
        may_have_effects=may_have_effects,
    )


def _decide_access(
    declared: DeclaredAccess | None, believed: ServerHints, hints: ServerHints
) -> ToolAccess:
    if declared is None:
        is_closed = bool(believed.read_only) and believed.open_world is False
        return ToolAccess(UNDECLARED_ACCESS.reads) if is_closed else UNDECLARED_ACCESS
    is_contradicted = declared.sends == "nothing" and bool(hints.open_world)
    return ToolAccess(frozenset(declared.reads), "anything" if is_contradicted else declared.sends)


class ArgumentCheck:
    """Checks arguments by those keywords of a schema whose time is limited."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        """Take a schema without references."""
        checked = _widen(schema)
        self._parts = _count_parts(checked)
        self._validator = Draft202012Validator(checked)

    def find_problem(self, arguments: Mapping[str, Any]) -> str:
        """Return which argument does not fit and why; empty where none was found."""
        if self._parts * _count_parts(arguments) > MAX_COMPARISONS:
            return ""
        error = next(self._validator.iter_errors(dict(arguments)), None)
        if error is None:
            return ""
        place = ".".join(map(str, error.absolute_path))
        text = f"{place}: {error.message}" if place else str(error.message)
        return sanitize_line(text, MAX_PROBLEM_CHARS)


def _widen(schema: Any) -> Any:
    """Return a schema without the keywords that are not checked."""
    if not isinstance(schema, dict):
        return schema
    widened = {key: part for key, part in schema.items() if key in _OF_VALUES}
    for key in _OF_SCHEMAS & schema.keys():  # one of them, or more: the server counts
        widened["anyOf" if key == "oneOf" else key] = [_widen(part) for part in schema[key]]
    if "properties" in schema:
        widened["properties"] = {k: _widen(part) for k, part in schema["properties"].items()}
    if "items" in schema:
        widened["items"] = _widen(schema["items"])
    if "additionalProperties" in schema and "patternProperties" not in schema:
        widened["additionalProperties"] = _widen(schema["additionalProperties"])
    return widened


def _count_parts(value: Any) -> int:
    """Return how many values a JSON value holds; a long text counts as several."""
    match value:
        case dict():
            return 1 + sum(map(_count_parts, value.values()))
        case list():
            return 1 + sum(map(_count_parts, value))
        case str():
            return 1 + len(value) // 1000
        case _:
            return 1


@dataclass(frozen=True, kw_only=True)
class ListedTool:
    """A tool of a server."""

    name: str
    description: str
    """The server's words, sanitized and cut, on one line."""
    hints: ServerHints
    digest: str
    """Of the description, the schema and the hints as the server sent them."""
    sent_schema: Mapping[str, Any] = field(repr=False)
    sent_chars: int
    """Of the description and the schema."""

    @property
    def problem(self) -> str:
        """Why it cannot be used; empty if it can."""
        return self._checked[0]

    @property
    def schema(self) -> Mapping[str, Any]:
        """The schema of its arguments, as it may be shown to a model."""
        return self._checked[1]

    @cached_property
    def arguments(self) -> ArgumentCheck:
        """Checks the arguments of a call."""
        return ArgumentCheck(self.schema)

    @cached_property
    def _checked(self) -> tuple[str, Mapping[str, Any]]:
        """The problem and the schema: found once, in a thread, and only for a tool that is used."""
        try:
            return "", self._read_schema()
        except SchemaRefused as refusal:
            return str(refusal), {}
        except RecursionError:
            return "its schema is nested too deeply", {}

    def _read_schema(self) -> Mapping[str, Any]:
        if self.sent_chars > MAX_SCHEMA_CHARS:
            size = f"{self.sent_chars:,} characters; {MAX_SCHEMA_CHARS:,} fit"
            raise SchemaRefused(f"its description and schema have {size}")
        if is_nested_too_deeply(self.sent_schema, 2 * MAX_SCHEMA_DEPTH + 1):
            raise SchemaRefused(f"its schema is nested deeper than {MAX_SCHEMA_DEPTH} levels")
        schema = {"properties": {}, **expand_references(_clean_value("", self.sent_schema))}
        if schema.get("type") != "object" or not isinstance(schema["properties"], dict):
            raise SchemaRefused("its schema is not one of an object")
        try:  # without formats: to read a pattern may take hours
            Draft202012Validator.check_schema(schema, format_checker=None)
        except SchemaError as error:
            reason = sanitize_line(error.message, MAX_TEXT_CHARS)
            raise SchemaRefused(f"its schema is invalid: {reason}") from None
        shown = json.dumps(schema, ensure_ascii=False)
        if sanitize_text(shown) != shown:
            raise SchemaRefused("its schema has invisible characters")
        return schema


def read_tool(tool: Tool) -> ListedTool | None:
    """Return a tool as it may be shown to a model; None where even its name may not."""
    if not _NAME.fullmatch(tool.name):
        return None
    sent = json.dumps([tool.description, tool.inputSchema], sort_keys=True)
    hints = _read_hints(tool)
    return ListedTool(
        name=tool.name,
        description=redact_text(sanitize_line(tool.description or "", MAX_DESCRIPTION_CHARS)),
        hints=hints,
        digest="sha256:" + hashlib.sha256(f"{sent} {hints}".encode()).hexdigest(),
        sent_schema=tool.inputSchema,
        sent_chars=len(sent),
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
