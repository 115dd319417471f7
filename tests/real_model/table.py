"""A Markdown table of what a small model made of the teams' samples."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from tests.real_model.trials import Ending

HEAD = (
    "| team | run | plan | tasks completed | corrected | model calls | tokens in / out "
    "| seconds | exit |\n|---|---|---|---|---|---|---|---|---|"
)


def format_row(ending: Ending) -> str:
    """Return the row of one run."""
    outcome = ending.read_outcome()
    usage: dict[str, Any] = outcome.get("usage") or {}
    results = (outcome.get("results") or {}).values()
    completed = sum(report["status"] == "completed" for report in results)
    tasks = len((outcome.get("plan") or {}).get("tasks") or ())
    is_plan_only = ending.trial.is_plan_only
    tokens = f"{usage.get('input_tokens', 0):,} / {usage.get('output_tokens', 0):,}"
    cells = [
        ending.trial.team,
        ending.trial.describe(),
        describe_plan(ending),
        "" if is_plan_only else f"{completed} of {tasks}",
        "" if is_plan_only else str(count_corrections(ending)),
        "" if is_plan_only else str(usage.get("model_calls", 0)),
        "" if is_plan_only else tokens,
        f"{ending.seconds:.0f}",
        str(ending.exit_code),
    ]
    return f"| {' | '.join(cells)} |"


def describe_plan(ending: Ending) -> str:
    """Return how the plan came about."""
    outcome = ending.read_outcome()
    plan = outcome if ending.trial.is_plan_only else outcome.get("plan")
    if not plan or not plan.get("tasks"):
        return "none"
    if plan.get("rule_reason"):
        return "by rule"
    repairs = ending.stderr.count("plan rejected:")  # of a resumed run those since the kill
    return f"after {repairs} repair{'s'[: repairs > 1]}" if repairs else "at once"


def count_corrections(ending: Ending) -> int:
    """Count the replies and plans that a program corrected."""
    corrected = sum(bool(call.get("corrections")) for call in ending.list_events("model_call"))
    return corrected + len(ending.list_events("plan_corrected"))


def format_totals(endings: Sequence[Ending]) -> str:
    """Return one line for all runs."""
    plans = Counter(describe_plan(ending).partition(" ")[0] for ending in endings)
    exits = Counter(ending.exit_code for ending in endings)
    methods = Counter(
        call["method"]
        for ending in endings
        for call in ending.list_events("model_call")
        if call.get("method")
    )
    parts = [
        f"{len(endings)} runs",
        f"plans: {plans['at']} valid at once, {plans['after']} after repair, "
        f"{plans['by']} by rule, {plans['none']} none",
        "exit codes: " + ", ".join(f"{count} x {code}" for code, count in sorted(exits.items())),
        "methods: " + ", ".join(f"{count} x {name}" for name, count in methods.most_common()),
    ]
    return "; ".join(parts)
