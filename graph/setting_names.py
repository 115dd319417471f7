"""The names of settings: what is wrong with a value, and names that only look like one of ours."""

from collections.abc import Collection, Iterable, Mapping
from difflib import get_close_matches
from typing import Final

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


VARIABLE_PREFIX: Final = "SUPERVISE_"
CHECKOUT_VARIABLES: Final = frozenset(
    {
        "SUPERVISE_TEST_CONTRACTS",
        "SUPERVISE_TEST_AEGRA_PYTHON",
        "SUPERVISE_TEST_POSTGRES_URL",
        "SUPERVISE_REAL_GGUF",
    }
)
"""What the tests of a checkout read, besides the settings."""


def find_unknown_names(given: Iterable[str], settings: Collection[str]) -> dict[str, str]:
    """Return the names with our prefix that nothing reads, each with the nearest setting or ""."""
    known = {name.removeprefix(VARIABLE_PREFIX): name for name in settings}
    unknown = sorted({*given} - {*settings} - CHECKOUT_VARIABLES)
    named = [name for name in unknown if name.startswith(VARIABLE_PREFIX)]
    near = {
        name: get_close_matches(name.removeprefix(VARIABLE_PREFIX), known, n=1) for name in named
    }
    return {name: known[found[0]] if found else "" for name, found in near.items()}


def describe_unknown_name(name: str, near: str) -> str:
    """Return one line about a name that nothing reads.

    Args:
        near: the setting that may be meant; empty without one.
    """
    advice = f"did you mean {near}?" if near else "`supervise doctor` lists such names"
    return f"warning: {name} is not a setting and is ignored; {advice}"
