"""`supervise run --compare`: which strategies, before an extension runs them."""

from typing import Any, Final, get_args

from graph.commands.run import Job
from graph.extensions import find_first
from nodes.errors import UsageError
from state import Strategy

_NOT_AMONG_STRATEGIES: Final = (
    *("thread", "strategy", "sequential", "approve_plan", "plan_only"),
    *("trace", "report"),
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
