"""Plans, reports and states for tests of nodes."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from state import Attempt, Dependency, Origin, Plan, Report, SupervisorState, Task, WorkerState

REQUEST = "Compare the revenue of our shops."


def make_task(name: str, worker: str = "researcher", *needs: str, **fields: Any) -> Task:
    """Make a task; `B?` among its needs is optional."""
    edges = tuple(
        Dependency(task=need.rstrip("?"), required=not need.endswith("?")) for need in needs
    )
    described = {"description": f"Compute the revenue of shop {name} in 2025 as one figure."}
    return Task(**{"id": name, "worker": worker, "depends_on": edges, **described, **fields})


def make_plan(*tasks: Task, **fields: Any) -> Plan:
    """Make a plan; of two tasks that need nothing where none are given."""
    return Plan(goal=REQUEST, tasks=tasks or (make_task("A"), make_task("B", "analyst")), **fields)


def make_report(task: str = "A", **fields: Any) -> Report:
    """Make a report that is completed, unless it says otherwise."""
    return Report(**{"task": task, "worker": "researcher", "output": f"Result {task}.", **fields})


def make_reports(*tasks: str) -> dict[str, Report]:
    """Make a completed report for each task."""
    return {task: make_report(task) for task in tasks}


def make_escalated_report(reason: str, message: str = "The table is missing.") -> Report:
    """Make a report that escalates."""
    escalation = {"reason": reason, "message": message, "partial": "Two of three."}
    return make_report(status="escalated", escalation=escalation)


def make_attempt(report: Report | None = None, **fields: Any) -> Attempt:
    """Make an attempt; without a report it failed."""
    error = None if report else "the model gave no report"
    known = {"description": "x", "worker": "researcher", "report": report, "error": error}
    return Attempt(**{**known, **fields})


def make_planned_state(
    plan: Plan | None = None, results: Mapping[str, Report] | None = None, **fields: Any
) -> SupervisorState:
    """Make the state of a run that has a plan."""
    plan = plan or make_plan()
    state = {
        "request": REQUEST,
        "planned_for": REQUEST,
        "materials": {},
        "plan": plan,
        "plans": (plan,),
        "results": dict(results or {}),
        "steps": {},
        "ledger": {},
        "status": "running",
        "max_attempts": 3,
        "steps_left": 9,
        "asked_s": 0.0,
        "planned_s": 0.0,
        **fields,
    }
    return cast(SupervisorState, state)  # a test names only the channels that it is about


def make_worker_state(
    task: Task | None = None, attempts: Sequence[Attempt] = (), **fields: Any
) -> WorkerState:
    """Make the state of a task while a worker has it."""
    task = task or make_task("A")
    state = {
        "task": task,
        "description": task.description,
        "materials": {},
        "known": {},
        "inputs": {},
        "origin": Origin(taint_labels=()),
        "is_dispensable": False,
        "attempts": {str(number): each for number, each in enumerate(attempts, 1)},
        "max_attempts": 3,
        "steps_left": 9,
        **fields,
    }
    return cast(WorkerState, state)  # a test names only the channels that it is about
