"""A worker's graph: wait for the inputs, act, assess, and follow the recovery ladder.

START → await_inputs → act → assess ──▶ END
                       ▲ ▲     ├──▶ act           a stronger tier, another worker, smaller tasks
                       │ │     ├──▶ refine ──┐    a reworded task
                       │ └─────┼─────────────┘
                       │       ├──▶ ask_human ┐   a human (interrupt)
                       │       └──▶ recruit ─┤    a specialist, created for the task
                       └─────────────────────┘

If the team recruits, the specialist's own graph begins with `recruit`, in parallel with the others.
"""

from functools import partial

from langgraph.graph import END, START, StateGraph

from graph.topology.worker_graph import WorkerGraph
from graph.topology.worker_pool import WorkerPool
from nodes.act import act, after_act
from nodes.ask_human import ask_human
from nodes.assess import after_assess, assess
from nodes.await_inputs import after_await_inputs, await_inputs
from nodes.execution.dispatch import LoadSavedReports
from nodes.models.catalog import ModelCatalog
from nodes.recruit import after_recruit, recruit
from nodes.refine import refine
from state import SPECIALIST, Assignment, Context, Team, Worker, WorkerOutput, WorkerState


def build_worker(
    worker: Worker, *, team: Team, models: ModelCatalog, loops: WorkerPool, seeds: LoadSavedReports
) -> WorkerGraph:
    """Compile the graph of one worker; other workers of its team may take over its tasks."""
    acting = partial(act, worker=worker, team=team, models=models, doers=loops, seeds=seeds)
    builder = StateGraph(
        WorkerState, context_schema=Context, input_schema=Assignment, output_schema=WorkerOutput
    )
    builder.add_node("await_inputs", partial(await_inputs, seeds=seeds))
    builder.add_node("act", acting)
    builder.add_node("assess", partial(assess, team=team, models=models, seeds=seeds))
    builder.add_node("refine", partial(refine, models=models))
    builder.add_node("ask_human", partial(ask_human, seeds=seeds))

    rungs = ("refine", "ask_human")
    if team.recruit:
        recruiting = partial(
            recruit, team=team, models=models, cards=loops.describe_granted_tools, seeds=seeds
        )
        builder.add_node("recruit", recruiting)
        builder.add_conditional_edges("recruit", after_recruit, ["await_inputs", "act"])

    builder.add_edge(START, "recruit" if worker.name == SPECIALIST else "await_inputs")
    builder.add_conditional_edges("await_inputs", after_await_inputs, ["act", END])
    builder.add_conditional_edges("act", after_act, ["assess", END])
    roads = ["act", *rungs, *(["recruit"] if team.recruit else []), END]
    builder.add_conditional_edges("assess", after_assess, roads)
    for name in rungs:
        builder.add_edge(name, "act")
    return WorkerGraph.from_compiled(builder.compile(name=worker.name), seeds=seeds)
