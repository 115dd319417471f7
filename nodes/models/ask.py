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
from nodes.models.usage import usage_of
from state import Usage

MAX_PROBLEMS = 12
MAX_PROBLEM_CHARS = 240
MAX_SAID_CHARS = 20_000

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
    said, found = _said(message, schema.__name__)
    try:
        value = read(found if found is not None else said, schema)
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
    said = found if isinstance(found, str) else str(dict(found))
    try:
        fields = read_object(found) if isinstance(found, str) else dict(found)
        require_plain(fields)
        return _validated(fields, schema)
    except Unfit as error:
        raise Unreadable([str(error)], said=said) from None
    except ValidationError as error:
        raise Unreadable(_sentences(error), said=said) from None
    except RecursionError:
        raise Unreadable(["the JSON is nested too deep"], said=said) from None


def lenient(schema: type[T]) -> type[T]:
    """Give the schema's twin, which drops unknown keys and makes values of the schema itself."""

    def drop_unknown_keys(cls: Any, value: Any, handler: ModelWrapValidatorHandler[Any]) -> Any:
        return _validated(value, schema) if isinstance(value, Mapping) else handler(value)

    # pydantic's stubs know class methods inside a class body only
    validator: Any = model_validator(mode="wrap")(classmethod(drop_unknown_keys))  # type: ignore[arg-type]
    return create_model(
        schema.__name__,
        __base__=schema,
        __doc__=schema.__doc__,
        __module__=schema.__module__,
        __validators__={"drop_unknown_keys": validator},
    )


def _validated(fields: Mapping[str, Any], schema: type[T]) -> T:
    kept: Any = fields
    while True:
        try:
            return schema.model_validate(kept)
        except ValidationError as error:
            extra = [e["loc"] for e in error.errors() if e["type"] == "extra_forbidden"]
            pruned = kept
            for place in extra:
                pruned = _without(pruned, place)
            if pruned == kept:
                raise
            kept = pruned


def _without(value: Any, place: tuple[int | str, ...]) -> Any:
    head, *rest = place
    if isinstance(value, Mapping) and head in value:
        if not rest:
            return {key: item for key, item in value.items() if key != head}
        return {**value, head: _without(value[head], tuple(rest))}
    if isinstance(value, list | tuple) and isinstance(head, int) and head < len(value) and rest:
        return [_without(item, tuple(rest)) if i == head else item for i, item in enumerate(value)]
    return _without(value, tuple(rest)) if rest and not isinstance(head, int) else value


def _said(message: AIMessage, name: str) -> tuple[str, Mapping[str, Any] | None]:
    calls = sorted(message.tool_calls, key=lambda call: call["name"] != name)
    if calls and (calls[0]["name"] == name or not message.text.strip()):
        arguments = calls[0]["args"]
        return str(arguments), arguments
    return message.text, None


def _sentences(error: ValidationError) -> list[str]:
    found = [f"{_path(e['loc'])}: {e['msg']}"[:MAX_PROBLEM_CHARS] for e in error.errors()]
    return list(dict.fromkeys(found))[:MAX_PROBLEMS]


def _path(place: tuple[int | str, ...]) -> str:
    words = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in place)
    return words.lstrip(".") or "the whole"


@lru_cache(maxsize=64)
def _tool(schema: type[BaseModel]) -> dict[str, Any]:
    return convert_to_openai_tool(schema)
