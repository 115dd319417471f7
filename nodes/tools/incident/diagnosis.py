"""Why a line raised what it raised: a defect of the code, or a value that was configured so."""

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from nodes.limits.patterns import Pattern
from nodes.tools.incident.origins import called_functions, place_of, statement_at, values_of
from nodes.tools.incident.scene import MAX_CODE_CHARS, Scene, head
from nodes.tools.incident.sources import Function, Source
from nodes.tools.incident.traces import Frame, Trace
from nodes.tools.plain_text import plain_line

_NONE_HAS_NO = Pattern(r"'NoneType' object has no attribute '(\w+)'")
_NONE = Pattern(r"\bNoneType\b")
_OUTSIDE = frozenset(
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
"""What is raised where another machine does not answer, whatever the code is like."""


@dataclass(frozen=True)
class Diagnosis:
    """What a trace comes down to."""

    verdict: Literal["defect", "configuration", "open"]
    why: str
    mend: str = ""
    keys: tuple[str, ...] = ()
    """Settings that the failing value depends on."""


def diagnose(trace: Trace, frame: Frame, source: Source, sources: Sequence[Source]) -> Diagnosis:
    """Say why a line of a known file raised; `open` where no rule tells."""
    statement = statement_at(source, frame.line)
    if statement is None:
        return Diagnosis("open", f"line {frame.line} of {source.name} holds no statement")
    place = place_of(source, frame.line)
    scene = Scene(trace, frame, source, sources, statement, place)
    by_kind = _outside if trace.name in _OUTSIDE else _BY_KIND.get(trace.name, _raised)
    return by_kind(scene) or _open(scene)


def _open(scene: Scene) -> Diagnosis:
    return Diagnosis("open", f"`{scene.code}` at {scene.where} raised {scene.trace.name}")


def _division(scene: Scene) -> Diagnosis | None:
    divisors = [
        node.right
        for node in scene.all(ast.BinOp)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div | ast.FloorDiv | ast.Mod)
    ]
    if not divisors:
        return None
    shown = ast.unparse(divisors[0])
    if keys := scene.settings(divisors[0]):
        return _configured(
            scene, keys, f"`{shown}`, by which {scene.where} divides, is 0; it comes from"
        )
    return Diagnosis(
        "defect",
        f"`{scene.code}` divides by `{shown}`, which is 0 for some input, and nothing before it "
        "asks",
        _guard(scene, f"{shown} == 0"),
    )


def _key(scene: Scene) -> Diagnosis | None:
    missing = scene.trace.message.strip("'\" ")
    keys = [key for node in head(scene.statement) for key in scene.settings(node)]
    if any(missing == key or missing in key.split(".") for key in keys):
        wanted = tuple(key for key in keys if missing == key or missing in key.split("."))
        return _configured(scene, wanted, f"{scene.where} reads a setting that is not there:")
    if not missing or not scene.all(ast.Subscript):
        return None
    name = plain_line(missing, 80)
    return Diagnosis(
        "defect",
        f"`{scene.code}` reads the key `{name}`, which is not always there",
        f"use `.get` with a default in line {scene.frame.line} of {scene.source.name}, or check "
        "the key where the value comes in",
    )


def _index(scene: Scene) -> Diagnosis | None:
    parts = [node for node in scene.all(ast.Subscript) if isinstance(node, ast.Subscript)]
    if not parts:
        return None
    held = ast.unparse(parts[0].value)
    return Diagnosis(
        "defect",
        f"`{scene.code}` takes an element that `{held}` does not have when it is too short",
        f"ask for the length of `{held}` before line {scene.frame.line} of {scene.source.name}",
    )


def _none(scene: Scene) -> Diagnosis | None:
    """Find what was None, and the function that gave it."""
    if not _NONE.search(scene.trace.message):
        return None
    found = _NONE_HAS_NO.search(scene.trace.message)
    suspects: list[ast.AST]
    if found:
        suspects = [
            node.value
            for node in scene.all(ast.Attribute)
            if isinstance(node, ast.Attribute) and node.attr == found[1]
        ]
        use = f"reads `.{found[1]}` of it"
    else:
        suspects, use = scene.all(ast.Name), "works with it"
    for suspect in suspects:
        if giver := _giver(suspect, scene):
            shown = ast.unparse(suspect)
            return Diagnosis(
                "defect",
                f"`{shown}` is None: {giver}, and `{scene.code}` at {scene.where} {use} without "
                "asking",
                _guard(scene, f"{shown} is None"),
            )
    if found and suspects:
        shown = ast.unparse(suspects[0])
        if keys := scene.settings(suspects[0]):
            return _configured(scene, keys, f"`{shown}` has no value; it comes from")
        return Diagnosis(
            "defect",
            f"`{shown}` is None at {scene.where}, and `{scene.code}` {use} without asking",
            _guard(scene, f"{shown} is None"),
        )
    return None


def _guard(scene: Scene, condition: str) -> str:
    inside = f"`{scene.place.function.name}`" if scene.place.function else "the module"
    return (
        f"put `if {condition}:` before line {scene.frame.line} of {scene.source.name}, and below "
        f"it what {inside} is to give or raise then"
    )


def _giver(suspect: ast.AST, scene: Scene) -> str:
    values = values_of(suspect, scene.place, scene.sources)
    for value in [suspect, *values]:
        if not isinstance(value, ast.Call):
            continue
        for source, function in called_functions(value, scene.sources):
            if line := _none_at(function):
                return f"`{function.name}` gives None at {source.name}:{line}"
        if (
            isinstance(value.func, ast.Attribute)
            and value.func.attr == "get"
            and (len(value.args) == 1 and not scene.settings(value))
        ):
            return f"`{ast.unparse(value)}` gives None for a key that is not there"
    return ""


def _none_at(function: Function) -> int:
    """Give the line at which a function returns None while it returns values elsewhere."""
    returns = [node for node in ast.walk(function) if isinstance(node, ast.Return)]
    empty = [node for node in returns if node.value is None or _is_none(node.value)]
    if empty:
        return empty[0].lineno
    falls = not isinstance(function.body[-1], ast.Return | ast.Raise | ast.With | ast.Try | ast.If)
    return (function.end_lineno or function.lineno) if returns and falls else 0


def _is_none(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is None


def _name(scene: Scene) -> Diagnosis:
    said = plain_line(scene.trace.message, MAX_CODE_CHARS)
    return Diagnosis(
        "defect",
        f"`{scene.code}` at {scene.where} uses a name that has no value there: {said}",
        f"give the name a value on each way to line {scene.frame.line} of {scene.source.name}, or "
        "import it",
    )


def _outside(scene: Scene) -> Diagnosis | None:
    """Blame what the call was told where another machine did not answer it."""
    keys = tuple(dict.fromkeys(k for node in head(scene.statement) for k in scene.settings(node)))
    if not keys:
        return None
    what = (
        f"the call at {scene.where} was not answered; unless the other side was down, where it "
        "goes and how long it waits is in"
    )
    return _configured(scene, keys, what)


def _raised(scene: Scene) -> Diagnosis | None:
    """Read the condition under which the code itself raised."""
    if not isinstance(scene.statement, ast.Raise) or scene.source.tree is None:
        return None
    conditions = [
        node
        for node in ast.walk(scene.source.tree)
        if isinstance(node, ast.If) and scene.statement in node.body
    ]
    for condition in conditions:
        shown = plain_line(ast.unparse(condition.test), MAX_CODE_CHARS)
        if keys := scene.settings(condition.test):
            return _configured(scene, keys, f"{scene.where} refuses on purpose, `if {shown}`, by")
        return Diagnosis("open", f"{scene.where} refuses on purpose, `if {shown}`")
    return None


def _configured(scene: Scene, keys: Sequence[str], what: str) -> Diagnosis:
    named = ", ".join(f"`{key}`" for key in keys)
    return Diagnosis("configuration", f"{what} {named}", keys=tuple(keys))


_BY_KIND: Mapping[str, Callable[[Scene], Diagnosis | None]] = {
    "ZeroDivisionError": _division,
    "KeyError": _key,
    "IndexError": _index,
    "AttributeError": _none,
    "TypeError": _none,
    "NameError": _name,
    "UnboundLocalError": _name,
}
