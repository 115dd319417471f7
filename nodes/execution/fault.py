"""What the error of an attempt concerns, which decides what may help."""

from nodes.errors import (
    BadResponse,
    BudgetSpent,
    DeadlinePassed,
    ModelError,
    ModelUnknown,
    PlanInvalid,
    ResponseCut,
    SupervisorError,
)
from nodes.remote.errors import RemoteError
from state import Fault


def classify_fault(problem: SupervisorError) -> Fault:
    """Return what an error concerns: the reply or its form, the model, the worker, or all of it."""
    if isinstance(problem, PlanInvalid):
        return "content"
    if isinstance(problem, RemoteError):
        return "content" if problem.may_reword else "worker"
    is_cut = isinstance(problem, ResponseCut) and problem.is_at_limit
    if is_cut or (isinstance(problem, BadResponse) and problem.reply_text):
        return "form"  # the model wrote it: the task's words are not at fault
    if isinstance(problem, BudgetSpent | DeadlinePassed):
        return "permanent"
    return "model" if isinstance(problem, ModelError | ModelUnknown) else "permanent"
