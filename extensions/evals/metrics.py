"""The metrics by name: their meaning, and whether they count for the score of a row."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final

from extensions.evals import plan_scores as of_plan
from extensions.evals import run_scores as of_run
from extensions.evals.metric_score import Score
from extensions.evals.result import RowResult
from extensions.evals.rows import ExamRow
from state import Strategy

Measure = Callable[[ExamRow, RowResult], Score | None]


@dataclass(frozen=True)
class Metric:
    """A measure of the rows to which it applies."""

    meaning: str
    measure: Measure | None = None
    """None if it needs more than the row and its result."""
    is_counted: bool = True
    """False, hence informational, if another metric implies it, or it depends on timing."""


METRICS: Final[Mapping[str, Metric]] = {
    "routing": Metric("all expected workers are in the plan"),
    "edge_recall": Metric("expected edges that the plan has", of_plan.score_edge_recall),
    "facts": Metric("golden facts that the answer has", of_run.score_facts),
    "sources": Metric("expected sources that the answer names", of_run.score_sources),
    "citations": Metric("sources that exist, claims that are proved", of_run.score_citations),
    "findings": Metric("expected findings that the answer has", of_run.score_findings),
    "completed": Metric("ended with a complete answer, as expected", of_run.score_completion),
    "refused": Metric("not answered, as expected", of_run.score_refusal),
    "judged": Metric("meets the row's criterion, as the strong model judges"),
    "valid_plan": Metric("a plan that passes the checks", of_plan.score_valid_plan, False),
    "valid_at_once": Metric("the first plan, without a repair", of_plan.score_valid_at_once, False),
    "worker_recall": Metric("expected workers in the plan", of_plan.score_worker_recall, False),
    "worker_precision": Metric(
        "the plan's workers, expected", of_plan.score_worker_precision, False
    ),
    "edge_precision": Metric("the plan's edges, expected", of_plan.score_edge_precision, False),
    "parallelism": Metric("critical path over wall time", of_run.score_parallelism, False),
}


def score_by_metrics(
    row: ExamRow, trial: RowResult, strategy: Strategy = "plan"
) -> dict[str, Score]:
    """Score a row by every metric that applies to it."""
    measures = {name: metric.measure for name, metric in METRICS.items() if metric.measure}
    measures["routing"] = partial(of_plan.score_routing, is_exact=strategy == "route")
    found = {name: measures[name](row, trial) for name in METRICS if name in measures}
    return {name: score for name, score in found.items() if score is not None}
