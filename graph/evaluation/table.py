"""An evaluation as tables of text: a row a metric, beside it what it is compared with."""

from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import Final

from graph.evaluation.grades import Evaluation, GradedRow
from graph.evaluation.metrics import METRICS
from graph.progress import models_shown
from graph.text import one_line

Cells = tuple[str, ...]
MAX_NAMED_ROWS: Final = 30
MAX_SAID_CHARS: Final = 160


def heading(evaluation: Evaluation) -> str:
    """Say what was examined, with which models."""
    models = ", ".join(models_shown(evaluation.models))
    count = len(evaluation.rows)
    rows = f"{count} row{'s' if count > 1 else ''}"
    return f"{evaluation.team} · {rows} · models: {one_line(models, 200)}"


def metric_rows(evaluation: Evaluation, other: Evaluation | None, *, counted: bool) -> list[Cells]:
    """Give the metrics that count, or those only told, each in percent."""
    rows = []
    for name, metric in METRICS.items():
        values = [one.metric(name) for one in _sides(evaluation, other)]
        if metric.is_counted == counted and any(value is not None for value in values):
            held = max(one.count(name) for one in _sides(evaluation, other))
            shown = (name.replace("_", " "), *_compared(values), str(held), metric.meaning)
            rows.append(shown)
    return rows


def score_row(evaluation: Evaluation, other: Evaluation | None) -> Cells:
    """Give the score, the mean over the rows."""
    values = [one.score for one in _sides(evaluation, other)]
    return ("score", *_compared(values), str(len(evaluation.rows)), "the mean over the rows")


def spent_rows(evaluation: Evaluation, other: Evaluation | None) -> list[Cells]:
    """Give what the rows took, with the difference where there is something to compare."""
    sides = [one.spent() for one in _sides(evaluation, other)]
    formats = {
        "repairs": ("repairs", ",.0f"),
        "calls": ("model calls", ",.0f"),
        "input_tokens": ("tokens in", ",.0f"),
        "output_tokens": ("tokens out", ",.0f"),
        "cost_usd": ("US dollars", ",.4g"),
        "seconds": ("seconds", ",.1f"),
    }
    return [
        (label, *_compared([side[name] for side in sides], form), "", "")
        for name, (label, form) in formats.items()
    ]


def complaint_rows(rows: Sequence[GradedRow]) -> list[Cells]:
    """Name the rows below a full score, the lowest first, and what was missing."""
    lacking = sorted((row for row in rows if row.complaints), key=attrgetter("score"))
    return _capped([(row.row.id, _percent(row), _said(row)) for row in lacking])


def differing_rows(evaluation: Evaluation, other: Evaluation) -> list[Cells]:
    """Name the rows in which two evaluations differ, and what the lower score is for."""
    pairs = zip(evaluation.rows, other.rows, strict=True)
    return _capped(
        [
            (
                first.row.id,
                _percent(first),
                _percent(second),
                _said(min(first, second, key=attrgetter("score"))),
            )
            for first, second in pairs
            if first.score != second.score
        ]
    )


def _capped(rows: list[Cells]) -> list[Cells]:
    if len(rows) <= MAX_NAMED_ROWS:
        return rows
    more = f"… {len(rows) - MAX_NAMED_ROWS} more rows, which --json has"
    return [*rows[:MAX_NAMED_ROWS], (more, *("" for _ in rows[0][1:]))]


def _percent(row: GradedRow) -> str:
    return f"{row.score:.1f}"


def _said(row: GradedRow) -> str:
    return one_line("; ".join(row.complaints), MAX_SAID_CHARS)


def _sides(evaluation: Evaluation, other: Evaluation | None) -> Iterator[Evaluation]:
    yield evaluation
    if other:
        yield other


def _compared(values: Sequence[float | None], form: str = ".1f") -> Cells:
    """Give one value; of two, both and how much larger the second is."""
    cells = tuple("-" if value is None else format(value, form) for value in values)
    if len(values) < 2:
        return cells
    first, second = values
    if first is None or second is None:
        return (*cells, "")
    return (*cells, format(second - first, f"+{form}"))
