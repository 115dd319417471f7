"""Finds what went wrong at a model's endpoint, in a team's plan, and in its answer."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from extensions.insight.run_facts import (
    Json,
    LoggedEvent,
    RunFacts,
    TaskFacts,
    as_list,
    as_map,
    as_text,
)
from nodes.planning.tool_fit import drop_remark
from nodes.text.phrases import say
from state import COMPLETE_STATUSES

_REFUSING: Final = ("ENDPOINT_DOWN", "RATE_LIMITED")
"""Codes with which calls are refused that were not made: the endpoint had failed before."""
_CODES: Final = {"budget_spent": "--max-tokens or --max-cost", "deadline_passed": "--deadline"}
"""Options of caps whose events name none."""


@dataclass(frozen=True)
class Fault:
    """What began a failure, and where."""

    kind: str
    task: str
    """Its path; empty for the supervisor, or the run."""
    worker: str
    """Who was at work: a worker, `planner` or `synthesizer`."""
    event: LoggedEvent | None
    detail: str = ""
    """In the words of whoever failed: data."""
    tool: str = ""
    option: str = ""
    is_call: bool = False
    """A model call failed."""


def build_fault(
    task: TaskFacts, kind: str, event: LoggedEvent | None, detail: object = "", tool: str = ""
) -> Fault:
    """Return a fault of a task."""
    option = (event.read("option") if event else "") or _CODES.get(kind, "")
    return Fault(kind, task.path, task.worker, event, as_text(detail), tool, option)


def find_origin(facts: RunFacts, call: LoggedEvent, detail: str = "") -> Fault:
    """Return the fault of a failed model call; of one that was not made, what forbade it.

    A circuit breaker that is open, and a rate limit, refuse calls after the one that began it.
    """
    code, kind = call.read("error"), call.read("error").lower()
    if code in _REFUSING and (opener := _find_opener(facts, call, code)):
        if not call.data.get("tries"):
            task = facts.tasks.get(opener.task)
            detail = "" if task is None else as_text(task.report.get("error")).partition(": ")[2]
            call = opener
        kind = opener.read("error").lower()  # of requests that failed until others opened it, too
    if call.data.get("tries") and call.read("first_error"):
        kind = call.read("first_error").lower()
    worker = call.read("worker") or _name_role(call)
    option = _CODES.get(kind, "")
    return Fault(kind, call.task, worker, call, detail, option=option, is_call=True)


def _name_role(call: LoggedEvent) -> str:
    return "synthesizer" if call.read("purpose") in ("answer", "reduce", "judge") else "planner"


def _find_opener(facts: RunFacts, call: LoggedEvent, code: str) -> LoggedEvent | None:
    """Return the call that failed at the endpoint itself, after which others were not made."""
    if code == "ENDPOINT_DOWN":
        opened = [at for at in facts.openings if at < call.at]
        after = (e for e in facts.failed_calls if opened and e.at > opened[-1])
        return next((e for e in after if e.read("error") not in _REFUSING), None)
    limited = [e for e in facts.failed_calls if e.read("error") == code]
    return next((e for e in reversed(limited) if e.at < call.at), next(iter(limited), None))


def find_cap(facts: RunFacts, task: TaskFacts) -> Fault | None:
    """Return the cap that ended the run before a task; None without one."""
    for event in reversed(facts.select("deadline", "budget", within=task.within)):
        if task.path.rpartition("/")[2] in as_list(event.data.get("unfinished")):
            kind = "deadline_passed" if event.kind == "deadline" else "steps_spent"
            return build_fault(task, kind, event)
    return None


def list_team_faults(facts: RunFacts, within: str = "") -> list[Fault]:
    """Return the faults of a team's plan, of its answer and of its end, besides those of tasks."""
    found = [*_list_plan_faults(facts, within), *_list_answer_faults(facts, within)]
    return found if within else [*_list_end_faults(facts), *found]


def _list_plan_faults(facts: RunFacts, within: str) -> Iterator[Fault]:
    plan = facts.plans.get(within, {})
    created = facts.select("plan_created", "plan_revised", "plan_approved", within=within)
    rejected = facts.select("plan_rejected", within=within)
    if plan.get("rule_reason"):  # what a rule did not plan goes back to it, too
        yield _find_planning_fault(facts, within, as_text(plan.get("rule_reason")), rejected)
        return
    open_parts = " ".join(list_gaps(facts, within))
    for part in as_list(plan.get("untaken")):
        if (said := as_text(part)) and (said in open_parts or not open_parts):
            event = created[-1] if created else None
            yield Fault("part_not_planned", within, "planner", event, said)


def _find_planning_fault(
    facts: RunFacts, within: str, detail: str, rejected: list[LoggedEvent]
) -> Fault:
    """Return why a model made no plan: its plans were refused, or no call of it ended well."""
    calls = [e for e in facts.select("model_call", within=within) if e.read("purpose") == "plan"]
    if rejected and not (calls and calls[-1].read("error")):
        problems = as_text(", ".join(map(str, as_list(rejected[0].data.get("problems")))))
        return Fault("plan_invalid", within, "planner", rejected[0], problems)
    failed = [e for e in calls if e.read("error")]
    if failed:
        return find_origin(facts, failed[0], detail)
    return Fault("plan_invalid", within, "planner", rejected[0] if rejected else None, detail)


def _find_answer(facts: RunFacts, within: str) -> LoggedEvent | None:
    return next(reversed(facts.select("answer", within=within)), None)


def list_gaps(facts: RunFacts, within: str = "") -> list[str]:
    """Return the gaps of a team's answer, whoever named them."""
    answer = _find_answer(facts, within)
    return [as_text(gap) for gap in as_list(answer.get("answer", "gaps"))] if answer else []


def _list_answer_faults(facts: RunFacts, within: str) -> Iterator[Fault]:
    answer = _find_answer(facts, within)
    if answer is None:
        return
    written = next(reversed(facts.select("synthesized", within=within)), None)
    place = ("synthesizer", written)
    if written and (problem := written.read("problem")):
        yield from _list_writing_faults(facts, written, problem)
    lost = set(_list_lost_parts(facts, within))
    parts = map(as_text, as_list(answer.get("answer", "unanswered")))
    yield from (
        Fault("part_unanswered", within, *place, part) for part in parts if part not in lost
    )
    language = as_text(answer.get("answer", "language")) or "en"
    for name, kind in (("unsupported", "unsupported_line"), ("not_read", "file_unread")):
        values = dict.fromkeys(("what", "line", "name", "reason"), "\0")
        start = say(language, name, **values).partition("\0")[0]
        gaps = (gap for gap in list_gaps(facts, within) if gap.startswith(start))
        yield from (Fault(kind, within, *place, gap) for gap in gaps)


def _list_writing_faults(facts: RunFacts, written: LoggedEvent, problem: str) -> Iterator[Fault]:
    """Yield why no model wrote the answer, or why it was written from a part of the reports."""
    within, detail = written.within, problem.partition(": ")[2]
    calls = [e for e in facts.select("model_call", within=within) if e.read("purpose") == "answer"]
    failed = [e for e in calls if e.read("error")]
    if failed and failed[-1] is calls[-1]:
        yield find_origin(facts, failed[0], detail)
    elif refused := facts.select("answer_refused", within=within):
        yield Fault("unreadable_reply", within, "synthesizer", refused[0], problem)
    elif calls:  # without calls there was nothing to write from
        yield Fault("context_too_small", within, "synthesizer", written, problem)


def _list_lost_parts(facts: RunFacts, within: str) -> Iterable[str]:
    """Yield the parts of the request that are open as no task had them, or theirs failed."""
    yield from (as_text(drop_remark(str(p))) for p in as_list(facts.plans[within].get("untaken")))
    for task in facts.tasks.values():
        if task.within == within and task.status != "completed":
            yield from map(as_text, task.covers)


def _list_end_faults(facts: RunFacts) -> Iterator[Fault]:
    """Yield why a run ended without an answer."""
    own = facts.select(*_ENDINGS)
    if facts.status == "failed" and own and own[-1].kind == "error":
        yield _find_ending(facts, own[-1])
    elif facts.status == "stopped":
        yield Fault("cancelled", "", "", facts.events[-1] if facts.events else None)


_ENDINGS: Final = ("answer", "error", "request")


def _find_ending(facts: RunFacts, error: LoggedEvent) -> Fault:
    code, detail = error.read("code"), error.read("message")
    if code == "PLAN_INVALID":
        asked = [e for e in facts.select("plan_created") if e.data.get("awaits_approval") is True]
        rejected = facts.select("plan_rejected")
        if asked and not rejected:
            return Fault("plan_rejected", "", "planner", asked[-1], detail)
        return _find_planning_fault(facts, "", detail, rejected)
    calls = [e for e in facts.select("model_call") if e.read("error") == code]
    return find_origin(facts, calls[0], detail) if calls else Fault(code.lower(), "", "", error)


def is_complete(facts: RunFacts) -> bool:
    """Return whether a run has ended with all that was asked for."""
    return facts.status in COMPLETE_STATUSES


def find_answer_of(facts: RunFacts) -> Json:
    """Return the run's answer; empty without one."""
    answer = _find_answer(facts, "")
    return {} if answer is None else as_map(answer.data.get("answer"))
