"""Builds the agents and graphs that do a team's tasks, once each, outside the event loop."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from copy import copy
from math import inf
from time import monotonic

from langchain_core.tools import BaseTool
from langgraph.config import get_config

from graph.extensions import collect, find_extensions
from graph.topology.supervisor_graph import SupervisorGraph
from nodes.errors import McpServerFailed, RemoteError, SupervisorError, TeamInvalid
from nodes.execution.outside_worker import OutsideWorker
from nodes.execution.worker_agent import WorkerAgent, name_tool_set
from nodes.limits.run_scope import get_run_scope
from nodes.limits.worker_load import get_team_load
from nodes.models.catalog import ModelCatalog
from nodes.schemas.servers import split_tool_name
from nodes.schemas.single_agent import become_single, is_single
from nodes.schemas.team import Team, Worker
from nodes.tools.framework.catalog import ConfirmedTool
from nodes.tools.framework.extras import PackageMissing, require_packages
from nodes.tools.framework.settings import ToolSettings
from state import Recruit

BuildGraph = Callable[[Team, "WorkerPool | None"], SupervisorGraph]
"""Compiles the graph of a team, with an existing worker pool if one is given."""

PROBE_TIMEOUT_S = 2.0
"""For a server to answer at a run's start, while the planner's model is at work."""
PROBE_AGAIN_S = 30.0
"""Before an inner team or a divided task asks a server again."""
DESCRIBED_FOR_S = 60.0
"""How old the description of a database may be: later runs of the process see its new tables."""
MAX_SPECIALIST_AGENTS = 64
"""Specialists' agents that are kept; the oldest are dropped first."""


class WorkerPool:
    """Builds a worker's agent, or a team's graph, at its first use.

    The agent library and the libraries of the tools are slow to import, so this happens in a
    thread, usually while the planner's model call is in flight.
    """

    def __init__(
        self, team: Team, *, models: ModelCatalog, tools: ToolSettings, build: BuildGraph
    ) -> None:
        self._team, self._models = team, models
        self._tool_settings, self._build_graph = tools, build
        self._agents: dict[str, WorkerAgent] = {}
        self._tool_versions: dict[str, list[str]] = {}
        """Of the tools of MCP servers that an agent was built with; they may change in between."""
        self._specialist_agents: dict[Recruit, WorkerAgent] = {}
        self._team_graphs: dict[str, SupervisorGraph] = {}
        self._remote_agents: dict[str, OutsideWorker] = {}
        self._division_graph: SupervisorGraph | None = None
        self._single: WorkerPool | None = None
        self._tool_descriptions: dict[str, str] = {}
        self._database_tables, self._described_at = "", -inf

    @property
    def single(self) -> "WorkerPool":
        """The pool of the team as one agent."""
        if self._single is None:
            alone, build = become_single(self._team), self._build_graph
            self._single = WorkerPool(
                alone, models=self._models, tools=self._tool_settings, build=build
            )
        return self._single

    async def get_agent(self, name: str) -> WorkerAgent:
        """Return the agent of a worker.

        Raises:
            TeamInvalid: one of its tools cannot be loaded.
            McpServerFailed: a server of its tools cannot be used.
            SettingsInvalid: its model cannot be used with the current settings.
        """
        worker = self._team.find_worker(name)
        of_servers = await self._connect_servers(worker)
        versions = [tool.version for tool in of_servers]
        if name not in self._agents or self._tool_versions.get(name, []) != versions:
            self._agents[name] = await asyncio.to_thread(self._build_agent, worker, of_servers)
            self._tool_versions[name] = versions
        return self._agents[name]

    async def get_specialist(self, recruit: Recruit) -> WorkerAgent:
        """Return the agent of a specialist; an equal specialist gets the same agent."""
        if recruit not in self._specialist_agents:
            made = {"instructions": recruit.instructions, "tools": recruit.tools}
            worker = self._team.specialist.model_copy(update=made)
            self._specialist_agents[recruit] = await asyncio.to_thread(
                self._build_agent, worker, []
            )
            for oldest in list(self._specialist_agents)[:-MAX_SPECIALIST_AGENTS]:
                del self._specialist_agents[oldest]
        return self._specialist_agents[recruit]

    async def describe_tools(self, names: tuple[str, ...]) -> dict[str, str]:
        """Return the first line of each tool's description, by tool name."""
        if self._tool_settings.recorded is not None:
            return {}
        if new := [name for name in names if name not in self._tool_descriptions]:
            tools = await asyncio.to_thread(self._load_tools, new)
            lines = [tool.description.strip().partition("\n")[0] for tool in tools]
            self._tool_descriptions |= dict(zip(new, lines, strict=True))
        return {name: self._tool_descriptions[name] for name in names}

    async def describe_database(self) -> str:
        """Return the tables of the user's database, a line each, if a tool of the team reads them.

        One that cannot be read is reported by the tool, when a worker calls it.
        """
        if not self._tool_settings.sql_url:
            return ""
        if not self._database_tables or monotonic() - self._described_at > DESCRIBED_FOR_S:
            team, used = self._team, self._tool_settings
            described = await asyncio.to_thread(
                collect, lambda each: [each.describe_tables(team, used)]
            )
            self._database_tables = "\n".join(filter(None, described))
            self._described_at = monotonic()
        return self._database_tables

    async def get_team_graph(self, name: str) -> SupervisorGraph:
        """Return the graph of a worker that is itself a team."""
        if name not in self._team_graphs:
            team = self._team.find_worker(name).team
            assert team is not None, f"{name} is a team"
            self._team_graphs[name] = await asyncio.to_thread(self._build_graph, team, None)
            await self._team_graphs[name].prepare(team)
        return self._team_graphs[name]

    async def get_remote(self, name: str) -> OutsideWorker:
        """Return a worker on another server.

        Raises:
            SettingsInvalid: a variable that its headers name is not set.
            PackageMissing: the packages of its protocol are not installed.
        """
        if name not in self._remote_agents:
            self._remote_agents[name] = await asyncio.to_thread(self._build_remote, name)
        return self._remote_agents[name]

    async def get_division_graph(self) -> SupervisorGraph:
        """Return the graph that divides a task of this team into a plan of its own."""
        if self._division_graph is None:
            inner = copy(self)  # with the same agents and graphs
            inner._team, inner._single = derive_division_team(self._team), None
            self._division_graph = await asyncio.to_thread(self._build_graph, inner._team, inner)
        return self._division_graph

    async def prepare(self, team: Team) -> None:
        """Build all agents and graphs that a plan may need, and see which servers answer.

        A worker with tools of MCP servers is built when it has a task: then they are started.

        Args:
            team: this one, as the run's context changes it.

        Raises:
            TeamInvalid: the team's tools need packages that are not installed.
        """
        if team.strategy == "single" and not is_single(self._team):
            return await self.single.prepare(team)
        if self._tool_settings.recorded is not None:
            return await self._build_workers(team)
        if not self._agents:
            await asyncio.to_thread(require_packages, self._team.name)
            if any(split_tool_name(name) for each in self._team.workers for name in each.tools):
                await asyncio.to_thread(require_packages, "mcp", "MCP servers")
        for worker in self._team.workers:
            if worker.remote:
                await self.get_remote(worker.name)
        # Whatever goes wrong in a probe, the worker's task may succeed, or reports it.
        probing = asyncio.gather(*map(self._probe, self._team.workers), return_exceptions=True)
        try:
            await self._build_workers(team)
            await probing
        finally:
            probing.cancel()
            with suppress(asyncio.CancelledError):  # else asyncio prints that it was not awaited
                await probing

    async def _build_workers(self, team: Team) -> None:
        for worker in self._team.workers:
            if worker.team:
                await self.get_team_graph(worker.name)
            elif not worker.remote and not self._has_server_tools(worker):
                await self.get_agent(worker.name)
        if team.recruit:
            await self.describe_tools(team.grant)

    async def _probe(self, worker: Worker) -> None:
        """Note whether a worker's server answers; no process is started for it."""
        load, servers = get_team_load(self._team), self._team.mcp_servers
        named = {found[0] for found in map(split_tool_name, worker.tools) if found}
        is_recent = load.clock() - load.probed_at.get(worker.name, -inf) < PROBE_AGAIN_S
        if is_recent and _is_inner_run():
            return
        load.probed_at[worker.name], unavailable = load.clock(), load.unavailable
        try:
            if worker.remote:
                await (await self.get_remote(worker.name)).probe(PROBE_TIMEOUT_S)
            elif named and all(name in servers and servers[name].url for name in named):
                async with asyncio.timeout(PROBE_TIMEOUT_S):
                    await self._connect_servers(worker)
            unavailable.pop(worker.name, None)
        except TimeoutError:
            unavailable[worker.name] = f"no answer within {PROBE_TIMEOUT_S:g} s"
        except (RemoteError, McpServerFailed) as error:
            unavailable[worker.name] = error.describe()
        except SupervisorError:  # its task reports it
            unavailable.pop(worker.name, None)

    def _load_tools(self, names: Sequence[str]) -> list[BaseTool]:
        from nodes.tools.framework.catalog import load_tools

        return load_tools(names, self._tool_settings, self._team.own_tools)

    def _build_remote(self, name: str) -> OutsideWorker:
        worker, variables = self._team.find_worker(name), self._tool_settings.variables
        try:
            for extension in find_extensions():
                if built := extension.build_worker(worker, variables):
                    return built
        except ImportError as error:
            raise PackageMissing.from_error(error) or error from None
        raise TeamInvalid(f"no extension can ask the worker {name}, which is on another server")

    async def _connect_servers(self, worker: Worker) -> list[ConfirmedTool]:
        """Return a worker's tools of MCP servers."""
        if not self._has_server_tools(worker):
            return []
        found: list[ConfirmedTool] = []
        for extension in find_extensions():
            found += await extension.load_tools(self._team, worker, self._tool_settings)
        return found

    def _has_server_tools(self, worker: Worker) -> bool:
        """Return whether servers are to be asked for tools; those of a record are known."""
        is_recorded = self._tool_settings.recorded is not None
        return not is_recorded and any(map(split_tool_name, worker.tools))

    def _build_agent(self, worker: Worker, of_servers: Sequence[BaseTool] = ()) -> WorkerAgent:
        from nodes.execution.tool_loop import build_worker_agent
        from nodes.tools.framework.catalog import require_distinct_names

        recorded = self._tool_settings.recorded
        if recorded is not None:
            tools = list(recorded.get(name_tool_set(worker), ()))
        else:
            named = [name for name in worker.tools if not split_tool_name(name)]
            tools = [*self._load_tools(named), *of_servers]
        require_distinct_names(tools)
        return build_worker_agent(worker, tools, self._models.get_chat_model(worker.tier))


def _is_inner_run() -> bool:
    with suppress(RuntimeError):  # outside a graph
        return bool(get_run_scope(get_config()).outer_task)
    return False


def derive_division_team(team: Team) -> Team:
    """Return the team that divides one of a team's own tasks: fewer tasks, one level less."""
    return team.model_copy(
        update={
            "strategy": "recursive" if team.strategy == "recursive" else "plan",
            "max_recursion": team.max_recursion - 1,
            "max_tasks": min(team.max_tasks, team.max_breadth),
            "approve_plan": False,
            "approve_above": None,
            "critic": "off",
        }
    )
