"""Corrects what has one meaning only in a plan that a model wrote, without another call."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from difflib import SequenceMatcher
from pathlib import PurePosixPath
from typing import Any

from nodes.limits.patterns import Pattern
from nodes.prompts.few_shot_examples import FIELDS_OF_THE_SUPERVISOR
from nodes.prompts.tags import shorten_text
from nodes.schemas.team import Team
from nodes.text.terms import extract_terms

Fields = dict[str, Any]

MAX_ID_CHARS = 40
MAX_GOAL_CHARS = 2_000
SAME_REQUEST = 0.85
"""Share of the words of two requests, by difflib's ratio: the plan of one is one for the other."""
MAX_LONG_CHARS = 400
MAX_NUMBER_CHARS = 4
_ID = Pattern(r"[A-Za-z0-9_.\-]{1,40}")
_WORDS = Pattern(r"[A-Za-z0-9_.\-]+(?: [A-Za-z0-9_.\-]+)*")


def correct_plan(
    fields: Mapping[str, Any],
    team: Team,
    materials: Collection[str],
    *,
    request: str = "",
    finished: Collection[str] = (),
) -> tuple[Fields, list[str]]:
    """Return a plan's fields as they are meant, and what was changed.

    A dependency is the number of a task or its id. One that names a material, or the worker of one
    task, becomes what it means; so do ids, workers and materials in another spelling, and a
    worker's name in a description's stead. A dependency without a meaning, a task that is there
    twice, and one that repeats an example of the team for another request are left out. A task of a
    worker that needs another one's report depends on it, and it is planned. Files that are named in
    a description are given to its task. What has two meanings stays and is refused later. What only
    the supervisor sets is left out.

    Args:
        request: the goal, where the plan names none.
        finished: ids of tasks that have a result; a plan need not repeat them.
    """
    fields = {key: fields[key] for key in fields if key not in FIELDS_OF_THE_SUPERVISOR}
    if request and not fields.get("goal"):
        fields = {"goal": shorten_text(" ".join(request.split()), MAX_GOAL_CHARS), **fields}
    tasks = fields.get("tasks")
    if not isinstance(tasks, list) or not all(isinstance(task, Mapping) for task in tasks):
        return fields, []
    corrector = _PlanCorrector(team, materials, [dict(task) for task in tasks], fields.get("goal"))
    corrector.drop_copies(request, finished)
    corrected = {**fields, "tasks": corrector.correct_tasks(finished)}
    if not request:
        return corrected, corrector.changes
    completed, added = add_named_files(corrected, materials)
    return completed, [*corrector.changes, *added]


def add_named_files(
    fields: Mapping[str, Any], materials: Collection[str]
) -> tuple[Fields, list[str]]:
    """Return a plan's fields with the files that the tasks' descriptions name, and the changes."""
    tasks, changes = [dict(task) for task in fields["tasks"]], list[str]()
    files = Counter(PurePosixPath(name).name for name in materials)
    patterns = dict[str, Pattern]()
    for name in materials:
        if "." in name:
            file = PurePosixPath(name).name
            written = re.escape(name if files[file] > 1 else file)
            patterns[name] = Pattern(rf"(?<![\w./-]){written}(?![\w-]|\.\w)")
    for task in tasks:
        named, said = _as_list(task.get("materials")), str(task.get("description"))
        likely = (name for name in patterns if PurePosixPath(name).name in said)
        if added := [n for n in likely if n not in named and patterns[n].search(said)]:
            task["materials"] = [*named, *added]
            changes.append(f"task {task.get('id')}: it names {', '.join(map(repr, added))}")
    return {**fields, "tasks": tasks}, changes


class _PlanCorrector:
    """Corrects the tasks of one plan."""

    def __init__(
        self, team: Team, materials: Collection[str], tasks: list[Fields], goal: Any
    ) -> None:
        self.tasks, self.goal, self.changes = tasks, str(goal or ""), list[str]()
        self._cards = {worker.name: worker.description for worker in team.roster}
        self._needs = {worker.name: worker.needs for worker in team.roster}
        self._materials, self._examples, self._numbered = list(materials), team.examples, tasks
        self._finished: Collection[str] = ()
        self._ids = [str(task["id"]) for task in tasks if isinstance(task.get("id"), str | int)]

    def drop_copies(self, request: str, finished: Collection[str]) -> None:
        """Leave out tasks of an example for another request, and a task that is there already.

        One of an example that shares a word with this request may be meant.
        """
        asked = extract_terms(request)
        copied = {
            " ".join(task.description.split())
            for example in self._examples
            if request and not _is_same_request(example.request, request)
            for task in example.plan.tasks
            if not extract_terms(task.description) & asked
        }
        kept, seen = list[Fields](), set[tuple[str, str, str]]()
        for task in self.tasks:
            name = str(task.get("id", ""))
            if name not in finished and " ".join(str(task.get("description")).split()) in copied:
                self._record(task, "it was an example's, and is left out")
            elif (same := _identify(task)) in seen:
                self._record(task, "it is there twice, and is left out")
            else:
                kept.append(task)
                seen.add(same)
        self._numbered, self.tasks = self.tasks, kept
        self._ids = [str(task["id"]) for task in kept if isinstance(task.get("id"), str | int)]

    def correct_tasks(self, finished: Collection[str]) -> list[Fields]:
        """Return the tasks, corrected."""
        self._finished = finished
        for task in self.tasks:
            self._read_numbers(task)
        self._correct_ids()
        for task in self.tasks:
            self._correct_worker(task)
        for task in self.tasks:
            self._correct_description(task)
            self._correct_dependencies(task)
            self._correct_materials(task)
        for task in list(self.tasks):
            for name in self._needs.get(str(task.get("worker")), ()):
                self._add_needed(task, name)
        return self.tasks

    def _read_numbers(self, task: Fields) -> None:
        """Replace the numbers of tasks, as the reply counts them from 1, by their ids.

        Its own number is no task that it can need, and is left out.
        """
        edges, kept = _as_list(task.get("depends_on")), list[Any]()
        for edge in edges:
            number = self._read_number(_get_name(edge))
            is_there = 0 < number <= len(self._numbered)
            meant = str(self._numbered[number - 1].get("id") if is_there else number)
            if is_there and meant == str(task.get("id")):
                self._record(task, f"dependency {number} is the task itself, and is left out")
            else:
                kept.append(_set_name(edge, meant) if number else edge)
        if kept != edges:
            task["depends_on"] = kept

    def _read_number(self, name: Any) -> int:
        """Return the number of a task; 0 for an id, which may be a number, too."""
        if isinstance(name, bool) or not isinstance(name, int | float | str):
            return 0
        text = str(int(name)) if isinstance(name, float) and name.is_integer() else str(name)
        has_numbers = any(isinstance(task.get("id"), int) for task in self.tasks)
        if text in self._ids and (isinstance(name, str) or has_numbers):
            return 0
        return int(text) if text.isdecimal() and len(text) <= MAX_NUMBER_CHARS else 0

    def _correct_ids(self) -> None:
        """Shorten ids that are too long, and join words with spaces, wherever they are named."""
        renamed: dict[str, str] = {}
        for name in self._ids:
            if _ID.fullmatch(name) or len(name) > MAX_LONG_CHARS or not _WORDS.fullmatch(name):
                continue
            short = name.replace(" ", "_")[:MAX_ID_CHARS]
            taken = {*self._ids, *renamed.values()} - {name}
            if short and short != name and short not in taken and name not in renamed:
                renamed[name] = short
        for task in self.tasks:
            old = str(task.get("id"))
            if old in renamed:
                self._record(task, f"its id is now {renamed[old]!r}")
                task["id"] = renamed[old]
            if renamed and "depends_on" in task:
                edges = _as_list(task["depends_on"])
                task["depends_on"] = [_rename(edge, renamed) for edge in edges]
        self._ids = [renamed.get(name, name) for name in self._ids]

    def _correct_worker(self, task: Fields) -> None:
        worker = task.get("worker")
        if not isinstance(worker, str) or worker in self._cards:
            return
        if meant := _find_same_name(worker, self._cards):
            self._record(task, f"worker {worker!r} is {meant!r}")
            task["worker"] = meant

    def _correct_description(self, task: Fields) -> None:
        said = task.get("description")
        name = _find_same_name(said, self._cards) if isinstance(said, str) else ""
        if name and self._cards[name]:
            self._record(task, f"its description was only {said!r}")
            task["description"] = f"{self._cards[name].rstrip('.')}: {self.goal}"

    def _correct_dependencies(self, task: Fields) -> None:
        kept: list[Any] = []
        known_changes = len(self.changes)
        for edge in _as_list(task.get("depends_on")):
            name = _get_name(edge)
            if not isinstance(name, str) or name in self._ids:
                kept.append(edge)
            elif meant := self._find_meant_task(name, task):
                self._record(task, f"dependency {name!r} is {meant!r}")
                kept.append(_set_name(edge, meant))
            elif material := _find_material(name, self._materials):
                self._record(task, f"dependency {name!r} is a material")
                task["materials"] = [*_as_list(task.get("materials")), material]
            elif name in self._finished or self._has_meanings(name):
                kept.append(edge)
            else:
                self._record(task, f"dependency {name!r} is no task, and is left out")
        if len(self.changes) > known_changes:
            task["depends_on"] = kept

    def _has_meanings(self, name: str) -> bool:
        """Return whether a name is one of several tasks, workers or files."""
        file = PurePosixPath(name).name.lower()
        files = (PurePosixPath(each).name.lower() for each in self._materials)
        known = map(_normalize, [*self._ids, *self._cards])
        return _normalize(name) in known or file in files

    def _find_meant_task(self, name: str, task: Fields) -> str:
        """Return the task that an unknown dependency means; empty unless there is just one."""
        if (meant := _find_same_name(name, self._ids)) and meant != str(task.get("id")):
            return meant
        worker = _find_same_name(name, self._cards)
        others = [each for each in self.tasks if each is not task and each.get("worker") == worker]
        named = [str(each.get("id")) for each in others if worker]
        return named[0] if len(named) == 1 and task.get("worker") != worker else ""

    def _correct_materials(self, task: Fields) -> None:
        kept: list[Any] = []
        known_changes = len(self.changes)
        for name in _as_list(task.get("materials")):
            if not isinstance(name, str) or name in self._materials:
                kept.append(name)
            elif meant := _find_material(name, self._materials):
                self._record(task, f"material {name!r} is {meant!r}")
                kept.append(meant)
            elif name in self._ids and name != str(task.get("id")):
                self._record(task, f"material {name!r} is a task")
                task["depends_on"] = [*_as_list(task.get("depends_on")), name]
            else:
                kept.append(name)
        if len(self.changes) > known_changes:
            task["materials"] = kept

    def _add_needed(self, task: Fields, name: str) -> None:
        """Make a task depend on those of a worker that it needs; add one where there is none."""
        edges = _as_list(task.get("depends_on"))
        named = [_get_name(edge) for edge in edges]
        needed = [str(each.get("id")) for each in self.tasks if each.get("worker") == name]
        # A task that is not in this plan may be a finished one of that worker.
        if any(each in needed or each not in self._ids for each in named):
            return
        if not needed:
            if name in self._ids:
                return
            said, needed = f"{self._cards[name].rstrip('.')}: {self.goal}", [name]
            added = {"id": name, "worker": name, "description": said, "materials": self._materials}
            self.tasks.append(added)
            self._ids.append(name)
        self._record(task, f"it depends on {name}")
        task["depends_on"] = [*edges, *needed]

    def _record(self, task: Fields, change: str) -> None:
        self.changes.append(f"task {task.get('id')}: {change}")


def _identify(task: Fields) -> tuple[str, str, str]:
    """Return what two tasks share that are one; of a task without an id its place in memory."""
    name = str(task["id"]) if "id" in task else f"at {id(task)}"
    return name, str(task.get("worker")), " ".join(str(task.get("description")).split())


def _is_same_request(one: str, other: str) -> bool:
    matcher = SequenceMatcher(None, one.casefold().split(), other.casefold().split())
    return matcher.ratio() >= SAME_REQUEST


def _get_name(edge: Any) -> Any:
    return edge.get("task") if isinstance(edge, Mapping) else edge


def _set_name(edge: Any, name: str) -> Any:
    return {**edge, "task": name} if isinstance(edge, Mapping) else name


def _rename(edge: Any, renamed: Mapping[str, str]) -> Any:
    name = _get_name(edge)
    return _set_name(edge, renamed[name]) if isinstance(name, str) and name in renamed else edge


def _as_list(value: Any) -> list[Any]:
    if isinstance(value, list | tuple):
        return list(value)
    return [] if value is None else [value]


def _find_material(name: str, materials: Iterable[str]) -> str:
    """Return the one material with this name, or with this file name; empty without one."""
    same = _find_same_name(name, materials)
    if same:
        return same
    file = PurePosixPath(name).name.lower()
    found = [known for known in materials if PurePosixPath(known).name.lower() == file]
    return found[0] if len(found) == 1 and file else ""


def _find_same_name(name: str, known: Iterable[str]) -> str:
    """Return the one known name that differs in case, spaces or hyphens only; empty without one."""
    found = [other for other in known if _normalize(other) == _normalize(name)]
    return found[0] if len(found) == 1 else ""


def _normalize(name: str) -> str:
    return "_".join(name.lower().replace("-", " ").replace("_", " ").split())
