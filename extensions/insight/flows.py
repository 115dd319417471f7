"""What of a plan's sources may reach which tools that send, and what tasks may change at one time.

Taint as the run counts it (Denning, "A lattice model of secure information flow", 1976): along
edges, through all attempts at a task, and through who reads results before tasks are written.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, Literal

from nodes.models.catalog import EMBEDDED
from nodes.planning.certificates import PlannedRun
from nodes.schemas.servers import split_tool_name
from nodes.schemas.team import Team, Worker
from nodes.security.tool_access import get_declared_access, list_effect_tools
from state import Frozen, TaintLabel

Way = Literal["plan", "recovery", "replanning"]
"""How: by the plan's edges and its own workers; where another worker takes a task or a part of it;
where tasks are written, or written again, after results were read."""
WAYS: Final[tuple[Way, ...]] = ("plan", "recovery", "replanning")
ALL: Final = -1
"""All tasks, and those that the plan does not have yet."""
GUARDS: Final = {
    "query": "only words of the request are sent",
    "address": "only addresses of the request, and those that searches found",
    "anything": "refused",
}
"""What of something private, which another one has read, the tool loop lets a tool send."""


class Flow(Frozen):
    """Sources of one kind, and a tool that sends, which they may reach."""

    sources: tuple[str, ...]
    labels: tuple[TaintLabel, ...]
    to: str
    sends: str
    way: Way
    guard: str = ""
    """What the tool loop lets through; empty for all."""


class ParallelWrites(Frozen):
    """Tasks that may change one thing at the same time, or whose own parts may."""

    thing: str
    tasks: tuple[str, ...]
    pairs: int
    way: Way


@dataclass
class _Use:
    """Where something is read, sent to or changed: a number with a bit for each task."""

    labels: set[TaintLabel] = field(default_factory=set)
    sends: str = ""
    tasks: dict[Way, int] = field(default_factory=lambda: dict.fromkeys(WAYS, 0))


class Flows:
    """All that can be said of one plan."""

    def __init__(self, run: PlannedRun) -> None:
        self._run, self._ids = run, [task.id for task in run.plan.tasks]
        self._after, self._before = self._close()
        self._sources, self._sinks = dict[str, _Use](), dict[str, _Use]()
        self._things, self._divided = dict[str, _Use](), 0
        self._collect()

    def list_sources(self) -> tuple[str, ...]:
        """Return what the plan reads; the answer may hold something of each."""
        return tuple(name for name, use in self._sources.items() if use.tasks["plan"])

    def list_sending(self) -> dict[str, str]:
        """Return which tools of the plan send, and what."""
        return {name: use.sends for name, use in self._sinks.items() if use.tasks["plan"]}

    def list_flows(self) -> list[Flow]:
        """Return which sources may reach which tools that send; alike ones are one flow."""
        found = dict[tuple[str, str, tuple[TaintLabel, ...], str, Way], list[str]]()
        for name, source in self._sources.items():
            for way, to, sends in self._reach(source):
                is_kept = sends == "address" or ("private" in source.labels and name != to)
                guard = GUARDS[sends] if is_kept else ""
                key = (to, sends, tuple(sorted(source.labels)), guard, way)
                found.setdefault(key, []).append(name)
        return [
            Flow(sources=tuple(names), labels=labels, to=to, sends=sends, way=way, guard=guard)
            for (to, sends, labels, guard, way), names in found.items()
        ]

    def list_parallel_writes(self) -> list[ParallelWrites]:
        """Return what two tasks of the plan may change at the same time."""
        found = list[ParallelWrites]()
        for thing, use in {} if self._run.context.sequential else self._things.items():
            seen = tasks = 0
            for way in WAYS[:2]:
                tasks |= use.tasks[way]
                parts = ALL if way != "plan" and may_split(self._run.team) else self._divided
                peers = {at: self._find_peers(at, tasks, parts) for at in _list_bits(tasks)}
                pairs = sum((mask >> at).bit_count() for at, mask in peers.items())
                if pairs > seen:
                    names = tuple(self._ids[at] for at, mask in peers.items() if mask)
                    found.append(ParallelWrites(thing=thing, tasks=names, pairs=pairs, way=way))
                seen = max(seen, pairs)
        return found

    def _find_peers(self, at: int, tasks: int, parts: int) -> int:
        """Return the tasks that may run beside one; itself where its parts may."""
        return tasks & (~(self._after[at] | self._before[at]) | (parts & 1 << at))

    def _reach(self, source: _Use) -> Iterator[tuple[Way, str, str]]:
        """Yield each tool that sends that a source may reach, by the first way that there is."""
        reached, read = dict[Way, int](), 0
        for way in WAYS[:2]:
            read |= source.tasks[way]
            reached[way] = 0
            for at in _list_bits(read):
                reached[way] |= self._after[at]
        reached["replanning"] = source.tasks["replanning"]
        for to, sink in self._sinks.items():
            used = 0
            for way in WAYS:
                used |= sink.tasks[way]
                if reached[way] & used:
                    yield way, to, sink.sends
                    break

    def _close(self) -> tuple[list[int], list[int]]:
        """Return the tasks after each one, and those before it, itself among both."""
        places = {name: at for at, name in enumerate(self._ids)}
        after, before = ([1 << at for at in places.values()] for _ in range(2))
        ordered = self._run.plan.order_tasks()
        for task in ordered:
            for edge in task.depends_on:
                before[places[task.id]] |= before[places[edge.task]]
        for task in reversed(ordered):
            for edge in task.depends_on:
                after[places[edge.task]] |= after[places[task.id]]
        return after, before

    def _collect(self) -> None:
        run, team, every = self._run, self._run.team, (1 << len(self._ids)) - 1
        planned = {worker.name: 0 for worker in team.roster}
        teams = {worker.name for worker in team.roster if worker.team}
        for at, task in enumerate(run.plan.tasks):
            self._divided |= 1 << at if task.is_compound or task.worker in teams else 0
            for name in planned if task.is_compound else [task.worker]:
                planned[name] |= 1 << at
            for name in task.materials:
                labels: tuple[TaintLabel, ...] = ("private", "untrusted")
                self._read(f"material {name}", labels[name in run.public :], "plan", 1 << at)
        if run.earlier_labels:
            self._read("the earlier conversation", run.earlier_labels, "plan", every)
        for worker in team.roster:
            self._add(worker, team, "plan", planned[worker.name])
            self._add(worker, team, "recovery", 0 if team.is_held else every)
            self._add(worker, team, "replanning", ALL if may_grow(team) else 0)
        judge = run.models.get_name(team.judge_tier, run.context)
        if may_grow(team) or (team.critic != "off" and judge != EMBEDDED):
            for use in (*self._sources.values(), *self._sinks.values()):
                use.tasks["replanning"] = ALL

    def _read(self, name: str, labels: Iterable[TaintLabel], way: Way, tasks: int) -> None:
        use = self._sources.setdefault(name, _Use())
        use.labels.update(labels)
        use.tasks[way] |= tasks

    def _add(self, worker: Worker, team: Team, way: Way, tasks: int) -> None:
        """Add what a worker reads, sends and changes in some tasks."""
        for name, labels, sends in _list_accesses(worker, team) if tasks else ():
            if labels:
                self._read(name, labels, way, tasks)
            if sends != "nothing":
                self._sinks.setdefault(name, _Use(sends=sends)).tasks[way] |= tasks
        for tool in list_effect_tools(worker, team) if tasks else ():
            split = split_tool_name(tool)
            thing = f"mcp:{split[0]}" if split else tool
            self._things.setdefault(thing, _Use()).tasks[way] |= tasks


def may_split(team: Team) -> bool:
    """Return whether a task that failed may be divided among all workers."""
    return not team.is_held and team.max_recursion > 0 and "split" in team.ladder


def may_grow(team: Team) -> bool:
    """Return whether tasks may be added to the plan."""
    return not team.is_held and (team.max_revisions > 0 or team.strategy == "step")


def _list_accesses(worker: Worker, team: Team) -> Iterator[tuple[str, frozenset[TaintLabel], str]]:
    """Yield what a worker, or the team that it is, reads and sends, by name."""
    if worker.remote:
        spec = worker.remote.access
        yield f"{worker.name} at {worker.remote.host}", frozenset(spec.reads), spec.sends
    for name in worker.tools:
        access = get_declared_access(name, team)
        yield name, access.reads, access.sends
    for each in worker.team.roster if worker.team else ():
        yield from _list_accesses(each, worker.team or team)


def _list_bits(mask: int) -> Iterator[int]:
    while mask:
        yield (mask & -mask).bit_length() - 1
        mask &= mask - 1
