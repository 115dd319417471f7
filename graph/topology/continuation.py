"""An input that asks a server to continue a thread's run, whatever state that is in.

Servers of the Agent Protocol have no such call: Aegra refuses a run without an input, and a resume
of a thread on which no question is open.
"""

from collections.abc import Mapping
from typing import Any, Final

from langgraph.types import Command, StateSnapshot

from nodes.errors import UsageError
from state import COMPLETE_STATUSES, REOPENED, Report, SupervisorState, reopen_request

CONTINUE_KEY: Final = "continue_run"


class NothingToContinue(UsageError):
    """The thread's run is done, or there is none."""

    code = "NOTHING_TO_CONTINUE"


def asks_to_continue(input: Any) -> bool:
    """Return whether an input asks to continue the thread's run."""
    return isinstance(input, Mapping) and input.get(CONTINUE_KEY) is True


def build_continuation(snapshot: StateSnapshot) -> Command[Any] | None:
    """Return the input with which a run continues; None for one that is in progress.

    Raises:
        NothingToContinue: the run is done, or the thread holds none.
    """
    if is_in_progress(snapshot):
        return None
    values: SupervisorState = snapshot.values  # type: ignore[assignment]  # the state's own type
    command = build_reopen_command(values)
    if command is None:
        is_done = values.get("status") in COMPLETE_STATUSES
        what = "the run is done" if is_done else "the thread holds no run"
        raise NothingToContinue(what, kept="the thread as it is", next="send a new request")
    return command


def is_in_progress(snapshot: StateSnapshot) -> bool:
    """Return whether a thread stopped in the middle of a run.

    Its `next` is empty in between, where all nodes of a superstep have returned and the next one
    was not begun.
    """
    return bool(snapshot.tasks)


def build_reopen_command(values: SupervisorState) -> Command[Any] | None:
    """Build the command that reopens an incomplete run: results are kept, caps restart.

    A plan by rule without a complete result is made again.
    """
    if values.get("status") not in ("partial", "failed"):
        return None
    kept, plan = _select_complete_results(values), values.get("plan")
    update = reopen_request(kept, values["ledger"].values())
    if plan is not None and plan.is_by_rule and not kept:
        update["planned_for"] = REOPENED  # a model may be reached by now
    return Command(update=update, goto="supervisor")


def _select_complete_results(values: SupervisorState) -> dict[str, Report]:
    """Return the completed results, except partial ones and those that depend on them."""
    results, plan = values.get("results", {}), values.get("plan")
    redone = {name for name, report in results.items() if report.is_partial}
    for task in plan.order_tasks() if plan else ():
        if any(edge.task in redone for edge in task.depends_on):
            redone.add(task.id)
    return {n: r for n, r in results.items() if r.status == "completed" and n not in redone}


def has_unfinished_work(snapshot: StateSnapshot) -> bool:
    """Return whether a thread has unfinished work; a request without a plan may be replaced."""
    values = snapshot.values
    is_planned = values.get("planned_for") == values.get("request") and not values.get("objection")
    if is_planned and values.get("status") == "running":
        return True  # also if the team has lost the workers that would run next
    return is_in_progress(snapshot) and (is_planned or bool(snapshot.interrupts))
