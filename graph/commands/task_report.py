"""Prints what came of a task: its report, in words."""

import sys
from collections.abc import Iterator, Mapping
from typing import Any

from graph.commands.output import print_markdown, print_text
from graph.display.labels import format_seconds, format_task
from graph.display.streams import is_terminal
from graph.display.text import make_printable, to_one_line

Json = Mapping[str, Any]
INDENT = 2


def print_task_report(task: Json, state: str) -> None:
    """Print a task of a trace: how it ended, its output, its problem and its claims.

    On a terminal an output with a table is rendered, since the lines of a table cannot be wrapped.
    """
    report = task.get("report") or {}
    heading = f"{format_task(task['id'], task.get('worker', ''))}: {state}"
    print_text(f"\n{heading}{_format_confidence(report)}")
    output = report.get("output") or ""
    if is_terminal(sys.stdout) and _has_table(output):
        print_markdown(output, indent=INDENT)
        output = ""
    if lines := [*_format_texts(output, report), *_format_claims(report)]:
        print_text("\n".join(lines))


def _has_table(text: str) -> bool:
    return any(line.lstrip().startswith("|") for line in text.splitlines())


def _format_texts(output: str, report: Json) -> Iterator[str]:
    escalation = report.get("escalation") or {}
    for text in (output, report.get("error"), escalation.get("message")):
        if text:
            yield "\n".join(f"{' ' * INDENT}{line}" for line in make_printable(text).splitlines())


def _format_claims(report: Json) -> Iterator[str]:
    """Yield the claims that the output does not hold, or that are not proved, with their proof."""
    output = report.get("output") or ""
    for claim in report.get("claims") or ():
        is_shown = claim.get("text") and claim["text"] in output
        if is_shown and claim.get("proof") != "unproved":
            continue
        source = f" ({to_one_line(claim['source'], 120)})" if claim.get("source") else ""
        proof = f" [{to_one_line(claim['proof'], 20)}]" if claim.get("proof") else ""
        doubt = f" {to_one_line(claim['doubt'], 300)}" if claim.get("doubt") else ""
        yield f"{' ' * INDENT}- {to_one_line(claim.get('text', ''), 300)}{source}{proof}{doubt}"


def _format_confidence(report: Json) -> str:
    if not report:
        return ""
    seconds = (report.get("ended_s") or 0) - (report.get("started_s") or 0)
    confidence = report.get("confidence")
    shown = "" if confidence is None else f", confidence {confidence}"
    return f"{shown}, {format_seconds(seconds)}"
