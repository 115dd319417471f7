"""Parse Python with its own parser, and list what a module defines and imports."""

import ast
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nodes.text.counts import format_count
from nodes.tools.framework.tool_report import join_names


@dataclass(frozen=True)
class ModuleOutline:
    """What a module holds."""

    text: str
    """Its lines, functions and classes in words."""
    third_party: tuple[str, ...]
    """Imported packages that are not in the standard library."""


def outline_module(text: str) -> ModuleOutline:
    """Return what a module holds.

    Raises:
        SyntaxError: it cannot be parsed, for its syntax, its depth or its characters.
    """
    try:
        tree = ast.parse(text)
    except (RecursionError, MemoryError):
        raise SyntaxError("nested too deeply to be read") from None
    except ValueError as error:
        raise SyntaxError(str(error)) from None
    names = defaultdict[str, list[str]](list)
    for kind, name in _list_definitions(tree.body):
        names[kind].append(name)
    parts = [format_count(len(text.rstrip("\n").split("\n")), "line")]
    for noun, plural in (("function", "functions"), ("class", "classes")):
        if found := names[noun]:
            parts.append(f"{format_count(len(found), noun, plural)} ({join_names(found)})")
    foreign = set(_list_imports(tree)) - sys.stdlib_module_names
    return ModuleOutline(", ".join(parts), tuple(sorted(foreign)))


def _list_definitions(body: Sequence[ast.stmt], prefix: str = "") -> Iterator[tuple[str, str]]:
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield "function", prefix + node.name
        elif isinstance(node, ast.ClassDef):
            yield "class", prefix + node.name
            yield from _list_definitions(node.body, f"{prefix}{node.name}.")


def _list_imports(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]
