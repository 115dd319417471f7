"""Describes what is wrong with a setting, without its value where that is a secret."""

from collections.abc import Mapping

from pydantic import AliasChoices
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails


def describe_setting_problem(error: ErrorDetails, fields: Mapping[str, FieldInfo]) -> str:
    """Return what is wrong with a setting, and what is allowed."""
    name = str(error["loc"][0]) if error["loc"] else "a setting"
    field = fields.get(name) or next(
        (f for f in fields.values() if name in _list_aliases(f.validation_alias)), None
    )
    allowed = f"; allowed: {field.description}" if field and field.description else ""
    if error["type"] == "value_error":
        return f"{name} {error['ctx']['error']}{allowed}"
    quoted = isinstance(error["input"], str | int | float) and "KEY" not in name
    shown = f" is {str(error['input'])[:80]!r}" if quoted else " is not valid"
    return f"{name}{shown}{allowed}"


def map_variables(fields: Mapping[str, FieldInfo]) -> dict[str, str]:
    """Return the fields by the names of the variables that they are read from."""
    return {
        str(name): field_name
        for field_name, field in fields.items()
        for name in _list_aliases(field.validation_alias)
        if name
    }


def list_variables(fields: Mapping[str, FieldInfo]) -> frozenset[str]:
    """Return the names of the variables that fields are read from."""
    return frozenset(map_variables(fields))


def _list_aliases(alias: object) -> tuple[object, ...]:
    return tuple(alias.choices) if isinstance(alias, AliasChoices) else (alias,)
