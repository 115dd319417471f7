"""Evaluates a team: its exam is read, run, and graded."""

import asyncio
from collections.abc import Collection, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, get_args

from extensions.evals.exam import load_exam
from extensions.evals.experiment import run_experiment
from extensions.evals.judge import Judge
from extensions.evals.runner import ExamRunner, RowListener
from extensions.evals.scores import Evaluation
from graph.settings import Settings
from graph.teams.team_loader import find_team, load_team
from graph.topology.blocking_portal import get_portal
from nodes.models.catalog import ModelCatalog
from state import Tier


def evaluate_team(team: str | Path, **options: Any) -> Evaluation:
    """Evaluate a team from synchronous code; the options are those of `aevaluate_team`."""
    return get_portal().call(aevaluate_team(team, **options))


async def aevaluate_team(
    team: str | Path,
    *,
    workers: Sequence[str | Path] = (),
    exam: str | Path | None = None,
    limit: int | None = None,
    only: Collection[str] = (),
    settings: Settings | None = None,
    judge: Settings | None = None,
    judge_tier: Tier = "strong",
    on_row: RowListener | None = None,
) -> Evaluation:
    """Run a team's exam, and grade it. Its runs are stored in a temporary folder.

    Args:
        workers: files of workers, each in place of the team's worker of its name, or added to them.
        exam: the team whose exam is used; default is the evaluated team.
        limit: use only the first rows.
        only: use only the rows with these ids.
        judge: settings whose models judge; default is `settings`.
        judge_tier: the tier that judges.
        on_row: called with each graded row.

    Raises:
        ExamInvalid: there is no exam, or it has problems.
        UsageError: the team or a setting cannot be used.
        ModelError: no row could reach the model.
    """
    settings = settings or Settings()
    settings.export_tracing()
    examined = load_team(team, settings, workers=[*map(Path, workers)])
    examined = examined.model_copy(update={"approve_plan": False})
    asking = find_team(exam or team, settings)
    known_workers = [worker.name for worker in load_team(asking, settings).workers]
    chosen = load_exam(asking, known_workers).select_rows(limit=limit, only=only)
    names = await resolve_models(settings)
    judging = Judge(judge or settings, judge_tier)
    known = {"team": examined.name, **{f"model_{tier}": name for tier, name in names.items()}}
    with TemporaryDirectory(prefix="supervise-eval-", ignore_cleanup_errors=True) as home:
        apart = settings.model_copy(update={"database_url": f"sqlite:///{home}/runs.sqlite"})
        sitting = ExamRunner(examined, chosen, apart, judging, on_row)
        try:
            address = await run_experiment(sitting, asking.resolve().name, chosen, settings, known)
        finally:
            await sitting.cancel_rows()
    if problem := sitting.find_fatal_error():
        raise problem
    return Evaluation(
        team=examined.name,
        models=names,
        rows=[sitting.graded_rows[row.id] for row in chosen.rows],
        left_out={"judged": judging.skip_reason} if judging.skip_reason else {},
        experiment=address,
    )


async def resolve_models(settings: Settings) -> dict[Tier, str]:
    """Return the model of each tier, after checking that each can be used with the settings.

    Raises:
        SettingsInvalid, ModelUnknown: a model cannot be used.
    """
    models = ModelCatalog(settings.build_model_settings())
    for tier in get_args(Tier):
        await asyncio.to_thread(models.get_chat_model, tier)
    return {tier: models.get_name(tier) for tier in get_args(Tier)}
