"""Asks a model for one value of a schema, as the arguments of a forced tool call."""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Generic, TypeVar

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AnyMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import (
    BaseModel,
    ModelWrapValidatorHandler,
    ValidationError,
    create_model,
    model_validator,
)
from pydantic.json_schema import SkipJsonSchema
from pydantic_core import ErrorDetails

from nodes.errors import ResponseCut
from nodes.models.json_reading import (
    InvalidJson,
    read_json_object,
    require_storable,
)
from nodes.models.usage import read_usage
from nodes.telemetry.tracing import get_purpose
from state import Usage

MAX_PROBLEMS = 12
MAX_PROBLEM_CHARS = 240
MAX_REPLY_CHARS = 20_000
_PLAIN_MESSAGES = {
    "tuple_type": "Input should be a list",
    "model_type": "Input should be an object",
    "too_short": "the list has too few items",
    "extra_forbidden": "there is no such key: what a task needs goes into its depends_on",
}
"""Replace pydantic's, which use Python's terms; an unknown key is an error only in a task."""

T = TypeVar("T", bound=BaseModel)
KeyPath = tuple[int | str, ...]


@dataclass(frozen=True)
class ModelReply(Generic[T]):
    """A value and its usage."""

    value: T
    usage: Usage
    message: AIMessage


class UnreadableReply(Exception):
    """A model's answer is invalid; `problems` are sentences for the model that wrote it."""

    def __init__(
        self,
        problems: Sequence[str],
        *,
        usage: Usage = Usage(),  # noqa: B008 - frozen
        message: AIMessage | None = None,
        said: str = "",
    ) -> None:
        super().__init__("; ".join(problems))
        self.problems, self.usage, self.message = list(problems), usage, message
        self.reply_text = said[:MAX_REPLY_CHARS]


async def ask_model(
    model: BaseChatModel,
    schema: type[T],
    messages: Sequence[AnyMessage],
    *,
    parameters: dict[str, Any] | None = None,
    correct: Callable[[dict[str, Any]], dict[str, Any]] | None = None,
    options: Mapping[str, Any] | None = None,
    purpose: str = "",
) -> ModelReply[T]:
    """Return the model's value of the schema.

    Args:
        parameters: a stricter JSON schema to show it.
        correct: returns the fields of a reply as they are meant, before they are validated.
        options: parameters of the request, such as `temperature`.
        purpose: what the call is for, in traces, if the schema does not say it.

    Raises:
        UnreadableReply: the answer is not such a value; ask again with its problems.
        ModelError: there is no answer.
    """
    tool = _build_tool_schema(schema)
    if parameters is not None:
        tool = {**tool, "function": {**tool["function"], "parameters": parameters}}
    bound = model.bind_tools([tool], tool_choice=schema.__name__)
    if options:
        bound = bound.bind(**options)
    try:
        named: RunnableConfig = {"run_name": purpose or get_purpose(schema.__name__)}
        message = await bound.ainvoke(list(messages), named)
    except ResponseCut as error:
        if not error.is_at_limit:
            raise
        problem = f"the answer was cut after {len(error.reply_text)} characters: be brief"
        usage = error.usage or Usage()
        raise UnreadableReply([problem], usage=usage, said=error.reply_text) from None
    usage = read_usage(message)
    text, calls = _read_reply(message, schema.__name__)
    try:
        if len(calls) > 1:
            raise UnreadableReply(
                [f"{schema.__name__} was called {len(calls)} times: call it once"]
            )
        value = read_value(calls[0] if calls else text, schema, correct=correct)
    except UnreadableReply as error:
        raise UnreadableReply(error.problems, usage=usage, message=message, said=text) from None
    return ModelReply(value, usage, message)


def read_value(
    found: str | Mapping[str, Any],
    schema: type[T],
    *,
    correct: Callable[[dict[str, Any]], dict[str, Any]] | None = None,
) -> T:
    """Return a value from JSON, as text or parsed; unknown keys are dropped.

    Raises:
        UnreadableReply: it does not validate.
    """
    text = found if isinstance(found, str) else ""
    try:
        fields = read_json_object(found) if isinstance(found, str) else dict(found)
        require_storable(fields)
        fields = correct(fields) if correct else fields
        return validate_known_keys(fields, schema)
    except InvalidJson as error:
        raise UnreadableReply([str(error)], said=text) from None
    except ValidationError as error:
        raise UnreadableReply(describe_validation_errors(error), said=text) from None


def build_lenient_schema(
    schema: type[T],
    *,
    unshown: Collection[str] = (),
    correct: Callable[[dict[str, Any]], dict[str, Any]] = dict,
) -> type[T]:
    """Return a copy of the schema that drops unknown keys and returns values of the schema.

    Args:
        unshown: fields with a default that are not shown to a model.
        correct: returns the fields of a reply as they are meant, before they are validated.
    """

    def drop_unknown_keys(cls: Any, value: Any, handler: ModelWrapValidatorHandler[Any]) -> Any:
        if not isinstance(value, Mapping):
            return handler(value)
        return validate_known_keys(correct(dict(value)), schema)

    method: Any = classmethod(drop_unknown_keys)  # pydantic's stubs know it in a class body only
    validator: Any = model_validator(mode="wrap")(method)
    return create_model(
        schema.__name__,
        __base__=schema,
        __doc__=schema.__doc__,
        __module__=schema.__module__,
        __validators__={"drop_unknown_keys": validator},
        **{name: _hide_field(schema, name) for name in unshown},
    )


def _hide_field(schema: type[BaseModel], name: str) -> Any:
    field = schema.model_fields[name]
    hidden: Any = SkipJsonSchema  # its stubs know it in annotations only
    return hidden[field.annotation], field.default


def describe_validation_errors(error: ValidationError) -> list[str]:
    """Return the problems of a value, for the model that wrote it."""
    problems = error.errors()
    parents = {tuple(e["loc"][:depth]) for e in problems for depth in range(len(e["loc"]))}
    lines: list[str] = []
    for problem in problems:
        # Pydantic reports a list whose items are all invalid as empty, too.
        if problem["type"] == "too_short" and problem["loc"] in parents:
            continue
        message = _PLAIN_MESSAGES.get(problem["type"], problem["msg"]).removeprefix("Value error, ")
        place = _format_location(problem["loc"])
        lines += [f"{place}{part}"[:MAX_PROBLEM_CHARS] for part in message.split("; ")]
    lines = list(dict.fromkeys(lines))
    more = [f"and {len(lines) - MAX_PROBLEMS} more"] if len(lines) > MAX_PROBLEMS else []
    return lines[:MAX_PROBLEMS] + more


def _read_reply(message: AIMessage, name: str) -> tuple[str, list[Mapping[str, Any]]]:
    """Return a model's text, and the arguments of its distinct calls of the tool."""
    calls = sorted(message.tool_calls, key=lambda call: call["name"] != name)
    if not calls or (calls[0]["name"] != name and message.text.strip()):
        return message.text, []
    arguments: list[Mapping[str, Any]] = []
    for call in calls:
        if call["name"] == calls[0]["name"] and call["args"] not in arguments:
            arguments.append(call["args"])
    return "\n".join(json.dumps(each, ensure_ascii=False) for each in arguments), arguments


def _format_location(place: tuple[int | str, ...]) -> str:
    words = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in place)
    return f"{words.lstrip('.')}: " if words else ""


@lru_cache(maxsize=64)
def _build_tool_schema(schema: type[BaseModel]) -> dict[str, Any]:
    return convert_to_openai_tool(schema)


def validate_known_keys(fields: Mapping[str, Any], schema: type[T]) -> T:
    """Return a value without the keys that the schema does not have.

    A key that names tasks of a plan is kept, and refused: dropping `dependencies` drops edges.

    Raises:
        ValidationError: there is another problem.
    """
    kept: Any = fields
    while True:
        try:
            return schema.model_validate(kept)
        except ValidationError as error:
            tasks = kept.get("tasks") if "tasks" in schema.model_fields else ()
            pruned = _drop_keys(kept, [*_find_droppable_keys(error.errors(), tasks)])
            if pruned == kept:
                raise
            kept = pruned


def _find_droppable_keys(errors: list[ErrorDetails], tasks: Any) -> Iterator[KeyPath]:
    """Yield the locations of unknown keys that name no task except their own."""
    own = [
        str(task.get("id", "")) if isinstance(task, Mapping) else ""
        for task in (tasks if isinstance(tasks, list | tuple) else ())
    ]
    ids = {*own} - {""}
    for error in errors:
        if error["type"] == "extra_forbidden":
            named = ids.intersection(_walk_texts(error["input"]))
            match error["loc"]:
                case ("tasks", int(at), *_):
                    named.discard(own[at])
            if not named:
                yield error["loc"]


def _walk_texts(value: Any) -> Iterator[str]:
    """Yield all texts and numbers of a value, keys included."""
    left = [value]
    while left:
        item = left.pop()
        if isinstance(item, Mapping):
            left += [*item.keys(), *item.values()]
        elif isinstance(item, list | tuple):
            left += item
        else:
            yield str(item)


def _drop_keys(fields: Mapping[str, Any], places: Iterable[KeyPath]) -> dict[str, Any]:
    kept: dict[str, Any] = deepcopy(dict(fields))
    for *path, key in places:
        holder: Any = kept
        with suppress(LookupError, TypeError):  # pydantic names the kind of a choice like a key
            for step in path:
                holder = holder[step]
            del holder[key]
    return kept
