"""What a picture of a plan shows, read from a trace."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from graph.display.labels import format_seconds, format_task
from graph.display.task_states import label_tasks
from graph.runs.timeline import TraceUnreadable
from nodes.errors import UsageError
from nodes.text.counts import format_count


class PlanMissing(UsageError):
    """A run has no plan that could be drawn."""

    code = "PLAN_MISSING"


@dataclass(frozen=True)
class PlannedTask:
    """A task of a plan as a picture shows it."""

    id: str
    worker: str
    description: str
    state: str
    """Its label, such as `done`."""
    detail: str
    """State, seconds, further attempts and worker, on one line."""
    needs: Mapping[str, bool]
    """Ids of the tasks whose results it gets, and whether it requires them."""
    is_critical: bool
    """It is on the critical path."""


@dataclass(frozen=True)
class PlanPicture:
    """A plan and what became of it."""

    title: str
    summary: str
    tasks: Sequence[PlannedTask]


class _Edge(BaseModel):
    task: str
    required: bool = True


class _Report(BaseModel):
    model_config = ConfigDict(extra="ignore")

    worker: str = ""
    attempts: Any = 1  # a number here, a list of attempts in other releases
    started_s: float | None = None
    ended_s: float | None = None


class _Task(BaseModel):
    model_config = ConfigDict(extra="ignore")

    id: str
    worker: str = ""
    description: str = ""
    status: str
    depends_on: tuple[_Edge, ...] = ()
    report: _Report | None = None
    team: Mapping[str, Any] | None = None


class _Run(BaseModel):
    model_config = ConfigDict(extra="ignore")

    request: str = ""
    status: str = ""
    team: str = ""


class _Timing(BaseModel):
    model_config = ConfigDict(extra="ignore")

    wall_s: float | None = None
    speedup: float | None = None
    critical_path: tuple[str, ...] = ()


class _Trace(BaseModel):
    model_config = ConfigDict(extra="ignore")

    run: _Run
    tasks: tuple[_Task, ...]
    timing: _Timing = _Timing()


def read_plan_picture(trace: Mapping[str, Any]) -> PlanPicture:
    """Return what a picture of a trace's plan shows.

    Raises:
        TraceUnreadable: it is not the trace of a run.
        PlanMissing: the run has no plan.
    """
    try:
        read = _Trace.model_validate(trace)
        states = label_tasks(trace)
    except (ValidationError, LookupError, TypeError, AttributeError) as error:
        raise TraceUnreadable(
            "the trace has not the form that this version reads",
            cause=type(error).__name__,
            next="`supervise runs` lists the threads there are",
        ) from None
    if not read.tasks:
        raise PlanMissing(
            "the run has no plan", next="`supervise show THREAD` prints what there is"
        )
    critical = frozenset(read.timing.critical_path)
    tasks = [_build_task(task, states[task.id], task.id in critical) for task in read.tasks]
    return PlanPicture(read.run.request, _summarize(read, tasks), tasks)


def _build_task(task: _Task, state: str, is_critical: bool) -> PlannedTask:
    known = {edge.task: edge.required for edge in task.depends_on}
    return PlannedTask(
        task.id,
        task.worker,
        task.description,
        state,
        " · ".join(filter(None, _list_details(task, state))),
        known,
        is_critical,
    )


def _list_details(task: _Task, state: str) -> list[str]:
    report = task.report or _Report()
    details = [state]
    if report.started_s is not None and report.ended_s is not None:
        details.append(format_seconds(max(0.0, report.ended_s - report.started_s)))
    attempts = report.attempts if isinstance(report.attempts, int) else 1
    if attempts > 1:
        details.append(format_count(attempts, "attempt"))
    inner = (task.team or {}).get("tasks")
    if isinstance(inner, Sequence) and inner:
        details.append(f"team of {format_count(len(inner), 'task')}")
    worker = report.worker or task.worker
    return [*details, worker if format_task(task.id, worker) != task.id else ""]


def _summarize(read: _Trace, tasks: Sequence[PlannedTask]) -> str:
    done = sum(task.state == "done" for task in tasks)
    parts = [
        read.run.team,
        read.run.status.replace("_", " "),
        f"{done} of {format_count(len(tasks), 'task')} done",
    ]
    if read.timing.wall_s:
        parts.append(format_seconds(read.timing.wall_s))
    if read.timing.speedup and read.timing.speedup > 1:
        parts.append(f"speed-up {read.timing.speedup:.2f}")
    return " · ".join(filter(None, parts))
