"""Evaluation of a team: its exam is read, run, and graded.

The names below are imported at their first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from graph.evaluation.evaluate import aevaluate_team, evaluate_team
    from graph.evaluation.rows import ExamRow
    from graph.evaluation.scores import Evaluation, GradedRow

__all__ = ["Evaluation", "ExamRow", "GradedRow", "aevaluate_team", "evaluate_team"]

_HOMES = {
    "Evaluation": "graph.evaluation.scores",
    "GradedRow": "graph.evaluation.scores",
    "ExamRow": "graph.evaluation.rows",
    "aevaluate_team": "graph.evaluation.evaluate",
    "evaluate_team": "graph.evaluation.evaluate",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'graph.evaluation' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
