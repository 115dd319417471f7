"""Check the tools in a team's folder, in a child process that imports them."""

import ast
import inspect
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple

from langchain_core.tools import BaseTool
from pydantic import TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from nodes.errors import TeamInvalid, ToolFailed
from nodes.text.plain_text import sanitize_line
from nodes.tools.framework.catalog import find_own_tools, load_tools
from nodes.tools.framework.isolation import run_isolated_blocking
from nodes.tools.framework.settings import ToolSettings

CHECK_FUNCTION: Final = "nodes.tools.framework.own_tools_check:list_tool_problems"
TIMEOUT_S: Final = 60.0
MAX_TEXT_CHARS: Final = 500


class ToolProblem(NamedTuple):
    """What is wrong in a file of tools; line 0 if it is not about a line."""

    file: str
    line: int
    text: str


def check_own_tools(folder: Path) -> list[ToolProblem]:
    """Return what is wrong with the tools in a folder: imports, names, types and defaults."""
    try:
        found = run_isolated_blocking(
            CHECK_FUNCTION, timeout_s=TIMEOUT_S, folder=str(folder.resolve())
        )
    except ToolFailed as error:
        return [ToolProblem(str(folder), 0, f"importing the tools of this folder {error}")]
    return [ToolProblem(*problem) for problem in found]


def list_tool_problems(folder: str) -> list[ToolProblem]:
    """Return what is wrong with the tools in a folder; runs in the child process."""
    problems = list[ToolProblem]()
    try:
        own = find_own_tools(Path(folder))
    except TeamInvalid:
        return []  # reported where the team is read
    for file in sorted(Path(folder).glob("*.py")):
        if file.stem not in own:
            problems += _check_other_names(file)
            continue
        try:
            (tool,) = load_tools([file.stem], ToolSettings(), own)
        except TeamInvalid as error:
            text = sanitize_line(f"{error.cause}; {error.next}", MAX_TEXT_CHARS)
            problems.append(ToolProblem(str(file), _find_line(error.__cause__, file), text))
        else:
            problems += _check_tool(file, tool)
    return problems


def _check_other_names(file: Path) -> Iterator[ToolProblem]:
    """Yield a problem for each tool in a file that defines none of its own name."""
    try:
        tree = ast.parse(file.read_bytes(), str(file))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        yield ToolProblem(str(file), _find_line(error, file), f"{type(error).__name__}: {error}")
        return
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and _is_tool(node):
            text = f"the tool {node.name!r} is not named as its file; name the file {node.name}.py"
            yield ToolProblem(str(file), node.lineno, text)


def _is_tool(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    called = (each.func if isinstance(each, ast.Call) else each for each in node.decorator_list)
    return any(ast.unparse(each).rpartition(".")[2] == "tool" for each in called)


def _check_tool(file: Path, tool: BaseTool) -> Iterator[ToolProblem]:
    definition = _find_definition(tool, file)
    first = definition.lineno if definition else 0
    if tool.name != file.stem:
        text = f"the tool is named {tool.name!r}, its file {file.stem!r}; use one name"
        yield ToolProblem(str(file), first, text)
    arguments = ast.walk(definition.args) if definition else ()
    lines = {each.arg: each.lineno for each in arguments if isinstance(each, ast.arg)}
    fields: dict[str, FieldInfo] = getattr(tool.tool_call_schema, "model_fields", {})
    for name, field in fields.items():
        if problem := _find_field_problem(name, field):
            yield ToolProblem(str(file), lines.get(name, first), problem)


def _find_field_problem(name: str, field: FieldInfo) -> str:
    if field.annotation is Any:
        return f"parameter {name!r} has no type, so no model knows what to send; write {name}: str"
    if field.is_required():
        return ""
    annotated: Any = Annotated[field.annotation, *field.metadata, "default"]
    try:
        # Strict: a default reaches the function as it is, never converted. A tuple is a list.
        TypeAdapter(annotated).validate_python(
            field.default, strict=not isinstance(field.default, tuple)
        )
    except ValidationError as error:
        reason = error.errors(include_url=False)[0]["msg"]
        default = sanitize_line(repr(field.default), MAX_TEXT_CHARS)
        return f"the default {default} of parameter {name!r} does not fit its type: {reason}"
    return ""


def _find_definition(tool: BaseTool, file: Path) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    """Return the function of a tool in the syntax tree of its file, if it is defined there."""
    function = getattr(tool, "coroutine", None) or getattr(tool, "func", None)
    code = getattr(inspect.unwrap(function), "__code__", None) if function else None
    for node in ast.walk(ast.parse(file.read_bytes())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and code:
            starts = {node.lineno, *(each.lineno for each in node.decorator_list)}
            if node.name == code.co_name and code.co_firstlineno in starts:
                return node
    return None


def _find_line(error: BaseException | None, file: Path) -> int:
    """Return the line of a file where an error arose; 0 if it arose elsewhere."""
    if isinstance(error, SyntaxError) and error.filename == str(file):
        return error.lineno or 0
    frames = traceback.extract_tb(error.__traceback__) if error else ()
    return next((each.lineno or 0 for each in reversed(frames) if each.filename == str(file)), 0)
