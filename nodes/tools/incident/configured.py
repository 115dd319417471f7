"""Which settings a piece of code reads: from the environment, or from what it calls settings."""

import ast
from collections.abc import Iterator

_HOLDERS = frozenset({"settings", "config", "conf", "cfg", "configuration"})
_ENVIRONMENT = "environ"
_ASKING = frozenset({"get" + "env", "get_env"})


def keys_read(node: ast.AST) -> list[str]:
    """Name the settings that an expression reads itself, in the order they stand."""
    return list(dict.fromkeys(_keys(node)))


def _keys(node: ast.AST) -> Iterator[str]:
    if key := _key(node):
        yield key
        return
    # `settings["url"].rstrip()` reads the setting, not something called rstrip.
    is_method = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    if is_method:
        assert isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        parts: list[ast.AST] = [node.func.value, *node.args, *node.keywords]
    else:
        parts = list(ast.iter_child_nodes(node))
    for part in parts:
        yield from _keys(part)


def _key(node: ast.AST) -> str:
    path = _path(node)
    for index, part in enumerate(path[:-1]):
        bare = part.lower().strip("_")
        if bare == _ENVIRONMENT or bare in _ASKING:
            return path[index + 1]
        if bare in _HOLDERS:
            return ".".join(path[index + 1 :])
    return ""


def _path(node: ast.AST) -> list[str]:
    """Give the way to a value as names: `settings["a"].get("b")` is settings, a, b."""
    match node:
        case ast.Name(id=name):
            return [name]
        case ast.Attribute(value=value, attr=attr):
            return _joined(value, attr)
        case ast.Subscript(value=value, slice=ast.Constant(value=str() as key)):
            return _joined(value, key)
        case ast.Call(
            func=ast.Attribute(value=value, attr="get"), args=[ast.Constant(value=str() as key), *_]
        ):
            return _joined(value, key)
        case ast.Call(func=func, args=[ast.Constant(value=str() as key), *_]):
            asked = _path(func)
            return [*asked, key] if asked and asked[-1].lower() in _ASKING else []
    return []


def _joined(value: ast.AST, last: str) -> list[str]:
    before = _path(value)
    return [*before, last] if before else []
