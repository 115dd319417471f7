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

Seeds = Callable[[RunnableConfig], Awaitable[Mapping[str, Report]]]
"""Reads the reports that the superstep at a config's checkpoint has saved."""

MAX_MEETINGS = 4096
"""A run that is cancelled or asks a person leaves its meeting behind; the oldest go first."""


@dataclass
class Meeting:
    """One slot per task. Bound to the event loop of its run."""

    allowance: int
    """Attempts that the run's step cap allowed when the tasks were sent."""
    made: dict[str, int] = field(default_factory=dict)
    """Attempts since, by task."""
    slots: dict[str, asyncio.Future[Report | None]] = field(default_factory=dict)
    door: asyncio.Lock = field(default_factory=asyncio.Lock)
    at_door: str = ""

    async def enter(self, task: str) -> None:
        """Let one worker start at a time, in the order of the plan.

        Starting a worker's graph takes some milliseconds of processor time. Were all started at
        once, those that can work would share them with those that can only wait.
        """
        await self.door.acquire()
        self.at_door = task

    def entered(self, task: str) -> None:
        """Let the next worker start; does nothing when this one has said so before."""
        if self.at_door == task:
            self.at_door = ""
            self.door.release()

    is_stopped: bool = False
    """True once a report speaks against the plan: what runs may finish, what waits is held."""

    async def wait(self, task: str) -> Report | None:
        """Wait for a task's report; None when it will not come in this dispatch."""
        return await asyncio.shield(self._slot(task))

    def publish(self, task: str, report: Report) -> None:
        """Wake those who wait for the task. The first word on a task stands."""
        self._settle(task, report)
        if report.invalidates:
            self._stop()

    def hold(self, task: str) -> None:
        """Let those who wait for the task go without its report."""
        self._settle(task, None)

    def spend(self, task: str) -> bool:
        """Count one attempt at a task against the step cap; False when none is left."""
        if self.left() <= 0:
            return False
        self.made[task] = self.made.get(task, 0) + 1
        return True

    def count(self, task: str, attempts: int) -> None:
        """Know of attempts that were made before this process took the dispatch over."""
        self.made[task] = max(self.made.get(task, 0), attempts)

    def left(self) -> int:
        """Give the attempts that the step cap still allows."""
        return self.allowance - sum(self.made.values())

    def is_idle(self) -> bool:
        """Say whether nobody waits for a report."""
        return all(slot.done() for slot in self.slots.values())

    def _stop(self) -> None:
        self.is_stopped = True
        for slot in self.slots.values():
            if not slot.done():
                slot.set_result(None)

    def _slot(self, task: str) -> asyncio.Future[Report | None]:
        if task not in self.slots:
            self.slots[task] = asyncio.get_running_loop().create_future()
            if self.is_stopped:
                self.slots[task].set_result(None)
        return self.slots[task]

    def _settle(self, task: str, report: Report | None) -> None:
        if not self._slot(task).done():
            self._slot(task).set_result(report)


@dataclass(frozen=True)
class _Place:
    """A graph of a run, by the identity of the run's control object and the graph's namespace."""

    control: RunControl | None
    graph_ns: str

    def __hash__(self) -> int:
        return hash((id(self.control), self.graph_ns))


_meetings: OrderedDict[tuple[_Place, str], asyncio.Future[Meeting]] = OrderedDict()
_announced: OrderedDict[_Place, None] = OrderedDict()


def announce(runtime: Runtime[Context], config: RunnableConfig) -> None:
    """Say, from a step of the supervisor's graph, that its next dispatch has no past.

    Without this word a dispatch is taken for a resumed one, and its meeting is seeded.
    """
    _announced[_Place(runtime.control, _outer(_namespace(config)))] = None
    _keep_newest(_announced)


async def join(
    runtime: Runtime[Context], config: RunnableConfig, *, allowance: int, seeds: Seeds
) -> Meeting:
    """Enter, from a step of a worker's graph, the meeting of the dispatch it belongs to."""
    graph_ns = _outer(_outer(_namespace(config)))
    return await _meeting(runtime, config, graph_ns, allowance=allowance, seeds=seeds)


async def arrive(
    runtime: Runtime[Context], config: RunnableConfig, *, allowance: int, seeds: Seeds
) -> Meeting:
    """Enter the same meeting before the first step, when a worker's graph is about to start."""
    graph_ns = _outer(_namespace(config))
    return await _meeting(runtime, config, graph_ns, allowance=allowance, seeds=seeds)


async def _meeting(
    runtime: Runtime[Context],
    config: RunnableConfig,
    graph_ns: str,
    *,
    allowance: int,
    seeds: Seeds,
) -> Meeting:
    place = _Place(runtime.control, graph_ns)
    checkpoint_id = config["configurable"]["checkpoint_map"].get(place.graph_ns, "")
    address = (place, checkpoint_id)
    if address not in _meetings:
        is_new = place in _announced
        _announced.pop(place, None)
        at = _address_config(config, place.graph_ns, checkpoint_id)
        _meetings[address] = asyncio.ensure_future(_open(allowance, at, None if is_new else seeds))
        _forget_abandoned()
    return await asyncio.shield(_meetings[address])


def disband(runtime: Runtime[Context], config: RunnableConfig) -> None:
    """Forget, from a step of the supervisor's graph, the meetings of its run."""
    place = _Place(runtime.control, _outer(_namespace(config)))
    for address in list(_meetings):  # a copy: other loops of the process hold meetings too
        if address[0] == place:
            _meetings.pop(address, None)


async def _open(allowance: int, at: RunnableConfig, seeds: Seeds | None) -> Meeting:
    meeting = Meeting(allowance)
    if seeds is not None:
        for task, report in (await seeds(at)).items():
            meeting.publish(task, report)
            meeting.count(task, report.attempts)
    return meeting


def _namespace(config: RunnableConfig) -> str:
    return str(config["configurable"].get("checkpoint_ns", ""))


def _outer(namespace: str) -> str:
    return namespace.rpartition("|")[0]


def _address_config(config: RunnableConfig, graph_ns: str, checkpoint_id: str) -> RunnableConfig:
    at = {"checkpoint_ns": graph_ns, "checkpoint_id": checkpoint_id}
    return {"configurable": {**config["configurable"], **at}}


def _forget_abandoned() -> None:
    """Drop the oldest meetings over the limit that nobody waits in."""
    for address in list(_meetings)[: max(0, len(_meetings) - MAX_MEETINGS)]:
        opened = _meetings[address]
        is_over = opened.done() and (opened.cancelled() or opened.exception() is not None)
        if is_over or (opened.done() and opened.result().is_idle()):
            _meetings.pop(address, None)


def _keep_newest(registry: OrderedDict[Any, Any]) -> None:
    while len(registry) > MAX_MEETINGS:
        registry.popitem(last=False)
