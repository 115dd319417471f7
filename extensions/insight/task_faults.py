"""Finds what went wrong at one task: the fault that began it, or the tasks that it goes back to."""

import string
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Final

from extensions.insight.fault_kinds import load_fault_kinds
from extensions.insight.faults import Fault, build_fault, find_cap, find_origin, list_team_faults
from extensions.insight.run_facts import LoggedEvent, RunFacts, TaskFacts
from nodes.limits.nesting import parse_json
from nodes.limits.stop_requests import STOPPED
from nodes.text.phrases import PHRASES, say
from nodes.text.plain_text import to_one_line

_REASONS: Final = {kind.reason: name for name, kind in load_fault_kinds().items() if kind.reason}
_STARTS: Final = {s: name for name, kind in load_fault_kinds().items() for s in kind.starts}
_SAID: Final = ("reported_failure", *_REASONS.values())
"""Kinds that are a worker's own word."""
_UNSURE: Final = tuple(
    say(each, "not_sure", confidence="\0").partition("\0")[0] for each in PHRASES
)
_NO_FILE: Final = tuple(say(language, "no_file") for language in PHRASES)
"""How the built-in model says that there is nothing to read."""
_ABSENT: Final = tuple(
    say(each, "words_absent", places="\0", words="\0").partition("\0")[0] for each in PHRASES
)
"""How it begins to say that no file has some words."""
_OVERCOME: Final = ("unreadable_reply", "out_of_time", "tool_timed_out")
"""Besides what an endpoint did: a later attempt that got a report has overcome it."""
_CAPS: Final = ("steps_spent", "deadline_passed", "budget_spent")


@dataclass
class Findings:
    """Why a task is not whole."""

    faults: list[Fault] = field(default_factory=list)
    blamed: list[str] = field(default_factory=list)
    """Paths of the tasks that it goes back to."""


def examine_task(facts: RunFacts, task: TaskFacts) -> Findings:
    """Return why a task is not whole; nothing for one that is."""
    if task.status == "completed":
        return _examine_completed(facts, task)
    if task.report:
        return _examine_failed(facts, task)
    known = (facts.tasks.get(name) for name in task.needs)
    lost = [each.path for each in known if each and each.status != "completed"]
    if lost and task.reason != STOPPED:
        return Findings(blamed=lost)
    if task.status != "skipped":
        cap = find_cap(facts, task)
        return Findings([cap] if cap else [])
    kind = "stopped_by_human" if task.reason == STOPPED else "unexplained"
    if task.reason.startswith("the run nears its caps"):
        levels = (e.read("level") for e in facts.events if e.kind == "budget")
        kind = "budget_spent" if "low" in levels else "deadline_passed"
    return Findings([build_fault(task, kind, task.ending, task.reason)])


def _examine_failed(facts: RunFacts, task: TaskFacts) -> Findings:
    first = _choose_first(list(_list_problems(facts, task)))
    if inner := _examine_team(facts, task, first):
        return inner
    words = {word.strip(string.punctuation) for word in first.detail.split()}
    inputs = (facts.tasks.get(path) for path in task.inputs)
    # Inputs that lack something, which the worker names as its reason.
    named = [e.path for e in inputs if e and not e.is_whole and e.id in words]
    return Findings(blamed=named) if named and first.kind in _SAID else Findings([first])


def _examine_team(facts: RunFacts, task: TaskFacts, first: Fault | None) -> Findings | None:
    """Return why the team that did a task did not do all of it.

    None without one, and where the first problem led to it: the task was divided for it.
    """
    begun = facts.select("request", within=task.path)
    if not begun or (first and first.event and first.event.at < begun[0].at):
        return None
    inner = [path for path in task.inner if not facts.tasks[path].is_whole]
    faults = list_team_faults(facts, task.path)
    return Findings(faults, inner) if inner or faults else None


def _choose_first(problems: list[Fault]) -> Fault:
    """Return the problem that began the failure: the first that no later attempt has overcome."""

    def is_of_form(fault: Fault) -> bool:
        return fault.is_call or fault.kind in _OVERCOME

    for at, each in enumerate(problems):
        later = (p for p in problems[at + 1 :] if not is_of_form(p) and p.kind not in _CAPS)
        if not is_of_form(each) or next(later, None) is None:
            is_same = each.kind == problems[-1].kind
            return each if each.detail or not is_same else replace(each, detail=problems[-1].detail)
    return problems[-1]


def _list_problems(facts: RunFacts, task: TaskFacts) -> Iterator[Fault]:
    """Yield what was wrong with each attempt; the last is that of the report."""
    for number, events in enumerate(task.attempts[:-1]):
        if problem := _find_problem(facts, task, events, task.attempts[number + 1][0]):
            yield _find_missing_file(task, events, problem)
    yield _find_missing_file(task, task.list_last(), _find_last_problem(facts, task))


def _find_missing_file(task: TaskFacts, events: list[LoggedEvent], fault: Fault) -> Fault:
    """Return a fault; a worker's word where no tool had anything to read is a missing file."""
    if fault.kind not in _SAID:
        return fault
    calls = [e for e in events if e.kind == "tool_call"]
    empty = [e for e in calls if True in (e.data.get("lacks_file"), e.data.get("not_given_file"))]
    if empty and all(e.error for e in calls):
        return replace(fault, kind="file_missing", event=empty[0])
    is_known = task.report.get("lacks_file") is True and not task.inner
    return replace(fault, kind="file_missing") if is_known or fault.detail in _NO_FILE else fault


def _find_call(events: Iterable[LoggedEvent], *purposes: str) -> LoggedEvent | None:
    """Return the model's last call, of some purposes."""
    calls = [e for e in events if e.kind == "model_call"]
    return next((e for e in reversed(calls) if e.read("purpose") in purposes or not purposes), None)


def _find_problem(
    facts: RunFacts, task: TaskFacts, events: list[LoggedEvent], after: LoggedEvent
) -> Fault | None:
    """Return what was wrong with an attempt that another one followed; None where nothing says."""
    if (call := _find_call(events, "report", "turn")) and call.error:
        return find_origin(facts, call)
    for event in events:
        if event.kind == "escalated":
            kind = _REASONS.get(event.read("reason"), "unclear_input")
            return build_fault(task, kind, event, event.read("message"))
        said = event.error if event.kind == "refined" else event.read("reason")
        if event.kind in ("refined", "split", "reassigned") and said:
            return build_fault(task, _read_error(task, said, said)[0], event, said)
    if earlier := str(after.get("handoff", "earlier") or ""):
        kind = _read_error(task, earlier, task.output)[0]
        return build_fault(task, kind, _find_reply(events, kind) or after, earlier)
    limit_s = events[0].get("handoff", "timeout_s")
    if limit_s is None or after.seconds - events[0].seconds < limit_s:
        return None
    # It took all its time. After a reply that called tools, they were at work.
    is_tool = _find_call(events[-1:], "turn")
    return build_fault(task, "tool_timed_out" if is_tool else "out_of_time", after)


def _find_reply(events: list[LoggedEvent], kind: str) -> LoggedEvent | None:
    """Return the model's last call, whose reply was no report; None for other kinds."""
    return _find_call(events) if kind == "unreadable_reply" else None


def _find_last_problem(facts: RunFacts, task: TaskFacts) -> Fault:
    if task.status == "escalated":
        kind = _REASONS.get(str(task.escalation.get("reason")), "unclear_input")
        found = (e for each in task.attempts for e in each if e.kind == "escalated")
        return build_fault(task, kind, next(found, task.ending), task.escalation.get("message"))
    events, (code, _, detail) = task.list_last(), task.error.partition(": ")
    if (call := _find_call(events, "report", "turn")) and call.error and call.error == code:
        return find_origin(facts, call, detail)
    kind, tool = _read_error(task, task.error, task.output)
    return build_fault(task, kind, _find_reply(events, kind) or task.ending, task.error, tool)


def _read_error(task: TaskFacts, error: str, output: str) -> tuple[str, str]:
    """Return the kind of a failed report's error, and the tool that it names."""
    if error.startswith("timed out after") and task.escalation.get("reason") == "timeout":
        tool = error.partition(", in ")[2]
        late = "tool_timed_out" if tool else "out_of_time"
        return ("deadline_passed" if "the run's deadline" in error else late), tool
    kind = next((kind for start, kind in _STARTS.items() if error.startswith(start)), "")
    calls = task.list_last("tool_call")
    if kind == "turns_spent" and any(e.data.get("repeated") is True for e in calls):
        return "turns_repeated", ""
    if kind or error.strip() == output.strip():  # the second is the worker's own word
        return kind or "reported_failure", ""
    code = error.partition(":")[0]
    if code.isupper() and code.replace("_", "").isalpha():
        return code.lower(), ""
    is_raised = code.isidentifier() and code.endswith(("Error", "Exception"))
    return ("internal_error" if is_raised else "unreadable_reply"), ""


def _examine_completed(facts: RunFacts, task: TaskFacts) -> Findings:
    found = Findings()
    if not task.is_whole:
        before = list(_list_problems(facts, task))[:-1]
        first = _choose_first(before) if task.inner and before else None
        if inner := _examine_team(facts, task, first):
            found = inner
        elif first:
            found.faults.append(first)
        found.faults += _list_tool_faults(task)
        if not (found.faults or found.blamed):
            found.faults.append(_find_lack(task))
    _examine_claims(facts, task, found)
    if not task.inner:  # what a team of its own has noted is of its tasks
        found.faults += _list_gap_faults(task)
    return found


def _find_lack(task: TaskFacts) -> Fault:
    """Return what a completed report lacks that no call failed for: a tool's gap, or the reading's.

    A tool names the parts that it could not answer under `gaps` of its result, or says that it is
    not complete.
    """
    detail = next(iter(task.list_texts("failures") or task.list_texts("gaps")), "")
    for event in task.list_last("tool_call"):
        with suppress(ValueError, TypeError, LookupError, AttributeError):  # of any form
            result = parse_json(event.read("result"))
            if result.get("is_complete") is False or detail in result["gaps"]:
                kind = "words_absent" if detail.startswith(_ABSENT) else "tool_gap"
                return build_fault(task, kind, event, detail, event.read("tool"))
    kind, calls = "file_unread", task.list_last("tool_call")
    if detail.startswith(_ABSENT):
        kind = "words_absent"
    elif calls and (task.report.get("usage") or {}).get("models") == ["embedded"]:
        return build_fault(task, "tool_gap", calls[-1], detail, calls[-1].read("tool"))
    return build_fault(task, kind, task.ending, detail)


def _list_tool_faults(task: TaskFacts) -> Iterator[Fault]:
    """Yield the calls whose failures the report names: no later one made them good."""
    named = {text[:100] for text in task.list_texts("failures")}
    for event in task.list_last("tool_call"):
        if kept := [text for text in event.data.get("failures") or () if text[:100] in named]:
            kind = "tool_failed" if event.error else "tool_incomplete"
            kind = "tool_rejected" if event.data.get("denied") is True else kind
            yield build_fault(task, kind, event, kept[0], event.read("tool"))


def _list_gap_faults(task: TaskFacts) -> Iterator[Fault]:
    """Yield what the program has noted among the gaps of a completed report."""
    calls = task.list_last("tool_call")
    refused = {e.read("tool"): e for e in calls if e.error and not e.data.get("failures")}
    for gap in task.list_texts("gaps"):
        start, _, said = gap.partition(": ")
        call = refused.get(start)
        if any(start == say(each, "assumed", message="").rstrip(": ") for each in PHRASES):
            yield build_fault(task, "assumption", task.ending, said)
        elif gap.startswith(_UNSURE):
            yield build_fault(task, "unsure", task.ending, gap)
        elif call and said and _begins_like(call.error, said):
            kind = "tool_denied" if call.data.get("denied") is True else "tool_refused"
            yield build_fault(task, kind, call, said, start)


def _begins_like(error: str, said: str) -> bool:
    return to_one_line(error, 300).startswith(to_one_line(said, 80)[:70])


def _examine_claims(facts: RunFacts, task: TaskFacts, found: Findings) -> None:
    """Add unproved claims; one that an input has unproved too goes back to that input."""
    inputs = [facts.tasks[path] for path in (*task.inputs, *task.inner) if path in facts.tasks]
    known = {text: each.path for each in inputs for text, _ in _list_unproved(each)}
    for text, doubt in _list_unproved(task):
        if text in known:
            found.blamed.append(known[text])
        else:
            event = next(iter(task.list_last("report_sent_back")), task.ending)
            detail = f"“{to_one_line(text, 120)}”: {to_one_line(doubt, 150)}"
            found.faults.append(build_fault(task, "unproved_claim", event, detail))


def _list_unproved(task: TaskFacts) -> list[tuple[str, str]]:
    claims = task.report.get("claims") or ()
    unproved = (claim for claim in claims if claim.get("proof") == "unproved")
    return [(str(claim.get("text")), str(claim.get("doubt"))) for claim in unproved]
