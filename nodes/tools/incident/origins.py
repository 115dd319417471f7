"""Where a value in the code comes from: assignments, calls, attributes, as far as they are seen."""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nodes.tools.incident.configured import keys_read
from nodes.tools.incident.sources import Function, Source

MAX_DEPTH = 4


@dataclass(frozen=True)
class Place:
    """A spot in the code: its file, and the function and the class it is in."""

    source: Source
    function: Function | None = None
    owner: ast.ClassDef | None = None


def place_of(source: Source, line: int) -> Place:
    """Find the innermost function around a line, and its class."""
    around = [
        (name, node)
        for name, node in source.definitions
        if node.lineno <= line <= (node.end_lineno or node.lineno)
    ]
    functions = [node for _, node in around if isinstance(node, Function)]
    classes = [node for _, node in around if isinstance(node, ast.ClassDef)]
    return Place(source, functions[-1] if functions else None, classes[-1] if classes else None)


def statement_at(source: Source, line: int) -> ast.stmt | None:
    """Find the smallest statement that a line is of."""
    if source.tree is None:
        return None
    found = [
        node
        for node in ast.walk(source.tree)
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or node.lineno)
    ]
    return min(found, key=lambda node: (node.end_lineno or 0) - node.lineno, default=None)


def values_of(expression: ast.AST, place: Place, sources: Sequence[Source]) -> list[ast.expr]:
    """Give the expressions that a name, parameter or attribute of self was given."""
    return [value for value, _ in _given(expression, place, sources)]


def settings_behind(
    node: ast.AST, place: Place, sources: Sequence[Source], depth: int = MAX_DEPTH
) -> list[str]:
    """Name the settings that a value depends on, through what it was made of."""
    found = keys_read(node)
    if depth:
        for part in ast.walk(node):
            for value, origin in _given(part, place, sources):
                found += settings_behind(value, origin, sources, depth - 1)
    return list(dict.fromkeys(found))


def _given(
    node: ast.AST, place: Place, sources: Sequence[Source]
) -> Iterator[tuple[ast.expr, Place]]:
    match node:
        case ast.Name(id=name, ctx=ast.Load()):
            yield from _name(name, node, place, sources)
        case ast.Attribute(value=ast.Name(id="self"), attr=attr) if place.owner:
            for method in place.owner.body:
                if isinstance(method, Function):
                    inside = Place(place.source, method, place.owner)
                    for value in _assigned_to_self(method, attr):
                        yield value, inside


def _name(
    name: str, node: ast.Name, place: Place, sources: Sequence[Source]
) -> Iterator[tuple[ast.expr, Place]]:
    if place.function:
        inside = [value for value in _assigned(place.function, name) if value.lineno < node.lineno]
        if inside:
            yield inside[-1], place
            return
        parameters = _parameters(place.function)
        if name in parameters:
            yield from _passed(name, parameters, place, sources)
            return
    if place.source.tree:
        for statement in place.source.tree.body:
            for value in _assigned_by(statement, name):
                yield value, Place(place.source)


def _assigned(root: ast.AST, name: str) -> Iterator[ast.expr]:
    for node in ast.walk(root):
        yield from _assigned_by(node, name)


def _assigned_by(node: ast.AST, name: str) -> Iterator[ast.expr]:
    match node:
        case ast.Assign(targets=targets, value=value):
            if any(isinstance(target, ast.Name) and target.id == name for target in targets):
                yield value
        case ast.AnnAssign(target=ast.Name(id=found), value=ast.expr() as value) if found == name:
            yield value
        case ast.NamedExpr(target=ast.Name(id=found), value=value) if found == name:
            yield value


def _assigned_to_self(method: Function, attr: str) -> Iterator[ast.expr]:
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


def _parameters(function: Function) -> list[str]:
    named = function.args
    return [each.arg for each in (*named.posonlyargs, *named.args, *named.kwonlyargs)]


def _passed(
    name: str, parameters: list[str], place: Place, sources: Sequence[Source]
) -> Iterator[tuple[ast.expr, Place]]:
    """Find what callers pass for a parameter; a class is called for its `__init__`."""
    assert place.function is not None
    called = place.function.name
    if called == "__init__" and place.owner:
        called = place.owner.name
    is_method = bool(parameters) and parameters[0] in ("self", "cls")
    index = parameters.index(name) - is_method
    for source in (one for one in sources if called in one.text):
        for node in ast.walk(source.tree) if source.tree else ():
            if isinstance(node, ast.Call) and _callee(node) == called:
                origin = place_of(source, node.lineno)
                if origin.function is place.function:
                    continue
                yield from ((word.value, origin) for word in node.keywords if word.arg == name)
                if 0 <= index < len(node.args):
                    yield node.args[index], origin


def _callee(call: ast.Call) -> str:
    match call.func:
        case ast.Name(id=name):
            return name
        case ast.Attribute(attr=attr):
            return attr
    return ""


def called_functions(call: ast.Call, sources: Sequence[Source]) -> list[tuple[Source, Function]]:
    """Find the functions of a call's name."""
    name = _callee(call)
    return [
        (source, node)
        for source in sources
        if name in source.text
        for _, node in source.definitions
        if isinstance(node, Function) and node.name == name
    ]
