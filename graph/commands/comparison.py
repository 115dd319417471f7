"""`supervise run --compare-sequential`: the same plan in parallel, then one task at a time."""

import asyncio
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final, get_args

from graph.commands.run import Job, print_outcome, run_job
from graph.commands.stdin import read_request_text
from graph.display.progress_display import ProgressDisplay
from graph.display.stderr_console import print_to_stderr
from graph.display.summary import format_comparison
from graph.extensions import find_first
from graph.runs.outcome import Outcome
from graph.supervisor import build_supervisor
from nodes.errors import UsageError
from nodes.models.rule_model import get_rule_model
from state import Context, Strategy, Tier


def compare(job: Job) -> int:
    """Run a request, then its plan again one task at a time; print the outcome and both times.

    The exit code is that of the first run; where the second has no answer, that of the second.
    """
    request, quiet = read_request_text(job.options.request), job.options.quiet
    load_libraries(job)
    parallel = run_job(job, request)
    if parallel.plan is None or not parallel.timing:
        print_to_stderr("not compared: the first run has no answer", style="yellow")
        return print_outcome(parallel, parallel.to_json(), **job.options.how)
    if not quiet:
        print_to_stderr("again with the same plan, one task at a time")
    again = replace(
        job,
        context=replace(job.context, sequential=True),
        display=ProgressDisplay(quiet=quiet),
        options=replace(job.options, trace=None, report=None),
    )
    sequential = run_job(again, request, plan=parallel.plan)
    comparison = compare_outcomes(parallel, sequential)
    timing = {**parallel.timing, **({"speedup": None} if parallel.timing else {})}  # it is measured
    shown = {**parallel.to_json(), "timing": timing, "comparison": comparison}
    code = print_outcome(parallel, shown, **job.options.how)
    for line in [] if quiet else format_comparison(comparison):
        print_to_stderr(line)
    if sequential.error:
        print_to_stderr(sequential.error.format_line(), style="red")
    return code if sequential.timing else sequential.exit_code


_NOT_AMONG_STRATEGIES: Final = (
    *("thread", "strategy", "sequential", "approve_plan", "plan_only"),
    *("compare_sequential", "trace", "report"),
)


def compare_strategies(job: Job) -> int:
    """Run a request with each strategy, and print them side by side.

    Raises:
        UsageError: there are not two strategies, another option does not go with them, or no
            extension can.
    """
    names: Any = job.options.compare  # typer knows the list as a text
    known = get_args(Strategy)
    if wrong := [name for name in names if name not in known]:
        raise UsageError(
            f"--compare: {wrong[0]!r:.40} is no strategy", next=f"use {', '.join(known)}"
        )
    if len(names) < 2 or len(set(names)) < len(names):
        raise UsageError("--compare needs two strategies or more", next="--compare single,plan")
    if refused := [name for name in _NOT_AMONG_STRATEGIES if getattr(job.options, name)]:
        option = refused[0].removesuffix("_plan").replace("_", "-")
        raise UsageError(
            f"--compare runs a new request with each strategy, without --{option}",
            next="leave one of the two options out",
        )
    code = find_first(lambda each: each.compare_strategies(job, names))
    if code is None:
        raise UsageError("no extension compares strategies", next="leave out --compare")
    return code


def load_libraries(job: Job) -> None:
    """Let the built-in model plan and answer, and no worker begin: no measured run loads libraries.

    Nothing is saved or shown. What ends this run early ends the measured ones too, with its reason.
    """
    with suppress(RuntimeError):
        models = dict.fromkeys(get_args(Tier), get_rule_model().build())
        graph = build_supervisor(job.options.team, settings=job.settings, models=models)
        asyncio.run(graph.ainvoke({"request": "Name the workers."}, context=Context(max_steps=0)))


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
