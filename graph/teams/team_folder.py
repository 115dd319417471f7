"""Reads a team folder, and collects every problem, not only the first."""

from collections.abc import Callable, Iterable, Mapping
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from pydantic import ValidationError

from graph.teams.front_matter import (
    LIMIT_KEYS,
    FileProblem,
    TeamKeys,
    WorkerKeys,
    YamlPage,
    read_keys,
    read_page,
    read_yaml,
    suggest_name,
)
from graph.teams.outside_servers import (
    find_name_problem,
    list_unknown_tools,
    read_remote_keys,
    read_servers,
)
from nodes.errors import TeamInvalid
from nodes.limits.patterns import Pattern
from nodes.schemas.servers import MCP_PREFIX, McpServer
from nodes.schemas.team import (
    RESERVED_NAMES,
    SPECIALIST,
    Example,
    Limits,
    OwnTool,
    Team,
    TeamLimits,
    Worker,
)
from nodes.tools.framework.catalog import find_own_tools, list_shipped_tools
from state import Plan

TEAM_FILE: Final = "team.md"
EXAMPLES_FILE: Final = "examples.yaml"
TOOLS_FOLDER: Final = "tools"
MAX_WORKERS: Final = 64
NAME_PATTERN: Final = Pattern(r"[a-z][a-z0-9_]{0,39}")
NAME_RULE: Final = "allowed are lower-case letters, digits and _, a letter first, at most 40"
_ATTRIBUTE_PATTERN: Final = Pattern(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*")


FindTeam = Callable[[str, Path], Path]
"""Finds a team's folder by its name and the folder of the team that nests it."""


def read_team(
    folder: Path,
    find: FindTeam,
    *,
    around: tuple[Path, ...] = (),
    given: Mapping[str, OwnTool] = MappingProxyType({}),
    workers: Iterable[Path] = (),
) -> tuple[Team | None, list[FileProblem]]:
    """Read a team, and those it nests; the team is None if there are problems.

    Args:
        find: returns the folder of a team that a worker's file names.
        around: the folders of the teams that nest this one, the outermost first.
        given: tools that a program passes as objects.
        workers: files of workers from elsewhere, each in place of the one of its name, or added.
    """
    if refusal := _find_folder_problem(folder):
        return None, [refusal]
    try:
        own_tools = {**find_own_tools(folder / TOOLS_FOLDER), **given}
    except TeamInvalid as error:
        return None, [FileProblem(folder / TOOLS_FOLDER, f"{error}; {error.next}")]
    servers, server_problems = read_servers(folder)
    reading = _TeamReader(folder, find, (*around, folder.resolve()), own_tools, servers, given)
    reading.worker_files |= {path.stem: path for path in workers}
    reading.problems += server_problems
    guidance, keys = reading.read_team_file()
    read = reading.read_workers()
    names = set(reading.worker_files) | ({SPECIALIST} if keys.get("recruit") else set())
    examples = reading.read_examples(names)
    reading.check_names(keys, read)
    if reading.problems:
        return None, reading.problems
    name = folder.resolve().name
    team = Team(
        name=name,
        guidance=guidance,
        workers=read,
        examples=examples,
        own_tools=own_tools,
        mcp_servers=servers,
        **keys,
    )
    return team, []


def list_teams_in_folder(folder: Path) -> list[Path]:
    """Return the folders of the teams in a folder that is not a team itself."""
    if (folder / TEAM_FILE).exists():
        return []
    return [path.parent for path in sorted(folder.glob(f"*/{TEAM_FILE}"))]


def _list_worker_files(folder: Path) -> list[Path]:
    """Return the files of a team's workers."""
    return [
        path
        for path in folder.glob("*.md")
        if path.name != TEAM_FILE
        and path.stem.lower() != "readme"
        and not path.name.startswith(".")
    ]


def _find_folder_problem(folder: Path) -> FileProblem | None:
    if not folder.exists():
        return FileProblem(folder, "does not exist")
    if not folder.is_dir():
        return FileProblem(folder, "is not a folder; a team is a folder of Markdown files")
    if teams := list_teams_in_folder(folder):
        names = ", ".join(path.name for path in teams)
        return FileProblem(folder, f"is a folder of teams; choose one of them: {names}")
    if not (folder / TEAM_FILE).exists():
        return FileProblem(folder, f"has no {TEAM_FILE}, so it is not a team")
    if not NAME_PATTERN.fullmatch(folder.resolve().name):
        return FileProblem(folder, f"the folder's name is the team's name; {NAME_RULE}")
    return None


class _TeamReader:
    """Collects problems while the files of one folder are read."""

    def __init__(
        self,
        folder: Path,
        find: FindTeam,
        around: tuple[Path, ...],
        own_tools: Mapping[str, OwnTool],
        servers: Mapping[str, McpServer],
        given: Mapping[str, OwnTool],
    ) -> None:
        self.folder, self._find_team, self._outer_folders = folder, find, around
        self._own_tools, self._servers, self._given = own_tools, servers, given
        self.worker_files = {path.stem: path for path in _list_worker_files(folder)}
        self.problems: list[FileProblem] = []
        self._tool_holders: dict[str, str] = {}

    def read_team_file(self) -> tuple[str, dict[str, Any]]:
        """Read `team.md`: the supervisor's guidance and the team's settings."""
        page = self._read_page(self.folder / TEAM_FILE)
        if page is None:
            return "", {}
        keys, problems = read_keys(TeamKeys, page)
        self.problems += [*problems, *self._list_tool_problems(page, "the grant", keys, "grant")]
        for key in ("access", "approve"):
            self.problems += list_unknown_tools(page, key, keys.get(key, ()), self._servers)
        return page.body, keys

    def read_workers(self) -> tuple[Worker, ...]:
        """Read every worker."""
        paths = [path for _, path in sorted(self.worker_files.items())]
        if not 1 <= len(paths) <= MAX_WORKERS:
            text = f"has {len(paths)} workers; allowed: 1 to {MAX_WORKERS}, each a file NAME.md"
            self.problems.append(FileProblem(self.folder, text))
        return tuple(worker for path in paths[:MAX_WORKERS] if (worker := self._read_worker(path)))

    def read_examples(self, workers: set[str]) -> tuple[Example, ...]:
        """Read the example plans for the planner; a team may have none."""
        path = self.folder / EXAMPLES_FILE
        if not path.exists() and not path.is_symlink():
            return ()
        try:
            page = read_yaml(path, self.folder)
        except FileProblem as problem:
            self.problems.append(problem)
            return ()
        if not isinstance(page.value, list):
            self.problems.append(
                page.build_problem("must be a list of examples, each request and plan")
            )
            return ()
        found = (self._read_example(page, index, workers) for index in range(len(page.value)))
        return tuple(example for example in found if example)

    def check_names(self, keys: Mapping[str, Any], workers: Iterable[Worker]) -> None:
        """Check that each fallback, each worker that is needed, and the generalist exist."""
        known = self.worker_files
        named = [(self.folder / TEAM_FILE, "generalist", keys.get("generalist", ""))]
        for worker in workers:
            file = known[worker.name]
            named.append((file, "fallback", worker.fallback))
            named += [(file, "needs", name) for name in worker.needs]
        for file, key, name in named:
            if name and name not in known:
                text = f"{key} {name!r} is not a worker of the team{suggest_name(name, known)}"
                self.problems.append(FileProblem(file, text))
            elif key != "generalist" and file == known.get(name):
                own = "be its own fallback" if key == "fallback" else "need its own report"
                self.problems.append(FileProblem(file, f"a worker cannot {own}"))

    def _read_page(self, path: Path) -> YamlPage | None:
        try:
            return read_page(path, path.parent)
        except FileProblem as problem:
            self.problems.append(problem)
            return None

    def _read_worker(self, path: Path) -> Worker | None:
        page = self._read_page(path)
        if page is None:
            return None
        keys, problems = read_keys(WorkerKeys, page)
        name = path.stem
        if not NAME_PATTERN.fullmatch(name):
            problems.append(FileProblem(path, f"the file's name is the worker's name; {NAME_RULE}"))
        if name in RESERVED_NAMES:
            problems.append(
                FileProblem(path, f"{name!r} is reserved for the graph; choose another name")
            )
        remote = read_remote_keys(page, keys, problems)
        if not page.body and "team" not in keys and remote is None:
            problems.append(
                page.build_problem("no instructions: write them below the front matter")
            )
        problems += self._list_tool_problems(page, name, keys)
        team = self._read_nested_team(page, str(keys.pop("team", "")), problems)
        for key in {"tools", "reads_all"} & set(keys) if team else ():
            problems.append(
                page.build_problem("this is for the team's own workers; remove it", key)
            )
        self.problems += problems
        if problems:
            return None
        given = {key: keys.pop(key) for key in LIMIT_KEYS if key in keys}
        limits = TeamLimits(**given) if team or remote else Limits(**given)
        parts: dict[str, Any] = {"limits": limits, "team": team, "remote": remote}
        return Worker(name=name, instructions=page.body, **parts, **keys)

    def _read_nested_team(
        self, page: YamlPage, name: str, problems: list[FileProblem]
    ) -> Team | None:
        if not name:
            return None
        try:
            folder = self._find_team(name, self.folder).resolve()
        except TeamInvalid as error:
            problems.append(page.build_problem(f"{error}; {error.next}", "team"))
            return None
        if folder in self._outer_folders:
            chain = [*self._outer_folders[self._outer_folders.index(folder) :], folder]
            shown = " -> ".join(path.name for path in chain)
            problems.append(page.build_problem(f"a team cannot nest itself: {shown}", "team"))
            return None
        team, found = read_team(
            folder, self._find_team, around=self._outer_folders, given=self._given
        )
        problems += found
        return team

    def _list_tool_problems(
        self, page: YamlPage, holder: str, keys: Mapping[str, Any], key: str = "tools"
    ) -> list[FileProblem]:
        problems, tools = [], keys.get(key, [])
        for index, tool in enumerate(tools):
            if text := self._find_tool_problem(tool, key):
                problems.append(page.build_problem(text, key, index))
            first = self._tool_holders.setdefault(tool, holder)
            if first != holder:
                text = f"tool {tool!r} already belongs to {first}; no two workers share a tool"
                problems.append(page.build_problem(text, key, index))
            elif tool in tools[:index]:
                problems.append(page.build_problem(f"tool {tool!r} appears twice", key, index))
        return problems

    def _find_tool_problem(self, tool: str, key: str) -> str:
        if not tool.startswith(MCP_PREFIX):
            return _find_tool_problem(tool, self._own_tools)
        if key == "grant":
            return f"tool {tool!r}: specialists get no tools of MCP servers; name it in a worker"
        return find_name_problem(tool, self._servers)

    def _read_example(self, page: YamlPage, index: int, workers: set[str]) -> Example | None:
        item = page.value[index]
        if not isinstance(item, dict) or set(item) != {"request", "plan"}:
            text = f"example {index + 1} must have exactly the keys request and plan"
            self.problems.append(page.build_problem(text, index))
            return None
        if not isinstance(item["request"], str) or not item["request"].strip():
            text = f"example {index + 1}: request must be a string that is not empty"
            self.problems.append(page.build_problem(text, index, "request"))
            return None
        try:
            plan = Plan.model_validate(item["plan"])
        except ValidationError as error:
            for detail in error.errors(include_url=False):
                place = (index, "plan", *detail["loc"])
                at = ".".join(map(str, place[1:]))
                text = f"example {index + 1}: {at}: {detail['msg'].removeprefix('Value error, ')}"
                self.problems.append(page.build_problem(text, *place))
            return None
        for number, task in enumerate(plan.tasks):
            if task.worker not in workers:
                text = f"unknown worker {task.worker!r}{suggest_name(task.worker, workers)}"
                place = (index, "plan", "tasks", number, "worker")
                self.problems.append(page.build_problem(text, *place))
        return Example(request=item["request"], plan=plan)


def _find_tool_problem(tool: str, own_tools: Iterable[str]) -> str:
    if ":" not in tool:
        known = [*own_tools, *list_shipped_tools()]
        if tool in known:
            return ""
        return f"unknown tool {tool!r}{suggest_name(tool, known) or '; known: ' + ', '.join(known)}"
    if not _ATTRIBUTE_PATTERN.fullmatch(tool):
        return f"tool {tool!r} must be written package.module:attribute"
    package = tool.partition(":")[0].partition(".")[0]
    return "" if find_spec(package) else f"tool {tool!r}: no package {package!r} is installed"
