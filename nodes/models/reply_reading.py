"""Makes a model's reply the message with tool calls that was asked for, whatever its form."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any
from uuid import uuid4

from langchain_core.messages import AIMessage
from langchain_core.messages.tool import ToolCall, tool_call

from nodes.limits.nesting import NestedTooDeeply, parse_json
from nodes.limits.patterns import Pattern, PatternTimeout
from nodes.models.json_reading import (
    ENCODED_TWICE,
    JSON_DECODER,
    InvalidJson,
    decode_arguments,
    is_encoded_twice,
    read_json_object,
    require_storable,
)
from nodes.models.reply_stream import RunOnWatch
from nodes.models.request import was_cut
from nodes.models.request_form import NO_ARGUMENTS, OutputMethod, ToolOffer

MAX_TEXT_CHARS = 200_000
MAX_STARTS = 64
"""Limit for the opening brackets that are tried in a text."""
MIN_TELLING_KEYS = 2
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
    for call in calls:
        is_bare = offer.parameters.get(call["name"]) == NO_ARGUMENTS
        call["args"] = {} if is_bare else call["args"]
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
    if offer.purpose == "value" and not message.tool_calls:
        watch = RunOnWatch()
        watch.follow(str(message.text))
        if watch.is_inside:
            return []
    if len(whole) > 1:
        corrections.append(f"the reply was cut after {len(whole)} calls: the first is taken")
    return whole[:1]


def clean_words(message: AIMessage) -> AIMessage:
    """Return a reply in words without a reasoning model's thoughts."""
    text = str(message.text)
    if _THINKING_END in text:
        words = text.rpartition(_THINKING_END)[2].strip()
    elif text.lstrip().startswith(_THINKING_START):
        words = ""  # cut off while it thought
    else:
        return message
    return message.model_copy(update={"content": words})


def _read_text(message: AIMessage, corrections: list[str]) -> str:
    words = clean_words(message)
    if words is not message:
        corrections.append("thoughts before the reply were removed")
    return str(words.text)


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
    tools, found = offer.parameters, list[tuple[str, dict[str, Any]]]()
    with suppress(PatternTimeout):
        found = read_text_calls(text, tools)
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


def replace_lone_surrogates(message: AIMessage) -> AIMessage:
    """Return a reply whose words and arguments can be encoded, with `?` for half a character.

    JSON can spell one, and UTF-8 cannot hold it.
    """
    found = {"content": message.content, "tool_calls": message.tool_calls}
    text = json.dumps(found, ensure_ascii=False, default=str)
    try:
        text.encode()
    except UnicodeEncodeError:
        return message.model_copy(update=parse_json(text.encode(errors="replace")))
    return message
