"""A team folder, read whole: every problem is collected, not only the first."""

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from graph.front_matter import Page, Problem, read_page, read_yaml
from graph.team_keys import LIMIT_KEYS, TeamKeys, WorkerKeys, nearest, read_keys
from nodes.errors import TeamInvalid
from nodes.limits.patterns import Pattern
from nodes.tools.catalog import known_tools
from state import SPECIALIST, TEAM_LIMITS, Example, Limits, Plan, Team, Worker

TEAM_FILE: Final = "team.md"
EXAMPLES_FILE: Final = "examples.yaml"
MAX_WORKERS: Final = 64
RESERVED: Final = frozenset(
    ("supervisor", "planner", "approval", "synthesizer", "critic", "specialist", "team")
)
"""Names that the graph's own nodes bear."""

NAME: Final = Pattern(r"[a-z][a-z0-9_]{0,39}")
NAME_RULE: Final = "allowed are lower-case letters, digits and _, a letter first, 40 at most"
_ATTRIBUTE: Final = Pattern(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*")


Find = Callable[[str, Path], Path]
"""From the name of a team, and the folder of the team that nests it, to the team's own folder."""

_shipped_tools = cache(known_tools)


def read_team(
    folder: Path, find: Find, *, around: tuple[Path, ...] = ()
) -> tuple[Team | None, list[Problem]]:
    """Read a team, and those it nests; None when there are problems.

    Args:
        find: gives the folder of a team that a worker's file names.
        around: the folders of the teams that nest this one, the outermost first.
    """
    if refusal := _folder_problem(folder):
        return None, [refusal]
    reading = _Reading(folder, find, (*around, folder.resolve()))
    guidance, keys = reading.team()
    workers = reading.workers()
    names = {path.stem for path in reading.worker_files()}
    examples = reading.examples(names | ({SPECIALIST} if keys.get("recruit") else set()))
    reading.check_names(keys, workers)
    if reading.problems:
        return None, reading.problems
    name = folder.resolve().name
    return Team(name=name, guidance=guidance, workers=workers, examples=examples, **keys), []


def _folder_problem(folder: Path) -> Problem | None:
    if not folder.exists():
        return Problem(folder, "is not there")
    if not folder.is_dir():
        return Problem(folder, "is not a folder; a team is a folder of Markdown files")
    if not (folder / TEAM_FILE).exists():
        return Problem(folder, f"holds no {TEAM_FILE}, so it is no team")
    if not NAME.fullmatch(folder.resolve().name):
        return Problem(folder, f"the folder's name is the team's name; {NAME_RULE}")
    return None


class _Reading:
    """Collects problems while the files of one folder are read."""

    def __init__(self, folder: Path, find: Find, around: tuple[Path, ...]) -> None:
        self.folder, self._find, self._around = folder, find, around
        self.problems: list[Problem] = []
        self._holders: dict[str, str] = {}

    def team(self) -> tuple[str, dict[str, Any]]:
        """Read `team.md`: the supervisor's guidance and the team's settings."""
        page = self._page(self.folder / TEAM_FILE)
        if page is None:
            return "", {}
        keys, problems = read_keys(TeamKeys, page)
        self.problems += [*problems, *self._tool_problems(page, "the grant", keys, "grant")]
        return page.body, keys

    def worker_files(self) -> list[Path]:
        """List the files that each describe a worker."""
        return sorted(
            path
            for path in self.folder.glob("*.md")
            if path.name != TEAM_FILE
            and path.stem.lower() != "readme"
            and not path.name.startswith(".")
        )

    def workers(self) -> tuple[Worker, ...]:
        """Read every worker."""
        paths = self.worker_files()
        if not 1 <= len(paths) <= MAX_WORKERS:
            text = f"has {len(paths)} workers; allowed: 1 to {MAX_WORKERS}, each a file NAME.md"
            self.problems.append(Problem(self.folder, text))
        return tuple(worker for path in paths[:MAX_WORKERS] if (worker := self._worker(path)))

    def examples(self, workers: set[str]) -> tuple[Example, ...]:
        """Read the decompositions shown to the planner; a team may have none."""
        path = self.folder / EXAMPLES_FILE
        if not path.exists() and not path.is_symlink():
            return ()
        try:
            page = read_yaml(path, self.folder)
        except Problem as problem:
            self.problems.append(problem)
            return ()
        if not isinstance(page.value, list):
            self.problems.append(page.problem("must be a list of examples, each request and plan"))
            return ()
        found = (self._example(page, index, workers) for index in range(len(page.value)))
        return tuple(example for example in found if example)

    def check_names(self, keys: Mapping[str, Any], workers: Iterable[Worker]) -> None:
        """Hold every fallback, and the generalist, to be a worker of the team."""
        known = {path.stem for path in self.worker_files()}
        named = [(TEAM_FILE, "generalist", keys.get("generalist", ""))]
        named += [(f"{worker.name}.md", "fallback", worker.fallback) for worker in workers]
        for file, key, name in named:
            if name and name not in known:
                text = f"{key} {name!r} is no worker of the team{nearest(name, known)}"
                self.problems.append(Problem(self.folder / file, text))
            elif key == "fallback" and file == f"{name}.md":
                text = "a worker cannot be its own fallback"
                self.problems.append(Problem(self.folder / file, text))

    def _page(self, path: Path) -> Page | None:
        try:
            return read_page(path, self.folder)
        except Problem as problem:
            self.problems.append(problem)
            return None

    def _worker(self, path: Path) -> Worker | None:
        page = self._page(path)
        if page is None:
            return None
        keys, problems = read_keys(WorkerKeys, page)
        name = path.stem
        if not NAME.fullmatch(name):
            problems.append(Problem(path, f"the file's name is the worker's name; {NAME_RULE}"))
        if name in RESERVED:
            problems.append(Problem(path, f"{name!r} is a name of the graph's own; choose another"))
        if not page.body and "team" not in keys:
            problems.append(page.problem("no instructions: write them below the front matter"))
        problems += self._tool_problems(page, name, keys)
        team = self._nested(page, str(keys.pop("team", "")), problems)
        if team and "tools" in keys:
            problems.append(page.problem("a team's own workers hold the tools; drop it", "tools"))
        self.problems += problems
        if problems:
            return None
        limits: dict[str, Any] = dict(TEAM_LIMITS) if team else {}
        limits |= {key: keys.pop(key) for key in LIMIT_KEYS if key in keys}
        return Worker(name=name, instructions=page.body, limits=Limits(**limits), team=team, **keys)

    def _nested(self, page: Page, name: str, problems: list[Problem]) -> Team | None:
        if not name:
            return None
        try:
            folder = self._find(name, self.folder).resolve()
        except TeamInvalid as error:
            problems.append(page.problem(f"{error}; {error.next}", "team"))
            return None
        if folder in self._around:
            chain = [*self._around[self._around.index(folder) :], folder]
            shown = " -> ".join(path.name for path in chain)
            problems.append(page.problem(f"a team cannot nest itself: {shown}", "team"))
            return None
        team, found = read_team(folder, self._find, around=self._around)
        problems += found
        return team

    def _tool_problems(
        self, page: Page, holder: str, keys: Mapping[str, Any], key: str = "tools"
    ) -> list[Problem]:
        problems, tools = [], keys.get(key, [])
        for index, tool in enumerate(tools):
            if text := _tool_problem(tool):
                problems.append(page.problem(text, key, index))
            first = self._holders.setdefault(tool, holder)
            if first != holder:
                text = f"tool {tool!r} belongs to {first} already; no two workers share a tool"
                problems.append(page.problem(text, key, index))
            elif tool in tools[:index]:
                problems.append(page.problem(f"tool {tool!r} stands twice", key, index))
        return problems

    def _example(self, page: Page, index: int, workers: set[str]) -> Example | None:
        item = page.value[index]
        if not isinstance(item, dict) or set(item) != {"request", "plan"}:
            text = f"example {index + 1} must have exactly the keys request and plan"
            self.problems.append(page.problem(text, index))
            return None
        if not isinstance(item["request"], str) or not item["request"].strip():
            text = f"example {index + 1}: request must be a text"
            self.problems.append(page.problem(text, index, "request"))
            return None
        try:
            plan = Plan.model_validate(item["plan"])
        except ValidationError as error:
            for detail in error.errors(include_url=False):
                place = (index, "plan", *detail["loc"])
                at = ".".join(map(str, place[1:]))
                text = f"example {index + 1}: {at}: {detail['msg'].removeprefix('Value error, ')}"
                self.problems.append(page.problem(text, *place))
            return None
        for number, task in enumerate(plan.tasks):
            if task.worker not in workers:
                text = f"unknown worker {task.worker!r}{nearest(task.worker, workers)}"
                place = (index, "plan", "tasks", number, "worker")
                self.problems.append(page.problem(text, *place))
        return Example(request=item["request"], plan=plan)


def _tool_problem(tool: str) -> str:
    if ":" not in tool:
        known = _shipped_tools()
        if tool in known:
            return ""
        return f"unknown tool {tool!r}{nearest(tool, known) or '; known: ' + ', '.join(known)}"
    if not _ATTRIBUTE.fullmatch(tool):
        return f"tool {tool!r} is not written package.module:attribute"
    package = tool.partition(":")[0].partition(".")[0]
    return "" if find_spec(package) else f"tool {tool!r}: no package {package!r} is installed"
