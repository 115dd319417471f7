"""A worker's graph: wait for the inputs, act, assess, and refine when that may help.

START → await_inputs → act → assess ──▶ END
                        ▲       └──▶ refine ─┐
                        └────────────────────┘
"""

from functools import partial

from langgraph.graph import END, START, StateGraph

from graph.loops import Loops
from graph.worker_graph import WorkerGraph
from nodes.act import act, after_act
from nodes.assess import after_assess, assess
from nodes.await_inputs import after_await_inputs, await_inputs
from nodes.models.catalog import Models
from nodes.refine import refine
from nodes.rendezvous import Seeds
from state import Assignment, Context, Worker, WorkerOutput, WorkerState


def build_worker(worker: Worker, *, models: Models, loops: Loops, seeds: Seeds) -> WorkerGraph:
    """Compile the graph of one worker."""
    loop = partial(loops.of, worker.name)
    builder = StateGraph(
        WorkerState, context_schema=Context, input_schema=Assignment, output_schema=WorkerOutput
    )
    builder.add_node("await_inputs", partial(await_inputs, seeds=seeds))
    builder.add_node("act", partial(act, worker=worker, models=models, loop=loop, seeds=seeds))
    builder.add_node("assess", partial(assess, worker=worker, seeds=seeds))
    builder.add_node("refine", partial(refine, models=models))

    builder.add_edge(START, "await_inputs")
    builder.add_conditional_edges("await_inputs", after_await_inputs, ["act", END])
    builder.add_conditional_edges("act", after_act, ["assess", END])
    builder.add_conditional_edges("assess", after_assess, ["refine", END])
    builder.add_edge("refine", "act")
    return WorkerGraph.of(builder.compile(name=worker.name), seeds=seeds)
