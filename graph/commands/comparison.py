"""`supervise run --compare-sequential`: the same plan in parallel, then one task at a time."""

from dataclasses import replace
from typing import Any

from graph.commands.run import Job, print_outcome, read_request_text, run_job
from graph.display.progress_display import ProgressDisplay
from graph.display.stderr_console import print_to_stderr
from graph.display.summary import format_comparison
from graph.runs.outcome import Outcome


def compare(job: Job) -> int:
    """Run a request, then its plan again one task at a time; print the outcome and both times.

    The exit code is that of the first run; where the second has no answer, that of the second.
    """
    request = read_request_text(job.request)
    parallel = run_job(job, request)
    if parallel.plan is None or not parallel.timing:
        print_to_stderr("not compared: the first run has no answer", style="yellow")
        return print_outcome(parallel, parallel.to_json(), as_json=job.as_json, quiet=job.quiet)
    if not job.quiet:
        print_to_stderr("again with the same plan, one task at a time")
    again = replace(
        job,
        context=replace(job.context, sequential=True),
        display=ProgressDisplay(quiet=job.quiet),
        trace_to=None,
    )
    sequential = run_job(again, request, plan=parallel.plan)
    comparison = compare_outcomes(parallel, sequential)
    shown = {**parallel.to_json(), "comparison": comparison}
    code = print_outcome(parallel, shown, as_json=job.as_json, quiet=job.quiet)
    for line in [] if job.quiet else format_comparison(comparison):
        print_to_stderr(line)
    if sequential.error:
        print_to_stderr(sequential.error.format_line(), style="red")
    return code if sequential.timing else sequential.exit_code


def compare_outcomes(parallel: Outcome, sequential: Outcome) -> dict[str, Any]:
    """Return the measured seconds of two runs of one plan, and how many times longer one took.

    They count from the plan to the answer: the second run needed no planning.
    """
    runs = {"parallel": parallel, "sequential": sequential}
    described = {name: _describe_run(outcome) for name, outcome in runs.items()}
    seconds = [described[name]["seconds"] for name in runs]
    ratio = round(seconds[1] / seconds[0], 3) if all(seconds) else None
    return {**described, "ratio": ratio}


def _describe_run(outcome: Outcome) -> dict[str, Any]:
    timing = outcome.timing
    seconds = round(timing["wall_s"] - timing["planning_s"], 6) if timing else None
    return {
        "thread": outcome.thread,
        "status": outcome.status,
        "seconds": seconds,
        "tasks": len(outcome.results),
        "model_calls": outcome.usage.model_calls,
    }
