"""An evaluation as text tables: one row for each metric, beside it the compared values."""

from collections.abc import Sequence
from operator import attrgetter
from typing import Final

from extensions.evals.metrics import METRICS
from extensions.evals.scores import Evaluation, GradedRow
from graph.display.labels import label_models
from graph.display.text import to_one_line
from nodes.text.counts import format_count

Cells = tuple[str, ...]
MAX_NAMED_ROWS: Final = 30
MAX_COMPLAINT_CHARS: Final = 160
MAX_MISSED_CHARS: Final = 300


def format_heading(evaluation: Evaluation) -> str:
    """Return a line with the team, the number of rows and the models."""
    models = ", ".join(label_models(evaluation.models))
    rows = format_count(len(evaluation.rows), "row")
    if evaluation.skipped is not None:
        skipped = format_count(evaluation.skipped, "row")
        return f"{evaluation.team} · {rows} replayed, without a model · {skipped} without a record"
    kept = ", without those and the metrics that are of plans alone"
    rows += kept if evaluation.is_of_answers else ""
    return f"{evaluation.team} · {rows} · models: {to_one_line(models, 200)}"


def format_metric_rows(sides: Sequence[Evaluation], *, counted: bool) -> list[Cells]:
    """Return the rows of the counted or the informational metrics, in percent."""
    rows = []
    for name, metric in METRICS.items():
        values = [each.average_metric(name) for each in sides]
        if metric.is_counted == counted and any(value is not None for value in values):
            held = max(each.count_rows(name) for each in sides)
            shown = (name.replace("_", " "), *_compare_values(values), str(held), metric.meaning)
            rows.append(shown)
    return rows


def format_score_row(sides: Sequence[Evaluation]) -> Cells:
    """Return the row of the score, the mean over the exam's rows."""
    values = _compare_values([each.score for each in sides])
    return ("score", *values, str(len(sides[0].rows)), "the mean over the rows")


def format_usage_rows(sides: Sequence[Evaluation]) -> list[Cells]:
    """Return the rows of the usage, with the differences if there is a comparison."""
    spent = [each.sum_usage() for each in sides]
    formats = {
        "repairs": ("repairs", ",.0f"),
        "by_rule": ("plans by rule", ",.0f"),
        "calls": ("model calls", ",.0f"),
        "input_tokens": ("tokens in", ",.0f"),
        "output_tokens": ("tokens out", ",.0f"),
        "cost_usd": ("US dollars", ",.4g"),
        "seconds": ("seconds", ",.1f"),
    }
    return [
        (label, *_compare_values([each[name] for each in spent], form), "", "")
        for name, (label, form) in formats.items()
    ]


def format_complaint_rows(rows: Sequence[GradedRow]) -> list[Cells]:
    """Return the rows with a score below 100, the lowest first, and what was missing.

    Rows that cannot be replayed have no answer to grade.
    """
    graded = (row for row in rows if row.complaints and not row.result.missed)
    lacking = sorted(graded, key=attrgetter("score"))
    return _cap_rows([(row.row.id, f"{row.score:.1f}", _join_complaints(row)) for row in lacking])


def format_missed_rows(rows: Sequence[GradedRow]) -> list[Cells]:
    """Return the rows that cannot be replayed, and the call in which their run differs."""
    missed = ((row.row.id, row.result.missed) for row in rows if row.result.missed)
    return _cap_rows([(name, to_one_line(said, MAX_MISSED_CHARS)) for name, said in missed])


def format_differing_rows(evaluation: Evaluation, other: Evaluation) -> list[Cells]:
    """Return the rows in which two evaluations differ, and the reason for the lower score."""
    return _cap_rows(
        [
            (pair[0].row.id, *(f"{row.score:.1f}" for row in pair), _join_complaints(lower))
            for pair in list_differing_rows(evaluation, other)
            if (lower := min(pair, key=attrgetter("score")))
        ]
    )


def list_differing_rows(
    evaluation: Evaluation, other: Evaluation
) -> list[tuple[GradedRow, GradedRow]]:
    """Return the rows whose scores differ, each as the two evaluations have it."""
    pairs = zip(evaluation.rows, other.rows, strict=True)
    return [(first, second) for first, second in pairs if first.score != second.score]


def _cap_rows(rows: list[Cells]) -> list[Cells]:
    if len(rows) <= MAX_NAMED_ROWS:
        return rows
    more = f"… {format_count(len(rows) - MAX_NAMED_ROWS, 'more row')}, see --json"
    return [*rows[:MAX_NAMED_ROWS], (more, *("" for _ in rows[0][1:]))]


def _join_complaints(row: GradedRow) -> str:
    return to_one_line("; ".join(row.complaints), MAX_COMPLAINT_CHARS)


def _compare_values(values: Sequence[float | None], form: str = ".1f") -> Cells:
    """Return the cells of one value, or of two values and their difference."""
    cells = tuple("-" if value is None else format(value, form) for value in values)
    if len(values) < 2:
        return cells
    first, second = values
    if first is None or second is None:
        return (*cells, "")
    return (*cells, format(second - first, f"+{form}"))
