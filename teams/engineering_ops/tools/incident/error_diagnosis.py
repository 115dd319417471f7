"""Diagnose why a line raised: a defect of the code, or a configured value and its setting."""

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Self, TypeVar

from extensions.tools.logs.failures import Failure
from nodes.limits.patterns import Pattern
from nodes.text.plain_text import format_as_code, sanitize_line

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


MAX_CODE_CHARS = 120
_NONE = Pattern(r"\bNoneType\b(?:' object has no attribute '(\w+)')?")
_REMOTE_ERROR = Pattern(
    r"Timeout(?:Error)?$|^Connect(?:ion(?:Refused|Reset)?)?Error$"
    r"|^(?:OperationalError|URLError|SSLError|gaierror)$"
)
"""Errors raised when a remote host does not answer, whatever the code does."""
_BODIES = frozenset({"body", "orelse", "finalbody", "handlers", "cases"})
Node = TypeVar("Node", bound=ast.AST)


@dataclass(frozen=True)
class Diagnosis:
    """The result of diagnosing a trace."""

    verdict: Literal["defect", "configuration", "open"]
    reason: str
    fix: str = ""
    setting_keys: tuple[str, ...] = ()
    """Settings that the failing value depends on."""


@dataclass(frozen=True)
class FailureSite:
    """The failing line, with its context."""

    trace: Failure
    line: int
    source: SourceFile
    sources: Sequence[SourceFile]
    statement: ast.stmt
    location: CodeLocation

    @property
    def place(self) -> str:
        """Return the place as file and line."""
        return f"{self.source.name}:{self.line}"

    @property
    def code_line(self) -> str:
        """Return the failing line as code."""
        return f"`{sanitize_line(self.source.get_line(self.line), MAX_CODE_CHARS)}`"

    @property
    def head(self) -> list[ast.AST]:
        """Return the parts of the statement, without the body of a compound one."""
        fields = [value for name, value in ast.iter_fields(self.statement) if name not in _BODIES]
        parts = [part for each in fields for part in (each if isinstance(each, list) else [each])]
        return [part for part in parts if isinstance(part, ast.AST)]

    def find_nodes(self, kind: type[Node]) -> list[Node]:
        """Return the parts of the statement's head that are of a kind."""
        nodes = (node for part in self.head for node in ast.walk(part))
        return [node for node in nodes if isinstance(node, kind)]

    def list_settings(self, *nodes: ast.AST) -> list[str]:
        """Return the settings that parts of the statement depend on."""
        found = (find_settings(node, self.location, self.sources) for node in nodes)
        return list(dict.fromkeys(key for keys in found for key in keys))

    def suggest_guard(self, condition: str) -> str:
        """Return the fix that asks before the line."""
        inside = f"`{self.location.function.name}`" if self.location.function else "the module"
        return (
            f"put `if {condition}:` before line {self.line} of {self.source.name}, and below it "
            f"what {inside} is to give or raise then"
        )


def diagnose(
    trace: Failure, line: int, source: SourceFile, sources: Sequence[SourceFile]
) -> Diagnosis:
    """Return why a line of a known file raised; `open` if no rule applies."""
    around = source.find_statements(line)
    if not around:
        return Diagnosis("open", f"line {line} of {source.name} holds no statement")
    location = CodeLocation.at_line(source, line)
    site = FailureSite(trace, line, source, sources, around[-1], location)
    is_remote = _REMOTE_ERROR.search(trace.name)
    rule = _diagnose_remote_error if is_remote else _RULES.get(trace.name)
    if found := (rule or _diagnose_raise)(site):
        return found
    if trace.name in _DEFECTS and not isinstance(site.statement, ast.Raise):
        what, fix = _DEFECTS[trace.name]
        said = format_as_code(sanitize_line(trace.message, MAX_CODE_CHARS))
        reason = f"{site.code_line} at {site.place} {what}: {said}"
        return Diagnosis("defect", reason, f"{fix} before line {line} of {source.name}")
    return Diagnosis("open", f"{site.code_line} at {site.place} raised {trace.name}")


def _blame_settings(keys: Iterable[str], what: str) -> Diagnosis | None:
    named = tuple(keys)
    told = ", ".join(f"`{key}`" for key in named)
    return Diagnosis("configuration", f"{what} {told}", setting_keys=named) if named else None


def _diagnose_division(site: FailureSite) -> Diagnosis | None:
    for node in site.find_nodes(ast.BinOp):
        if isinstance(node.op, ast.Div | ast.FloorDiv | ast.Mod):
            shown = ast.unparse(node.right)
            what = f"`{shown}`, by which {site.place} divides, is 0; it comes from"
            return _blame_settings(site.list_settings(node.right), what) or Diagnosis(
                "defect",
                f"{site.code_line} divides by `{shown}`, which is 0 for some input, and nothing "
                "before it asks",
                site.suggest_guard(f"{shown} == 0"),
            )
    return None


def _diagnose_key(site: FailureSite) -> Diagnosis | None:
    missing = site.trace.message.strip("'\" ")
    keys = [key for key in site.list_settings(*site.head) if missing in (key, *key.split("."))]
    return _blame_settings(keys, f"{site.place} reads a setting that is not there:")


def _diagnose_none(site: FailureSite) -> Diagnosis | None:
    """Find what was None, and the function that returned it."""
    found = _NONE.search(site.trace.message)
    if not found:
        return None
    read = [node.value for node in site.find_nodes(ast.Attribute) if node.attr == found[1]]
    use = f"reads `.{found[1]}` of it" if read else "works with it"
    for suspect in read or site.find_nodes(ast.Name):
        shown, origin = ast.unparse(suspect), _explain_none_origin(suspect, site)
        keys = site.list_settings(suspect) if read and not origin else ()
        if blamed := _blame_settings(keys, f"`{shown}` has no value; it comes from"):
            return blamed
        if origin or read:
            return Diagnosis(
                "defect",
                f"`{shown}` is None{origin}, and {site.code_line} at {site.place} {use} without "
                "asking",
                site.suggest_guard(f"{shown} is None"),
            )
    return None


def _explain_none_origin(suspect: ast.AST, site: FailureSite) -> str:
    values = [value for value, _ in trace_values(suspect, site.location, site.sources)]
    for value in [suspect, *values]:
        if not isinstance(value, ast.Call):
            continue
        for source, function in find_called_functions(value, site.sources):
            if line := _find_none_return(function):
                return f": `{function.name}` gives None at {source.name}:{line}"
        is_get = isinstance(value.func, ast.Attribute) and value.func.attr == "get"
        if is_get and len(value.args) == 1 and not site.list_settings(value):
            return f": `{ast.unparse(value)}` gives None for a key that is not there"
    return ""


def _find_none_return(function: FunctionNode) -> int:
    """Return the line at which a function returns None while it returns values elsewhere."""
    returns = [node for node in ast.walk(function) if isinstance(node, ast.Return)]
    for node in returns:
        if node.value is None or (
            isinstance(node.value, ast.Constant) and node.value.value is None
        ):
            return node.lineno
    falls = not isinstance(function.body[-1], ast.Return | ast.Raise | ast.With | ast.Try | ast.If)
    return (function.end_lineno or function.lineno) if returns and falls else 0


def _diagnose_remote_error(site: FailureSite) -> Diagnosis | None:
    """Blame the call's arguments where a remote host did not answer."""
    what = (
        f"the call at {site.place} was not answered; unless the other side was down, where it "
        "goes and how long it waits is in"
    )
    return _blame_settings(site.list_settings(*site.head), what)


def _diagnose_raise(site: FailureSite) -> Diagnosis | None:
    """Read the condition under which the code itself raised."""
    if not isinstance(site.statement, ast.Raise):
        return None
    for node in ast.walk(site.source.tree or site.statement):
        if isinstance(node, ast.If) and site.statement in node.body:
            shown = sanitize_line(ast.unparse(node.test), MAX_CODE_CHARS)
            what = f"{site.place} refuses on purpose, `if {shown}`"
            blamed = _blame_settings(site.list_settings(node.test), f"{what}, by")
            return blamed or Diagnosis("open", what)
    return None


_RULES: Mapping[str, Callable[[FailureSite], Diagnosis | None]] = {
    "ZeroDivisionError": _diagnose_division,
    "KeyError": _diagnose_key,
    "AttributeError": _diagnose_none,
    "TypeError": _diagnose_none,
}
_DEFECTS: Mapping[str, tuple[str, str]] = {
    "KeyError": ("reads a key that is not always there", "look for the key"),
    "IndexError": ("takes an element of what is too short", "ask for the length"),
    "NameError": ("uses a name that has no value there", "give the name a value, or import it,"),
    "UnboundLocalError": ("uses a name that has no value there", "give the name a value"),
}
"""What is wrong with the line, and what to do before it, where the exception itself says so."""
