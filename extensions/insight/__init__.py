"""What a run will cost, what it can never do, why it failed, and whether a team is worth it."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import typer

from graph.extensions import Extension

if TYPE_CHECKING:
    from graph.commands.run import Job
    from graph.settings import Settings
    from nodes.schemas.team import Team
    from state import Plan, Strategy

MAX_BRIEF: Final = 50
"""Causes that a page gets."""


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
        from extensions.insight import commands

        for command in (commands.calibration, commands.why, commands.failures, commands.inbox):
            app.command()(command)

    def compare_strategies(self, job: "Job", names: Sequence["Strategy"]) -> int:
        """Run a job with each strategy, print them side by side, and return the exit code."""
        from extensions.insight.compare import compare_strategies

        return compare_strategies(job, names)

    def check_team(self, team: "Team", settings: "Settings", *, is_online: bool) -> Iterable[str]:
        """Return why a team may need no team, from the plans of its kept runs."""
        from extensions.insight.plan_variety import find_sameness, read_plans

        return [f"note: {each}" for each in find_sameness(team, read_plans(team, settings), "run")]

    def explain_run(self, trace: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
        """Return the first causes of what a run lacks; none of a trace of another form."""
        from extensions.insight.causes import explain
        from graph.runs.trace import TraceUnreadable

        try:
            causes = [each for each in explain(trace).causes if each.kind != "unexplained"]
            return [each.to_brief() for each in causes[:MAX_BRIEF]]
        except TraceUnreadable:
            return ()

    def review_plans(self, team: "Team", plans: Sequence[tuple[str, "Plan"]]) -> Iterable[str]:
        """Return why a team may need no team, from the plans of its exam."""
        from extensions.insight.plan_variety import find_sameness

        return find_sameness(team, plans, "row")


EXTENSION = _Insight()
