"""Estimate of a run's cost before it runs: N+2 calls, and the turns that tools take."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from nodes.models.catalog import ModelCatalog
from nodes.models.usage import compute_cost_usd
from nodes.prompts.materials import choose_shown_chars
from nodes.prompts.messages import build_worker_prompt
from nodes.schemas.team import Team
from state import Context, Estimate, Plan, Task, Tier, Usage

CHARS_PER_TOKEN: Final = 4
SCHEMA_TOKENS: Final = 400
"""For the schema of `Report` or `Answer` in each call: 1.6 kB, measured in a worker's request."""
OUTPUT_TOKENS: Final = 300
"""For a report or a tool call."""
RESULT_TOKENS: Final = 600
"""For a dependency's result in a handoff, and for a tool's answer."""
TURNS_WITH_TOOLS: Final = 3
"""Two tool calls and a report: a rule of thumb, used without a history of the worker."""
TEAM_CALLS: Final = 5
"""For a task that a team does: a plan, three tasks, an answer."""


@dataclass(frozen=True)
class _ExpectedCall:
    tier: Tier
    input_tokens: int
    output_tokens: int


def estimate_run(
    plan: Plan,
    team: Team,
    models: ModelCatalog,
    context: Context,
    *,
    materials: Mapping[str, str],
    planning: Usage,
) -> Estimate:
    """Return the estimate of a run from its plan and the known cost of planning.

    Retries, tool calls beyond the rule of thumb and optional mechanisms are not included.
    """
    calls = [call for task in plan.tasks for call in _expect_task_calls(task, team, materials)]
    results = sum(RESULT_TOKENS for _ in plan.tasks)
    calls.append(_ExpectedCall(team.synthesizer_tier, SCHEMA_TOKENS + results, 2 * OUTPUT_TOKENS))
    prices = [
        compute_cost_usd(
            models.get_name(call.tier, context),
            {"input_tokens": call.input_tokens, "output_tokens": call.output_tokens},
            models.settings.prices,
        )
        for call in calls
    ]
    known = [price for price in (*prices, planning.cost_usd) if price is not None]
    return Estimate(
        model_calls=planning.model_calls + len(calls),
        input_tokens=planning.input_tokens + sum(call.input_tokens for call in calls),
        output_tokens=planning.output_tokens + sum(call.output_tokens for call in calls),
        cost_usd=round(sum(known), 6) if len(known) == len(prices) + 1 else None,
    )


def _expect_task_calls(task: Task, team: Team, materials: Mapping[str, str]) -> list[_ExpectedCall]:
    worker = team.find_worker(task.worker)
    sizes = [len(materials[name]) for name in task.materials]
    artifacts = sum(min(size, choose_shown_chars(worker, sizes)) for size in sizes)
    own = (len(build_worker_prompt(worker)) + len(task.description) + artifacts) // CHARS_PER_TOKEN
    given = own + SCHEMA_TOKENS + RESULT_TOKENS * len(task.depends_on)
    tier = worker.choose_tier(task.tier)
    if worker.team or worker.remote or task.is_compound:
        return [_ExpectedCall(tier, given, OUTPUT_TOKENS)] * TEAM_CALLS
    turns = min(worker.limits.max_turns, TURNS_WITH_TOOLS) if worker.tools else 1
    # Each turn sends the whole conversation again.
    return [
        _ExpectedCall(tier, given + turn * (OUTPUT_TOKENS + RESULT_TOKENS), OUTPUT_TOKENS)
        for turn in range(turns)
    ]
