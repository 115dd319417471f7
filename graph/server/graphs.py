"""The shipped teams as graphs, for `langgraph.json`. Only LangGraph's server imports this.

By default the server traces to LangSmith as soon as it finds a key. `langgraph.json` turns that
off, and the settings turn it on again if tracing is enabled. They switch OpenTelemetry on too.
"""

from langsmith.utils import get_env_var

from graph.garbage_collection import collect_rarely, spare_existing_objects
from graph.otel import start_otel
from graph.settings import Settings
from graph.supervisor import build_supervisor
from graph.teams.team_loader import list_shipped_teams

SETTINGS = Settings()
SETTINGS.export_tracing()
start_otel(SETTINGS)
# The server has read the variable before, and LangSmith caches it.
get_env_var.cache_clear()  # type: ignore[attr-defined]  # overloads hide its lru_cache

collect_rarely()
for _folder in list_shipped_teams():
    globals()[_folder.name] = build_supervisor(_folder, settings=SETTINGS)
spare_existing_objects()
