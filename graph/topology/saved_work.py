"""The work of an unfinished superstep: a report is saved early, and after a crash all is read.

LangGraph saves what a node returns after the node has ended. By then other tasks have started on
its report; a kill in between would have the finished work done again.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID, uuid5

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.types import Overwrite, PregelTask, StateSnapshot

from graph.stores.side_records import load_records, save_record
from graph.topology.node_config import NAMESPACE_KEY, get_checkpointer
from nodes.execution.dispatch_registry import MONITOR, SavedDispatch
from nodes.limits.langgraph_keys import TASK_ID_KEY
from nodes.telemetry.cost import build_expenses
from state import Expense, Plan, Report, Task, WorkerOutput, merge_ledger, merge_plans

CHANNEL: Final = "__early_report"
Values = Mapping[str, Any]


@dataclass(frozen=True)
class EarlySave:
    """Saves the output of the node that a config belongs to, beside what LangGraph saves of it."""

    config: RunnableConfig
    steps: Mapping[str, int]
    """Attempts so far, a part of the output."""

    async def __call__(self, output: WorkerOutput) -> None:
        """Save a task's output; return when it is saved. Without a checkpointer do nothing."""
        saver = get_checkpointer(self.config)
        if saver is None:
            return
        configurable = self.config["configurable"]
        graph_ns = str(configurable[NAMESPACE_KEY]).rpartition("|")[0].rpartition("|")[0]
        at = {
            "thread_id": configurable["thread_id"],
            NAMESPACE_KEY: graph_ns,
            "checkpoint_id": configurable["checkpoint_map"][graph_ns],
        }
        saved = {**output, "steps": dict(self.steps)}
        task_id = str(uuid5(UUID(configurable[TASK_ID_KEY]), CHANNEL))
        await save_record(saver, {"configurable": at}, CHANNEL, saved, task_id=task_id)


async def read_early_outputs(
    saver: BaseCheckpointSaver[Any], snapshot: StateSnapshot
) -> dict[str, WorkerOutput]:
    """Return the outputs that were saved early at a checkpoint, at every depth, by task."""
    inner = (task.state for task in _walk_tasks(snapshot))
    found: dict[str, WorkerOutput] = {}
    for each in [snapshot, *inner]:
        if isinstance(each, StateSnapshot):
            for output in await load_records(saver, each.config, CHANNEL):
                found |= dict.fromkeys(output["results"], output)
    return found


async def read_saved_dispatch(
    snapshot: StateSnapshot, saver: BaseCheckpointSaver[Any] | None
) -> SavedDispatch:
    """Return what the superstep of a snapshot has saved; without a checkpointer there is little."""
    outputs = {} if saver is None else await read_early_outputs(saver, snapshot)
    early = {name: output["results"][name] for name, output in outputs.items()}
    monitors = [task for task in snapshot.tasks if task.name == MONITOR]
    return SavedDispatch(
        {**early, **collect_pending_reports(snapshot)},
        _collect_started_tasks(snapshot),
        collect_pending_revisions(snapshot),
        outputs,
        {task.id for task in _walk_tasks(snapshot) if task.interrupts},
        is_monitored=any(task.result is None for task in monitors),
        has_monitor_ended=any(task.result is not None for task in monitors),
        held=collect_held_tasks(snapshot),
        materials=snapshot.values.get("materials", {}),
    )


def collect_pending_reports(snapshot: StateSnapshot) -> dict[str, Report]:
    """Collect the reports that an unfinished superstep has saved, at every depth.

    A worker whose last step was saved repeats no step, even if the end of its graph was not saved.
    """
    found: dict[str, Report] = {}
    for task in _walk_tasks(snapshot):
        for values in (_get_result(task), _get_values(task)):
            found |= _get_entries(values, "results")
    return found


def collect_held_tasks(snapshot: StateSnapshot) -> set[str]:
    """Return the ids of tasks that ended without a report, because they could not start.

    Those of inner teams are not among them: they belong to other dispatches.
    """
    found: set[str] = set()
    for task in snapshot.tasks:
        steps = _get_entries(_get_result(task), "steps")
        found |= {name for name, tries in steps.items() if not tries}
        if task.name == MONITOR and isinstance(task.state, StateSnapshot):
            found |= collect_held_tasks(task.state)
    return found


def collect_pending_revisions(snapshot: StateSnapshot) -> tuple[Plan, ...]:
    """Return the plan of a superstep, and the versions that its monitor has made of it since."""
    plan: Plan | None = snapshot.values.get("plan")
    if plan is None:
        return ()
    plans: tuple[Plan, ...] = tuple(snapshot.values.get("plans") or ())
    for task in _walk_tasks(snapshot):
        for values in (_get_result(task), _get_values(task)):
            plans = merge_plans(plans, tuple(values.get("plans") or ()))
    newer = [each for each in plans if each.version > plan.version]
    return (plan, *newer) if newer else ()


def collect_ledger(snapshot: StateSnapshot) -> dict[str, Expense]:
    """Return the ledger of a snapshot, including the entries of its unfinished tasks."""
    ledger: dict[str, Expense] = dict(snapshot.values.get("ledger", {}))
    for task in _walk_tasks(snapshot):
        ledger = merge_ledger(ledger, _get_entries(_get_result(task), "ledger"))
        worker = _get_values(task)
        inner = {**_collect_attempt_expenses(worker), **worker.get("ledger", {})}
        ledger = merge_ledger(ledger, inner)
    return ledger


def _collect_started_tasks(snapshot: StateSnapshot) -> set[str]:
    """Return the ids of tasks that had begun when the superstep was saved, at every depth."""
    workers = map(_get_values, _walk_tasks(snapshot))
    begun = (worker.get("task") for worker in workers if "inputs" in worker)
    return {task.id for task in begun if isinstance(task, Task)}


def _walk_tasks(snapshot: StateSnapshot) -> Iterator[PregelTask]:
    """Yield the tasks of a superstep, each followed by those of its own graph."""
    for task in snapshot.tasks:
        yield task
        if isinstance(task.state, StateSnapshot):
            yield from _walk_tasks(task.state)


def _get_result(task: PregelTask) -> Values:
    return task.result if isinstance(task.result, Mapping) else {}


def _get_values(task: PregelTask) -> Values:
    """Return the values of a task's own graph."""
    return task.state.values if isinstance(task.state, StateSnapshot) else {}


def _get_entries(values: Values, channel: str) -> dict[str, Any]:
    """Return what is written to a channel; for a new request it is an `Overwrite`."""
    written = values.get(channel)
    return dict((written.value if isinstance(written, Overwrite) else written) or {})


def _collect_attempt_expenses(worker: Values) -> dict[str, Expense]:
    """Return the ledger entries of a worker's attempts before its report."""
    task, entries = worker.get("task"), worker.get("attempts", {}).items()
    if not isinstance(task, Task):
        return {}
    made = [build_expenses(task.id, int(number), attempt) for number, attempt in entries]
    return {name: spent for each in made for name, spent in each.items()}
