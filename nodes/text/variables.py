"""Replaces `${VAR}` and `${VAR:-default}` in a text of a file by variables of the environment."""

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from nodes.limits.patterns import Pattern

FindVariable = Callable[[str], str | None]
"""Returns a variable's value; None where it is not set."""

_VARIABLE: Final = Pattern(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")


class VariableUnset(Exception):
    """A text names a variable that is not set, and gives no default."""

    def __init__(self, name: str) -> None:
        super().__init__(f"the variable {name} is not set")
        self.name = name
        self.advice = (
            f"set {name} in the environment or in a trusted .env, or write ${{{name}:-default}}"
        )


def expand_variables(text: str, find: FindVariable) -> tuple[str, tuple[str, ...]]:
    """Return the text with its variables replaced, and the values that came from the environment.

    Raises:
        VariableUnset: a variable without a default is not set.
    """
    parts, values, end = [], [], 0
    for match in _VARIABLE.finditer(text):
        name, default = match.group(1), match.group(2)
        value = find(name) or None
        if value is None and default is None:
            raise VariableUnset(name)
        if value is not None:
            values.append(value)
        parts += [text[end : match.start()], default if value is None else value]
        end = match.end()
    return "".join([*parts, text[end:]]), tuple(values)


def list_unset_variables(texts: Iterable[str], variables: Mapping[str, str]) -> list[str]:
    """Return the variables that texts name without a default, and that are not set."""
    found = [match for text in texts for match in _VARIABLE.finditer(text)]
    needed = dict.fromkeys(match[1] for match in found if match[2] is None)
    return [name for name in needed if not variables.get(name)]
