"""Where the workers of one dispatch leave their reports and find those they wait for.

All tasks of a plan are sent in one superstep; a worker's first step waits here for its own inputs.
A meeting is only a place to meet, and may vanish at any time: the truth is the checkpoint. After a
crash a new meeting is seeded with the reports that the dispatch had already saved.

A meeting belongs to one run and one superstep, so a fork from an earlier checkpoint never meets
the reports of the first run.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import RunControl, Runtime

from state import Context, Report

LoadSavedReports = Callable[[RunnableConfig], Awaitable[Mapping[str, Report]]]
"""Reads the reports that the superstep at a config's checkpoint has saved."""

MAX_DISPATCHES = 4096
"""A run that is cancelled or asks a person leaves its meeting behind; the oldest go first."""


@dataclass
class Dispatch:
    """One slot per task. Bound to the event loop of its run."""

    steps_at_start: int
    """Attempts that the run's step cap allowed when the tasks were sent."""
    attempts: dict[str, int] = field(default_factory=dict)
    """Attempts since, by task."""
    report_futures: dict[str, asyncio.Future[Report | None]] = field(default_factory=dict)
    start_lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    starting_task: str = ""

    async def wait_to_start(self, task: str) -> None:
        """Let one worker start at a time, in the order of the plan.

        Starting a worker's graph takes some milliseconds of processor time. Were all started at
        once, those that can work would share them with those that can only wait.
        """
        await self.start_lock.acquire()
        self.starting_task = task

    def finish_start(self, task: str) -> None:
        """Let the next worker start; does nothing when this one has said so before."""
        if self.starting_task == task:
            self.starting_task = ""
            self.start_lock.release()

    is_stopped: bool = False
    """True once a report speaks against the plan: what runs may finish, what waits is held."""

    async def wait_for_report(self, task: str) -> Report | None:
        """Wait for a task's report; None when it will not come in this dispatch."""
        return await asyncio.shield(self._get_future(task))

    def publish_report(self, task: str, report: Report) -> None:
        """Wake those who wait for the task. The first word on a task stands."""
        self._set_result(task, report)
        if report.invalidates:
            self._stop_waiting()

    def release(self, task: str) -> None:
        """Let those who wait for the task go without its report."""
        self._set_result(task, None)

    def spend_step(self, task: str) -> bool:
        """Count one attempt at a task against the step cap; False when none is left."""
        if self.count_steps_left() <= 0:
            return False
        self.attempts[task] = self.attempts.get(task, 0) + 1
        return True

    def record_attempts(self, task: str, attempts: int) -> None:
        """Know of attempts that were made before this process took the dispatch over."""
        self.attempts[task] = max(self.attempts.get(task, 0), attempts)

    def count_steps_left(self) -> int:
        """Return the attempts that the step cap still allows."""
        return self.steps_at_start - sum(self.attempts.values())

    def is_idle(self) -> bool:
        """Return whether nobody waits for a report."""
        return all(slot.done() for slot in self.report_futures.values())

    def _stop_waiting(self) -> None:
        self.is_stopped = True
        for slot in self.report_futures.values():
            if not slot.done():
                slot.set_result(None)

    def _get_future(self, task: str) -> asyncio.Future[Report | None]:
        if task not in self.report_futures:
            self.report_futures[task] = asyncio.get_running_loop().create_future()
            if self.is_stopped:
                self.report_futures[task].set_result(None)
        return self.report_futures[task]

    def _set_result(self, task: str, report: Report | None) -> None:
        if not self._get_future(task).done():
            self._get_future(task).set_result(report)


@dataclass(frozen=True)
class _GraphRun:
    """A graph of a run, by the identity of the run's control object and the graph's namespace."""

    control: RunControl | None
    graph_ns: str

    def __hash__(self) -> int:
        return hash((id(self.control), self.graph_ns))


_dispatches: OrderedDict[tuple[_GraphRun, str], asyncio.Future[Dispatch]] = OrderedDict()
_new_dispatches: OrderedDict[_GraphRun, None] = OrderedDict()


def open_dispatch(runtime: Runtime[Context], config: RunnableConfig) -> None:
    """Say, from a step of the supervisor's graph, that its next dispatch has no past.

    Without this word a dispatch is taken for a resumed one, and its meeting is seeded.
    """
    _new_dispatches[_GraphRun(runtime.control, _get_parent_namespace(_read_namespace(config)))] = (
        None
    )
    _keep_newest(_new_dispatches)


async def join_dispatch(
    runtime: Runtime[Context], config: RunnableConfig, *, allowance: int, seeds: LoadSavedReports
) -> Dispatch:
    """Enter, from a step of a worker's graph, the meeting of the dispatch it belongs to."""
    graph_ns = _get_parent_namespace(_get_parent_namespace(_read_namespace(config)))
    return await _get_dispatch(runtime, config, graph_ns, allowance=allowance, seeds=seeds)


async def join_dispatch_before_start(
    runtime: Runtime[Context], config: RunnableConfig, *, allowance: int, seeds: LoadSavedReports
) -> Dispatch:
    """Enter the same meeting before the first step, when a worker's graph is about to start."""
    graph_ns = _get_parent_namespace(_read_namespace(config))
    return await _get_dispatch(runtime, config, graph_ns, allowance=allowance, seeds=seeds)


async def _get_dispatch(
    runtime: Runtime[Context],
    config: RunnableConfig,
    graph_ns: str,
    *,
    allowance: int,
    seeds: LoadSavedReports,
) -> Dispatch:
    place = _GraphRun(runtime.control, graph_ns)
    checkpoint_id = config["configurable"]["checkpoint_map"].get(place.graph_ns, "")
    address = (place, checkpoint_id)
    if address not in _dispatches:
        is_new = place in _new_dispatches
        _new_dispatches.pop(place, None)
        at = _build_checkpoint_config(config, place.graph_ns, checkpoint_id)
        _dispatches[address] = asyncio.ensure_future(
            _create_dispatch(allowance, at, None if is_new else seeds)
        )
        _drop_abandoned()
    return await asyncio.shield(_dispatches[address])


def close_dispatches(runtime: Runtime[Context], config: RunnableConfig) -> None:
    """Forget, from a step of the supervisor's graph, the meetings of its run."""
    place = _GraphRun(runtime.control, _get_parent_namespace(_read_namespace(config)))
    for address in list(_dispatches):  # a copy: other loops of the process hold meetings too
        if address[0] == place:
            _dispatches.pop(address, None)


async def _create_dispatch(
    allowance: int, at: RunnableConfig, seeds: LoadSavedReports | None
) -> Dispatch:
    meeting = Dispatch(allowance)
    if seeds is not None:
        for task, report in (await seeds(at)).items():
            meeting.publish_report(task, report)
            meeting.record_attempts(task, report.attempts)
    return meeting


def _read_namespace(config: RunnableConfig) -> str:
    return str(config["configurable"].get("checkpoint_ns", ""))


def _get_parent_namespace(namespace: str) -> str:
    return namespace.rpartition("|")[0]


def _build_checkpoint_config(
    config: RunnableConfig, graph_ns: str, checkpoint_id: str
) -> RunnableConfig:
    at = {"checkpoint_ns": graph_ns, "checkpoint_id": checkpoint_id}
    return {"configurable": {**config["configurable"], **at}}


def _drop_abandoned() -> None:
    """Drop the oldest meetings over the limit that nobody waits in."""
    for address in list(_dispatches)[: max(0, len(_dispatches) - MAX_DISPATCHES)]:
        opened = _dispatches[address]
        is_over = opened.done() and (opened.cancelled() or opened.exception() is not None)
        if is_over or (opened.done() and opened.result().is_idle()):
            _dispatches.pop(address, None)


def _keep_newest(registry: OrderedDict[Any, Any]) -> None:
    while len(registry) > MAX_DISPATCHES:
        registry.popitem(last=False)
