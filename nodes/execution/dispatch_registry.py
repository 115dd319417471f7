"""The dispatches of a compiled graph that are running in this process.

A dispatch belongs to one run and one superstep, so a fork from an earlier checkpoint never finds
the reports of the first run. After a crash a new one begins with the reports that the superstep
had already saved.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import RunControl, Runtime

from nodes.execution.dispatch import Dispatch, StatusListener, ignore_status
from nodes.limits.run_scope import get_run_scope
from nodes.planning.todo_list import build_status_event
from nodes.telemetry.events import build_task_path
from state import Context, Plan, Report, WorkerOutput


@dataclass(frozen=True)
class SavedDispatch:
    """What the superstep at a checkpoint has saved."""

    reports: Mapping[str, Report] = field(default_factory=dict)
    started: Collection[str] = ()
    """Tasks that had begun."""
    plans: Sequence[Plan] = ()
    """The versions of the plan, when a monitor has revised it in this superstep."""
    outputs: Mapping[str, WorkerOutput] = field(default_factory=dict)
    """What tasks had returned, where it was saved before LangGraph saved it."""
    asking: Collection[str] = ()
    """LangGraph's ids of the nodes that had begun and wait for a human."""
    is_monitored: bool = False
    """Its monitor is still to read the reports."""
    has_monitor_ended: bool = False
    """Its monitor saw all its tasks end, or held those that waited."""
    held: Collection[str] = ()
    """Tasks that had ended without a report, because they could not start."""
    materials: Mapping[str, str] = field(default_factory=dict)
    """Those of the run: name to text."""


LoadSavedDispatch = Callable[[RunnableConfig], Awaitable[SavedDispatch]]
"""Reads what the superstep at a config's checkpoint has saved."""

MONITOR: Final = "monitor"
"""The node that reads the reports of a dispatch."""
MAX_DISPATCHES: Final = 4096
"""A run that is cancelled, or that asks a human, leaves its dispatch; the oldest are dropped."""


@dataclass(frozen=True)
class _GraphRun:
    """A graph of a run, by the identity of the run's control object and the graph's namespace."""

    control: RunControl | None
    graph_ns: str

    def __hash__(self) -> int:
        return hash((id(self.control), self.graph_ns))


class DispatchRegistry:
    """Owned by the compiled graph of a supervisor; its nodes and its workers' nodes share it."""

    def __init__(self, load_saved_dispatch: LoadSavedDispatch) -> None:
        self._load_saved_dispatch = load_saved_dispatch
        self._dispatches: OrderedDict[tuple[_GraphRun, str], asyncio.Future[Dispatch]] = (
            OrderedDict()
        )
        self._new: OrderedDict[_GraphRun, StatusListener] = OrderedDict()

    def open(
        self, runtime: Runtime[Context], config: RunnableConfig, materials: Mapping[str, str]
    ) -> None:
        """Note, from a node of the supervisor's graph, that its next dispatch is a new one.

        A dispatch without this note is a resumed one, and begins with what was saved.

        Args:
            materials: those of the run: name to text.
        """
        graph_ns = _get_parent_namespace(_read_namespace(config))
        get_run_scope(config).materials[graph_ns] = materials
        self._new[_GraphRun(runtime.control, graph_ns)] = _build_status_listener(runtime, config)
        while len(self._new) > MAX_DISPATCHES:
            self._new.popitem(last=False)

    def close(self, runtime: Runtime[Context], config: RunnableConfig) -> None:
        """Drop, from a node of the supervisor's graph, the dispatches of its run."""
        graph_run = _GraphRun(runtime.control, _get_parent_namespace(_read_namespace(config)))
        for address in list(self._dispatches):  # a copy: other loops of the process add their own
            if address[0] == graph_run:
                self._dispatches.pop(address, None)

    async def join(
        self, runtime: Runtime[Context], config: RunnableConfig, *, steps_left: int
    ) -> Dispatch:
        """Return, in a node of a worker's graph, the dispatch that its task belongs to."""
        graph_ns = _get_parent_namespace(_get_parent_namespace(_read_namespace(config)))
        return await self._get(runtime, config, graph_ns, steps_left)

    async def join_from_node(
        self, runtime: Runtime[Context], config: RunnableConfig, *, steps_left: int
    ) -> Dispatch:
        """Return the dispatch of the superstep in a node beside the workers."""
        return await self._get(runtime, config, get_dispatch_namespace(config), steps_left)

    async def _get(
        self, runtime: Runtime[Context], config: RunnableConfig, graph_ns: str, steps_left: int
    ) -> Dispatch:
        revised_ns = get_run_scope(config).dispatch_ns
        graph_ns = graph_ns if revised_ns is None else revised_ns
        graph_run = _GraphRun(runtime.control, graph_ns)
        checkpoint_id = config["configurable"]["checkpoint_map"].get(graph_ns, "")
        address = (graph_run, checkpoint_id)
        if address not in self._dispatches:
            is_new = graph_run in self._new
            show_status = self._new.pop(graph_run, ignore_status)
            place = {"checkpoint_ns": graph_ns, "checkpoint_id": checkpoint_id}
            at: RunnableConfig = {"configurable": {**config["configurable"], **place}}
            made = self._create(
                Dispatch(steps_left, graph_ns, show_status=show_status),
                None if is_new else at,
                # Under a limit the workers that wait would keep the monitor from its turn.
                may_hold=not config.get("max_concurrency"),
            )
            self._dispatches[address] = asyncio.ensure_future(made)
            self._drop_abandoned()
        return await asyncio.shield(self._dispatches[address])

    async def _create(
        self, dispatch: Dispatch, saved_at: RunnableConfig | None, *, may_hold: bool
    ) -> Dispatch:
        if saved_at is not None:
            saved = await self._load_saved_dispatch(saved_at)
            get_run_scope(saved_at).materials[dispatch.graph_ns] = saved.materials
            dispatch.started.update(saved.started)
            dispatch.saved_outputs, dispatch.asking = saved.outputs, saved.asking
            for task, report in saved.reports.items():
                dispatch.publish_report(task, report)
                dispatch.record_attempts(task, report.attempts)
            for old, new in pairwise(saved.plans):
                withdraw_tasks(dispatch, old, new)
            for task in saved.held:
                if task not in dispatch.withdrawn:
                    dispatch.release(task)
            if saved.is_monitored and may_hold:
                dispatch.may_start.clear()
            dispatch.saved_version = max((plan.version for plan in saved.plans), default=0)
            if saved.has_monitor_ended:  # what it held must not start now
                dispatch.stop()
        return dispatch

    def _drop_abandoned(self) -> None:
        """Drop the oldest dispatches over the limit in which no worker waits."""
        surplus = max(0, len(self._dispatches) - MAX_DISPATCHES)
        for address in list(self._dispatches)[:surplus]:
            opened = self._dispatches[address]
            is_over = opened.done() and (opened.cancelled() or opened.exception() is not None)
            if is_over or (opened.done() and opened.result().is_idle()):
                self._dispatches.pop(address, None)


def _build_status_listener(runtime: Runtime[Context], config: RunnableConfig) -> StatusListener:
    """Return what streams the statuses of tasks; those of a team inside a task are not shown."""
    if build_task_path(config):
        return ignore_status
    return lambda task, status: runtime.stream_writer(build_status_event(task, status, config))


def withdraw_tasks(dispatch: Dispatch, old: Plan, new: Plan) -> None:
    """Hold the waiting tasks of a plan that its next version has changed or dropped."""
    kept = {task.id: task for task in new.tasks}
    gone = [task.id for task in old.tasks if task != kept.get(task.id)]
    dispatch.withdraw(
        dict.fromkeys(gone, new.version), dropped=[name for name in gone if name not in kept]
    )


def get_dispatch_namespace(config: RunnableConfig) -> str:
    """Return the namespace of the supervisor's graph, in a node beside its workers."""
    revised_ns = get_run_scope(config).dispatch_ns
    own_ns = _get_parent_namespace(_read_namespace(config))
    return own_ns if revised_ns is None else revised_ns


def _read_namespace(config: RunnableConfig) -> str:
    return str(config["configurable"].get("checkpoint_ns", ""))


def _get_parent_namespace(namespace: str) -> str:
    return namespace.rpartition("|")[0]
