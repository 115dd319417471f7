"""A worker's graph: wait for the inputs, act, assess, and follow the recovery ladder.

START → await_inputs → act → assess ──▶ END
                       ▲ ▲     ├──▶ act           a stronger tier, another worker, smaller tasks
                       │ │     ├──▶ refine ──┐    a reworded task
                       │ └─────┼─────────────┘
                       │       ├──▶ ask_human ┐   a human (interrupt)
                       │       └──▶ recruit ─┤    a specialist, created for the task
                       └─────────────────────┘

The specialist's own graph begins with `recruit`, in parallel with the others.
"""

import copy
from collections.abc import Mapping
from functools import partial
from typing import NamedTuple

from langgraph.graph import END, START, StateGraph

from graph.topology.drawing import Drawing
from graph.topology.node_config import change_class
from graph.topology.worker_graph import FirstAttempt, WorkerGraph, WorkerStep, enter_dispatch
from graph.topology.worker_pool import WorkerPool
from nodes.act import act, after_act
from nodes.ask_human import ask_human
from nodes.assess import after_assess, assess
from nodes.await_inputs import after_await_inputs, await_inputs
from nodes.execution.dispatch_registry import DispatchRegistry
from nodes.models.catalog import ModelCatalog
from nodes.recruit import after_recruit, recruit
from nodes.refine import refine
from nodes.schemas.team import SPECIALIST, Team, Worker
from nodes.text.counts import format_count
from state import Context, WorkerOutput, WorkerState

STEPS = ("await_inputs", "act", "assess", "ask_human", "recruit")


class Holder(NamedTuple):
    """A worker, the team whose workers may take over its tasks, and who provides their agents."""

    worker: Worker
    team: Team
    pool: WorkerPool


def build_workers(
    holders: Mapping[str, Holder], *, models: ModelCatalog, dispatches: DispatchRegistry
) -> dict[str, WorkerGraph]:
    """Return the graph of each worker, by its name.

    All are one compiled graph, whose steps find the worker by its task: compiling one takes some
    milliseconds.
    """
    steps = {name: _build_steps(holder, models) for name, holder in holders.items()}
    builder = StateGraph(WorkerState, context_schema=Context, output_schema=WorkerOutput)
    for name in STEPS:
        of_workers = {worker: own[name] for worker, own in steps.items()}
        builder.add_node(name, enter_dispatch(of_workers, dispatches))
    asked = next(iter(holders.values())).team.get_parameters("refiner")
    builder.add_node("refine", partial(refine, models=models, parameters=asked))
    _join_steps(builder)
    compiled, made = change_class(builder.compile(), WorkerGraph), dict[str, WorkerGraph]()
    for name, (worker, team, _) in holders.items():
        made[name] = graph = copy.copy(compiled)
        graph.name, graph.worker, graph.drawing = name, worker, _describe_drawing(team, name)
        act_first, assess_it = steps[name]["act"], steps[name]["assess"]
        graph.first_attempt = FirstAttempt(await_inputs, act_first, assess_it, dispatches)
    return made


def _build_steps(holder: Holder, models: ModelCatalog) -> Mapping[str, WorkerStep]:
    worker, team, pool = holder
    return {
        "await_inputs": await_inputs,
        "act": partial(act, worker=worker, team=team, models=models, agents=pool),
        "assess": partial(assess, team=team, models=models),
        "ask_human": ask_human,
        "recruit": partial(recruit, team=team, models=models, describe_tools=pool.describe_tools),
    }


def _join_steps(builder: StateGraph[WorkerState, Context, WorkerState, WorkerOutput]) -> None:
    builder.add_conditional_edges("await_inputs", after_await_inputs, ["act", END])
    builder.add_conditional_edges("act", after_act, ["assess", END])
    roads = ["act", "refine", "ask_human", "recruit", END]
    builder.add_conditional_edges("assess", after_assess, roads)
    builder.add_conditional_edges(START, _choose_entry, ["await_inputs", *roads])
    builder.add_edge("refine", "act")
    builder.add_edge("ask_human", "act")
    builder.add_conditional_edges("recruit", after_recruit, ["await_inputs", "act"])


def _choose_entry(state: WorkerState) -> str:
    return after_assess(state) if "change" in state else _get_first(state["task"].worker)


def _get_first(worker: str) -> str:
    return "recruit" if worker == SPECIALIST else "await_inputs"


def _describe_drawing(team: Team, worker: str) -> Drawing:
    """Return why each edge is taken; steps of rungs that the team's ladder lacks are not drawn.

    Nor is the entry at a rung, after a first attempt that was made outside the graph, nor a
    specialist of a team that recruits none, though a run may make one.
    """
    first = _get_first(worker)
    others = {"tier": "another model", "reassign": "another worker", "split": "smaller tasks"}
    rungs = [label for rung, label in others.items() if rung in team.ladder]
    labels = {
        ("await_inputs", "act"): "inputs arrived",
        ("await_inputs", END): "an input will not come",
        ("recruit", "await_inputs"): "new task",
        ("recruit", "act"): "reassigned task",
        ("act", "assess"): "attempt made",
        ("act", END): "step cap, deadline, or not needed",
        ("assess", "act"): ", ".join(rungs) or others["tier"],
        ("assess", "refine"): "reword",
        ("assess", "ask_human"): "ask",
        ("assess", "recruit"): "no worker fits",
        ("assess", END): f"report, cap: {format_count(team.max_attempts, 'attempt')}",
        ("refine", "act"): "new description",
        ("ask_human", "act"): "reply",
    }
    steps = {"refine": "refine", "ask_human": "human"}
    hidden = {n for n, rung in steps.items() if rung not in team.ladder}
    hidden |= set() if team.recruit or first == "recruit" else {"recruit"}
    return Drawing(labels, frozenset(hidden), entry=first)
