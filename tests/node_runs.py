"""Call a node as the function it is: the one place that knows what a run's config holds."""

import asyncio
import inspect
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import set_config_context
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.runtime import RunControl, Runtime
from langgraph.types import Command, Overwrite

from nodes.execution.dispatch import Dispatch
from nodes.execution.dispatch_registry import DispatchRegistry, SavedDispatch
from nodes.limits.budget import Budget
from nodes.limits.deadline import now_s
from nodes.limits.run_scope import SCOPE_KEY, SYNTHESIS_SHARE, Deadline, RunScope
from state import Context, Expense, Origin, Report

WORK_S = 100.0
"""Time for work in a run with a deadline."""
STEPS_LEFT = 9
"""Of the step cap, in a dispatch."""


def make_config(
    *,
    elapsed_s: float = 0.0,
    work_left_s: float | None = None,
    budget: Budget | None = None,
    origin: Origin | None = None,
    given: tuple[Report, ...] = (),
    kept: tuple[str, ...] = (),
    within: str = "",
) -> RunnableConfig:
    """Build the config of a run.

    Args:
        work_left_s: of `WORK_S` seconds for work; None for a run without a deadline.
        within: the task that a subteam works on.
    """
    now = now_s()
    deadline = None
    if work_left_s is not None:
        ends_at = now + work_left_s
        deadline = Deadline(ends_at - WORK_S, WORK_S / (1.0 - SYNTHESIS_SHARE))
    scope = RunScope(
        began_at=now - elapsed_s,
        deadline=deadline,
        budget=budget,
        outer_task=within,
        prior_results=given,
        origin=origin,
        kept_materials=kept,
    )
    return {"configurable": {SCOPE_KEY: scope, "checkpoint_map": {}}, "metadata": {}}


@dataclass
class NodeRun:
    """Calls nodes with a config and a runtime, and collects their events."""

    config: RunnableConfig = field(default_factory=make_config)
    context: Context = field(default_factory=Context)
    dispatch: Dispatch = field(default_factory=lambda: Dispatch(steps_at_start=STEPS_LEFT))
    """In which the nodes of a worker meet."""
    events: list[Mapping[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.runtime = Runtime(
            context=self.context, stream_writer=self.events.append, control=RunControl()
        )
        self.config["configurable"]["__pregel_runtime"] = self.runtime

    async def call(self, node: Callable[..., Any], *values: Any, **options: Any) -> Any:
        """Await a node, or any function that emits events, inside the run.

        What a run consists of is passed to those that take it.
        """
        known = {
            "config": self.config,
            "runtime": self.runtime,
            "dispatch": self.dispatch,
            "dispatches": DispatchRegistry(_load_no_reports),
        }
        taken = inspect.signature(node).parameters
        passed = {name: value for name, value in known.items() if name in taken}
        with set_config_context(self.config) as around:
            return await asyncio.create_task(node(*values, **passed, **options), context=around)

    def list_events(self, kind: str) -> list[Mapping[str, Any]]:
        """Return the events of a kind."""
        return [event for event in self.events if event["kind"] == kind]


def read_channel(update: Mapping[str, Any], channel: str) -> Any:
    """Return what an update writes into a channel, also where it overwrites the channel."""
    value = update[channel]
    return value.value if isinstance(value, Overwrite) else value


def list_expenses(update: Mapping[str, Any]) -> list[Expense]:
    """Return the new entries of the ledger."""
    return list(read_channel(update, "ledger").values()) if "ledger" in update else []


def list_payers(update: Mapping[str, Any]) -> list[tuple[str, str, int]]:
    """Return who spent what: worker, tier and number of model calls, by entry."""
    return [(each.worker, each.tier, each.usage.model_calls) for each in list_expenses(update)]


def make_steps(count: int) -> dict[str, int]:
    """Return the steps of a run that made a number of attempts."""
    return {"earlier": count}


async def run_until_interrupt(
    node: Callable[..., Any], schema: Any, state: Mapping[str, Any], *replies: Any
) -> tuple[list[Any], dict[str, Any], list[Mapping[str, Any]]]:
    """Run a node as a graph of its own; return its questions, its last state and its events.

    Each reply resumes the node once.
    """
    builder = StateGraph(schema, context_schema=Context)
    builder.add_node("node", node)
    builder.add_edge(START, "node")
    builder.add_edge("node", END)
    graph = builder.compile(checkpointer=InMemorySaver())
    config: RunnableConfig = {"configurable": {"thread_id": "one"}}
    questions: list[Any] = []
    events: list[Mapping[str, Any]] = []
    result: dict[str, Any] = {}
    for entered in (state, *(Command(resume=reply) for reply in replies)):
        stream: AsyncIterator[tuple[str, Any]] = graph.astream(  # type: ignore[assignment]  # by mode
            entered, config, context=Context(), stream_mode=["values", "custom"]
        )
        async for mode, chunk in stream:
            if mode == "custom":
                events.append(chunk)
                continue
            asked = chunk.get("__interrupt__", ())
            questions += [each.value for each in asked]
            result = result if asked else chunk
    return questions, result, events


async def _load_no_reports(config: RunnableConfig) -> SavedDispatch:
    return SavedDispatch()
