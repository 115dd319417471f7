"""Prints why a run, or a task of it, is not whole."""

from collections.abc import Iterator
from typing import Final

from extensions.insight.causes import Cause, Explanation, explain
from graph.commands.output import print_json, print_text
from graph.commands.runs import Runs, find_thread
from graph.display.stderr_console import print_to_stderr
from nodes.text.counts import format_count
from state import COMPLETE_STATUSES

MAX_SHOWN: Final = 8
"""Causes that are printed in full; `--json` has all."""
_PLACES: Final = {
    "setting": "setting",
    "option": "option of run and resume",
    "worker": "worker's file",
    "team": "team's file",
    "tool": "tool",
    "request": "request",
    "file": "file",
    "command": "command",
}


def show_why(thread: str, task: str, runs: Runs, *, as_json: bool) -> int:
    """Print the first causes of what a run lacks; return 0, whatever they are.

    Raises:
        ThreadUnknown, ThreadAmbiguous, TaskUnknown, TraceUnreadable: there is nothing to explain.
    """
    named = find_thread(thread, runs)
    why = explain(runs.load_trace(named), task)
    if as_json:
        print_json(why.to_json())
        return 0
    print_text("\n".join(_format_explanation(why, task)))
    for note in why.notes:
        print_to_stderr(f"note: {note}", style="yellow")
    return 0


def _format_explanation(why: Explanation, task: str) -> Iterator[str]:
    subject = f"task {task}" if task else "the run"
    if not why.causes:
        is_whole = why.status in (*COMPLETE_STATUSES, "completed")
        yield (
            f"Nothing failed: {subject} is {why.status}."
            if is_whole
            else (f"Nothing has failed: {subject} is {why.status.replace('_', ' ')}.")
        )
    elif len(why.causes) > 1:
        yield f"{len(why.causes)} independent causes; the first is the earliest."
    for number, cause in enumerate(why.causes[:MAX_SHOWN], 1):
        yield from ([""] if len(why.causes) > 1 else [])
        yield from _format_cause(cause, f"{number}. " if len(why.causes) > 1 else "")
    if (more := len(why.causes) - MAX_SHOWN) > 0:
        yield f"\nand {format_count(more, 'more cause')}: --json lists all"
    if why.stated_gaps:
        yield "\nGaps that the answer names, and that no fault has led to:"
        yield from (f"  - {gap}" for gap in why.stated_gaps[:MAX_SHOWN])


def _format_cause(cause: Cause, number: str) -> Iterator[str]:
    yield f"{number}{cause.sentence}."
    if event := cause.event:
        known = ("error", "code", "tool", "reason", "message", "model", "tries", "attempt")
        data = ", ".join(f"{key} {event[key]}" for key in known if event.get(key))
        yield f"   event: {event.get('kind')} at {event.get('t', '?')} s{data and f', {data}'}"
    if len(cause.chain) > 1:
        yield f"   chain: {' <- '.join(step.text for step in cause.chain)}"
    for remedy in cause.remedies:
        yield f"   {_PLACES[remedy.kind]}: {remedy.name} ({remedy.text})"
    if cause.mast:
        yield f"   MAST: {cause.mast}"
