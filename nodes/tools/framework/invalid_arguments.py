"""Refuse arguments that do not fit a tool's schema, in one line that a model can act on."""

from typing import NoReturn

from pydantic import ValidationError

from nodes.errors import ToolRefused
from nodes.text.plain_text import sanitize_line

MAX_NAMED_PROBLEMS = 3
MAX_VALUE_CHARS = 40


def refuse_invalid_arguments(error: ValidationError) -> NoReturn:
    """Refuse a call and name the arguments, what is wrong with them, and their values.

    Raises:
        ToolRefused: always.
    """
    problems = error.errors(include_url=False, include_context=False)
    named = "; ".join(
        f"{'.'.join(map(str, each['loc']))[:MAX_VALUE_CHARS]}: {each['msg']}, not "
        f"{sanitize_line(repr(each['input'])[:1000], MAX_VALUE_CHARS)}"
        for each in problems[:MAX_NAMED_PROBLEMS]
    )
    more = len(problems) - MAX_NAMED_PROBLEMS
    raise ToolRefused(f"{named}{f'; and {more} more' if more > 0 else ''}") from None
