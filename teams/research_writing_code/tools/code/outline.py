"""Parse Python with its own parser, and list what a module defines."""

import ast
from collections.abc import Iterator, Sequence

from nodes.text.counts import format_count
from nodes.tools.framework.tool_report import join_names

PLURALS = {"function": "functions", "class": "classes"}


def outline_module(text: str) -> str:
    """Return the lines, functions and classes of a module in words.

    Raises:
        SyntaxError: it cannot be parsed, for its syntax, its depth or its characters.
    """
    try:
        defined = list(_list_definitions(ast.parse(text).body))
    except (RecursionError, MemoryError):
        raise SyntaxError("nested too deeply to be read") from None
    except ValueError as error:
        raise SyntaxError(str(error)) from None
    parts = [format_count(len(text.rstrip("\n").split("\n")), "line")]
    for noun, plural in PLURALS.items():
        if names := [name for kind, name in defined if kind == noun]:
            parts.append(f"{format_count(len(names), noun, plural)} ({join_names(names)})")
    return ", ".join(parts)


def _list_definitions(body: Sequence[ast.stmt], prefix: str = "") -> Iterator[tuple[str, str]]:
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield "function", prefix + node.name
        elif isinstance(node, ast.ClassDef):
            yield "class", prefix + node.name
            yield from _list_definitions(node.body, f"{prefix}{node.name}.")
