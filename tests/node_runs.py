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

from nodes.execution.dispatch import Dispatch, join_dispatch
from nodes.limits.budget import Budget
from nodes.limits.clock import now_s
from state import Context, Expense, Origin, Report

WORK_S = 100.0
"""Time for work in a run with a deadline."""


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
    configurable: dict[str, Any] = {
        "began_at": now - elapsed_s,
        "checkpoint_map": {},
        "__given": given,
        "__kept": kept,
        "__within": within,
    }
    if work_left_s is not None:
        ends = now + work_left_s
        configurable |= {"work_from": ends - WORK_S, "work_until": ends, "deadline_at": ends + 9.0}
    if budget is not None:
        configurable["__budget"] = budget
    if origin is not None:
        configurable["__origin"] = origin
    return {"configurable": configurable, "metadata": {}}


@dataclass
class NodeRun:
    """Calls nodes with a config and a runtime, and collects their events."""

    config: RunnableConfig = field(default_factory=make_config)
    context: Context = field(default_factory=Context)
    events: list[Mapping[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.runtime = Runtime(
            context=self.context, stream_writer=self.events.append, control=RunControl()
        )
        self.config["configurable"]["__pregel_runtime"] = self.runtime

    async def call(self, node: Callable[..., Any], *values: Any, **options: Any) -> Any:
        """Await a node, or any function that emits events, inside the run.

        The config and the runtime are passed to those that take them.
        """
        known = {"config": self.config, "runtime": self.runtime}
        taken = inspect.signature(node).parameters
        passed = {name: value for name, value in known.items() if name in taken}
        with set_config_context(self.config) as around:
            return await asyncio.create_task(node(*values, **passed, **options), context=around)

    async def join_dispatch(self) -> Dispatch:
        """Return the dispatch in which the nodes of this run meet."""
        return await join_dispatch(self.runtime, self.config, allowance=9, seeds=load_no_reports)

    def list_events(self, kind: str) -> list[Mapping[str, Any]]:
        """Return the events of a kind."""
        return [event for event in self.events if event["kind"] == kind]


async def load_no_reports(config: RunnableConfig) -> Mapping[str, Report]:
    """Return no reports: nothing was saved before."""
    return {}


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
    config: RunnableConfig = {"configurable": {"thread_id": "one", "began_at": now_s()}}
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
