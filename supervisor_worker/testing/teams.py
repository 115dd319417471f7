"""A team's exam as one assertion."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from extensions.evals.scores import Evaluation


def assert_team_passes(
    team: str | Path, *, min_score: float = 80.0, **options: Any
) -> "Evaluation":
    """Let a team take its exam, and return the result.

    Args:
        min_score: in percent, of all rows.
        options: those of `evaluate_team`, such as `limit`, `only`, `settings`, `replayed`.

    Raises:
        AssertionError: the score is lower; the message has a line for each row that missed.
        SupervisorError: the team or its exam cannot be used, or no row reached the model.
    """
    from extensions.evals.evaluate import evaluate_team  # an engine without extensions has the rest

    __tracebackhide__ = True
    found = evaluate_team(team, **options)
    missed = [f"{row.row.id}: {'; '.join(row.complaints)}" for row in found.rows if row.complaints]
    if found.score < min_score:
        lines = "\n".join(missed)
        raise AssertionError(f"{found.team} has {found.score:g} of {min_score:g} percent:\n{lines}")
    return found
