"""Find the settings that a piece of code reads, from the environment or a settings object."""

import ast
from collections.abc import Iterator

_SETTINGS_NAMES = frozenset({"settings", "config", "conf", "cfg", "configuration"})
_ENVIRONMENT_NAME = "environ"
_GETTER_NAMES = frozenset({"get" + "env", "get_env"})


def find_setting_keys(node: ast.AST) -> list[str]:
    """Return the settings that an expression reads itself, in order of appearance."""
    return list(dict.fromkeys(_iterate_keys(node)))


def _iterate_keys(node: ast.AST) -> Iterator[str]:
    if key := _get_key(node):
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
        yield from _iterate_keys(part)


def _get_key(node: ast.AST) -> str:
    path = _get_path(node)
    for index, part in enumerate(path[:-1]):
        bare = part.lower().strip("_")
        if bare == _ENVIRONMENT_NAME or bare in _GETTER_NAMES:
            return path[index + 1]
        if bare in _SETTINGS_NAMES:
            return ".".join(path[index + 1 :])
    return ""


def _get_path(node: ast.AST) -> list[str]:
    """Return the path to a value as names: `settings["a"].get("b")` is settings, a, b."""
    match node:
        case ast.Name(id=name):
            return [name]
        case ast.Attribute(value=value, attr=attr):
            return _append_part(value, attr)
        case ast.Subscript(value=value, slice=ast.Constant(value=str() as key)):
            return _append_part(value, key)
        case ast.Call(
            func=ast.Attribute(value=value, attr="get"), args=[ast.Constant(value=str() as key), *_]
        ):
            return _append_part(value, key)
        case ast.Call(func=func, args=[ast.Constant(value=str() as key), *_]):
            asked = _get_path(func)
            return [*asked, key] if asked and asked[-1].lower() in _GETTER_NAMES else []
    return []


def _append_part(value: ast.AST, last: str) -> list[str]:
    before = _get_path(value)
    return [*before, last] if before else []
