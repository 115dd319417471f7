"""Trace where a value in the code comes from: assignments, calls, attributes."""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .setting_keys import find_setting_keys
from .sources import FunctionNode, SourceFile

MAX_DEPTH = 4


@dataclass(frozen=True)
class CodeLocation:
    """A location in the code: its file, and the function and the class that contain it."""

    source: SourceFile
    function: FunctionNode | None = None
    owner_class: ast.ClassDef | None = None


def locate_line(source: SourceFile, line: int) -> CodeLocation:
    """Find the innermost function around a line, and its class."""
    around = [
        (name, node)
        for name, node in source.definitions
        if node.lineno <= line <= (node.end_lineno or node.lineno)
    ]
    functions = [node for _, node in around if isinstance(node, FunctionNode)]
    classes = [node for _, node in around if isinstance(node, ast.ClassDef)]
    return CodeLocation(
        source, functions[-1] if functions else None, classes[-1] if classes else None
    )


def find_statement(source: SourceFile, line: int) -> ast.stmt | None:
    """Find the smallest statement that contains a line."""
    if source.tree is None:
        return None
    found = [
        node
        for node in ast.walk(source.tree)
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or node.lineno)
    ]
    return min(found, key=lambda node: (node.end_lineno or 0) - node.lineno, default=None)


def find_values(
    expression: ast.AST, place: CodeLocation, sources: Sequence[SourceFile]
) -> list[ast.expr]:
    """Return the expressions assigned to a name, parameter or attribute of self."""
    return [value for value, _ in _trace_values(expression, place, sources)]


def find_settings(
    node: ast.AST, place: CodeLocation, sources: Sequence[SourceFile], depth: int = MAX_DEPTH
) -> list[str]:
    """Return the settings that a value depends on, directly or through other values."""
    found = find_setting_keys(node)
    if depth:
        for part in ast.walk(node):
            for value, origin in _trace_values(part, place, sources):
                found += find_settings(value, origin, sources, depth - 1)
    return list(dict.fromkeys(found))


def _trace_values(
    node: ast.AST, place: CodeLocation, sources: Sequence[SourceFile]
) -> Iterator[tuple[ast.expr, CodeLocation]]:
    match node:
        case ast.Name(id=name, ctx=ast.Load()):
            yield from _trace_name(name, node, place, sources)
        case ast.Attribute(value=ast.Name(id="self"), attr=attr) if place.owner_class:
            for method in place.owner_class.body:
                if isinstance(method, FunctionNode):
                    inside = CodeLocation(place.source, method, place.owner_class)
                    for value in _find_self_assignments(method, attr):
                        yield value, inside


def _trace_name(
    name: str, node: ast.Name, place: CodeLocation, sources: Sequence[SourceFile]
) -> Iterator[tuple[ast.expr, CodeLocation]]:
    if place.function:
        inside = [
            value for value in _find_assignments(place.function, name) if value.lineno < node.lineno
        ]
        if inside:
            yield inside[-1], place
            return
        parameters = _list_parameters(place.function)
        if name in parameters:
            yield from _find_passed_values(name, parameters, place, sources)
            return
    if place.source.tree:
        for statement in place.source.tree.body:
            for value in _match_assignment(statement, name):
                yield value, CodeLocation(place.source)


def _find_assignments(root: ast.AST, name: str) -> Iterator[ast.expr]:
    for node in ast.walk(root):
        yield from _match_assignment(node, name)


def _match_assignment(node: ast.AST, name: str) -> Iterator[ast.expr]:
    match node:
        case ast.Assign(targets=targets, value=value):
            if any(isinstance(target, ast.Name) and target.id == name for target in targets):
                yield value
        case ast.AnnAssign(target=ast.Name(id=found), value=ast.expr() as value) if found == name:
            yield value
        case ast.NamedExpr(target=ast.Name(id=found), value=value) if found == name:
            yield value


def _find_self_assignments(method: FunctionNode, attr: str) -> Iterator[ast.expr]:
    for node in ast.walk(method):
        match node:
            case ast.Assign(targets=[ast.Attribute(value=ast.Name(id="self"), attr=found)]):
                if found == attr:
                    yield node.value
            case ast.AnnAssign(
                target=ast.Attribute(value=ast.Name(id="self"), attr=found),
                value=ast.expr() as value,
            ):
                if found == attr:
                    yield value


def _list_parameters(function: FunctionNode) -> list[str]:
    named = function.args
    return [each.arg for each in (*named.posonlyargs, *named.args, *named.kwonlyargs)]


def _find_passed_values(
    name: str, parameters: list[str], place: CodeLocation, sources: Sequence[SourceFile]
) -> Iterator[tuple[ast.expr, CodeLocation]]:
    """Return what callers pass for a parameter; calling a class calls its `__init__`."""
    assert place.function is not None
    called = place.function.name
    if called == "__init__" and place.owner_class:
        called = place.owner_class.name
    is_method = bool(parameters) and parameters[0] in ("self", "cls")
    index = parameters.index(name) - is_method
    for source in (one for one in sources if called in one.text):
        for node in ast.walk(source.tree) if source.tree else ():
            if isinstance(node, ast.Call) and _get_callee_name(node) == called:
                origin = locate_line(source, node.lineno)
                if origin.function is place.function:
                    continue
                yield from ((word.value, origin) for word in node.keywords if word.arg == name)
                if 0 <= index < len(node.args):
                    yield node.args[index], origin


def _get_callee_name(call: ast.Call) -> str:
    match call.func:
        case ast.Name(id=name):
            return name
        case ast.Attribute(attr=attr):
            return attr
    return ""


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
