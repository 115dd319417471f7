"""Ask a model for one value of the vocabulary, as the arguments of a forced tool call."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Generic, TypeVar

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AnyMessage
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import (
    BaseModel,
    ModelWrapValidatorHandler,
    ValidationError,
    create_model,
    model_validator,
)

from nodes.models.reader import Unfit, read_object, require_plain
from nodes.models.unknown_keys import validated
from nodes.models.usage import usage_of
from state import Usage

MAX_PROBLEMS = 12
MAX_PROBLEM_CHARS = 240
MAX_SAID_CHARS = 20_000
_WORDS = {
    "tuple_type": "Input should be a list",
    "model_type": "Input should be an object",
    "too_short": "the list has too few items",
    "extra_forbidden": "there is no such key: what a task needs goes into its depends_on",
}
"""For pydantic's own, which speak of Python; an unknown key is told only where it names tasks."""

T = TypeVar("T", bound=BaseModel)


@dataclass(frozen=True)
class Reply(Generic[T]):
    """A value and what it has cost."""

    value: T
    usage: Usage
    message: AIMessage


class Unreadable(Exception):
    """A model's answer does not fit; `problems` are sentences for the model that wrote it."""

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
        self.said = said[:MAX_SAID_CHARS]


async def ask(
    model: BaseChatModel,
    schema: type[T],
    messages: Sequence[AnyMessage],
    *,
    parameters: dict[str, Any] | None = None,
) -> Reply[T]:
    """Ask for a value of the schema; `parameters` is a tightened JSON schema to show instead.

    Raises:
        Unreadable: the answer is no such value; ask again with its problems.
        ModelError: there is no answer.
    """
    tool = _tool(schema)
    if parameters is not None:
        tool = {**tool, "function": {**tool["function"], "parameters": parameters}}
    bound = model.bind_tools([tool], tool_choice=schema.__name__)
    message = await bound.ainvoke(list(messages))
    usage = usage_of(message)
    said, calls = _said(message, schema.__name__)
    try:
        if len(calls) > 1:
            raise Unreadable([f"{schema.__name__} was called {len(calls)} times: call it once"])
        value = read(calls[0] if calls else said, schema)
    except Unreadable as error:
        raise Unreadable(error.problems, usage=usage, message=message, said=said) from None
    return Reply(value, usage, message)


def read_content(text: str, schema: type[T]) -> T:
    """Read a value out of a model's words.

    Raises:
        Unreadable: there is none in them.
    """
    return read(text, schema)


def read(found: str | Mapping[str, Any], schema: type[T]) -> T:
    """Read a value from JSON, in words or parsed; keys that the schema does not have are dropped.

    Raises:
        Unreadable: it does not validate.
    """
    said = found if isinstance(found, str) else ""
    try:
        fields = read_object(found) if isinstance(found, str) else dict(found)
        require_plain(fields)
        return validated(fields, schema)
    except Unfit as error:
        raise Unreadable([str(error)], said=said) from None
    except ValidationError as error:
        raise Unreadable(sentences(error), said=said) from None
    except RecursionError:
        raise Unreadable(["the JSON is nested too deep"], said=said) from None


def lenient(schema: type[T]) -> type[T]:
    """Give the schema's twin, which drops unknown keys and makes values of the schema itself."""

    def drop_unknown_keys(cls: Any, value: Any, handler: ModelWrapValidatorHandler[Any]) -> Any:
        return validated(value, schema) if isinstance(value, Mapping) else handler(value)

    method: Any = classmethod(drop_unknown_keys)  # pydantic's stubs know it in a class body only
    validator: Any = model_validator(mode="wrap")(method)
    return create_model(
        schema.__name__,
        __base__=schema,
        __doc__=schema.__doc__,
        __module__=schema.__module__,
        __validators__={"drop_unknown_keys": validator},
    )


def sentences(error: ValidationError) -> list[str]:
    """Say what is wrong with a value, to the model that made it."""
    problems = error.errors()
    around = {tuple(e["loc"][:depth]) for e in problems for depth in range(len(e["loc"]))}
    found: list[str] = []
    for problem in problems:
        # A list whose items are all wrong counts as empty.
        if problem["type"] == "too_short" and problem["loc"] in around:
            continue
        words = _WORDS.get(problem["type"], problem["msg"]).removeprefix("Value error, ")
        place = _path(problem["loc"])
        found += [f"{place}{part}"[:MAX_PROBLEM_CHARS] for part in words.split("; ")]
    found = list(dict.fromkeys(found))
    more = [f"and {len(found) - MAX_PROBLEMS} more"] if len(found) > MAX_PROBLEMS else []
    return found[:MAX_PROBLEMS] + more


def _said(message: AIMessage, name: str) -> tuple[str, list[Mapping[str, Any]]]:
    """Give what a model wrote; the fields, too, of each call of the tool that differs."""
    calls = sorted(message.tool_calls, key=lambda call: call["name"] != name)
    if not calls or (calls[0]["name"] != name and message.text.strip()):
        return message.text, []
    found: list[Mapping[str, Any]] = []
    for call in calls:
        if call["name"] == calls[0]["name"] and call["args"] not in found:
            found.append(call["args"])
    return "\n".join(map(str, found)), found


def _path(place: tuple[int | str, ...]) -> str:
    words = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in place)
    return f"{words.lstrip('.')}: " if words else ""


@lru_cache(maxsize=64)
def _tool(schema: type[BaseModel]) -> dict[str, Any]:
    return convert_to_openai_tool(schema)
