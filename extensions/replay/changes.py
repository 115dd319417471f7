"""What is changed of a kept run, and which of its tasks are done again for it."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeVar, get_args

from pydantic import BaseModel, ValidationError

from extensions.replay.options import ChangeOptions
from extensions.replay.record_file import Entry
from extensions.replay.replayer import Replayed
from graph.runs.materials import read_materials
from graph.topology.blocking_portal import get_portal
from nodes.errors import UsageError, describe_invalid
from nodes.limits.nesting import parse_json
from nodes.planning.replanning import compare_plans
from nodes.text.plain_text import sanitize_line
from state import Plan, Report, Task, Tier

Model = TypeVar("Model", bound=BaseModel)
TASK_FIELDS: Final = ("description", "worker", "tier", "materials", "depends_on")
_LISTS: Final = ("materials", "depends_on")
"""Fields whose value may be empty."""
MAX_FILE_BYTES: Final = 10_000_000


class ChangeInvalid(UsageError):
    """A change cannot be made to this run, or contradicts another one."""


@dataclass(frozen=True, kw_only=True)
class Changes:
    """A kept run with something changed."""

    plan: Plan
    results: dict[str, Report]
    """Of the tasks that are not done again."""
    redone: tuple[str, ...]
    """The changed tasks and those that build on them, in the order of the plan."""
    materials: dict[str, str]
    workers: tuple[Path, ...] = ()
    models: Mapping[Tier, str] = field(default_factory=dict)


def find_changes(options: ChangeOptions, base: Replayed) -> Changes:
    """Return a run with changes, and the tasks that these concern.

    Raises:
        ChangeInvalid: a change cannot be made, or two contradict each other.
        FileUnreadable: a material cannot be read.
    """
    old, results = _require_plan(base), base.outcome.results
    fields, at = _read_fields(options.task or ()), options.at or ()
    given = {name: _read_report(name, path) for name, path in _split_pairs(options.result or ())}
    if options.plan and fields:
        raise ChangeInvalid("--plan and --task both change the plan", next="choose one of them")
    _require_begun([*fields, *given, *at], old, results)
    plan = _read_file(options.plan, Plan) if options.plan else _change_tasks(old, fields)
    materials = get_portal().call(read_materials(options.material)) if options.material else {}
    models = dict(_read_models(options.model or ()))
    difference = compare_plans(old, plan)
    changed = {*at, *difference["added"], *difference["changed"]}
    changed |= _find_by_worker(options.worker or (), plan, base)
    changed |= _find_by_material(materials, plan)
    changed |= {_name_task(event) for event in _list_attempts(base) if event.get("tier") in models}
    if again := sorted(given.keys() & {*changed, *fields}):
        raise ChangeInvalid(
            f"{again[0]} has a given result, and another change has it done again",
            next="choose one of them",
        )
    redone = list_descendants(plan, {*changed, *given}) - given.keys()
    redone |= {task.id for task in plan.tasks if task.id not in results}
    kept = {task.id: results[task.id] for task in plan.tasks if task.id not in redone}
    return Changes(
        plan=plan.model_copy(update={"version": old.version + (plan.tasks != old.tasks)}),
        results={**kept, **given},
        redone=tuple(task.id for task in plan.order_tasks() if task.id in redone),
        materials={**base.values.get("materials", {}), **materials},
        workers=tuple(options.worker or ()),
        models=models,
    )


def _require_plan(base: Replayed) -> Plan:
    """Return the plan of a run that has come to its end."""
    thread, plan, next_step = base.outcome.thread, base.outcome.plan, ""
    if base.outcome.questions:
        said, next_step = "waits for an answer", f"supervise resume {thread} --answer TEXT"
    elif not base.is_whole:
        said, next_step = "holds no run that has come to its end", f"supervise resume {thread}"
    elif plan is not None:
        return plan
    else:
        said = "ended before it had a plan"
    raise ChangeInvalid(f"thread {thread} {said}", kept="the run", next=next_step)


def list_descendants(plan: Plan, tasks: Iterable[str]) -> set[str]:
    """Return some tasks of a plan, and all that build on them, directly or not."""
    found = {*tasks}
    for task in plan.order_tasks():
        if any(edge.task in found for edge in task.depends_on):
            found.add(task.id)
    return found


def _split_pairs(texts: Iterable[str]) -> list[tuple[str, str]]:
    pairs = [text.partition("=") for text in texts]
    for name, found, value in pairs:
        if not (name and found and (value or name.endswith(_LISTS))):
            said = sanitize_line(f"{name}{found}{value}", 80)
            raise ChangeInvalid(f"{said!r} is no change", next="write NAME=VALUE, with a value")
    names = [name for name, _, _ in pairs]
    if twice := next((name for name in names if names.count(name) > 1), ""):
        raise ChangeInvalid(f"{sanitize_line(twice, 80)} is changed twice", next="change it once")
    return [(name, value) for name, _, value in pairs]


def _read_fields(texts: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return the changed fields of each task."""
    changed = defaultdict[str, dict[str, Any]](dict)
    for place, value in _split_pairs(texts):
        name, _, named = place.rpartition(".")
        if not name or named not in TASK_FIELDS:
            raise ChangeInvalid(
                f"{sanitize_line(place, 80)!r} names no field of a task",
                next=f"write NAME.FIELD=VALUE, with one of {', '.join(TASK_FIELDS)}",
            )
        is_list = named.endswith(_LISTS)
        changed[name][named] = [part for part in value.split(",") if part] if is_list else value
        if named == "description":
            changed[name].setdefault("covers", [])  # parts of the request that others word
    return changed


def _read_report(name: str, path: str) -> Report:
    report = _read_file(Path(path), Report)
    return report.model_copy(update={"task": name, "worker": report.worker or "given"})


def _read_file(path: Path, kind: type[Model]) -> Model:
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise ValueError(f"it has more than {MAX_FILE_BYTES:,} bytes")
        return kind.model_validate(parse_json(path.read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        raise ChangeInvalid(
            f"{path} cannot be read as a {kind.__name__.lower()}",
            cause=_word(error),
            next="take one of the trace as a pattern",
        ) from None


def _word(error: Exception) -> str:
    """Return what is wrong, without the words of a library."""
    if isinstance(error, ValidationError):
        return sanitize_line(describe_invalid(error), 200)
    return sanitize_line(str(getattr(error, "strerror", None) or error), 200)


def _read_models(texts: Sequence[str]) -> Iterable[tuple[Tier, str]]:
    tiers: tuple[Tier, ...] = get_args(Tier)
    for name, model in _split_pairs(texts):
        tier = next((each for each in tiers if each == name), None)
        if tier is None:
            said = f"{sanitize_line(name, 40)!r} is no tier"
            raise ChangeInvalid(said, next=f"one of {', '.join(tiers)}")
        yield tier, model


def _require_begun(names: Iterable[str], plan: Plan, results: Mapping[str, Report]) -> None:
    known = {task.id for task in plan.tasks}
    for name in names:
        report = results.get(name)
        if name not in known:
            raise ChangeInvalid(
                f"the plan has no task {sanitize_line(name, 80)}",
                next=f"its tasks are {', '.join(sorted(known))}"[:400],
            )
        if report is None or report.status == "skipped":
            raise ChangeInvalid(
                f"the task {name} was never begun",
                cause=sanitize_line(report.error or "", 200) if report else "",
                kept="the run",
                next="change a task that it waits for",
            )


def _change_tasks(plan: Plan, fields: Mapping[str, Mapping[str, Any]]) -> Plan:
    try:
        tasks = [_change_task(task, fields.get(task.id)) for task in plan.tasks]
        return Plan.model_validate({**dict(plan), "tasks": tasks})
    except ValidationError as error:
        raise ChangeInvalid(
            "the changed plan is invalid", cause=_word(error), next="correct the change"
        ) from None


def _change_task(task: Task, fields: Mapping[str, Any] | None) -> Task:
    """Return a task with other values; a dependency that stays is as required as it was."""
    if fields is None:
        return task
    edges = {edge.task: edge.model_dump() for edge in task.depends_on}
    named = {"depends_on": [edges.get(each, each) for each in fields.get("depends_on", edges)]}
    return Task.model_validate({**task.model_dump(), **fields, **named})


def _find_by_worker(files: Sequence[Path], plan: Plan, base: Replayed) -> set[str]:
    """Return the tasks that the plan gives to some workers, or at which they made an attempt."""
    found, known = set[str](), {task.id for task in plan.tasks}
    for path in files:
        if not path.is_file():
            raise ChangeInvalid(f"there is no file {path}", next="name the file of a worker")
        done = {_name_task(each) for each in _list_attempts(base) if each["worker"] == path.stem}
        named = (done | {task.id for task in plan.tasks if task.worker == path.stem}) & known
        if not named:
            said = f"no task of the run was {path.stem}'s"
            raise ChangeInvalid(said, next="name the file of another worker")
        found |= named
    return found


def _find_by_material(materials: Mapping[str, str], plan: Plan) -> set[str]:
    found = set[str]()
    for name in materials:
        named, shown = {t.id for t in plan.tasks if name in t.materials}, sanitize_line(name, 80)
        if not named:
            said = f"no task of the run has the material {shown}"
            raise ChangeInvalid(said, next=f"give it to one: --task NAME.materials={shown}")
        found |= named
    return found


def _list_attempts(base: Replayed) -> list[Entry]:
    """Return the events of the last request's attempts."""
    kinds = [event.get("kind") for event in base.events]
    last = len(kinds) - 1 - kinds[::-1].index("request") if "request" in kinds else 0
    return [each for each in base.events[last:] if each.get("kind") == "task_started"]


def _name_task(event: Entry) -> str:
    """Return the task of the run's own plan that an event belongs to."""
    return str(event["task"]).partition("/")[0]
