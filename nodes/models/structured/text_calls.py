"""Reads tool calls that a model wrote as text, in the dialects of the common chat templates."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from nodes.limits.nesting import NestedTooDeeply, parse_json
from nodes.limits.patterns import Pattern
from nodes.models.structured.json_reading import (
    JSON_DECODER,
    InvalidJson,
    require_storable,
)

MAX_TEXT_CHARS = 200_000
MAX_STARTS = 64
"""Limit for the opening brackets that are tried in a text."""

MIN_TELLING_KEYS = 2
ENCODED_TWICE = "encoded_twice"
"""Key of a reply's metadata that names the tools whose arguments were JSON inside JSON."""

_NAME_KEYS = ("name", "tool", "tool_name", "function", "function_name")
_ARGUMENT_KEYS = ("arguments", "parameters", "args", "input", "tool_input", "action_input")
_THINKING_END = "</think>"
_THINKING_START = "<think>"
_NAME_BEFORE = Pattern(r"([A-Za-z_][\w.\-]{0,63})[^\w{]{0,12}(?:json\s{0,3})?\Z")
"""A tool's name before its arguments, as in `<function=find>{`, `find[ARGS]{` or `find```json {`"""
_ARGS_MARK = Pattern(
    r"(?:(?:\[CALL_ID\]\w{1,64})?\[ARGS\]|<\|?message\|?>|<\uff5ctool▁sep\uff5c>)\s{0,3}\Z"
)
_CHANNEL_NAME = Pattern(r"to=functions\.([\w\-]{1,64})[^{]{0,60}\Z")
_FUNCTION = Pattern(r"<function=([\w.\-]{1,64})>")
_PARAMETER = Pattern(r"<parameter=([\w.\-]{1,64})>")
_TOOL_CALL = Pattern(r"<tool_call>\s{0,9}([\w.\-]{1,64})\s{0,9}(?=</?[at])")
_ARGUMENT = Pattern(r"<arg_key>\s{0,9}([\w.\-]{1,64})\s{0,9}</arg_key>\s{0,9}<arg_value>")
_TAGGED_FORMS = (
    (_FUNCTION, "</function>", _PARAMETER, "</parameter>"),
    (_TOOL_CALL, "</tool_call>", _ARGUMENT, "</arg_value>"),
)
"""Calls whose arguments are tags: the pattern and the end of a call, then of an argument."""


def strip_thinking(text: str) -> str:
    """Return a text without the thoughts that a reasoning model wrote before its answer."""
    if _THINKING_END in text:
        return text.rpartition(_THINKING_END)[2].strip()
    if text.lstrip().startswith(_THINKING_START):
        return ""  # cut off while it thought
    return text


def read_text_calls(text: str, tools: Mapping[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Return the tool calls in a text, as names and arguments.

    Args:
        tools: parameters of the tools on offer, by name.
    """
    text = text[:MAX_TEXT_CHARS]
    calls = list(_read_tagged_arguments(text, tools))
    if calls:
        return calls
    for start, value in _find_json_values(text):
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, Mapping) and (call := _read_call(item, text[:start], tools)):
                calls.append(call)
    return list({json.dumps(call, sort_keys=True): call for call in calls}.values())


def decode_arguments(value: Any) -> dict[str, Any] | None:
    """Return arguments as an object, also when they were encoded as JSON twice; else None."""
    for _ in range(3):
        if isinstance(value, Mapping):
            return dict(value)
        if not isinstance(value, str):
            return None
        try:
            value = parse_json(value, strict=False)
        except ValueError:
            return None
    return None


def is_encoded_twice(arguments: str) -> bool:
    """Return whether arguments are JSON text inside a JSON string."""
    return arguments.lstrip().startswith('"')


def find_tool_for_arguments(arguments: Mapping[str, Any], tools: Mapping[str, Any]) -> str:
    """Return the only tool whose parameters these can be; empty when there is none, or several.

    One key, such as `query`, says too little where there is a choice: the call may mean a tool that
    is not on offer.
    """
    if len(tools) > 1 and len(arguments) < MIN_TELLING_KEYS:
        return ""
    fitting = [name for name, schema in tools.items() if _can_be_arguments(arguments, schema)]
    return fitting[0] if len(fitting) == 1 else ""


def _can_be_arguments(arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> bool:
    known = set(schema.get("properties") or {})
    required = set(schema.get("required") or ())
    return bool(arguments) and required <= set(arguments) and set(arguments) <= known


def _read_call(
    found: Mapping[str, Any], before: str, tools: Mapping[str, Any]
) -> tuple[str, dict[str, Any]] | None:
    """Return the call that an object is, by its keys or by the name before it."""
    inner = found.get("function")
    if isinstance(inner, Mapping):  # the form of the protocol itself, written as text
        found = inner
    name = next((found[key] for key in _NAME_KEYS if isinstance(found.get(key), str)), "")
    given = next((found[key] for key in _ARGUMENT_KEYS if key in found), None)
    arguments = decode_arguments(given) if given is not None else None
    if name in tools and (arguments is not None or given in (None, "")):
        rest = {key: value for key, value in found.items() if key not in _NAME_KEYS}
        return name, arguments if arguments is not None else dict(rest)
    if arguments is not None and (fitting := find_tool_for_arguments(arguments, tools)):
        return fitting, arguments
    before = before[-120:]
    ahead = _CHANNEL_NAME.search(before) or _NAME_BEFORE.search(_ARGS_MARK.sub("", before))
    if ahead and ahead[1] in tools:
        return ahead[1], dict(found)
    if fitting := find_tool_for_arguments(found, tools):
        return fitting, dict(found)
    return None


def _read_tagged_arguments(
    text: str, tools: Mapping[str, Any]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Read `<function=name><parameter=key>value</parameter></function>`, and GLM's form of it."""
    if "<" not in text:
        return
    for opening, closing, key_opening, value_closing in _TAGGED_FORMS:
        for name, inner in _split_at(opening, text, closing):
            known = tools.get(name, {}).get("properties") or {}
            arguments = {
                key: _read_argument(value, known.get(key) or {})
                for key, value in _split_at(key_opening, inner, value_closing)
            }
            if name in tools and (arguments or not inner.strip()):
                yield name, arguments


def _split_at(opening: Pattern, text: str, closing: str) -> Iterator[tuple[str, str]]:
    """Yield the name in each opening tag, and the text up to its closing tag or the next one."""
    marks = list(opening.finditer(text))[:MAX_STARTS]
    for mark, following in zip(marks, [*marks, None][1:], strict=True):
        inner = text[mark.end() : following.start() if following else len(text)]
        yield mark[1], inner.partition(closing)[0]


def _read_argument(text: str, schema: Mapping[str, Any]) -> Any:
    """Return an argument that was written as text; what is no JSON, or should be text, stays."""
    text = text.strip()
    if schema.get("type") == "string":
        return text
    try:
        value = JSON_DECODER.decode(text)
        require_storable(value)
    except ValueError:
        return text
    return value


def _find_json_values(text: str) -> Iterator[tuple[int, Any]]:
    """Yield the outermost JSON objects and lists of a text, with their positions.

    Nothing inside a broken object is read in its place.
    """
    position = 0
    for _ in range(MAX_STARTS):
        starts = [at for at in (text.find("{", position), text.find("[", position)) if at >= 0]
        if not starts:
            return
        start = min(starts)
        try:
            value, position = JSON_DECODER.raw_decode(text, start)
        except (NestedTooDeeply, InvalidJson):
            return
        except json.JSONDecodeError as error:
            position = max(start + 1, error.pos if text[start] == "{" else 0)
        else:
            yield start, value
