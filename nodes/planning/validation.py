"""Checks a plan against its team; what `Plan` itself refuses is not checked again."""

from collections.abc import Collection, Iterable, Iterator
from difflib import get_close_matches

from nodes.limits.patterns import Pattern
from nodes.planning.tool_fit import explain_misfit
from nodes.planning.vagueness import explain_vagueness
from nodes.schemas.team import SPECIALIST, Team
from state import Plan, Task

_ARTICLES = frozenset(("a", "an", "the", "please"))
_MAX_NAME_CHARS = 80
_COMPOUND_ADVICE = "plan its parts as separate tasks"
_PUNCTUATION = Pattern(r"[\W_]+")


def list_plan_problems(
    plan: Plan, team: Team, *, max_tasks: int, materials: Collection[str] = ()
) -> list[str]:
    """Return the problems of a plan, for its author: first of the plan, then of each task.

    Vague tasks are not included: see `list_vague_tasks`.
    """
    problems = list(_check_size(plan, team, max_tasks))
    # A plan of thousands of tasks is refused for its size alone.
    if len(plan.tasks) > max_tasks:
        return problems
    problems += _check_specialists(plan, team)
    seen: dict[tuple[str, ...], Task] = {}
    for task in plan.tasks:
        problems += [*_check_worker(task, team), *_check_needs(task, plan, team)]
        problems += _check_materials(task, materials)
        if task.is_compound and not may_divide(team):
            problems.append(
                f"task {task.id!r} is compound, but this team divides no tasks: {_COMPOUND_ADVICE}"
            )
        if not _has_words(task):
            problems.append(
                f"task {task.id!r} has no words in its description: name what to work on"
            )
        first = seen.setdefault(_build_work_key(task), task)
        # To select is to choose among several attempts at one task.
        if first is not task and plan.aggregation != "select":
            problems.append(
                f"task {task.id!r} asks for the same work as task {first.id!r}: "
                "keep one of them, or describe what differs"
            )
    return problems


def list_vague_tasks(tasks: Iterable[Task]) -> list[str]:
    """Return what each vague task lacks; a plan with vague tasks can still run.

    A task that reads a material or the result of another task has its object in them.
    """
    alone = [task for task in tasks if not task.depends_on and not task.materials]
    reasons = {task.id: explain_vagueness(task.description) for task in alone if _has_words(task)}
    return [f"task {name!r} is vague: {reason}" for name, reason in reasons.items() if reason]


def may_divide(team: Team) -> bool:
    """Return whether a plan of this team may contain compound tasks."""
    return team.strategy == "recursive" and team.max_recursion > 0


def _has_words(task: Task) -> bool:
    return any(map(str.isalpha, task.description))


def _check_specialists(plan: Plan, team: Team) -> Iterator[str]:
    count = sum(task.worker == SPECIALIST for task in plan.tasks)
    if team.recruit and count > team.max_recruits:
        yield (
            f"{count} tasks ask for a specialist: at most {team.max_recruits} are allowed; "
            "give those that fit a worker to that worker"
        )


def _check_size(plan: Plan, team: Team, max_tasks: int) -> Iterator[str]:
    if len(plan.tasks) > max_tasks:
        yield f"the plan has {len(plan.tasks)} tasks: at most {max_tasks} are allowed; merge some"
    depth = plan.measure_depth()
    if depth > team.max_depth:
        names = _find_longest_chain(plan)
        chain = " -> ".join(names if depth <= 12 else [*names[:5], "...", *names[-5:]])
        yield (
            f"the chain {chain} is {depth} tasks long: at most {team.max_depth} are allowed; "
            "drop dependencies a task can do without, or merge tasks"
        )


def _check_worker(task: Task, team: Team) -> Iterator[str]:
    names = [worker.name for worker in team.roster]
    if task.worker not in names:
        yield (
            f"task {task.id!r} names an unknown worker {task.worker!r}"
            f"{_suggest_name(task.worker, names)}; the workers are {', '.join(names)}"
        )
    elif reason := explain_misfit(task, team.find_worker(task.worker), team):
        yield f"task {task.id!r} does not fit its worker: {reason}"


def _check_needs(task: Task, plan: Plan, team: Team) -> Iterator[str]:
    owners = {each.id: each.worker for each in plan.tasks}
    used = {owners.get(edge.task) for edge in task.depends_on}
    for worker in team.roster:
        for name in worker.needs if worker.name == task.worker else ():
            if name not in used:
                yield (
                    f"task {task.id!r} works on the report of {name}: plan a task of {name}, and "
                    "make this one depend on it"
                )


def _check_materials(task: Task, materials: Collection[str]) -> Iterator[str]:
    known = sorted(materials)
    accepted = f"the materials are {', '.join(known)}" if known else "the request has no materials"
    for name in task.materials:
        if name not in known:
            shown = f"{name[:_MAX_NAME_CHARS]!r}{_suggest_name(name, known)}"
            yield f"task {task.id!r} names an unknown material {shown}; {accepted}"


def _suggest_name(name: str, known: Collection[str]) -> str:
    by_lower = {each.lower(): each for each in known}
    near = get_close_matches(name.strip().lower(), by_lower, 1)
    return f" (did you mean {by_lower[near[0]]!r}?)" if near else ""


def _build_work_key(task: Task) -> tuple[str, ...]:
    """Return the key of a task's work: words, materials and inputs, but not its worker."""
    words = _PUNCTUATION.sub(" ", task.description.casefold()).split()
    text = " ".join(word for word in words if word not in _ARTICLES)
    inputs = sorted(edge.task for edge in task.depends_on)
    return (text or task.description, "", *sorted(task.materials), "", *inputs)


def _find_longest_chain(plan: Plan) -> list[str]:
    chains: dict[str, list[str]] = {}
    for task in plan.order_tasks():
        before = max((chains[edge.task] for edge in task.depends_on), key=len, default=[])
        chains[task.id] = [*before, task.id]
    return max(chains.values(), key=len)
