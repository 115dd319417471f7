"""A team folder, read whole: every problem is collected, not only the first."""

import re
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from graph.front_matter import Page, Problem, read_page, read_yaml
from graph.team_keys import LIMIT_KEYS, TeamKeys, WorkerKeys, nearest, read_keys
from nodes.tools.catalog import known_tools
from state import Example, Plan, Team, Worker

TEAM_FILE: Final = "team.md"
EXAMPLES_FILE: Final = "examples.yaml"
MAX_WORKERS: Final = 64
RESERVED: Final = frozenset(
    ("supervisor", "planner", "approval", "synthesizer", "critic", "specialist", "team")
)
"""Names that the graph's own nodes bear."""

_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,39}")
_NAME_RULE: Final = "allowed are lower-case letters, digits and _, a letter first, 40 at most"
_ATTRIBUTE: Final = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*")


_shipped_tools = cache(known_tools)


def read_team(folder: Path) -> tuple[Team | None, list[Problem]]:
    """Read a team; None when there are problems."""
    if refusal := _folder_problem(folder):
        return None, [refusal]
    reading = _Reading(folder)
    guidance, keys = reading.team()
    workers = reading.workers()
    examples = reading.examples({path.stem for path in reading.worker_files()})
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
    if not _NAME.fullmatch(folder.resolve().name):
        return Problem(folder, f"the folder's name is the team's name; {_NAME_RULE}")
    return None


class _Reading:
    """Collects problems while the files of one folder are read."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.problems: list[Problem] = []
        self._holders: dict[str, str] = {}

    def team(self) -> tuple[str, dict[str, Any]]:
        """Read `team.md`: the supervisor's guidance and the team's settings."""
        page = self._page(self.folder / TEAM_FILE)
        if page is None:
            return "", {}
        keys, problems = read_keys(TeamKeys, page)
        self.problems += problems
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
        if not _NAME.fullmatch(name):
            problems.append(Problem(path, f"the file's name is the worker's name; {_NAME_RULE}"))
        if name in RESERVED:
            problems.append(Problem(path, f"{name!r} is a name of the graph's own; choose another"))
        if not page.body:
            problems.append(page.problem("no instructions: write them below the front matter"))
        problems += self._tool_problems(page, name, keys.get("tools", []))
        self.problems += problems
        if problems:
            return None
        limits = {key: keys.pop(key) for key in LIMIT_KEYS if key in keys}
        return Worker(name=name, instructions=page.body, limits=limits, **keys)

    def _tool_problems(self, page: Page, worker: str, tools: list[str]) -> list[Problem]:
        problems = []
        for index, tool in enumerate(tools):
            if text := _tool_problem(tool):
                problems.append(page.problem(text, "tools", index))
            holder = self._holders.setdefault(tool, worker)
            if holder != worker:
                text = f"tool {tool!r} belongs to {holder} already; no two workers share a tool"
                problems.append(page.problem(text, "tools", index))
            elif tool in tools[:index]:
                problems.append(page.problem(f"tool {tool!r} stands twice", "tools", index))
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
