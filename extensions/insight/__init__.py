"""What a run will cost, what it can never do, why it failed, and whether a team is worth it.

The functions and types below are imported at their first use.
"""

from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

import typer

from graph.extensions import Extension

if TYPE_CHECKING:
    from extensions.insight.causes import Cause, Explanation, explain
    from extensions.insight.failures import Failures, count_failures
    from graph.commands.run import Job
    from graph.settings import Settings
    from nodes.schemas.team import Team
    from state import Plan, Strategy

__all__ = ["EXTENSION", "Cause", "Explanation", "Failures", "count_failures", "explain"]

_HOMES = {
    "Cause": "extensions.insight.causes",
    "Explanation": "extensions.insight.causes",
    "explain": "extensions.insight.causes",
    "Failures": "extensions.insight.failures",
    "count_failures": "extensions.insight.failures",
}


class _Insight(Extension):
    def register(self) -> None:
        """Have runs estimated from those before, and let plans be certified."""
        from extensions.insight.certificate import PlanCertifier
        from extensions.insight.estimate import HistoryEstimator
        from nodes.planning.certificates import register_certifier
        from nodes.planning.estimate import register_estimator

        register_estimator(HistoryEstimator())
        register_certifier(PlanCertifier())

    def add_commands(self, app: typer.Typer) -> None:
        """Add the commands on estimates, on causes and on questions that wait."""
        from extensions.insight import calibration_commands, inbox_commands, why_commands

        app.command("calibration")(calibration_commands.calibration)
        app.command("why")(why_commands.why)
        app.command("failures")(why_commands.failures)
        app.command("inbox")(inbox_commands.inbox)

    def compare_strategies(self, job: "Job", names: Sequence["Strategy"]) -> int:
        """Run a job with each strategy, print them side by side, and return the exit code."""
        from extensions.insight.compare import compare_strategies

        return compare_strategies(job, names)

    def check_team(self, team: "Team", settings: "Settings", *, is_online: bool) -> Iterable[str]:
        """Return why a team may need no team, from the plans of its kept runs."""
        from extensions.insight.plan_variety import find_sameness, read_plans

        return [f"note: {each}" for each in find_sameness(team, read_plans(team, settings), "run")]

    def review_plans(self, team: "Team", plans: Sequence[tuple[str, "Plan"]]) -> Iterable[str]:
        """Return why a team may need no team, from the plans of its exam."""
        from extensions.insight.plan_variety import find_sameness

        return find_sameness(team, plans, "row")


EXTENSION = _Insight()


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'extensions.insight' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
