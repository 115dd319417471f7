"""The workers' own loops of a team, built once, away from the event loop."""

import asyncio
from typing import Any

from langgraph.graph.state import CompiledStateGraph

from nodes.errand import Errand
from nodes.models.catalog import Models
from nodes.tools.settings import ToolSettings
from state import Team

Loop = CompiledStateGraph[Any, Errand, Any, Any]


class Loops:
    """Builds a loop when it is first asked for.

    The agent library and the tools' own libraries take as long to import as all the rest, so this
    happens in a thread, as a rule while the planner's model is at work.
    """

    def __init__(self, team: Team, *, models: Models, tools: ToolSettings) -> None:
        self._team, self._models, self._tools = team, models, tools
        self._built: dict[str, Loop] = {}

    async def of(self, name: str) -> Loop:
        """Give the loop of a worker.

        Raises:
            TeamInvalid: one of its tools cannot be loaded.
            SettingsInvalid: its model cannot be reached as things are set.
        """
        if name not in self._built:
            self._built[name] = await asyncio.to_thread(self._build, name)
        return self._built[name]

    async def prepare(self) -> None:
        """Build all that are not built yet."""
        for worker in self._team.workers:
            await self.of(worker.name)

    def _build(self, name: str) -> Loop:
        from nodes.agent import build_agent
        from nodes.tools.catalog import load_tools

        worker = self._team.worker(name)
        tools = load_tools(worker.tools, self._tools)
        return build_agent(worker, tools, self._models.chat(worker.tier))
