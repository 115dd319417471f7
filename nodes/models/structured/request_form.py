"""The form of one request: messages and parameters that ask for JSON by one of the methods."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.runnables import RunnableBinding

from nodes.models.structured.methods import OutputMethod, Purpose
from nodes.models.structured.shown_schema import (
    describe_schema,
    drop_descriptions,
    list_descriptions,
    list_keys,
)
from nodes.prompts.tags import wrap_in_tag


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
        name, schema = (
            "ToolCall",
            {"anyOf": [_build_call_schema(*p) for p in offer.parameters.items()]},
        )
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
