"""The graph of a run, built once for the runs of a team that one process has at once."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from langchain_core.language_models import BaseChatModel
from langchain_core.tools import BaseTool

from graph.settings import Settings
from graph.stores.run_database import RunDatabase
from graph.supervisor import build_supervisor
from graph.topology.supervisor_graph import SupervisorGraph
from nodes.schemas.team import Team
from state import Tier

MAX_GRAPHS: Final = 8
"""That are kept; to compile one takes some 60 ms of processor."""


@dataclass(frozen=True)
class _Built:
    team: Team
    settings: Settings
    models: Mapping[Tier, BaseChatModel]
    tools: Mapping[str, BaseTool]
    loop: asyncio.AbstractEventLoop
    """What a graph keeps, such as its agents, was made on it."""
    graph: SupervisorGraph

    def serves(
        self,
        team: Team,
        settings: Settings,
        models: Mapping[Tier, BaseChatModel],
        tools: Mapping[str, BaseTool],
    ) -> bool:
        """Return whether a run with these would get an equal graph; objects must be the same."""
        is_here = self.loop is asyncio.get_running_loop()
        has_objects = _hold_same(self.models, models) and _hold_same(self.tools, tools)
        is_equal = self.team == team and _list_parts(self.settings) == _list_parts(settings)
        return is_here and has_objects and is_equal


_built: Final = list[_Built]()


def build_run_graph(
    team: Team,
    settings: Settings,
    database: RunDatabase,
    *,
    models: Mapping[Tier, BaseChatModel] | None = None,
    tools: Mapping[str, BaseTool] | None = None,
) -> SupervisorGraph:
    """Return the graph of a team that saves into a run's database.

    Raises:
        SettingsInvalid, TeamInvalid: as `build_supervisor`.
    """
    given = dict(models or {}), dict(tools or {})
    found = next((each for each in _built if each.serves(team, settings, *given)), None)
    if found is None:
        graph = build_supervisor(team, settings=settings, models=given[0], tools=given[1])
        found = _Built(team, settings, *given, asyncio.get_running_loop(), graph)
    kept = [each for each in _built if each is not found and not each.loop.is_closed()]
    _built[:] = [found, *kept[: MAX_GRAPHS - 1]]
    return found.graph.copy({"checkpointer": database.saver, "store": database.store})


def _list_parts(settings: Settings) -> tuple[object, ...]:
    """Return what a graph is built with; equal settings may come from other variables."""
    variables = dict(settings.sources.variables)  # a team's files name them, such as a token
    return settings, variables, settings.build_model_settings()


def _hold_same(some: Mapping[Any, object], others: Mapping[Any, object]) -> bool:
    """Return whether two mappings hold the same objects under the same keys."""
    return some.keys() == others.keys() and all(value is others[n] for n, value in some.items())
