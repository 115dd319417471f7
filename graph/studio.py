"""Builds the graph of one shipped team for a server; only the teams' `studio.py` import this.

By default LangGraph's server traces to LangSmith as soon as it finds a key. `langgraph.json` turns
that off, and the settings turn it on again if tracing is enabled.
"""

from functools import cache
from pathlib import Path
from typing import Final

from langsmith.utils import get_env_var

from graph.garbage_collection import collect_rarely, spare_existing_objects
from graph.otel import start_otel
from graph.settings import Settings
from graph.supervisor import build_supervisor
from graph.topology.supervisor_graph import SupervisorGraph

SERVED_FOLDERS: Final[dict[str, Path]] = {}
"""The folders of the teams whose graphs were built here, by name."""


def build_team_graph(folder: Path) -> SupervisorGraph:
    """Return the graph of a team's folder, with settings that all graphs of the process share.

    Raises:
        SettingsInvalid: a value of the environment is not allowed.
        TeamInvalid: the folder does not hold a team.
    """
    graph = build_supervisor(folder, settings=_prepare_process())
    spare_existing_objects()
    SERVED_FOLDERS[folder.resolve().name] = folder.resolve()
    return graph


@cache
def _prepare_process() -> Settings:
    settings = Settings()
    settings.export_tracing()
    # The server has read the variable before, and LangSmith caches it.
    get_env_var.cache_clear()  # type: ignore[attr-defined]  # overloads hide its lru_cache
    start_otel(settings)
    collect_rarely()
    return settings
