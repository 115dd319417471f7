"""What provides the agents, graphs and remote callers of a team's workers."""

from typing import Protocol

from nodes.execution.outside_worker import OutsideWorker
from nodes.execution.subteam import TeamGraph
from nodes.execution.worker_agent import WorkerAgent
from state import Recruit


class WorkerAgents(Protocol):
    """Provides the agents and graphs for a team's tasks, each built on first use."""

    async def get_agent(self, name: str) -> WorkerAgent:
        """Return the agent of the worker with this name."""

    async def get_specialist(self, recruit: Recruit) -> WorkerAgent:
        """Return the agent of a specialist."""

    async def get_team_graph(self, name: str) -> TeamGraph:
        """Return the graph of the worker with this name, which is a team."""

    async def get_remote(self, name: str) -> OutsideWorker:
        """Return the worker with this name, which is on another server."""

    async def get_division_graph(self) -> TeamGraph:
        """Return the graph that divides a task of this team into a plan of its own."""
