"""What the endpoint plays: a plan, latencies, tool calls, reports, answers and faults."""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from supervisor_worker.testing.endpoint.faults import Face, Fault

Json = Any
"""Whatever `json` can say."""

Answers = Mapping[str, Json | Callable[[dict[str, Json]], Json]]


@dataclass(frozen=True, kw_only=True)
class ScriptedTask:
    """A task of the plan, and how its worker's model behaves."""

    id: str
    worker: str = "researcher"
    depends_on: tuple[Json, ...] = ()
    latency_s: float = 0.0
    """Of the whole task, spread evenly over its turns."""
    description: str = ""
    tool_calls: tuple[tuple[str, dict[str, Json]], ...] = ()
    """Made first: name and arguments."""
    calls_a_turn: int = 1
    call_id: str | None = None
    """Of all its tool calls; each has one of its own without it."""
    report: Json = None
    """A dict; a list is used up in order, its last item repeats; a string is sent as prose."""
    materials: tuple[str, ...] = ()

    def to_plan_task(self) -> dict[str, Json]:
        """Return the task as it stands in the plan."""
        words = self.description or (
            f"Write {self.id}.md: name the three figures of part {self.id} and the source of each."
        )
        task: dict[str, Json] = {"id": self.id, "description": words, "worker": self.worker}
        if self.depends_on:
            task["depends_on"] = list(self.depends_on)
        if self.materials:
            task["materials"] = list(self.materials)
        return task


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """Everything the endpoint knows; JSON-loadable, but for callables."""

    tasks: tuple[ScriptedTask, ...] = ()
    goal: str = "Compare the parts and say which one is best."
    aggregation: str = "merge"
    final_instruction: str = "Bring the parts together in one page."
    latency_s: Mapping[str, float] = field(default_factory=dict)
    """By schema name; `*` for the others. A task's own latency goes before `Report`."""
    chunk_delay_s: float = 0.0
    """Before each event of a streamed answer."""
    is_paced: bool = False
    """A streamed answer's events are spread over its latency, as a model writes; else they follow
    after it."""
    answers: Answers = field(default_factory=dict)
    """By schema name; the same forms as a task's report, or a callable of the request's body."""
    faults: tuple[Fault, ...] = ()
    faces: tuple[Face, ...] = ()
    """Quirks of the server, on every request."""
    models: tuple[str, ...] = ("gpt-5-mini", "gpt-5")
    api_key: str = ""
    """When set, requests with another one get 401."""
    seed: int = 0

    @classmethod
    def load(cls, path: Path) -> "Scenario":
        """Read a scenario from JSON."""
        return cls.from_json(path.read_text(encoding="utf-8"))

    @classmethod
    def from_json(cls, text: str) -> "Scenario":
        """Build a scenario from its JSON."""
        return TypeAdapter(cls).validate_json(text, extra="forbid")

    def to_json(self) -> str:
        """Write the scenario down; one that holds a callable cannot be."""
        return json.dumps(asdict(self), ensure_ascii=False)

    def build_plan(self) -> dict[str, Json]:
        """Return the plan as the planner's model answers it."""
        return {
            "goal": self.goal,
            "tasks": [task.to_plan_task() for task in self.tasks],
            "aggregation": self.aggregation,
            "final_instruction": self.final_instruction,
        }

    def find_task(self, name: str) -> ScriptedTask:
        """Find a task by id; one that is not scripted behaves by default."""
        return self._tasks_by_id.get(name) or ScriptedTask(id=name)

    @cached_property
    def _tasks_by_id(self) -> dict[str, ScriptedTask]:
        return {task.id: task for task in reversed(self.tasks)}


def script_tasks(
    edges: Mapping[str, tuple[str, ...]],
    *,
    latency_s: float | Mapping[str, float] = 0.0,
    worker: str = "researcher",
) -> tuple[ScriptedTask, ...]:
    """Script tasks from their edges: `{"c": ("a", "b")}` says that c needs a and b."""

    def seconds(name: str) -> float:
        return latency_s.get(name, 0.0) if isinstance(latency_s, Mapping) else latency_s

    return tuple(
        ScriptedTask(id=name, worker=worker, depends_on=needed, latency_s=seconds(name))
        for name, needed in edges.items()
    )
