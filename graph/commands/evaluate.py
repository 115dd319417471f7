"""`supervise eval`: a team sits its exam, alone or against another."""

from collections.abc import Sequence
from typing import Any, Final

from graph.cancelling import run_cancellable
from graph.commands.screen import put_json, put_table, put_text
from graph.evaluation.evaluate import aevaluate_team, usable_models
from graph.evaluation.exam import ExamInvalid
from graph.evaluation.grades import Evaluation, GradedRow
from graph.evaluation.metrics import METRICS
from graph.evaluation.opponent import Opponent, opponent
from graph.evaluation.table import (
    complaint_rows,
    differing_rows,
    heading,
    metric_rows,
    score_row,
    spent_rows,
)
from graph.settings import Settings
from graph.streams import put
from graph.teams import load_team
from graph.terminal import remark
from graph.text import one_line
from nodes.errors import SupervisorError

BELOW_THRESHOLD: Final = 3

Sides = tuple[Evaluation, Evaluation | None]


def evaluate(
    team: str,
    *,
    threshold: float,
    against: Sequence[str],
    limit: int | None,
    only: Sequence[str],
    as_json: bool,
    quiet: bool,
    settings: Settings,
) -> int:
    """Examine a team, show its grades, and give 0 at the threshold or above it, 3 below."""
    other = opponent(against, team, settings) if against else None
    work = _examined(team, other, limit=limit, only=only, quiet=quiet, settings=settings)
    try:
        sides = run_cancellable(work, farewell=lambda: "cancelled. kept: nothing of the exam")
    except SupervisorError as error:
        _tell(error, as_json=as_json)
        raise
    if as_json:
        put_json(_to_json(sides, other, threshold))
    else:
        _show(sides, other, threshold)
    return 0 if sides[0].score >= threshold else BELOW_THRESHOLD


async def _examined(
    team: str,
    other: Opponent | None,
    *,
    limit: int | None,
    only: Sequence[str],
    quiet: bool,
    settings: Settings,
) -> Sides:
    listener = None if quiet else _say
    chosen: dict[str, Any] = {"exam": team, "limit": limit, "only": only, "on_row": listener}
    if other:  # what cannot be compared should not cost an exam
        load_team(other.team, other.settings)
        await usable_models(other.settings)
    first = await aevaluate_team(team, settings=settings, **chosen)
    if other is None:
        return first, None
    if not quiet:
        remark(f"against {one_line(other.label)}")
    # One judge for both, or the difference would be the judges'.
    second = await aevaluate_team(other.team, settings=other.settings, judge=settings, **chosen)
    return first, second


def _say(row: GradedRow) -> None:
    why = f": {one_line('; '.join(row.complaints), 120)}" if row.complaints else ""
    remark(f"{row.row.id} {row.score:.0f}{why}", style="dim")


def _tell(error: SupervisorError, *, as_json: bool) -> None:
    """Say all that is wrong with an exam; the error itself is said by the command line."""
    problems = error.problems if isinstance(error, ExamInvalid) else []
    if as_json:
        put_json({"error": {"code": error.code, "message": str(error), "problems": problems}})
    else:
        for problem in problems:
            put(problem)


def _to_json(sides: Sides, other: Opponent | None, threshold: float) -> dict[str, Any]:
    first, second = sides
    told = {**first.to_json(), "threshold": threshold, "passed": first.score >= threshold}
    if second is None or other is None:
        return told
    differences = {"score": round(second.score - first.score, 1)}
    for name in METRICS:
        before, after = first.metric(name), second.metric(name)
        if before is not None and after is not None:
            differences[name] = round(after - before, 1)
    return {
        **told,
        "against": {"label": other.label, **second.to_json()},
        "difference": differences,
    }


def _show(sides: Sides, other: Opponent | None, threshold: float) -> None:
    first, second = sides
    put_text(heading(first))
    head: tuple[str, ...] = ("", "percent")
    if second is not None and other is not None:
        put_text(f"against {one_line(other.label)}: {heading(second)}")
        head = ("", first.team, one_line(other.label, 24), "difference")
    put_text("")
    score = score_row(first, second)
    put_table([(*head, "rows", ""), *metric_rows(first, second, counted=True), score])
    put_text("\ntold, not counted")
    put_table([*metric_rows(first, second, counted=False), *spent_rows(first, second)])
    if complaints := complaint_rows(first.rows):
        put_text("\nrows below 100")
        put_table(complaints)
    if second is not None and (differing := differing_rows(first, second)):
        put_text("\nrows that differ")
        put_table(differing)
    left_out = {**(second.left_out if second else {}), **first.left_out}
    for name, why in left_out.items():
        remark(f"left out: {name}: {one_line(why, 300)}", style="yellow")
    if first.experiment:
        remark(f"in LangSmith: {first.experiment}", style="dim")
    verdict = "reached" if first.score >= threshold else "missed"
    put_text(f"\nscore {first.score:.1f}, threshold {threshold:g}: {verdict}")
