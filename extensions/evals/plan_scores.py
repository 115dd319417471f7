"""Scores of a row's plan."""

from typing import Final

from extensions.evals.metric_score import Score, join_names, score_share
from extensions.evals.result import RowResult
from extensions.evals.rows import ExamRow
from state import Plan

BY_RULE: Final = "the plan was made by rule"


def score_valid_plan(row: ExamRow, trial: RowResult) -> Score | None:
    """Return whether a plan passed the checks; a row that must fail needs none.

    One that a rule made, after those of a model were refused, is not the model's.
    """
    if trial.plan is None and row.expect.status == "failed":
        return None
    if trial.plan is None:
        return Score(0.0, str(trial.error) if trial.error else "no plan")
    return Score(0.0, BY_RULE) if trial.plan.is_by_rule else Score(1.0, "")


def score_valid_at_once(row: ExamRow, trial: RowResult) -> Score | None:
    """Return whether the first plan was valid, without a repair."""
    if score_valid_plan(row, trial) is None:
        return None
    repairs = trial.usage.repairs
    comment = f"{repairs} rejected" if repairs else "" if trial.plan else "no plan"
    return Score(float(not comment), comment)


def score_routing(row: ExamRow, trial: RowResult, *, is_exact: bool) -> Score | None:
    """Return whether the request reached all expected workers; if exact, no others."""
    wanted = set(row.expect.workers)
    if not wanted:
        return None
    used = list_workers(trial.plan)
    missing, extra = sorted(wanted - used), sorted(used - wanted) if is_exact else []
    comments = [f"without {join_names(missing)}"] if missing else []
    comments += [f"went to {join_names(extra)}"] if extra else []
    comments = [BY_RULE] if trial.plan and trial.plan.is_by_rule else comments
    return Score(float(not comments), ", ".join(comments))


def score_worker_recall(row: ExamRow, trial: RowResult) -> Score | None:
    """Return the share of the expected workers that the plan uses."""
    return score_share(row.expect.workers, list_workers(trial.plan).__contains__, "without")


def score_worker_precision(row: ExamRow, trial: RowResult) -> Score | None:
    """Return the share of the plan's workers that are expected."""
    if not row.expect.workers:
        return None
    return score_share(
        sorted(list_workers(trial.plan)), row.expect.workers.__contains__, "not expected:"
    )


def score_edge_recall(row: ExamRow, trial: RowResult) -> Score | None:
    """Return the share of the expected edges that the plan has."""
    if row.expect.edges and trial.plan and trial.plan.is_by_rule:
        return Score(0.0, BY_RULE)
    return score_share(
        row.expect.edges, list_edges(trial.plan).__contains__, "no edge", name=_format_edge
    )


def score_edge_precision(row: ExamRow, trial: RowResult) -> Score | None:
    """Return the share of the plan's edges between workers that are expected."""
    if not row.expect.edges:
        return None
    wanted = set(row.expect.edges)
    made = sorted(list_edges(trial.plan))
    return score_share(made, wanted.__contains__, "not expected:", name=_format_edge)


def list_workers(plan: Plan | None) -> set[str]:
    """Return the workers of a plan."""
    return {task.worker for task in plan.tasks} if plan else set()


def list_edges(plan: Plan | None) -> set[tuple[str, str]]:
    """Return the edges of a plan as pairs of workers: the needed one, the dependant."""
    if plan is None:
        return set()
    owner = {task.id: task.worker for task in plan.tasks}
    return {(owner[edge.task], task.worker) for task in plan.tasks for edge in task.depends_on}


def _format_edge(edge: tuple[str, str]) -> str:
    return " → ".join(edge)
