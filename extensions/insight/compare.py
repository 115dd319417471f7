"""`supervise run --compare`: one request with several strategies, side by side.

Whether several agents beat one depends on the task: only the user's own request, done in both ways
under the same caps, says it for a team.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from graph.commands.comparison import load_libraries
from graph.commands.output import print_json, print_table
from graph.commands.run import Job, run_job
from graph.commands.stdin import read_request_text
from graph.display.labels import format_status
from graph.display.progress_display import ProgressDisplay
from graph.display.stderr_console import print_to_stderr
from graph.runs.outcome import Outcome
from graph.stores.thread_locks import make_thread_id
from nodes.errors import SupervisorError
from state import Strategy

Row = dict[str, Any]


def compare_strategies(job: Job, names: Sequence[Strategy]) -> int:
    """Run a request with each strategy, one after another; print what came of each.

    A run that fails is a column, too. The exit code is the first that is not 0.
    """
    request, how = read_request_text(job.options.request), job.options
    load_libraries(job)
    base, rows = make_thread_id(), list[Row]()
    for name in names:
        if not how.quiet:
            print_to_stderr(f"strategy {name}")
        of_one = replace(
            job,
            context=replace(job.context, strategy=name),
            display=ProgressDisplay(quiet=how.quiet),
            options=replace(how, thread=f"{base}-{name}", as_json=False),
        )
        rows.append(_run_one(of_one, request, name))
    if how.as_json:
        print_json({"request": request, "team": how.team, "runs": rows})
    else:
        print_table(_lay_out(rows))
        print_to_stderr(
            "which answer is better is not judged, and more claims are none the better: read both: "
            "supervise show THREAD",
            style="dim",
        )
    return next((row["exit_code"] for row in rows if row["exit_code"]), 0)


def _run_one(job: Job, request: str, name: str) -> Row:
    try:
        outcome = run_job(job, request)
    except SupervisorError as error:  # it could not begin
        thread = str(job.options.thread)
        outcome = Outcome(thread=thread, status="failed", error=error)
    if outcome.error:
        print_to_stderr(outcome.error.format_line(), style="red")
    return {"strategy": name, **measure(outcome)}


def measure(outcome: Outcome) -> Row:
    """Return what a run came to: its claims by proof, gaps, calls, tokens, money and seconds."""
    answer, usage = outcome.answer, outcome.usage
    proofs = Counter(claim.proof or "stated" for claim in answer.claims) if answer else Counter()
    return {
        "thread": outcome.thread,
        "status": outcome.status,
        "facts": proofs.total(),
        "proved": sum(proofs[proof] for proof in ("quoted", "computed", "returned")),
        "unproved": proofs["unproved"],
        "is_unread": answer is not None and answer.is_unread,
        "gaps": len(answer.gaps) if answer else 0,
        "model_calls": usage.model_calls,
        "tokens": usage.input_tokens + usage.output_tokens,
        "cost_usd": usage.cost_usd,
        "seconds": outcome.timing.get("wall_s"),
        "exit_code": outcome.exit_code,
        "outcome": outcome.to_json(),
    }


def _lay_out(rows: Sequence[Row]) -> list[tuple[str, ...]]:
    """Return the table: a row for each figure, a column for each strategy.

    Of claims only the proved share is shown: how many there are grows with the answer's length. Of
    passages that no model has read even that says nothing.
    """
    head = ("", *(row["strategy"] for row in rows))
    status = ("status", *(format_status(row["status"]) for row in rows))
    forms = {"cost_usd": ("US dollars", ",.4f", "unknown"), "seconds": ("seconds", ",.2f", "-")}
    shares = (
        "not read" if row["is_unread"] else f"{row['proved']} of {row['facts']}" for row in rows
    )
    table = [head, status, ("claims proved", *shares)]
    for name in ("gaps", "model_calls", "tokens", *forms):
        label, form, unknown = forms.get(name, (name.replace("_", " "), ",", ""))
        cells = (unknown if row[name] is None else format(row[name], form) for row in rows)
        table.append((label, *cells))
    return [*table, ("thread", *(row["thread"] for row in rows))]
