"""One supervisor plans, specialists work in parallel, a synthesizer answers.

The names that programs, teams and extensions may rely on; each is imported at its first use.
"""

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from extensions.evals.evaluate import aevaluate_team, evaluate_team
    from extensions.evals.scores import Evaluation
    from extensions.insight.causes import Explanation, explain
    from extensions.replay.changes import find_changes
    from extensions.replay.fork import Comparison, afork
    from extensions.replay.options import ChangeOptions
    from extensions.replay.replayer import Replayed
    from extensions.replay.runs import areplay, replay
    from graph import __version__
    from graph.extensions import DoctorCheck, Extension
    from graph.runs.outcome import Outcome
    from graph.runs.plan_only import aplan
    from graph.runs.runner import aresume, arun, resume, run
    from graph.runs.trace import load_trace
    from graph.settings import Settings
    from graph.stores.serializer import build_strict_serializer
    from graph.supervisor import build_supervisor
    from graph.teams.team_loader import load_team
    from nodes.errors import SupervisorError, ToolFailed, ToolRefused
    from nodes.schemas.team import Team, Worker
    from nodes.tools.framework.catalog import share_tools
    from nodes.tools.framework.settings import ToolSettings
    from nodes.tools.framework.tool_packages import import_tool_module
    from nodes.tools.framework.tool_report import ToolReport
    from state import (
        Answer,
        Claim,
        Context,
        Contradiction,
        Dependency,
        Escalation,
        Finding,
        Plan,
        Report,
        SupervisorState,
        Task,
        Timing,
        Usage,
    )

__all__ = [
    "Answer",
    "ChangeOptions",
    "Claim",
    "Comparison",
    "Context",
    "Contradiction",
    "Dependency",
    "DoctorCheck",
    "Escalation",
    "Evaluation",
    "Explanation",
    "Extension",
    "Finding",
    "Outcome",
    "Plan",
    "Replayed",
    "Report",
    "Settings",
    "SupervisorError",
    "SupervisorState",
    "Task",
    "Team",
    "Timing",
    "ToolFailed",
    "ToolRefused",
    "ToolReport",
    "ToolSettings",
    "Usage",
    "Worker",
    "__version__",
    "aevaluate_team",
    "afork",
    "aplan",
    "areplay",
    "aresume",
    "arun",
    "build_strict_serializer",
    "build_supervisor",
    "evaluate_team",
    "explain",
    "find_changes",
    "import_tool_module",
    "load_team",
    "load_trace",
    "replay",
    "resume",
    "run",
    "share_tools",
    "start",
]

_HOMES = {
    "aevaluate_team evaluate_team": "extensions.evals.evaluate",
    "Evaluation": "extensions.evals.scores",
    "Explanation explain": "extensions.insight.causes",
    "find_changes": "extensions.replay.changes",
    "Comparison afork": "extensions.replay.fork",
    "ChangeOptions": "extensions.replay.options",
    "Replayed": "extensions.replay.replayer",
    "areplay replay": "extensions.replay.runs",
    "DoctorCheck Extension": "graph.extensions",
    "Outcome": "graph.runs.outcome",
    "aplan": "graph.runs.plan_only",
    "aresume arun resume run": "graph.runs.runner",
    "load_trace": "graph.runs.trace",
    "Settings": "graph.settings",
    "build_strict_serializer": "graph.stores.serializer",
    "build_supervisor": "graph.supervisor",
    "load_team": "graph.teams.team_loader",
    "SupervisorError ToolFailed ToolRefused": "nodes.errors",
    "Team Worker": "nodes.schemas.team",
    "share_tools": "nodes.tools.framework.catalog",
    "ToolSettings": "nodes.tools.framework.settings",
    "import_tool_module": "nodes.tools.framework.tool_packages",
    "ToolReport": "nodes.tools.framework.tool_report",
}
_HOME_OF = {name: home for names, home in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import graph
    import state

    if "build_supervisor" not in getattr(graph, "__all__", ()):
        raise ImportError(
            f"{graph.__file__} is imported instead of supervisor-worker's module 'graph'; install "
            "supervisor-worker as a package, which has one name (docs/guide/install.md)"
        )
    home = import_module(_HOME_OF[name]) if name in _HOME_OF else state
    found: Any = graph.__version__ if name == "__version__" else getattr(home, name)
    if name in ("aresume", "arun", "resume", "run") and "IPython" in sys.modules:
        from extensions.notebook.progress import add_progress, is_notebook

        return add_progress(found) if is_notebook() else found
    return found


def __dir__() -> list[str]:
    return __all__


def start() -> None:
    """Run the command line; what is wrong with the installation is one line."""
    try:
        from graph.cli import start as run_commands
    except ImportError as error:
        sys.stderr.write(f"error[SETUP] {error}\n")
        sys.exit(2)
    run_commands()
