"""What is measured of a row's plan."""

from graph.evaluation.rows import Row
from graph.evaluation.score import Score, listed, share
from graph.evaluation.trial import Trial
from state import Plan


def valid_plan(row: Row, trial: Trial) -> Score | None:
    """Say whether the checks let a plan pass; a row that must fail need not have one."""
    if trial.plan is None and row.expect.status == "failed":
        return None
    why = str(trial.error) if trial.error else "no plan"
    return Score(float(trial.plan is not None), "" if trial.plan else why)


def valid_at_once(row: Row, trial: Trial) -> Score | None:
    """Say whether the first plan was valid, without a repair."""
    if valid_plan(row, trial) is None:
        return None
    repairs = trial.spent.repairs
    remark = f"{repairs} refused" if repairs else "" if trial.plan else "no plan"
    return Score(float(not remark), remark)


def routing(row: Row, trial: Trial, *, is_exact: bool) -> Score | None:
    """Say whether the request reached all the workers expected; if exact, no others."""
    wanted = set(row.expect.workers)
    if not wanted:
        return None
    used = workers_of(trial.plan)
    missing, extra = sorted(wanted - used), sorted(used - wanted) if is_exact else []
    said = [f"without {listed(missing)}"] if missing else []
    said += [f"went to {listed(extra)}"] if extra else []
    return Score(float(not said), ", ".join(said))


def worker_recall(row: Row, trial: Trial) -> Score | None:
    """Give the share of the expected workers that the plan uses."""
    return share(row.expect.workers, workers_of(trial.plan).__contains__, "without")


def worker_precision(row: Row, trial: Trial) -> Score | None:
    """Give the share of the plan's workers that are expected."""
    if not row.expect.workers:
        return None
    return share(sorted(workers_of(trial.plan)), row.expect.workers.__contains__, "not expected:")


def edge_recall(row: Row, trial: Trial) -> Score | None:
    """Give the share of the expected edges that the plan has."""
    return share(row.expect.edges, edges_of(trial.plan).__contains__, "no edge", name=_arrow)


def edge_precision(row: Row, trial: Trial) -> Score | None:
    """Give the share of the plan's edges between workers that are expected."""
    if not row.expect.edges:
        return None
    wanted = set(row.expect.edges)
    made = sorted(edges_of(trial.plan))
    return share(made, wanted.__contains__, "not expected:", name=_arrow)


def workers_of(plan: Plan | None) -> set[str]:
    """Name the workers of a plan."""
    return {task.worker for task in plan.tasks} if plan else set()


def edges_of(plan: Plan | None) -> set[tuple[str, str]]:
    """Name the edges of a plan by their workers: the one needed, the one that needs."""
    if plan is None:
        return set()
    owner = {task.id: task.worker for task in plan.tasks}
    return {(owner[edge.task], task.worker) for task in plan.tasks for edge in task.depends_on}


def _arrow(edge: tuple[str, str]) -> str:
    return " → ".join(edge)
