"""One supervisor plans, specialists work in parallel, a synthesizer answers.

The names below are imported at their first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from graph.topology.own_modules import require_own_modules

if TYPE_CHECKING:
    from graph.runs.outcome import Outcome
    from graph.runs.runner import aresume, arun, resume, run
    from graph.supervisor import build_supervisor
    from graph.teams.team_loader import load_team

__version__ = "0+checkout"

__all__ = ["Outcome", "aresume", "arun", "build_supervisor", "load_team", "resume", "run"]

_HOMES = {
    "Outcome": "graph.runs.outcome",
    "aresume": "graph.runs.runner",
    "arun": "graph.runs.runner",
    "build_supervisor": "graph.supervisor",
    "load_team": "graph.teams.team_loader",
    "resume": "graph.runs.runner",
    "run": "graph.runs.runner",
}

require_own_modules()


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'graph' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
