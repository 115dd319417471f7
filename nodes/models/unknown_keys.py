"""Validates a value with unknown keys: those that carry no information are dropped."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

KeyPath = tuple[int | str, ...]
T = TypeVar("T", bound=BaseModel)


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
    own = [_read_task_id(task) for task in tasks] if isinstance(tasks, list | tuple) else []
    ids = {*own} - {""}
    for error in errors:
        if error["type"] == "extra_forbidden":
            named = ids.intersection(_walk_texts(error["input"]))
            match error["loc"]:
                case ("tasks", int(at), *_):
                    named.discard(own[at])
            if not named:
                yield error["loc"]


def _read_task_id(task: Any) -> str:
    return str(task.get("id", "")) if isinstance(task, Mapping) else ""


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


def _drop_keys(value: Any, places: Iterable[KeyPath]) -> Any:
    below: dict[int | str, list[KeyPath]] = {}
    for head, *rest in places:
        below.setdefault(head, []).append(tuple(rest))
    if isinstance(value, Mapping) and below:
        kept = {key: item for key, item in value.items() if () not in below.get(key, ())}
        return {key: _drop_keys(item, below.get(key, ())) for key, item in kept.items()}
    if isinstance(value, list | tuple) and below:
        return [_drop_keys(item, below.get(i, ())) for i, item in enumerate(value)]
    return value
