"""What does the work of a team's tasks, built once, away from the event loop."""

import asyncio
from collections.abc import Callable
from typing import Any

from langchain_core.tools import BaseTool
from langgraph.graph.state import CompiledStateGraph

from graph.topology.supervisor_graph import SupervisorGraph
from nodes.execution.attempt_context import AttemptContext
from nodes.models.catalog import ModelCatalog
from nodes.tools.settings import ToolSettings
from state import SPECIALIST, Recruit, Team, Worker

WorkerAgent = CompiledStateGraph[Any, AttemptContext, Any, Any]
BuildGraph = Callable[[Team, "WorkerPool | None"], SupervisorGraph]
"""Compiles the graph of a team, with loops that exist already where they are given."""

MAX_SPECIALIST_AGENTS = 64
"""Specialists' loops that are kept; the oldest go first."""


class WorkerPool:
    """Builds a worker's loop, or a team's graph, when it is first asked for.

    The agent library and the tools' own libraries take as long to import as all the rest, so this
    happens in a thread, as a rule while the planner's model is at work.
    """

    def __init__(
        self, team: Team, *, models: ModelCatalog, tools: ToolSettings, build: BuildGraph
    ) -> None:
        self._team, self._models, self._tool_settings, self._build_graph = (
            team,
            models,
            tools,
            build,
        )
        self._agents: dict[str, WorkerAgent] = {}
        self._specialist_agents: dict[Recruit, WorkerAgent] = {}
        self._team_graphs: dict[str, SupervisorGraph] = {}
        self._division_graph: SupervisorGraph | None = None
        self._tool_descriptions: dict[str, str] | None = None

    async def get_agent(self, name: str) -> WorkerAgent:
        """Return the loop of a worker.

        Raises:
            TeamInvalid: one of its tools cannot be loaded.
            SettingsInvalid: its model cannot be reached as things are set.
        """
        if name not in self._agents:
            worker = self._team.find_worker(name)
            self._agents[name] = await asyncio.to_thread(self._build_agent, worker)
        return self._agents[name]

    async def get_specialist(self, recruit: Recruit) -> WorkerAgent:
        """Return the loop of a specialist; one made for the same work is used again."""
        if recruit not in self._specialist_agents:
            made = {"instructions": recruit.instructions, "tools": recruit.tools}
            worker = self._team.find_worker(SPECIALIST).model_copy(update=made)
            self._specialist_agents[recruit] = await asyncio.to_thread(self._build_agent, worker)
            for oldest in list(self._specialist_agents)[:-MAX_SPECIALIST_AGENTS]:
                del self._specialist_agents[oldest]
        return self._specialist_agents[recruit]

    async def describe_granted_tools(self) -> dict[str, str]:
        """Introduce the granted tools, each by the first line of what it says to a model."""
        if self._tool_descriptions is None:
            tools = await asyncio.to_thread(self._load_granted_tools)
            lines = [tool.description.strip().partition("\n")[0] for tool in tools]
            self._tool_descriptions = dict(zip(self._team.grant, lines, strict=True))
        return self._tool_descriptions

    async def get_team_graph(self, name: str) -> SupervisorGraph:
        """Return the graph of a worker that is a team."""
        if name not in self._team_graphs:
            team = self._team.find_worker(name).team
            assert team is not None, f"{name} is a team"
            self._team_graphs[name] = await asyncio.to_thread(self._build_graph, team, None)
            await self._team_graphs[name].prepare()
        return self._team_graphs[name]

    async def get_division_graph(self) -> SupervisorGraph:
        """Return the graph that divides a task of this team into a plan of its own."""
        if self._division_graph is None:
            inner = WorkerPool(
                derive_division_team(self._team),
                models=self._models,
                tools=self._tool_settings,
                build=self._build_graph,
            )
            inner._agents, inner._specialist_agents, inner._team_graphs = (
                self._agents,
                self._specialist_agents,
                self._team_graphs,
            )
            self._division_graph = await asyncio.to_thread(self._build_graph, inner._team, inner)
        return self._division_graph

    async def prepare(self) -> None:
        """Build what every plan may need and is not built yet."""
        for worker in self._team.workers:
            await (self.get_team_graph(worker.name) if worker.team else self.get_agent(worker.name))
        if self._team.recruit:
            await self.describe_granted_tools()

    def _load_granted_tools(self) -> list[BaseTool]:
        from nodes.tools.catalog import load_tools

        return load_tools(self._team.grant, self._tool_settings)

    def _build_agent(self, worker: Worker) -> WorkerAgent:
        from nodes.execution.tool_loop import build_worker_agent
        from nodes.tools.catalog import load_tools

        tools = load_tools(worker.tools, self._tool_settings)
        return build_worker_agent(worker, tools, self._models.get_chat_model(worker.tier))


def derive_division_team(team: Team) -> Team:
    """Return a team as it divides one of its own tasks: fewer tasks, one level less to go."""
    return team.model_copy(
        update={
            "strategy": "recursive" if team.strategy == "recursive" else "plan",
            "max_recursion": team.max_recursion - 1,
            "max_tasks": min(team.max_tasks, team.max_breadth),
            "approve_plan": False,
            "critic": "off",
        }
    )
