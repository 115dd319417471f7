"""The grades of a row, and of an exam."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from extensions.evals.exam import ExamRow
from extensions.evals.metrics import METRICS, PLAN_METRICS, RowResult, Score
from state import Tier


@dataclass(frozen=True)
class GradedRow:
    """A row, its result, and its scores by metric."""

    row: ExamRow
    result: RowResult
    scores: Mapping[str, Score]

    @property
    def score(self) -> float:
        """Return the mean of the counted metrics, 0 to 100."""
        counted = [score.value for name, score in self.scores.items() if METRICS[name].is_counted]
        return 100 * _compute_mean(counted)

    @property
    def complaints(self) -> list[str]:
        """Return the reasons for a score below 100."""
        if self.result.missed:
            return [f"not replayed: {self.result.missed}"]
        return [
            f"{name.replace('_', ' ')}: {score.comment}"
            for name, score in self.scores.items()
            if score.value < 1 and METRICS[name].is_counted
        ]

    def to_json(self) -> dict[str, Any]:
        """Return the row's part of what `--json` prints."""
        return {
            "id": self.row.id,
            "request": self.row.request,
            "score": round(self.score, 1),
            "scores": {name: to_percent(score.value) for name, score in self.scores.items()},
            "complaints": self.complaints,
            "seconds": round(self.result.usage.seconds, 3),
            **self.result.to_json(),
        }


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """An exam, graded."""

    team: str
    models: Mapping[Tier, str]
    """Model names, by tier."""
    rows: Sequence[GradedRow]
    left_out: Mapping[str, str] = field(default_factory=dict)
    """Metrics that could not be measured, and why."""
    experiment: str = ""
    """Its address in LangSmith; empty if nothing was sent there."""
    skipped: int | None = None
    """Rows without a record, of an exam that was replayed; None for one that was run."""

    is_of_answers: bool = False
    """Only rows that are run, and no metrics of plans: a single agent makes none."""

    @property
    def score(self) -> float:
        """Return the mean of the rows' scores, 0 to 100."""
        return round(_compute_mean([row.score for row in self.rows]), 1)

    def keep_answers(self) -> "Evaluation":
        """Return the evaluation without what is about plans alone: such rows, such metrics."""
        rows = [
            replace(each, scores={n: s for n, s in each.scores.items() if n not in PLAN_METRICS})
            for each in self.rows
            if not each.row.expect.needs_only_a_plan
        ]
        return replace(self, rows=rows, is_of_answers=True)

    def average_metric(self, name: str) -> float | None:
        """Return the mean of a metric over its rows, 0 to 100; None without any."""
        values = self._list_scores(name)
        return to_percent(_compute_mean(values)) if values else None

    def count_rows(self, name: str) -> int:
        """Count the rows to which a metric applies."""
        return len(self._list_scores(name))

    def sum_usage(self) -> dict[str, Any]:
        """Sum the usage of the rows."""
        spent = [row.result.usage for row in self.rows]
        counts = ("repairs", "by_rule", "calls", "input_tokens", "output_tokens")
        costs = [each.cost_usd for each in spent if each.cost_usd is not None]
        return {
            **{name: sum(getattr(each, name) for each in spent) for name in counts},
            "cost_usd": sum(costs) if len(costs) == len(spent) else None,
            "seconds": round(sum(each.seconds for each in spent), 3),
        }

    def to_json(self) -> dict[str, Any]:
        """Return the object that `--json` prints."""
        metrics = {
            name: {"score": value, "rows": self.count_rows(name), "counted": metric.is_counted}
            for name, metric in METRICS.items()
            if (value := self.average_metric(name)) is not None
        }
        return {
            "team": self.team,
            "models": {**self.models},
            "score": self.score,
            "metrics": metrics,
            "spent": self.sum_usage(),
            "left_out": dict(self.left_out),
            "experiment": self.experiment,
            **({} if self.skipped is None else {"skipped": self.skipped}),
            "rows": [row.to_json() for row in self.rows],
        }

    def _list_scores(self, name: str) -> list[float]:
        return [row.scores[name].value for row in self.rows if name in row.scores]


def to_percent(value: float) -> float:
    """Return a share in percent, to one decimal."""
    return round(100 * value, 1)


def _compute_mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
