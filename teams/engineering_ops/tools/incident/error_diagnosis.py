"""Diagnose why a line raised: a defect of the code, or a configured value."""

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from nodes.limits.patterns import Pattern
from nodes.text.plain_text import sanitize_line
from nodes.tools.logs.failure import Failure

from .failure_site import MAX_CODE_CHARS, FailureSite, list_head_nodes
from .sources import FunctionNode, SourceFile
from .value_origins import (
    find_called_functions,
    find_statement,
    find_values,
    locate_line,
)

_NONE_ATTRIBUTE = Pattern(r"'NoneType' object has no attribute '(\w+)'")
_NONE_TYPE = Pattern(r"\bNoneType\b")
_REMOTE_ERRORS = frozenset(
    {
        "TimeoutError",
        "ReadTimeout",
        "ConnectTimeout",
        "ConnectionError",
        "ConnectionRefusedError",
        "ConnectionResetError",
        "ConnectError",
        "OperationalError",
        "PoolTimeout",
        "URLError",
        "SSLError",
        "gaierror",
    }
)
"""Errors raised when a remote host does not answer, whatever the code does."""


@dataclass(frozen=True)
class Diagnosis:
    """The result of diagnosing a trace."""

    verdict: Literal["defect", "configuration", "open"]
    reason: str
    fix: str = ""
    setting_keys: tuple[str, ...] = ()
    """Settings that the failing value depends on."""


def diagnose(
    trace: Failure, line: int, source: SourceFile, sources: Sequence[SourceFile]
) -> Diagnosis:
    """Return why a line of a known file raised; `open` if no rule applies."""
    statement = find_statement(source, line)
    if statement is None:
        return Diagnosis("open", f"line {line} of {source.name} holds no statement")
    place = locate_line(source, line)
    scene = FailureSite(trace, line, source, sources, statement, place)
    by_kind = (
        _diagnose_remote_error
        if trace.name in _REMOTE_ERRORS
        else _DIAGNOSE_BY_ERROR.get(trace.name, _diagnose_raise)
    )
    return by_kind(scene) or _build_open_diagnosis(scene)


def _build_open_diagnosis(scene: FailureSite) -> Diagnosis:
    return Diagnosis(
        "open", f"`{scene.code_line}` at {scene.file_and_line} raised {scene.trace.name}"
    )


def _diagnose_division(scene: FailureSite) -> Diagnosis | None:
    divisors = [
        node.right
        for node in scene.find_nodes(ast.BinOp)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div | ast.FloorDiv | ast.Mod)
    ]
    if not divisors:
        return None
    shown = ast.unparse(divisors[0])
    if keys := scene.list_settings(divisors[0]):
        return _blame_settings(
            scene, keys, f"`{shown}`, by which {scene.file_and_line} divides, is 0; it comes from"
        )
    return Diagnosis(
        "defect",
        f"`{scene.code_line}` divides by `{shown}`, which is 0 for some input, and nothing "
        "before it "
        "asks",
        _suggest_guard(scene, f"{shown} == 0"),
    )


def _diagnose_key(scene: FailureSite) -> Diagnosis | None:
    missing = scene.trace.message.strip("'\" ")
    keys = [key for node in list_head_nodes(scene.statement) for key in scene.list_settings(node)]
    if any(missing == key or missing in key.split(".") for key in keys):
        wanted = tuple(key for key in keys if missing == key or missing in key.split("."))
        return _blame_settings(
            scene, wanted, f"{scene.file_and_line} reads a setting that is not there:"
        )
    if not missing or not scene.find_nodes(ast.Subscript):
        return None
    name = sanitize_line(missing, 80)
    return Diagnosis(
        "defect",
        f"`{scene.code_line}` reads the key `{name}`, which is not always there",
        f"use `.get` with a default in line {scene.line} of {scene.source.name}, or check "
        "the key where the value comes in",
    )


def _diagnose_index(scene: FailureSite) -> Diagnosis | None:
    parts = [node for node in scene.find_nodes(ast.Subscript) if isinstance(node, ast.Subscript)]
    if not parts:
        return None
    held = ast.unparse(parts[0].value)
    return Diagnosis(
        "defect",
        f"`{scene.code_line}` takes an element that `{held}` does not have when it is too short",
        f"ask for the length of `{held}` before line {scene.line} of {scene.source.name}",
    )


def _diagnose_none(scene: FailureSite) -> Diagnosis | None:
    """Find what was None, and the function that returned it."""
    if not _NONE_TYPE.search(scene.trace.message):
        return None
    found = _NONE_ATTRIBUTE.search(scene.trace.message)
    suspects: list[ast.AST]
    if found:
        suspects = [
            node.value
            for node in scene.find_nodes(ast.Attribute)
            if isinstance(node, ast.Attribute) and node.attr == found[1]
        ]
        use = f"reads `.{found[1]}` of it"
    else:
        suspects, use = scene.find_nodes(ast.Name), "works with it"
    for suspect in suspects:
        if giver := _explain_none_origin(suspect, scene):
            shown = ast.unparse(suspect)
            return Diagnosis(
                "defect",
                f"`{shown}` is None: {giver}, and `{scene.code_line}` at "
                f"{scene.file_and_line} {use} without "
                "asking",
                _suggest_guard(scene, f"{shown} is None"),
            )
    if found and suspects:
        shown = ast.unparse(suspects[0])
        if keys := scene.list_settings(suspects[0]):
            return _blame_settings(scene, keys, f"`{shown}` has no value; it comes from")
        return Diagnosis(
            "defect",
            f"`{shown}` is None at {scene.file_and_line}, and `{scene.code_line}` {use} "
            "without asking",
            _suggest_guard(scene, f"{shown} is None"),
        )
    return None


def _suggest_guard(scene: FailureSite, condition: str) -> str:
    inside = f"`{scene.location.function.name}`" if scene.location.function else "the module"
    return (
        f"put `if {condition}:` before line {scene.line} of {scene.source.name}, and below "
        f"it what {inside} is to give or raise then"
    )


def _explain_none_origin(suspect: ast.AST, scene: FailureSite) -> str:
    values = find_values(suspect, scene.location, scene.sources)
    for value in [suspect, *values]:
        if not isinstance(value, ast.Call):
            continue
        for source, function in find_called_functions(value, scene.sources):
            if line := _find_none_return(function):
                return f"`{function.name}` gives None at {source.name}:{line}"
        if (
            isinstance(value.func, ast.Attribute)
            and value.func.attr == "get"
            and (len(value.args) == 1 and not scene.list_settings(value))
        ):
            return f"`{ast.unparse(value)}` gives None for a key that is not there"
    return ""


def _find_none_return(function: FunctionNode) -> int:
    """Return the line at which a function returns None while it returns values elsewhere."""
    returns = [node for node in ast.walk(function) if isinstance(node, ast.Return)]
    empty = [node for node in returns if node.value is None or _is_none(node.value)]
    if empty:
        return empty[0].lineno
    falls = not isinstance(function.body[-1], ast.Return | ast.Raise | ast.With | ast.Try | ast.If)
    return (function.end_lineno or function.lineno) if returns and falls else 0


def _is_none(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is None


def _diagnose_name(scene: FailureSite) -> Diagnosis:
    said = sanitize_line(scene.trace.message, MAX_CODE_CHARS)
    return Diagnosis(
        "defect",
        f"`{scene.code_line}` at {scene.file_and_line} uses a name that has no value there: {said}",
        f"give the name a value on each way to line {scene.line} of {scene.source.name}, or "
        "import it",
    )


def _diagnose_remote_error(scene: FailureSite) -> Diagnosis | None:
    """Blame the call's arguments where a remote host did not answer."""
    keys = tuple(
        dict.fromkeys(
            k for node in list_head_nodes(scene.statement) for k in scene.list_settings(node)
        )
    )
    if not keys:
        return None
    what = (
        f"the call at {scene.file_and_line} was not answered; unless the other side was "
        "down, where it "
        "goes and how long it waits is in"
    )
    return _blame_settings(scene, keys, what)


def _diagnose_raise(scene: FailureSite) -> Diagnosis | None:
    """Read the condition under which the code itself raised."""
    if not isinstance(scene.statement, ast.Raise) or scene.source.tree is None:
        return None
    conditions = [
        node
        for node in ast.walk(scene.source.tree)
        if isinstance(node, ast.If) and scene.statement in node.body
    ]
    for condition in conditions:
        shown = sanitize_line(ast.unparse(condition.test), MAX_CODE_CHARS)
        if keys := scene.list_settings(condition.test):
            return _blame_settings(
                scene, keys, f"{scene.file_and_line} refuses on purpose, `if {shown}`, by"
            )
        return Diagnosis("open", f"{scene.file_and_line} refuses on purpose, `if {shown}`")
    return None


def _blame_settings(scene: FailureSite, keys: Sequence[str], what: str) -> Diagnosis:
    named = ", ".join(f"`{key}`" for key in keys)
    return Diagnosis("configuration", f"{what} {named}", setting_keys=tuple(keys))


_DIAGNOSE_BY_ERROR: Mapping[str, Callable[[FailureSite], Diagnosis | None]] = {
    "ZeroDivisionError": _diagnose_division,
    "KeyError": _diagnose_key,
    "IndexError": _diagnose_index,
    "AttributeError": _diagnose_none,
    "TypeError": _diagnose_none,
    "NameError": _diagnose_name,
    "UnboundLocalError": _diagnose_name,
}
