"""Parse Python with its own parser: report its syntax error, or what the module defines."""

import ast
import sys
from dataclasses import dataclass

from nodes.text.counts import format_count
from nodes.text.plain_text import sanitize_line

MAX_CHARS = 200
MAX_NAMES = 12


@dataclass(frozen=True)
class SyntaxProblem:
    """Why a module cannot be read, and where."""

    line: int
    message: str
    text: str
    """The line, unchanged."""


@dataclass(frozen=True)
class ModuleOutline:
    """What a module holds."""

    line_count: int
    functions: tuple[str, ...]
    """Includes methods, as `Basket.total`."""
    classes: tuple[str, ...]
    third_party: tuple[str, ...]
    """Imported packages that are not in the standard library."""

    def describe(self) -> str:
        """Return a sentence that lists them."""
        parts = [format_count(self.line_count, "line")]
        for noun, names in (("function", self.functions), ("class", self.classes)):
            if names:
                plural = noun if len(names) == 1 else f"{noun}es" if noun == "class" else f"{noun}s"
                parts.append(f"{len(names)} {plural} ({_join_names(names)})")
        return ", ".join(parts)


def parse_module(name: str, text: str) -> ModuleOutline | SyntaxProblem:
    """Parse a module; one that is too deep for the parser counts as unreadable."""
    try:
        tree = ast.parse(text, filename=name)
    except SyntaxError as error:
        line = error.lineno or 1
        return SyntaxProblem(line, sanitize_line(error.msg, MAX_CHARS), get_line(text, line))
    except (RecursionError, MemoryError):
        return SyntaxProblem(1, "nested too deeply to be read", "")
    except ValueError as error:
        return SyntaxProblem(1, sanitize_line(str(error), MAX_CHARS), "")
    return _build_outline(tree, text)


def get_line(text: str, number: int) -> str:
    """Return one line of a text, without surrounding space."""
    lines = text.split("\n")
    return sanitize_line(lines[number - 1], MAX_CHARS) if 0 < number <= len(lines) else ""


def _build_outline(tree: ast.Module, text: str) -> ModuleOutline:
    functions, classes = list[str](), list[str]()
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            functions.append(node.name)
        elif isinstance(node, ast.ClassDef):
            classes.append(node.name)
            functions += [
                f"{node.name}.{part.name}"
                for part in node.body
                if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef)
            ]
    foreign = sorted({name for name in _list_imports(tree) if name not in sys.stdlib_module_names})
    count = len(text.rstrip("\n").split("\n"))
    return ModuleOutline(count, tuple(functions), tuple(classes), tuple(foreign))


def _list_imports(tree: ast.Module) -> list[str]:
    found = list[str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [alias.name.partition(".")[0] for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.append(node.module.partition(".")[0])
    return found


def _join_names(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
    return ", ".join(names[:MAX_NAMES]) + more
