"""Finds what went wrong at a model's endpoint, in a team's plan, and in its answer."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from extensions.insight.run_facts import LoggedEvent, RunFacts, TaskFacts
from nodes.planning.tool_fit import drop_remark
from nodes.text.phrases import say

_REFUSING: Final = ("ENDPOINT_DOWN", "RATE_LIMITED")
"""Codes with which calls are refused that were not made: the endpoint had failed before."""
_CAPS: Final = {"budget_spent": "--max-tokens or --max-cost", "deadline_passed": "--deadline"}
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
    is_call: bool = False
    """A model call failed."""

    @property
    def option(self) -> str:
        """The option of its cap."""
        return (self.event.read("option") if self.event else "") or _CAPS.get(self.kind, "")


def build_fault(
    task: TaskFacts, kind: str, event: LoggedEvent | None, detail: object = "", tool: str = ""
) -> Fault:
    """Return a fault of a task."""
    return Fault(kind, task.path, task.worker, event, str(detail or ""), tool)


def find_origin(facts: RunFacts, call: LoggedEvent, detail: str = "") -> Fault:
    """Return the fault of a failed model call; of one that was not made, what forbade it.

    A circuit breaker that is open, and a rate limit, refuse calls after the one that began it.
    """
    kind = call.error
    if call.error in _REFUSING and (opener := _find_opener(facts, call)):
        kind = opener.error  # also of a call whose tries failed until others opened the circuit
        if not call.data.get("tries"):
            task = facts.tasks.get(opener.task)
            detail = task.error.partition(": ")[2] if task else ""
            call = opener
    if call.data.get("tries"):
        kind = call.read("first_error") or kind
    is_answer = call.read("purpose") in ("answer", "reduce", "judge")
    worker = call.read("worker") or ("synthesizer" if is_answer else "planner")
    return Fault(kind.lower(), call.task, worker, call, detail, is_call=True)


def _find_opener(facts: RunFacts, call: LoggedEvent) -> LoggedEvent | None:
    """Return the call that failed at the endpoint itself, after which others were not made."""
    if call.error == "ENDPOINT_DOWN":
        states = (e for e in facts.events if e.kind == "error" and e.data.get("state") == "open")
        opened = [e.at for e in states if e.at < call.at]
        after = (e for e in facts.failed_calls if opened and e.at > opened[-1])
        return next((e for e in after if e.error not in _REFUSING), None)
    limited = [e for e in facts.failed_calls if e.error == call.error]
    return next((e for e in reversed(limited) if e.at < call.at), next(iter(limited), None))


def find_cap(facts: RunFacts, task: TaskFacts) -> Fault | None:
    """Return the cap that ended the run before a task; None without one."""
    for event in reversed(facts.select("deadline", "budget", within=task.within)):
        if task.id in event.data.get("unfinished", ()):
            kind = "deadline_passed" if event.kind == "deadline" else "steps_spent"
            return build_fault(task, kind, event)
    return None


def list_answer_texts(facts: RunFacts, name: str, within: str = "") -> list[str]:
    """Return texts of a team's answer, such as its gaps."""
    answers = facts.select("answer", within=within)
    return [str(text) for text in answers[-1].get("answer", name) or ()] if answers else []


def list_team_faults(facts: RunFacts, within: str = "") -> list[Fault]:
    """Return the faults of a team's plan, of its answer and of its end, besides those of tasks."""
    found = [*_list_plan_faults(facts, within), *_list_answer_faults(facts, within)]
    own = facts.select("answer", "error", "request")
    if not within and facts.status == "failed" and own and own[-1].kind == "error":
        found.insert(0, _find_ending(facts, own[-1]))
    elif not within and facts.status == "stopped":
        found.insert(0, Fault("cancelled", "", "", facts.events[-1] if facts.events else None))
    return found


def _list_plan_faults(facts: RunFacts, within: str) -> Iterator[Fault]:
    plan = facts.plans.get(within, {})
    if reason := plan.get("rule_reason"):  # what a rule did not plan goes back to it, too
        yield _find_planning_fault(facts, within, str(reason))
        return
    created = facts.select("plan_created", "plan_revised", "plan_approved", within=within)
    open_parts = " ".join(list_answer_texts(facts, "gaps", within))
    for part in plan.get("untaken") or ():
        if part in open_parts or not open_parts:
            event = created[-1] if created else None
            yield Fault("part_not_planned", within, "planner", event, part)


def _find_planning_fault(facts: RunFacts, within: str, detail: str) -> Fault:
    """Return why a model made no plan: its plans were refused, or no call of it ended well."""
    rejected = next(iter(facts.select("plan_rejected", within=within)), None)
    calls = facts.select_calls("plan", within)
    failed = [e for e in calls if e.error]
    if failed and (failed[-1] is calls[-1] or not rejected):
        return find_origin(facts, failed[0], detail)
    problems = rejected.data.get("problems", ()) if rejected else ()
    said = "; ".join(map(str, problems)) or detail
    return Fault("plan_invalid", within, "planner", rejected, said)


def _list_answer_faults(facts: RunFacts, within: str) -> Iterator[Fault]:
    answers = facts.select("answer", within=within)
    written = next(reversed(facts.select("synthesized", within=within)), None)
    if not answers:
        return
    if written and (problem := written.read("problem")):
        yield from _list_writing_faults(facts, written, problem)
    others = (task for task in facts.tasks.values() if task.within == within)
    lost = {words for task in others if task.status != "completed" for words in task.covers}
    lost |= {drop_remark(part) for part in facts.plans.get(within, {}).get("untaken") or ()}
    found = [("part_unanswered", part) for part in list_answer_texts(facts, "unanswered", within)]
    language = str(answers[-1].get("answer", "language") or "en")
    for name, kind in (("unsupported", "unsupported_line"), ("not_read", "file_unreadable")):
        values = dict.fromkeys(("what", "line", "name", "reason"), "\0")
        start = say(language, name, **values).partition("\0")[0]
        gaps = list_answer_texts(facts, "gaps", within)
        found += [(kind, gap[len(start) :]) for gap in gaps if gap.startswith(start)]
    for kind, said in found:
        if said not in lost:
            yield Fault(kind, within, "synthesizer", written, said)


def _list_writing_faults(facts: RunFacts, written: LoggedEvent, problem: str) -> Iterator[Fault]:
    """Yield why no model wrote the answer, or why it was written from a part of the reports."""
    within, calls = written.within, facts.select_calls("answer", written.within)
    failed = [e for e in calls if e.error]
    if failed and failed[-1] is calls[-1]:
        yield find_origin(facts, failed[0], problem.partition(": ")[2])
    elif refused := facts.select("answer_refused", within=within):
        yield Fault("unreadable_reply", within, "synthesizer", refused[0], problem)
    elif calls:  # without calls there was nothing to write from
        yield Fault("context_too_small", within, "synthesizer", written, problem)


def _find_ending(facts: RunFacts, error: LoggedEvent) -> Fault:
    """Return why a run ended without an answer."""
    code, detail = error.read("code"), error.read("message")
    if code == "PLAN_INVALID":
        asked = [e for e in facts.select("plan_created") if e.data.get("awaits_approval") is True]
        if asked and not facts.select("plan_rejected"):
            return Fault("plan_rejected", "", "planner", asked[-1], detail)
        return _find_planning_fault(facts, "", detail)
    calls = [e for e in facts.select("model_call") if e.error == code]
    return find_origin(facts, calls[0], detail) if calls else Fault(code.lower(), "", "", error)


def find_unexplained(facts: RunFacts) -> Fault:
    """Return why a run is not whole where no task, plan or answer says it: its steps ended."""
    gap = next(iter(list_answer_texts(facts, "gaps")), "")
    steps = facts.select_calls("step")
    if steps and steps[-1].error:
        return find_origin(facts, steps[-1], gap.partition(": ")[2])
    kind = "steps_spent" if gap.startswith("a cap ended the run") else "unexplained"
    return Fault(kind, "", "", next(reversed(facts.select("answer", "error")), None), gap)
