"""What does the work of a team's tasks, built once, away from the event loop."""

import asyncio
from collections.abc import Callable
from typing import Any

from langchain_core.tools import BaseTool
from langgraph.graph.state import CompiledStateGraph

from graph.supervisor_graph import SupervisorGraph
from nodes.errand import Errand
from nodes.models.catalog import Models
from nodes.tools.settings import ToolSettings
from state import SPECIALIST, Recruit, Team, Worker

Loop = CompiledStateGraph[Any, Errand, Any, Any]
Build = Callable[[Team, "Loops | None"], SupervisorGraph]
"""Compiles the graph of a team, with loops that exist already where they are given."""

MAX_RECRUITED = 64
"""Specialists' loops that are kept; the oldest go first."""


class Loops:
    """Builds a worker's loop, or a team's graph, when it is first asked for.

    The agent library and the tools' own libraries take as long to import as all the rest, so this
    happens in a thread, as a rule while the planner's model is at work.
    """

    def __init__(self, team: Team, *, models: Models, tools: ToolSettings, build: Build) -> None:
        self._team, self._models, self._tools, self._build = team, models, tools, build
        self._loops: dict[str, Loop] = {}
        self._recruited: dict[Recruit, Loop] = {}
        self._teams: dict[str, SupervisorGraph] = {}
        self._divided: SupervisorGraph | None = None
        self._cards: dict[str, str] | None = None

    async def loop(self, name: str) -> Loop:
        """Give the loop of a worker.

        Raises:
            TeamInvalid: one of its tools cannot be loaded.
            SettingsInvalid: its model cannot be reached as things are set.
        """
        if name not in self._loops:
            worker = self._team.worker(name)
            self._loops[name] = await asyncio.to_thread(self._loop, worker)
        return self._loops[name]

    async def recruited(self, recruit: Recruit) -> Loop:
        """Give the loop of a specialist; one made for the same work is used again."""
        if recruit not in self._recruited:
            made = {"instructions": recruit.instructions, "tools": recruit.tools}
            worker = self._team.worker(SPECIALIST).model_copy(update=made)
            self._recruited[recruit] = await asyncio.to_thread(self._loop, worker)
            for oldest in list(self._recruited)[:-MAX_RECRUITED]:
                del self._recruited[oldest]
        return self._recruited[recruit]

    async def cards(self) -> dict[str, str]:
        """Introduce the granted tools, each by the first line of what it says to a model."""
        if self._cards is None:
            tools = await asyncio.to_thread(self._granted)
            lines = [tool.description.strip().partition("\n")[0] for tool in tools]
            self._cards = dict(zip(self._team.grant, lines, strict=True))
        return self._cards

    async def team(self, name: str) -> SupervisorGraph:
        """Give the graph of a worker that is a team."""
        if name not in self._teams:
            team = self._team.worker(name).team
            assert team is not None, f"{name} is a team"
            self._teams[name] = await asyncio.to_thread(self._build, team, None)
            await self._teams[name].prepare()
        return self._teams[name]

    async def divided(self) -> SupervisorGraph:
        """Give the graph that divides a task of this team into a plan of its own."""
        if self._divided is None:
            inner = Loops(
                divider(self._team), models=self._models, tools=self._tools, build=self._build
            )
            inner._loops, inner._recruited, inner._teams = self._loops, self._recruited, self._teams
            self._divided = await asyncio.to_thread(self._build, inner._team, inner)
        return self._divided

    async def prepare(self) -> None:
        """Build what every plan may need and is not built yet."""
        for worker in self._team.workers:
            await (self.team(worker.name) if worker.team else self.loop(worker.name))
        if self._team.recruit:
            await self.cards()

    def _granted(self) -> list[BaseTool]:
        from nodes.tools.catalog import load_tools

        return load_tools(self._team.grant, self._tools)

    def _loop(self, worker: Worker) -> Loop:
        from nodes.agent import build_agent
        from nodes.tools.catalog import load_tools

        tools = load_tools(worker.tools, self._tools)
        return build_agent(worker, tools, self._models.chat(worker.tier))


def divider(team: Team) -> Team:
    """Give a team as it divides one of its own tasks: fewer tasks, one level less to go."""
    return team.model_copy(
        update={
            "strategy": "recursive" if team.strategy == "recursive" else "plan",
            "max_recursion": team.max_recursion - 1,
            "max_tasks": min(team.max_tasks, team.max_breadth),
            "approve_plan": False,
            "critic": "off",
        }
    )
