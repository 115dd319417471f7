"""Wraps text to a width."""

import textwrap
from typing import Final

from nodes.text.plain_text import make_printable as make_printable
from nodes.text.plain_text import to_one_line as to_one_line

_MIN_COLUMNS: Final = 10
"""Minimal width for wrapping; narrower lines are unchanged."""
_ADVICE: Final = " next: "
"""Before the command to use next."""


def cut_middle(name: object, max_chars: int) -> str:
    """Return a name on one line; names that are cut differ at their end, which is kept."""
    line = to_one_line(name, 1000)
    if len(line) <= max_chars:
        return line
    end = max_chars // 2
    return f"{line[: max_chars - end - 1]}…{line[-end:]}"


def wrap_lines(text: str, width: int) -> str:
    """Wrap lines between words to fit a width; continuation lines are indented.

    A word that is longer than a line is not broken, so that it can be copied from a terminal.
    """
    return "\n".join(_wrap_line(line, width) for line in text.split("\n"))


def separate_advice(text: str, width: int) -> str:
    """Put the command to use next on a line of its own where its line is too long.

    A command that is broken cannot be copied from a terminal.
    """
    return "\n".join(
        "\nnext: ".join(line.rsplit(_ADVICE, 1)) if len(line) > width else line
        for line in text.split("\n")
    )


def _wrap_line(line: str, width: int) -> str:
    indent = line[: len(line) - len(line.lstrip(" "))]
    if len(line) <= width or width - len(indent) < _MIN_COLUMNS:
        return line
    return textwrap.fill(
        line.strip(" "),
        width,
        initial_indent=indent,
        subsequent_indent=f"{indent}  ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def put_own_part_first(description: object) -> str:
    """Return a task's words with what they quote of the request, at their beginning, last."""
    opening, found, own = str(description).partition('": ')
    if not (found and own and '"' in opening[:40]):
        return str(description)
    return f'{own[:1].upper()}{own[1:]} ({opening}")'
