"""The tasks of a run's plan with their states, read from a trace."""

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
    """A task of a plan as the drawing shows it."""

    id: str
    worker: str
    state: str
    """Its label, such as `done`."""
    detail: str
    """State, seconds, further attempts and worker, on one line."""
    needs: Mapping[str, bool]
    """Ids of the tasks whose results it gets, and whether it requires them."""
    is_critical: bool
    """It is on the critical path."""


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
    status: str
    depends_on: tuple[_Edge, ...] = ()
    report: _Report | None = None
    team: Mapping[str, Any] | None = None


class _Timing(BaseModel):
    model_config = ConfigDict(extra="ignore")

    critical_path: tuple[str, ...] = ()


class _Trace(BaseModel):
    model_config = ConfigDict(extra="ignore")

    tasks: tuple[_Task, ...]
    timing: _Timing = _Timing()


def read_planned_tasks(trace: Mapping[str, Any]) -> list[PlannedTask]:
    """Return the tasks of a trace's plan, as the drawing shows them.

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
    return [_build_task(task, states[task.id], task.id in critical) for task in read.tasks]


def _build_task(task: _Task, state: str, is_critical: bool) -> PlannedTask:
    known = {edge.task: edge.required for edge in task.depends_on}
    return PlannedTask(
        task.id,
        task.worker,
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
