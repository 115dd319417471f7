"""The supervisor's graph of a team.

START → supervisor ──▶ approval (interrupt) ──▶ supervisor
        supervisor ══Send══▶ a node for each worker ══▶ supervisor
        supervisor ──▶ monitor, beside the workers ──▶ supervisor
        supervisor ──▶ synthesizer ──▶ END
                       synthesizer ──▶ critic ──▶ END
                                       critic ──▶ supervisor
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.store.base import BaseStore

from graph.extensions import collect
from graph.revision import Revision
from graph.settings import Settings, read_settings
from graph.teams.team_loader import load_team
from graph.topology.drawing import Drawing
from graph.topology.node_config import SupervisorStep, apply_context, change_class
from graph.topology.saved_work import read_saved_dispatch
from graph.topology.supervisor_graph import SupervisorGraph
from graph.topology.worker_graph import WorkerGraph
from graph.topology.worker_pool import WorkerPool
from graph.worker import Holder, build_workers
from nodes.approval import approve
from nodes.critic import after_critic, criticize
from nodes.execution.dispatch_registry import DispatchRegistry, SavedDispatch
from nodes.execution.first_call import FirstCalls
from nodes.models.catalog import ModelCatalog
from nodes.schemas.replies import RunOutput
from nodes.schemas.single_agent import SINGLE_AGENT, become_single
from nodes.schemas.team import SPECIALIST, Team
from nodes.supervisor import after_supervisor, supervise
from nodes.synthesizer import after_synthesizer, synthesize
from nodes.text.counts import format_count
from nodes.tools.framework.settings import ToolSettings
from state import Assignment, Context, RequestInput, SupervisorState, Tier


def build_supervisor(
    team: str | Path | Team,
    *,
    settings: Settings | None = None,
    models: Mapping[Tier, BaseChatModel] | None = None,
    tools: Mapping[str, BaseTool] | None = None,
    checkpointer: BaseCheckpointSaver[str] | None = None,
    store: BaseStore | None = None,
) -> SupervisorGraph:
    """Compile the graph of a team: a shipped name, the path of a team folder, or a `Team`.

    Without a checkpointer the graph runs in memory; LangGraph's server attaches its own
    checkpointer and store.

    Args:
        models: chat models of your own for some tiers; the settings name those of the others.
        tools: tools of your own as objects, for names in workers' `tools`. What a tool reads and
            sends is in its `metadata`; without it the tool is trusted least.
        store: keeps data beyond a thread.

    Raises:
        TeamInvalid: there is no such team, or its folder does not hold one.
        SettingsInvalid: a value of the environment is not allowed, a model is none, or a tool is
            none or is held by no worker.
    """
    settings = read_settings(settings)
    return compile_supervisor(
        load_team(team, settings, tools=tools),
        settings=settings,
        tools=replace(settings.build_tool_settings(), given=dict(tools or {})),
        models=ModelCatalog(settings.build_model_settings(), models),
        checkpointer=checkpointer,
        store=store,
    )


def compile_supervisor(
    team: Team,
    pool: WorkerPool | None = None,
    *,
    settings: Settings,
    models: ModelCatalog,
    tools: ToolSettings,
    checkpointer: BaseCheckpointSaver[str] | None = None,
    store: BaseStore | None = None,
) -> SupervisorGraph:
    """Compile the graph of a team that is loaded, with the parts that it is made of."""
    dispatches = DispatchRegistry(lambda config: _read_saved(graph, config))
    if pool is None:
        build = partial(compile_supervisor, settings=settings, models=models, tools=tools)
        pool = WorkerPool(team, models=models, tools=tools, build=build)
    workers = _build_workers(team, models, pool, dispatches)
    revision = Revision(team, models=models, dispatches=dispatches, workers=workers)
    may_speculate = settings.speculate and settings.stream is not False
    steps: dict[str, SupervisorStep] = {
        "supervisor": partial(
            supervise,
            models=models,
            prepare=pool.prepare,
            describe_database=pool.describe_database,
            prepare_first_calls=FirstCalls(models, pool, may_speculate).prepare,
            dispatches=dispatches,
        ),
        "synthesizer": partial(synthesize, models=models, dispatches=dispatches),
        "critic": partial(criticize, models=models),
    }
    approval = partial(approve, team=team, models=models)
    builder = _join_nodes(team, steps, approval, workers, revision)
    compiled = builder.compile(name=team.name, checkpointer=checkpointer, store=store)
    graph = change_class(compiled, SupervisorGraph)
    graph.prepare, graph.team, graph.drawing = pool.prepare, team, _describe_drawing(team)
    graph.name_models = models.name_all
    graph.attach_revision = revision.attach
    graph.around = tuple(collect(lambda each: each.list_around_runs(settings)))
    graph.default_deadline_s = settings.deadline_s or None
    graph.config = {"tags": ["supervisor-worker", team.name], "metadata": {"team": team.name}}
    return graph


async def _read_saved(graph: SupervisorGraph, config: RunnableConfig) -> SavedDispatch:
    """Return what the superstep at a config's checkpoint has saved."""
    if "thread_id" not in config["configurable"]:
        return SavedDispatch()
    snapshot = await graph.aget_state(config, subgraphs=True)
    return await read_saved_dispatch(snapshot, graph.find_checkpointer(config))


def _build_workers(
    team: Team, models: ModelCatalog, pool: WorkerPool, dispatches: DispatchRegistry
) -> dict[str, WorkerGraph]:
    """Compile the workers, the specialist, and the agent that does their work alone."""
    alone = become_single(team)
    ours = {each.name: Holder(each, team, pool) for each in (*team.workers, team.specialist)}
    holders = {SINGLE_AGENT: Holder(alone.workers[0], alone, pool.single), **ours}
    return build_workers(holders, models=models, dispatches=dispatches)


def _join_nodes(
    team: Team,
    steps: Mapping[str, SupervisorStep],
    approval: SupervisorStep,
    workers: Mapping[str, WorkerGraph],
    revision: Revision,
) -> StateGraph[SupervisorState, Context, RequestInput, RunOutput]:
    builder = StateGraph(
        SupervisorState, context_schema=Context, input_schema=RequestInput, output_schema=RunOutput
    )
    for name, step in steps.items():
        builder.add_node(name, apply_context(step, team))
    builder.add_node("approval", approval)
    for name, node in workers.items():
        builder.add_node(name, node, input_schema=Assignment)
    builder.add_node("monitor", revision.monitor)

    names = [*workers, "monitor"]
    builder.add_edge(START, "supervisor")
    roads = ["approval", *names, "synthesizer"]
    builder.add_conditional_edges("supervisor", after_supervisor, roads)
    builder.add_edge("approval", "supervisor")
    for name in names:
        builder.add_edge(name, "supervisor")
    builder.add_conditional_edges("synthesizer", after_synthesizer, ["critic", END])
    builder.add_conditional_edges("critic", after_critic, ["supervisor", END])
    return builder


def _describe_drawing(team: Team) -> Drawing:
    """Return why each edge is taken; what only a run's context switches on is not drawn."""
    below = f" below confidence {team.critic_below}" if team.critic == "below" else ""
    labels = {
        ("supervisor", "approval"): "plan to approve",
        ("approval", "supervisor"): "accepted, edited or rejected",
        ("supervisor", "synthesizer"): (
            f"no task left, or cap: {format_count(team.max_steps, 'attempt')}, deadline, budget"
        ),
        ("synthesizer", "critic"): f"draft{below}",
        ("synthesizer", END): "answer",
        ("critic", "supervisor"): (
            f"tasks sent back, cap: {format_count(team.max_critic_rounds, 'round')}"
        ),
        ("critic", END): "answer",
    }
    roster = team.apply_context(Context()).roster
    for worker in roster:
        labels["supervisor", worker.name] = "its unfinished tasks"
        labels[worker.name, "supervisor"] = "report, or no input"
    labels["supervisor", "monitor"] = "beside the workers"
    labels["monitor", "supervisor"] = "all ended, or the plan must change"
    known = {*(worker.name for worker in team.workers), SPECIALIST, SINGLE_AGENT}
    unused = known - {worker.name for worker in roster}
    return Drawing(labels, frozenset(unused | (set() if team.critic != "off" else {"critic"})))
