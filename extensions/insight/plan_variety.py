"""Teams that need no team: the plan is always the same, or one worker does all.

Said only with enough evidence: as many plans as `MIN_PLANS`, of as many different requests as
`MIN_REQUESTS`, none of which differs. By the rule of three (Hanley, Lippman-Hand, JAMA 249, 1983)
another plan then comes in at most 3 of `MIN_PLANS` requests, at 95 percent.
"""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any, Final

from graph.display.text import to_one_line
from graph.runs.event_log import FORM_ERRORS, read_log_entries
from graph.runs.trace import get_log_path, list_threads
from graph.settings import Settings
from nodes.schemas.team import Team
from nodes.text.counts import format_count
from state import Plan

MIN_PLANS: Final = 15
MIN_REQUESTS: Final = 8
MAX_PLANS: Final = 500
"""The newest that are read."""
MAX_ENTRIES: Final = 300
"""Of a log in which the first plan is looked for."""
Planned = tuple[str, Plan]
"""A request, and the first plan that was made for it."""


def find_sameness(team: Team, planned: Iterable[Planned], noun: str) -> list[str]:
    """Return why a team may need no team, a line or none, from plans of different requests.

    Args:
        noun: what the plans are of, such as `run`.
    """
    found = [*planned]
    requests = {" ".join(request.casefold().split()) for request, _ in found}
    if team.strategy == "single" or len(found) < MIN_PLANS or len(requests) < MIN_REQUESTS:
        return []
    workers = {task.worker for _, plan in found for task in plan.tasks}
    seen = f"in {format_count(len(found), noun)}"
    seen += "" if len(requests) == len(found) else f" of {len(requests)} different requests"
    if len(workers) == 1:
        said = f"{workers.pop()} did all tasks {seen}"
    elif len({describe_structure(plan) for _, plan in found}) == 1:
        said = f"the plan was the same {seen}: {_format_steps(found[0][1])}"
    else:
        return []
    advice = f"supervise eval {team.name} --against single"
    return [f"{said}. One agent may do as well without a plan: {advice} compares them"]


def describe_structure(plan: Plan) -> tuple[tuple[str, int], ...]:
    """Return a plan without its words: how many tasks there are of each worker and each input.

    Ids and the order of tasks do not count. A task is told from another by the labels of all that
    it builds on, as Weisfeiler and Lehman refine them (1968).
    """
    labels = dict[str, str]()
    for task in plan.order_tasks():
        inputs = sorted(f"{edge.required}{labels[edge.task]}" for edge in task.depends_on)
        labels[task.id] = hashlib.sha256("|".join([task.worker, *inputs]).encode()).hexdigest()
    return tuple(sorted(Counter(labels.values()).items()))


def read_plans(team: Team, settings: Settings) -> Iterator[Planned]:
    """Yield the first plans of this user's kept runs of a team with the workers that it has now."""
    for thread in islice(list_threads(settings), MAX_PLANS):
        with suppress(FileNotFoundError, StopIteration, *FORM_ERRORS):
            entries = read_log_entries(get_log_path(thread, settings))
            if next(entries)["run"]["team"] == team.name:
                yield _find_plan(team, [*islice(entries, MAX_ENTRIES)])


def _find_plan(team: Team, entries: Sequence[Mapping[str, Any]]) -> Planned:
    """Return the first request of a log with its plan.

    Raises:
        FORM_ERRORS: there is none, or it is of other workers or another strategy.
    """
    own = [entry for entry in entries if "kind" in entry and not entry.get("within")]
    first = {entry["kind"]: entry for entry in reversed(own)}
    request, plan = first["request"], Plan.model_validate(first["plan_created"]["plan"])
    known = {worker.name for worker in team.roster}
    is_same = {*request["workers"]} == known and request["strategy"] == team.strategy
    if not is_same or not {task.worker for task in plan.tasks} <= known:
        raise ValueError("another version of the team, or another way to work")
    return str(request["request"]), plan


def _format_steps(plan: Plan) -> str:
    """Return the workers of a plan in their order, those of one depth together."""
    steps, depths = defaultdict[int, list[str]](list), dict[str, int]()
    for task in plan.order_tasks():
        depths[task.id] = 1 + max((depths[edge.task] for edge in task.depends_on), default=0)
        steps[depths[task.id]].append(task.worker)
    return to_one_line(" → ".join(", ".join(sorted(each)) for each in steps.values()), 200)
