"""What the plan's results leave open, in lines for the reader of the answer."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

from nodes.models.catalog import EMBEDDED
from nodes.planning.skipping import list_partial_gaps, list_shortfalls
from nodes.planning.tool_fit import drop_remark, format_unwritten
from nodes.text.phrases import DEFAULT_LANGUAGE, say
from state import Plan, Report, Task

MAX_PART_CHARS: Final = 200
_PLURAL_VERBS: Final = {"was": "were", "lacks:": "lack:"}
"""Of the reasons of gaps."""


def list_gaps(
    plan: Plan,
    results: Mapping[str, Report],
    left_out: frozenset[str] = frozenset(),
    caps: Sequence[str] = (),
    language: str = DEFAULT_LANGUAGE,
) -> list[str]:
    """Return what the plan lacks: tasks without a complete result, grouped by reason.

    What a report lacks that no model wrote is about the files, whichever worker read them.
    """
    reached = say(language, "caps_set_by", options=", ".join(caps)) if caps else ""
    tasks_by_reason, unjudged = dict[str, list[str]](), list[str]()
    for task in plan.tasks:
        report = results.get(task.id)
        if task.id in left_out:
            continue
        if (plain := _list_plain_gaps(task, plan, report)) is not None:
            unjudged += plain
            continue
        reasons = [say(language, "not_run", caps=reached, task=task.description)]
        if report is not None:
            reasons = list_shortfalls(report, task.description, language)
        for reason in reasons:
            tasks_by_reason.setdefault(reason, []).append(_name_task(task, plan, report))
    by_rule = say(language, "plan_by_rule", reason=plan.rule_reason)
    made_by_rule = [by_rule] if plan.is_by_rule else []
    taken = _list_parts_taken_by_others(plan, results)
    put_together = _list_done_parts(plan, results)
    untaken = [
        say(language, "not_worded", part=drop_remark(part))
        if part in put_together
        else say(language, "not_answered", part=part)
        for part in plan.untaken
        if part not in taken
    ]
    found = [_format_gap(tasks, reason, language) for reason, tasks in tasks_by_reason.items()]
    return [*made_by_rule, *untaken, *found, *dict.fromkeys(unjudged)]


def drop_answered_gaps(plan: Plan, results: Mapping[str, Report]) -> dict[str, Report]:
    """Return the results without the parts that one task left open and a later one has found.

    In a run without a model, where documents are searched for what tables leave open.
    """
    found = {
        edge.task
        for task in plan.tasks
        if (later := results.get(task.id)) and later.is_unread and later.status == "completed"
        for edge in task.depends_on
    }
    return {name: _drop_parts(each) if name in found else each for name, each in results.items()}


def _drop_parts(report: Report) -> Report:
    if not report.gaps_of_parts:
        return report
    left = {
        name: tuple(gap for gap in held if gap not in report.gaps_of_parts)
        for name, held in (("gaps", report.gaps), ("failures", report.failures))
    }
    return report.model_copy(update={**left, "is_partial": bool(left["failures"])})


def list_unanswered(plan: Plan, results: Mapping[str, Report]) -> tuple[str, ...]:
    """Return the parts of the request that no task covers, or none of those that do has answered.

    A part that another worker has written in the end is answered.
    """
    done = {name for name, report in results.items() if report.status == "completed"}
    taken = _list_parts_taken_by_others(plan, results)
    open_parts = [drop_remark(part) for part in plan.untaken if part not in taken]
    answered = {words for task in plan.tasks if task.id in done for words in task.covers}
    lost = [words for task in plan.tasks if task.id not in done for words in task.covers]
    return tuple(dict.fromkeys([*open_parts, *(words for words in lost if words not in answered)]))


def _list_plain_gaps(task: Task, plan: Plan, report: Report | None) -> Sequence[str] | None:
    """Return what a report lacks that no model wrote; None for another, and one that failed."""
    if report is None or {*report.usage.models} != {EMBEDDED}:
        return None
    if report.escalation is None:
        return list_partial_gaps(report) if report.status == "completed" else None
    part = _name_part(task, plan, report)
    return [f"{part}: {report.escalation.message}" if part else report.escalation.message]


def _name_task(task: Task, plan: Plan, report: Report | None) -> str:
    """Return a task's id, with its part of the request if nothing came of that."""
    part = _name_part(task, plan, report)
    return f"{task.id} ({part})" if part else task.id


def _name_part(task: Task, plan: Plan, report: Report | None) -> str:
    is_part = bool(task.asked) and task.asked.strip() != plan.goal.strip()
    is_open = is_part and (report is None or report.status != "completed")
    return f"“{task.asked[:MAX_PART_CHARS]}”" if is_open else ""


def _list_parts_taken_by_others(plan: Plan, results: Mapping[str, Report]) -> set[str]:
    """Return what the planned worker could not write, but another one has done."""
    return _list_done_parts(plan, results, by_others=True)


def _list_done_parts(
    plan: Plan, results: Mapping[str, Report], *, by_others: bool = False
) -> set[str]:
    """Return what would have to be written of the tasks that were done, as the plan names it."""
    done = [
        task
        for task in plan.tasks
        if (report := results.get(task.id))
        and report.status == "completed"
        and (report.worker != task.worker) == by_others
    ]
    return {format_unwritten(task, plan.goal) for task in done}


def _format_gap(tasks: Sequence[str], reason: str, language: str) -> str:
    """Return a gap of one or more tasks; only English words change with their number."""
    verb, _, rest = reason.partition(" ")
    if len(tasks) > 1:
        verb = _PLURAL_VERBS.get(verb, verb)
    return say(language, "of_tasks", tasks=", ".join(tasks), reason=f"{verb} {rest}")


def list_ungiven_files(
    plan: Plan,
    materials: Iterable[str],
    results: Mapping[str, Report],
    idle: Collection[str],
    language: str,
) -> list[str]:
    """Return a line on the files that have none of the request's words.

    No task was given them, or one that begins with them and had nothing to say of them.

    Args:
        idle: ids of tasks that had nothing to do.
    """
    given = {name for task in plan.tasks for name in task.materials}
    silent = [task for task in plan.tasks if task.id in idle and not results[task.id].gaps]
    given -= {name for task in silent if not task.depends_on for name in task.materials}
    files = [name for name in materials if name not in given]
    reason = say(language, "no_shared_word")
    is_said = bool(given and files)
    return [say(language, "not_used", files=", ".join(files), reason=reason)] if is_said else []
