"""Wraps text to a width."""

import textwrap
from collections.abc import Callable, Mapping
from shlex import quote
from shutil import which
from typing import Any, Final

from nodes.limits.patterns import Pattern
from nodes.text.plain_text import make_printable as make_printable
from nodes.text.plain_text import to_one_line as to_one_line

_MIN_COLUMNS: Final = 10
"""Minimal width for wrapping; narrower lines are unchanged."""
MAX_NAMED_FILES: Final = 2
_COMMAND: Final = Pattern(r"(?:(?<=[:;] )|(?<=; then )|(?<=[`(]))supervise(?= [a-z-])")
_ASIDE: Final = Pattern(
    r"(?:(?<=\(on the command line: )|(?<=\(auf der Kommandozeile: ))supervise(?= [a-z-])"
)
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


def name_command(
    text: str, called_as: str, *, is_answer: bool = False, encode: Callable[[str], str] = str
) -> str:
    """Return advice with the command as the user called it, if this was a path such as
    `bin/supervise` that the shell does not find by the name alone.

    Args:
        is_answer: only in what the program adds for the command line, and not in what is quoted.
        encode: makes the command what it is in such a text.
    """
    if not called_as.endswith("/supervise") or called_as == which("supervise"):
        return text
    call = encode(quote(called_as))
    return (_ASIDE if is_answer else _COMMAND).sub(lambda _: call, text)


def quote_task(description: str) -> str:
    """Return what a task asks: the part of the request that its words quote, or all of them."""
    opening, found, _ = description.partition('": ')
    _, is_quoted, part = opening.partition('"')
    return to_one_line(part if found and is_quoted else description, 80)


def describe_task(task: Mapping[str, Any]) -> str:
    """Return what a planned task does; of one that was planned by rule, its part and its files.

    The description of such a task quotes its part of the request, and the worker's card, which
    says more of one that works on the results of others.
    """
    description = str(task.get("description") or "")
    opening, found, card = description.partition('": ')
    if not (found and card and '"' in opening[:40]):
        return description
    part = "; ".join(map(str, task.get("covers") or ()))
    what = card.partition(". ")[0] if task.get("depends_on") or not part else part
    files = [str(name).rpartition("/")[2] for name in task.get("materials") or ()]
    shown = ", ".join(files) if len(files) <= MAX_NAMED_FILES else f"{len(files)} files"
    return f"{what[:1].upper()}{what[1:]}{f' ({shown})' if files else ''}"
