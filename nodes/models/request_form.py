"""The ways to ask a model for JSON of a schema, and the form of the request for each of them.

No way works everywhere: llama.cpp leaves it to a model's template whether `tool_choice` is
enforced, DeepSeek refuses to be forced while it thinks, and Ollama does not enforce it.

The schema that is shown is short, and free of what servers refuse: grammars of llama.cpp fail on
`pattern` with `\\-` and on long `maxLength` (its issues #27597 and #17473). Of the bounds only
`maxItems` is shown, which ends the lists of a small model, and that a list is not empty. Values are
validated by the full schema, whatever was shown.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Literal

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.runnables import RunnableBinding

from nodes.prompts.tags import wrap_in_tag

OutputMethod = Literal["json_schema", "required_tool", "json_prompt"]
"""`json_schema` is a response format, `required_tool` a value of `tool_choice`, and `json_prompt`
shows the schema in the prompt and relies on nothing else."""
EndpointKind = Literal["openai", "compatible", "ollama", "other"]
"""OpenAI's own service, another server of its protocol, Ollama's own client, or any other one."""
Purpose = Literal["value", "tools"]
"""What is asked for: one value of one schema, or a call of any of several tools."""

_BY_TOOL: Sequence[OutputMethod] = ("required_tool", "json_schema", "json_prompt")
_BY_FORMAT: Sequence[OutputMethod] = ("json_schema", "required_tool", "json_prompt")
UNSHOWN_KEYS = (
    {"$schema", "additionalProperties", "default", "format", "pattern", "title", "uniqueItems"}
    | {"exclusiveMaximum", "exclusiveMinimum", "maximum", "minimum", "multipleOf"}
    | {"maxLength", "maxProperties", "minItems", "minLength", "minProperties"}
)
MAX_REFERENCE_DEPTH = 12
NO_ARGUMENTS: Mapping[str, Any] = {
    "type": "object",
    "properties": {"reason": {"type": "string", "description": "why it is called"}},
}
"""Shown for a tool without arguments, and removed from its calls: a grammar of llama.cpp fails on
an object without keys (its issue #25923)."""
Schema = Mapping[str, Any]


@dataclass
class OutputMethods:
    """The methods of one model behind one endpoint; the first that worked stays in use."""

    orders: dict[Purpose, Sequence[OutputMethod]]
    _current: dict[Purpose, OutputMethod] = field(default_factory=dict)
    has_called: bool = False
    """The model has called a tool as its endpoint's protocol says; until then it may run on."""
    refused_parameters: set[str] = field(default_factory=set)
    """Names of optional request parameters, such as `temperature`, that are left out."""

    def list_from(self, purpose: Purpose, method: OutputMethod) -> Sequence[OutputMethod]:
        """Return a method, and those to try after it."""
        order = self.orders[purpose]
        return order[order.index(method) :]

    def keep(self, purpose: Purpose, method: OutputMethod) -> bool:
        """Use a method from now on, unless a later one is in use; return whether it changes."""
        is_later = method in self.list_from(purpose, self.get_current(purpose))[1:]
        if is_later:
            self._current[purpose] = method
        return is_later

    def get_current(self, purpose: Purpose) -> OutputMethod:
        """Return the method in use."""
        return self._current.get(purpose, self.orders[purpose][0])


@cache
def get_output_methods(endpoint: str, model: str, kind: EndpointKind) -> OutputMethods:
    """Return the methods of a model; shared by all runs of the process."""
    return OutputMethods(_order_methods(kind))


def _order_methods(kind: EndpointKind) -> dict[Purpose, Sequence[OutputMethod]]:
    if kind == "openai":
        return {"value": _BY_TOOL, "tools": _BY_TOOL}
    if kind == "compatible":
        # A grammar holds even a model to the schema that was never trained to call tools.
        return {"value": _BY_FORMAT, "tools": _BY_TOOL}
    # Ollama's own client takes a schema, which its server enforces; a forced call it ignores.
    order = _BY_FORMAT if kind == "ollama" else _BY_TOOL
    return {"value": order, "tools": order}


@dataclass(frozen=True)
class ToolOffer:
    """The tools of a call, in OpenAI's form, and which of them must be called."""

    tools: Sequence[Mapping[str, Any]]
    choice: str | None = None
    """A tool's name, `any`, or None where words are a good answer too."""
    shown: Sequence[Mapping[str, Any]] = ()
    """Tools of earlier turns that may no longer be called; a prompt still describes them."""

    @property
    def purpose(self) -> Purpose:
        """Whether one value is wanted, or a call of one of several tools."""
        is_value = len(self.tools) == 1 and self.choice and not self.shown
        return "value" if is_value else "tools"

    @property
    def parameters(self) -> dict[str, Mapping[str, Any]]:
        """The JSON schema of each tool's arguments, by its name."""
        functions = [tool["function"] for tool in self.tools]
        return {function["name"]: function.get("parameters") or {} for function in functions}


class MethodUnsupported(Exception):
    """A client cannot send a request by this method."""


def build_request(
    method: OutputMethod, offer: ToolOffer, messages: Sequence[BaseMessage], inner: BaseChatModel
) -> tuple[list[BaseMessage], dict[str, Any]]:
    """Return the messages and the parameters of a request.

    Raises:
        MethodUnsupported: the client has no such parameter.
    """
    if method in ("json_schema", "json_prompt"):
        is_by_format = method == "json_schema"
        described = replace(offer, tools=[*offer.shown, *offer.tools], shown=())
        request = add_instruction(
            write_tool_messages_as_text(messages), _write_instruction(described, is_by_format)
        )
        if offer.shown:
            words = f"Now call {next(iter(offer.parameters))}, and no other tool."
            said = [request.pop().text] if isinstance(request[-1], HumanMessage) else []
            request.append(HumanMessage("\n\n".join([*said, words])))
        return request, _build_response_format(offer, inner) if is_by_format else {}
    try:
        bound = inner.bind_tools(list(offer.tools), tool_choice="any")  # type: ignore[arg-type]  # takes dicts
    except (NotImplementedError, ValueError, TypeError) as error:
        raise MethodUnsupported(f"{type(error).__name__}: {error}") from error
    if not isinstance(bound, RunnableBinding):
        raise MethodUnsupported(f"bind_tools returns a {type(bound).__name__}")
    return list(messages), dict(bound.kwargs)


def _build_response_format(offer: ToolOffer, inner: BaseChatModel) -> dict[str, Any]:
    """Return the response format: the schema, or any of the tools' calls as one object.

    Raises:
        MethodUnsupported: the client has no form of its own for it.
    """
    if offer.purpose == "value":
        ((name, schema),) = offer.parameters.items()
        schema = drop_descriptions(schema)  # the instruction has them
    else:
        calls = [_build_call_schema(*tool) for tool in offer.parameters.items()]
        name, schema = "ToolCall", {"anyOf": calls}
    if not any(base.__name__ == "BaseChatOpenAI" for base in type(inner).__mro__):
        return _ask_client_for_format(inner, {"title": name, "description": name, **schema})
    return {
        "response_format": {"type": "json_schema", "json_schema": {"name": name, "schema": schema}}
    }


def _ask_client_for_format(inner: BaseChatModel, schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters by which another provider's client asks for JSON of a schema."""
    try:
        chain = inner.with_structured_output(dict(schema), method="json_schema")
    except (NotImplementedError, ValueError, TypeError) as error:
        raise MethodUnsupported(f"{type(error).__name__}: {error}") from error
    bound = getattr(chain, "first", None)
    parameters = dict(bound.kwargs) if isinstance(bound, RunnableBinding) else {}
    parameters.pop("ls_structured_output_format", None)  # for traces alone
    if not parameters or "tools" in parameters:  # it would call a tool in place of it
        raise MethodUnsupported(f"{type(inner).__name__} has no response format")
    return parameters


def _build_call_schema(name: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {"name": {"const": name}, "arguments": parameters},
        "required": ["name", "arguments"],
        "additionalProperties": False,
    }


def _write_instruction(offer: ToolOffer, is_by_format: bool) -> str:
    """Return the words that tell a model which JSON to write.

    A server that holds the reply to a response format does not show the schema to the model.
    """
    if offer.purpose == "value":
        ((name, schema),) = offer.parameters.items()
        form = describe_schema(schema)
        if is_by_format:
            form = "\n".join([list_keys(schema), *list_descriptions(schema)])
        return f"Answer with one JSON object ({name}) of this form and nothing else:\n{form}"
    lines = [
        f"- {tool['function']['name']}: {tool['function'].get('description', '')}\n"
        f"  arguments: {describe_schema(tool['function'].get('parameters') or {})}"
        for tool in offer.tools
    ]
    rule = "" if offer.choice or is_by_format else " Or answer in plain words."
    return (
        'Call one tool by answering with one JSON object {"name": ..., "arguments": {...}} and '
        f"nothing else.{rule} The tools:\n" + "\n".join(lines)
    )


def add_instruction(messages: Sequence[BaseMessage], text: str) -> list[BaseMessage]:
    """Return the messages with a text at the end of the system message.

    Some chat templates allow one system message only, and only at the start.
    """
    if messages and isinstance(messages[0], SystemMessage):
        first = SystemMessage(f"{messages[0].text}\n\n{text}")
        return [first, *messages[1:]]
    return [SystemMessage(text), *messages]


def write_tool_messages_as_text(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """Return a conversation whose tool calls and results are plain messages that alternate."""
    plain: list[BaseMessage] = []
    for message in messages:
        if isinstance(message, AIMessage) and message.tool_calls:
            calls = [format_call(call["name"], call["args"]) for call in message.tool_calls]
            plain.append(AIMessage("\n".join(filter(None, [str(message.text), *calls]))))
        elif isinstance(message, ToolMessage):
            result = wrap_in_tag("result", str(message.text), tool=message.name or "")
            if plain and isinstance(plain[-1], HumanMessage):
                result = f"{plain.pop().text}\n{result}"
            plain.append(HumanMessage(result))
        else:
            plain.append(message)
    return plain


def format_call(name: str, arguments: Mapping[str, Any]) -> str:
    """Return a tool call as the JSON that a model is asked to write."""
    return json.dumps({"name": name, "arguments": arguments}, ensure_ascii=False, default=str)


def simplify_schema(schema: Schema) -> dict[str, Any]:
    """Return a JSON schema without bounds, patterns, defaults, titles and references."""
    simple: dict[str, Any] = _simplify(schema, schema.get("$defs") or {}, MAX_REFERENCE_DEPTH)
    simple.pop("description", None)  # the tool has the same
    return simple


def simplify_tool(tool: Mapping[str, Any]) -> dict[str, Any]:
    """Return a tool in OpenAI's form with its parameters simplified."""
    function = tool["function"]
    parameters: Schema = simplify_schema(function.get("parameters") or {})
    if not parameters.get("properties") and not parameters.get("additionalProperties"):
        parameters = NO_ARGUMENTS
    return {**tool, "function": {**function, "parameters": parameters}}


def _simplify(value: Any, definitions: Schema, depth: int) -> Any:
    if isinstance(value, list):
        return [_simplify(item, definitions, depth) for item in value]
    if not isinstance(value, Mapping):
        return value
    if "$ref" in value:
        if not depth:  # it holds itself: any value is shown
            return {}
        target = definitions.get(str(value["$ref"]).rsplit("/", 1)[-1], {})
        rest = {key: value[key] for key in value if key != "$ref"}
        return _simplify({**target, **rest}, definitions, depth - 1)
    shown = {
        key: _simplify_keyword(key, item, definitions, depth)
        for key, item in value.items()
        if key != "$defs" and (key not in UNSHOWN_KEYS or _is_shown_value(key, item))
    }
    return _drop_null_choice(shown)


def _is_shown_value(key: str, item: Any) -> bool:
    is_schema_of_values = key == "additionalProperties" and isinstance(item, Mapping)
    return is_schema_of_values or (key == "minItems" and item == 1)


def _simplify_keyword(key: str, item: Any, definitions: Schema, depth: int) -> Any:
    if key in ("enum", "const", "required", "description"):
        return item
    if key == "properties":
        return {name: _simplify(field, definitions, depth) for name, field in item.items()}
    simple = _simplify(item, definitions, depth)
    if key == "items" and isinstance(simple, dict):
        simple.pop("description", None)  # the list has one
    return simple


def _drop_null_choice(schema: dict[str, Any]) -> dict[str, Any]:
    """Return `X or null` as X: a key that is not required may be left out instead."""
    choices = schema.get("anyOf")
    if not isinstance(choices, list):
        return schema
    kept = [choice for choice in choices if choice != {"type": "null"}]
    if len(kept) != 1:
        return schema
    rest = {key: schema[key] for key in schema if key != "anyOf"}
    return {**kept[0], **rest}


def drop_descriptions(schema: Any) -> Any:
    """Return a schema without descriptions; a property of that name stays."""
    if isinstance(schema, list):
        return [drop_descriptions(item) for item in schema]
    if not isinstance(schema, Mapping):
        return schema
    return {
        key: {name: drop_descriptions(field) for name, field in item.items()}
        if key == "properties"
        else drop_descriptions(item)
        for key, item in schema.items()
        if key != "description"
    }


def list_keys(schema: Schema) -> str:
    """Return the keys of a schema as one line of nested names, for a reply that a grammar holds."""
    if schema.get("type") == "array":
        return f"[{list_keys(schema.get('items') or {})}]"
    fields = schema.get("properties") or {}
    inner = {name: list_keys(field) for name, field in fields.items()}
    named = [f"{name}: {keys}" if keys not in ("", "[]") else name for name, keys in inner.items()]
    return f"{{{', '.join(named)}}}" if named else ""


def list_descriptions(schema: Schema, place: str = "") -> list[str]:
    """Return the descriptions of a schema's keys, a line each."""
    fields = (schema.get("items") or schema).get("properties") or {}
    lines = []
    for name, part in fields.items():
        path = f"{place}.{name}" if place else name
        lines += [f"{path}: {part['description']}"] if part.get("description") else []
        lines += list_descriptions(part, path)
    return lines


def describe_schema(schema: Schema, indent: str = "") -> str:
    """Return a schema as a commented form of its JSON, a line a key; `?` marks an optional one."""
    if "enum" in schema:
        return " | ".join(json.dumps(choice, ensure_ascii=False) for choice in schema["enum"])
    if "anyOf" in schema:
        return " or ".join(describe_schema(choice, indent) for choice in schema["anyOf"])
    if schema.get("type") == "array":
        return f"[{describe_schema(schema.get('items') or {}, indent)}]"
    if fields := schema.get("properties"):
        return _describe_object(fields, schema.get("required") or (), indent)
    kind = schema.get("type", "any value")
    return " or ".join(kind) if isinstance(kind, list) else str(kind)


def _describe_object(fields: Schema, required: Sequence[str], indent: str) -> str:
    inner = f"{indent} "
    lines = []
    for name, part in fields.items():
        key = f'"{name}"' if name in required else f'"{name}"?'
        comment = f" // {part['description']}" if part.get("description") else ""
        lines.append(f"{inner}{key}: {describe_schema(part, inner)}{comment}")
    return "{\n" + "\n".join(lines) + f"\n{indent}}}"
