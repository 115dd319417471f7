"""Prints why a run, or a task of it, is not whole."""

from collections.abc import Iterator
from typing import Final

from extensions.insight.causes import Cause, Explanation, explain
from extensions.insight.fault_kinds import get_fault_kind
from graph.commands.output import print_json, print_text
from graph.commands.runs import find_thread
from graph.display.labels import format_seconds
from graph.display.stderr_console import print_to_stderr
from graph.extensions import RunSource
from nodes.text.counts import format_count, join_names
from state import COMPLETE_STATUSES

MAX_SHOWN: Final = 8
"""Causes, and steps of a chain, that are printed; `--json` has all."""
_STATES: Final = {
    "passages": "ended with passages, which no language model has read",
    "needs_input": "waits for an answer",
    "running": "is at work, or was interrupted",
}
"""A status in words, where it is none."""
_SHOWN: Final = ("error", "code", "tool", "reason", "message", "model", "tries", "attempt")
"""Values of the event."""


def show_why(thread: str, task: str, runs: RunSource, *, as_json: bool) -> int:
    """Print the first causes of what a run lacks; return 0, whatever they are.

    Raises:
        ThreadUnknown, ThreadAmbiguous, TaskUnknown, TraceUnreadable: there is nothing to explain.
    """
    why = explain(runs.load_trace(find_thread(thread, runs)), task)
    if as_json:
        print_json(why.to_json())
        return 0
    print_text(format_explanation(why, f"task {task}" if task else "the run"))
    for note in why.notes:
        print_to_stderr(f"note: {note}", style="yellow")
    return 0


def format_explanation(why: Explanation, subject: str) -> str:
    """Return the causes as lines: of a run, or of a task of it."""
    return "\n".join(_list_lines(why, subject))


def _list_lines(why: Explanation, subject: str) -> Iterator[str]:
    groups = list(_group_causes(why))
    if not (count := len(groups)):
        verb = "failed" if why.status in (*COMPLETE_STATUSES, "completed") else "has failed"
        yield f"Nothing {verb}: {subject} {_STATES.get(why.status, f'is {why.status}')}."
    elif count > 1:
        yield f"{count} independent causes, in the order in which they happened:"
    for number, causes in enumerate(groups[:MAX_SHOWN], 1):
        yield from _format_causes(causes, f"\n{number}. " if count > 1 else "")
    if (more := count - MAX_SHOWN) > 0:
        yield f"\nand {format_count(more, 'more cause')}: --json lists all"
    if why.stated_gaps:
        yield "\nGaps that the answer names, and that no fault has led to:"
        yield from (f"  - {gap}" for gap in why.stated_gaps[:MAX_SHOWN])


def _group_causes(why: Explanation) -> Iterator[list[Cause]]:
    """Yield the causes; the same of several tasks, such as of an endpoint, are shown once."""
    groups: dict[tuple[str, str], list[Cause]] = {}
    for cause in why.causes:
        is_outside = cause.event.get("kind") == "model_call" or cause.kind.startswith("remote_")
        what = "" if is_outside else cause.sentence.partition(", as ")[2]
        place = cause.task if get_fault_kind(cause.kind).makes_case else what
        groups.setdefault((cause.kind, place), []).append(cause)
    yield from groups.values()


def _format_causes(causes: list[Cause], number: str) -> Iterator[str]:
    cause, others = causes[0], [each.task or each.worker for each in causes[1:]]
    yield f"{number}{cause.sentence}{'' if cause.sentence.endswith('…') else '.'}"
    if others:
        yield f"   the same at: {join_names(others, MAX_SHOWN)}"
    if event := cause.event:
        data = "".join(f", {key} {event[key]}" for key in _SHOWN if event.get(key))
        seconds = event.get("t")
        at = "" if seconds is None else f" at {format_seconds(float(seconds))}"
        yield f"   event: {event.get('kind')}{at}{data}"
    steps = [step.text for step in cause.chain]
    if (more := len(steps) - MAX_SHOWN) > 0:
        steps[MAX_SHOWN // 2 : MAX_SHOWN // 2 + more] = [f"… {format_count(more, 'task')} …"]
    if len(steps) > 1:
        yield f"   chain: {' <- '.join(steps)}"
    for remedy in cause.remedies:
        yield f"   what helps: {remedy.name} ({remedy.text})"
    if cause.mast:
        yield f"   MAST: {cause.mast}"
