"""Trace where a value in the code comes from: assignments, calls, attributes, settings."""

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Self

from .sources import FunctionNode, SourceFile

MAX_DEPTH = 4
_SETTINGS_NAMES = frozenset({"settings", "config", "conf", "cfg", "configuration"})
_ENVIRONMENT_NAMES = frozenset({"environ", "get" + "env", "get_env"})


@dataclass(frozen=True)
class CodeLocation:
    """A location in the code: its file, and the function and the class that contain it."""

    source: SourceFile
    function: FunctionNode | None = None
    owner_class: ast.ClassDef | None = None

    @classmethod
    def at_line(cls, source: SourceFile, line: int) -> Self:
        """Find the innermost function around a line, and its class."""
        function = owner = None
        for node in source.find_statements(line):
            function = node if isinstance(node, FunctionNode) else function
            owner = node if isinstance(node, ast.ClassDef) else owner
        return cls(source, function, owner)


def find_settings(
    node: ast.AST, place: CodeLocation, sources: Sequence[SourceFile], depth: int = MAX_DEPTH
) -> list[str]:
    """Return the settings that a value depends on, directly or through other values."""
    found = list(_find_setting_keys(node))
    for part in ast.walk(node) if depth else ():
        for value, origin in trace_values(part, place, sources):
            found += find_settings(value, origin, sources, depth - 1)
    return list(dict.fromkeys(found))


def trace_values(
    node: ast.AST, place: CodeLocation, sources: Sequence[SourceFile]
) -> Iterator[tuple[ast.expr, CodeLocation]]:
    """Yield the values assigned to a name, parameter or attribute of self, with their places."""
    match node:
        case ast.Attribute(value=ast.Name(id="self")) if place.owner_class:
            for method in place.owner_class.body:
                for value in _find_assignments([method], ast.unparse(node)):
                    function = method if isinstance(method, FunctionNode) else None
                    yield value, CodeLocation(place.source, function, place.owner_class)
        case ast.Name(ctx=ast.Load()):
            yield from _trace_name(node, place, sources)


def _trace_name(
    node: ast.Name, place: CodeLocation, sources: Sequence[SourceFile]
) -> Iterator[tuple[ast.expr, CodeLocation]]:
    if place.function:
        local = _find_assignments([place.function], node.id)
        if before := [value for value in local if value.lineno < node.lineno]:
            yield before[-1], place
            return
        if node.id in _list_parameters(place.function):
            yield from _find_passed_values(node.id, place.function, place, sources)
            return
    body = place.source.tree.body if place.source.tree else []
    simple = [each for each in body if isinstance(each, ast.Assign | ast.AnnAssign)]
    for value in _find_assignments(simple, node.id):
        yield value, CodeLocation(place.source)


def find_called_functions(
    call: ast.Call, sources: Sequence[SourceFile]
) -> list[tuple[SourceFile, FunctionNode]]:
    """Return the functions with the name of a call."""
    name = _get_callee_name(call)
    return [
        (source, node)
        for source in sources
        if name in source.text
        for _, node in source.definitions
        if isinstance(node, FunctionNode) and node.name == name
    ]


def _find_setting_keys(node: ast.AST) -> Iterator[str]:
    """Yield the settings that an expression itself reads, from the environment or an object."""
    path = _get_path(node)
    for index, part in enumerate(path[:-1]):
        bare = part.lower().strip("_")
        if bare in _ENVIRONMENT_NAMES or bare in _SETTINGS_NAMES:
            yield path[index + 1] if bare in _ENVIRONMENT_NAMES else ".".join(path[index + 1 :])
            return
    parts: Iterable[ast.AST] = ast.iter_child_nodes(node)
    # `settings["url"].rstrip()` reads the setting, not something called rstrip.
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        parts = [node.func.value, *node.args, *node.keywords]
    for child in parts:
        yield from _find_setting_keys(child)


def _get_path(node: ast.AST) -> list[str]:
    """Return the path to a value as names: `settings["a"].get("b")` is settings, a, b."""
    match node:
        case ast.Name(id=name):
            return [name]
        case (
            ast.Attribute(value=value, attr=key)
            | ast.Subscript(value=value, slice=ast.Constant(value=str() as key))
            | ast.Call(
                func=ast.Attribute(value=value, attr="get"),
                args=[ast.Constant(value=str() as key), *_],
            )
        ):
            before = _get_path(value)
            return [*before, key] if before else []
        case ast.Call(func=func, args=[ast.Constant(value=str() as key), *_]):
            asked = _get_path(func)
            return [*asked, key] if asked and asked[-1].lower() in _ENVIRONMENT_NAMES else []
    return []


def _find_assignments(roots: Iterable[ast.AST], written: str) -> Iterator[ast.expr]:
    """Yield what is assigned to a name or an attribute, as it is written."""
    for node in (node for root in roots for node in ast.walk(root)):
        match node:
            case ast.Assign(targets=targets, value=value):
                named = [ast.unparse(target) for target in targets]
            case (
                ast.AnnAssign(target=target, value=ast.expr() as value)
                | ast.NamedExpr(target=target, value=value)
            ):
                named = [ast.unparse(target)]
            case _:
                continue
        if written in named:
            yield value


def _list_parameters(function: FunctionNode) -> list[str]:
    named = function.args
    return [each.arg for each in (*named.posonlyargs, *named.args, *named.kwonlyargs)]


def _find_passed_values(
    name: str, function: FunctionNode, place: CodeLocation, sources: Sequence[SourceFile]
) -> Iterator[tuple[ast.expr, CodeLocation]]:
    """Yield what callers pass for a parameter; calling a class calls its `__init__`."""
    is_maker = function.name == "__init__" and place.owner_class
    called = place.owner_class.name if is_maker and place.owner_class else function.name
    parameters = _list_parameters(function)
    index = parameters.index(name) - (parameters[0] in ("self", "cls"))
    for source in (one for one in sources if called in one.text):
        for node in ast.walk(source.tree) if source.tree else ():
            if isinstance(node, ast.Call) and _get_callee_name(node) == called:
                origin = CodeLocation.at_line(source, node.lineno)
                if origin.function is not function:
                    yield from ((word.value, origin) for word in node.keywords if word.arg == name)
                    yield from ((value, origin) for value in node.args[max(index, 0) : index + 1])


def _get_callee_name(call: ast.Call) -> str:
    match call.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""
