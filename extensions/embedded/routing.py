"""Routes a request to one worker, to a second one for a part of it, or to a plan."""

import re
from typing import Any

from extensions.embedded.worker_fit import MIN_MEANING_OF_WHOLE, WorkerFit, list_workers
from nodes.limits.patterns import Pattern
from nodes.schemas.beside import PlanningValues
from nodes.schemas.team import Example
from nodes.text.request_parts import list_parts
from nodes.text.similarity import extract_stems

_FILE_TYPE = Pattern(r"\.(\w+)$", re.MULTILINE)
MIN_WORDS = 2
"""Of a part of a request that is for a worker of its own."""
MIN_LEAD = 2.0
"""How much nearer such a part is to a second worker than to the first."""


def write_decision(values: PlanningValues) -> dict[str, Any]:
    """Return one worker; two if an example has two, or part of the request is for another.

    The file types of materials, such as `py`, count as words of the request. A team that steps
    ends after one step.
    """
    if values.given:
        reason = "A worker has reported, and this model plans only one step."
        return {"is_done": True, "reason": reason}
    team, fit = values.team, WorkerFit(values.team, MIN_MEANING_OF_WHOLE)
    types = " ".join(_FILE_TYPE.findall("\n".join(values.materials)))
    takers = [*fit.score_workers(values.request, types)][:1]
    shown = fit.find_example(values.request, is_like=True)
    if shown and not _is_planned(shown, values) and list_workers(shown)[1:]:
        takers = [*list_workers(shown)[:2]]
    searching = [each.name for each in team.roster if "search_documents" in each.tools]
    if values.materials and searching and not any(team.find_worker(n).tools for n in takers):
        takers = searching[:1]  # without a tool nothing is read
    if not takers:
        return {"worker": "", "task": values.request, "reason": "No worker's card is similar."}
    parts = [
        scores
        for part in list_parts(values.request, fit.rank_workers)
        if len(extract_stems(part)) >= MIN_WORDS and (scores := fit.score_workers(part))
    ]
    several = {next(iter(scores)) for scores in parts}
    planned = [list_workers(each) for each in team.examples if _is_planned(each, values)]
    if len(several) > 1 and any(several <= {*each} for each in planned):
        reason = "Its parts are for several workers, which examples have in one plan."
        return {"worker": takers[0], "needs_plan": True, "reason": reason}
    if any(list_workers(each)[1:] for each in team.examples if not _is_planned(each, values)):
        bests = [(next(iter(each)), each) for each in parts]
        takers += [n for n, each in bests if each[n] >= MIN_LEAD * each.get(takers[0], 0.0)]
    return {
        "worker": takers[0],
        "secondary": "".join([name for name in takers if name != takers[0]][:1]),
        "task": values.request,
        "reason": "Its card and examples are nearest to the request.",
    }


def _is_planned(example: Example, values: PlanningValues) -> bool:
    has_order = any(task.depends_on for task in example.plan.tasks)
    return values.team.plan_when_needed and has_order
