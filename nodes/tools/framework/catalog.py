"""Load tools by the names in a team's files; a tool's module is imported on first use.

A name is looked up among the objects that a program passes, in the team's own folder of tools, then
among the shared ones.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from difflib import get_close_matches
from functools import partial
from importlib import import_module
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any, Final, NoReturn, get_args

import yaml
from langchain_core.tools import BaseTool
from pydantic import ValidationError

from nodes.errors import SettingsInvalid, TeamInvalid, ToolRefused, require_type
from nodes.limits.nesting import SchemaRefused, expand_references
from nodes.limits.patterns import Pattern
from nodes.schemas.team import OwnTool, SentContent, Team
from nodes.security.tool_access import get_shipped_access, read_access, read_declaration
from nodes.text.plain_text import sanitize_line
from nodes.tools.framework.extras import explain_missing_module
from nodes.tools.framework.settings import ToolSettings
from nodes.tools.framework.tool_packages import import_tool_module


def share_tools(package: str, folder: Path) -> None:
    """Let every team name the tools of a package: its files that define their own name.

    Raises:
        ValueError: a tool of one of the names is shared already.
    """
    names = [file.stem for file in sorted(folder.glob("*.py")) if _defines_name(file)]
    for name in names:
        if (held := _SHARED.get(name, package)) != package:
            raise ValueError(f"the tool {name} of {package} is one of {held} already")
    _SHARED.update(dict.fromkeys(names, package))


def list_shipped_tools() -> list[str]:
    """Return the names of the shared tools."""
    return sorted(_SHARED)


def find_own_tools(folder: Path) -> dict[str, OwnTool]:
    """Return the tools in a team's folder by name: the files that define their own name.

    Raises:
        TeamInvalid: a file cannot be read, or declares an access that does not exist.
    """
    files = sorted(folder.glob("*.py")) if folder.is_dir() else []
    return {file.stem: _read_own_tool(file) for file in files if _defines_name(file)}


def _read_own_tool(file: Path) -> OwnTool:
    text = _read_source(file)
    found = _ACCESS.search(text)
    try:
        declared = yaml.safe_load(found["access"]) if found else {}
        return OwnTool(folder=file.parent.resolve(), **declared)
    except (yaml.YAMLError, TypeError, ValidationError, RecursionError) as error:
        line = text.count("\n", 0, found.start()) + 1 if found else 1
        raise TeamInvalid(
            f"ACCESS in {file}, line {line}, is invalid",
            next='write it as {"reads": ["private", "untrusted"], "sends": "nothing"}; what it '
            f"sends is one of {', '.join(get_args(SentContent))}",
        ) from error


def load_tools(
    names: Iterable[str],
    settings: ToolSettings,
    own: Mapping[str, OwnTool] = MappingProxyType({}),
) -> list[BaseTool]:
    """Build tools by name: of the team's own, a shared one, or `module:attribute`.

    A tool that the program passes as an object comes first. Each tool declares what it reads and
    sends: shipped ones in the catalog, others themselves.

    Raises:
        TeamInvalid: a name leads to no tool, or to one whose declaration cannot be read; or two
            tools have one name.
    """
    tools = [_attach_access(name, _load_tool(name, settings, own), own) for name in names]
    require_distinct_names(tools)
    return tools


def require_distinct_names(tools: Iterable[BaseTool]) -> None:
    """Raise TeamInvalid if a model would know two tools by one name: it could call only one."""
    named = Counter(tool.name for tool in tools)
    if twice := [name for name, count in named.items() if count > 1]:
        raise TeamInvalid(f"two tools are named {twice[0]!r}", next="rename one of them")


def resolve_tool(name: str, own: Mapping[str, OwnTool] = MappingProxyType({})) -> Any:
    """Return what a tool's name resolves to: a tool, or a function that builds one.

    Raises:
        TeamInvalid: there is no such file, module or attribute, or it cannot be imported.
    """
    if ":" in name:
        module, _, attribute = name.partition(":")
        return _import_tool(name, attribute, partial(import_module, module))
    if name in own and (folder := own[name].folder):
        return _import_tool(
            str(folder / f"{name}.py"), name, partial(import_tool_module, folder, name)
        )
    if (package := _SHARED.get(name)) is None:
        raise _build_unknown_tool_error(name, own)
    return getattr(import_module(f"{package}.{name}"), name)


def _import_tool(place: str, attribute: str, load: Callable[[], ModuleType]) -> Any:
    try:
        return getattr(load(), attribute)
    except (Exception, SystemExit) as error:  # a user's module may raise anything
        raise TeamInvalid(
            f"tool {place} cannot be loaded",
            cause=f"{type(error).__name__}: {error}",
            next=explain_missing_module(str(error)) or _advise(place),
        ) from error


def _advise(place: str) -> str:
    if place.endswith(".py"):
        return "correct the file, or install what it imports"
    return "write it as package.module:attribute, importable from where you run"


def _attach_access(name: str, tool: BaseTool, own: Mapping[str, OwnTool]) -> BaseTool:
    if name in own:
        declared = own[name].model_dump(mode="json", exclude={"folder"})
        return _prepare(tool, declared | read_declaration(tool))
    if ":" not in name:
        return _prepare(tool, get_shipped_access(name).metadata)
    read_access(tool)
    return tool


def _prepare(tool: BaseTool, metadata: dict[str, Any] | None) -> BaseTool:
    refuse: Any = refuse_invalid_arguments  # declared to return a text; it raises
    return tool.model_copy(update={"metadata": metadata, "handle_validation_error": refuse})


def _load_tool(name: str, settings: ToolSettings, own: Mapping[str, OwnTool]) -> BaseTool:
    found = settings.given.get(name) or resolve_tool(name, own)
    if isinstance(found, BaseTool):
        return found
    cause = f"it is a {type(found).__name__}"
    if callable(found):
        try:
            built = found(settings)
        except Exception:  # what calling anything but a factory may raise
            built = None
        if isinstance(built, BaseTool):
            return built
    raise TeamInvalid(
        f"{name!r} is not a tool",
        cause=cause,
        next="decorate it with langchain_core.tools.tool, or return such a tool from it",
    )


def _build_unknown_tool_error(name: str, own: Mapping[str, OwnTool]) -> TeamInvalid:
    known = [*own, *list_shipped_tools()]
    close = get_close_matches(name, known, n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"known are {', '.join(known)}"
    return TeamInvalid(
        f"unknown tool {name!r}",
        cause=hint,
        next="name a file of the team's tools/, a shared tool, or package.module:attribute; a "
        "Python program passes it in tools={…}",
    )


def _defines_name(file: Path) -> bool:
    """Return whether a file defines its own name at its top level.

    Worker loops are built in threads, and several threads that build Python syntax trees at the
    same time sometimes fail before Python 3.12.
    """
    name = re.escape(file.stem)
    definition = rf"^(?:(?:async )?def {name}\b|{name}\s*[:=])"
    return bool(Pattern(definition, re.MULTILINE).search(_read_source(file)))


def _read_source(file: Path) -> str:
    """Return a file's text; its import reports what is wrong with its encoding.

    Raises:
        TeamInvalid: the file cannot be read.
    """
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise TeamInvalid(
            f"{file} cannot be read", cause=error.strerror or "", next="correct its permissions"
        ) from error


_ACCESS: Final = Pattern(r"^ACCESS(?:: [^=\n]*)? = (?P<access>\{[^}]*\})", re.MULTILINE)


_SHARED: Final[dict[str, str]] = {}
"""The package of each shared tool, by the tool's name."""
share_tools("nodes.tools", Path(__file__).parents[1])


MAX_NAMED_PROBLEMS = 3
MAX_VALUE_CHARS = 40


def refuse_invalid_arguments(error: ValidationError) -> NoReturn:
    """Refuse a call and name the arguments, what is wrong with them, and their values.

    Raises:
        ToolRefused: always.
    """
    problems = error.errors(include_url=False, include_context=False)
    named = "; ".join(
        f"{'.'.join(map(str, each['loc']))[:MAX_VALUE_CHARS]}: {each['msg']}, not "
        f"{sanitize_line(repr(each['input'])[:1000], MAX_VALUE_CHARS)}"
        for each in problems[:MAX_NAMED_PROBLEMS]
    )
    more = len(problems) - MAX_NAMED_PROBLEMS
    raise ToolRefused(f"{named}{f'; and {more} more' if more > 0 else ''}") from None


def declare_given_tools(tools: Mapping[Any, Any] | None) -> dict[str, OwnTool]:
    """Return what tools read and send, by the names under which workers hold them.

    Undeclared ones are the least trusted.

    Raises:
        SettingsInvalid: a name or a value cannot be that of a tool.
        TeamInvalid: the access that a tool declares in its metadata is invalid.
    """
    declared = dict[str, OwnTool]()
    for name, tool in (require_type("tools", tools, Mapping) or {}).items():
        if not isinstance(name, str) or not name.strip() or ":" in name:
            raise SettingsInvalid(
                f"tools has {name!r:.80}, which is not a tool's name",
                next="use the name that a worker's `tools` holds, without a colon",
            )
        if not isinstance(tool, BaseTool):
            raise SettingsInvalid(
                f"tools[{name!r}] is a {type(tool).__name__}, not a tool",
                next="decorate the function with langchain_core.tools.tool",
            )
        if isinstance(tool.args_schema, dict):  # of a server, by an adapter
            try:
                expand_references(tool.args_schema)
            except SchemaRefused as refusal:
                raise SettingsInvalid(
                    f"the schema of tools[{name!r}] is refused",
                    cause=str(refusal),
                    next="do not pass this tool, or correct its schema",
                ) from None
        read_access(tool)
        stated = tool.metadata or {}
        access: dict[str, Any] = {key: stated[key] for key in ("reads", "sends") if key in stated}
        declared[name] = OwnTool(**access)
    return declared


def add_given_tools(team: Team, declared: Mapping[str, OwnTool]) -> Team:
    """Return a team that has the tools, also in the teams within it.

    Raises:
        SettingsInvalid: no worker holds one of them.
    """
    held = set(_list_held_tools(team))
    if unused := [name for name in declared if name not in held]:
        raise SettingsInvalid(
            f"no worker of team {team.name} has the tool {unused[0]!r}",
            next="name it in a worker's `tools`, or do not pass it",
        )
    return _add(team, declared) if declared else team


def _add(team: Team, declared: Mapping[str, OwnTool]) -> Team:
    workers = tuple(
        worker.model_copy(update={"team": _add(worker.team, declared)}) if worker.team else worker
        for worker in team.workers
    )
    return team.model_copy(update={"workers": workers, "own_tools": {**team.own_tools, **declared}})


def _list_held_tools(team: Team) -> Iterator[str]:
    yield from team.grant
    for worker in team.workers:
        yield from worker.tools
        if worker.team:
            yield from _list_held_tools(worker.team)


class ConfirmedTool(BaseTool):
    """A tool that may ask a human before each call."""

    origin: str = ""
    """What it is, for humans: `mcp:github/create_issue`."""
    version: str = ""
    """Changes when the tool does."""
    asks: bool = True
    """Whether a human is asked before each call."""

    def check_arguments(self, arguments: Mapping[str, Any]) -> None:
        """Do nothing if a call may have these arguments.

        Raises:
            ToolRefused: it may not; the message says why.
        """


def get_origin(tool: BaseTool | None, name: str) -> str:
    """Return what a tool is, for humans; its name where that is all there is."""
    return (tool.origin if isinstance(tool, ConfirmedTool) else "") or name


def is_of_server(tool: BaseTool | None) -> bool:
    """Return whether a server answers a tool's calls."""
    return isinstance(tool, ConfirmedTool)
