"""Evaluation of a team: its exam is read, run, and graded.

The names below are imported at their first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from extensions.evals.evaluate import aevaluate_team, evaluate_team
    from extensions.evals.rows import ExamRow
    from extensions.evals.scores import Evaluation, GradedRow

__all__ = ["Evaluation", "ExamRow", "GradedRow", "aevaluate_team", "evaluate_team"]

_HOMES = {
    "Evaluation": "extensions.evals.scores",
    "GradedRow": "extensions.evals.scores",
    "ExamRow": "extensions.evals.rows",
    "aevaluate_team": "extensions.evals.evaluate",
    "evaluate_team": "extensions.evals.evaluate",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'extensions.evals' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
