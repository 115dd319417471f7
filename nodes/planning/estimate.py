"""Estimate of a run before it runs: N+2 calls, and the turns that tools take.

It is made of constants. An extension may register an `Estimator`, which has seen earlier runs.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from math import ceil
from typing import Final, Protocol, TypeVar

from langchain_core.runnables import RunnableConfig
from langgraph.store.base import BaseStore

from nodes.errors.redaction import redact_text
from nodes.limits.recorder import is_replayed, read_outside
from nodes.models.catalog import EMBEDDED, ModelCatalog
from nodes.models.usage import compute_cost_usd
from nodes.planning.plan_request import PlanRequest
from nodes.prompts.materials import choose_shown_chars
from nodes.prompts.messages import build_worker_prompt
from nodes.schemas.team import Team
from nodes.telemetry.events import build_task_path
from state import Amounts, Context, Estimate, Plan, SupervisorState, Task, Tier, Usage

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


SECONDS_PER_CALL: Final = 5.0
"""Of a language model."""
SECONDS_PER_OWN_CALL: Final = 0.2
"""Of the built-in one."""
FACTOR_BELOW: Final = 0.25
FACTOR_ABOVE: Final = 4.0
"""From the constants to the ends of the 90 % interval; time is less certain: their squares."""
PATIENCE_S: Final = 10.0
"""For the estimator: a run does not wait longer for it."""

Result = TypeVar("Result")
_logger = logging.getLogger(__name__)


class Estimator(Protocol):
    """Estimates a run from those before; both methods run beside other runs of the process."""

    async def refine(
        self, base: Estimate, plan: Plan, asked: PlanRequest, planning: Usage
    ) -> Estimate | None:
        """Return a better estimate than the one of constants, or None."""

    async def learn(
        self, values: SupervisorState, team: Team, config: RunnableConfig, store: BaseStore
    ) -> None:
        """Take in a run that has ended, with its usage and its timing."""


_estimators: Final = list[Estimator]()


def register_estimator(estimator: Estimator) -> None:
    """Have runs estimated by an extension; the last one registered counts."""
    _estimators.append(estimator)


@dataclass(frozen=True)
class TaskCost:
    """What a task's calls are expected to read and write, by the constants."""

    tier: Tier
    calls: int
    input_tokens: int
    output_tokens: int


async def estimate_plan(asked: PlanRequest, plan: Plan, planning: Usage) -> Estimate:
    """Return the estimate of a run from its plan, the cost of planning, and the runs before."""
    models, given = asked.models, asked.materials
    base = estimate_run(plan, asked.team, models, asked.context, materials=given, planning=planning)
    found = None
    if _estimators and not (is_replayed(asked.config) or build_task_path(asked.config)):
        found = await _guard(_estimators[-1].refine(base, plan, asked, planning))
    refined = found.model_dump(mode="json") if found else None
    # A replay has the estimate of the record: the runs before may be others by now.
    kept = read_outside("estimate", lambda: refined, asked.config)
    return base if kept is None else Estimate.model_validate(kept)


async def learn_run(
    values: SupervisorState, team: Team, config: RunnableConfig, store: BaseStore | None
) -> None:
    """Let the estimator take in a run that has ended; a run inside a task is a part of one."""
    if _estimators and store and not (is_replayed(config) or build_task_path(config)):
        await _guard(_estimators[-1].learn(values, team, config, store))


async def _guard(work: Awaitable[Result]) -> Result | None:
    """Return what an estimator returns; None after a failure or a long wait: it is advice only."""
    try:
        return await asyncio.wait_for(work, PATIENCE_S)
    except Exception as error:  # of any store, such as a full disk
        said = redact_text(f"{type(error).__name__}: {error}")
        _logger.warning("earlier runs do not count for the estimate: %s", said)
        return None


def estimate_run(
    plan: Plan,
    team: Team,
    models: ModelCatalog,
    context: Context,
    *,
    materials: Mapping[str, str],
    planning: Usage,
) -> Estimate:
    """Return the estimate of constants, from a plan and the known cost of planning.

    Retries, tool calls beyond the rule of thumb and optional mechanisms are not included.
    """
    costs = expect_costs(plan, team, materials)
    call_s = get_call_s(models.get_name(team.synthesizer_tier, context))
    prices = [planning.cost_usd, *(price_call(each, models, context) for each in costs.values())]
    known = [price for price in prices if price is not None]
    amounts = Amounts(
        model_calls=planning.model_calls + sum(each.calls for each in costs.values()),
        input_tokens=planning.input_tokens + sum(each.input_tokens for each in costs.values()),
        output_tokens=planning.output_tokens + sum(each.output_tokens for each in costs.values()),
        cost_usd=round(sum(known), 6) if len(known) == len(prices) else None,
        seconds=_expect_seconds(plan, costs, planning, count_at_once(models, context), call_s),
    )
    return _widen(amounts, models.name_all(context))


def expect_costs(plan: Plan, team: Team, materials: Mapping[str, str]) -> dict[str, TaskCost]:
    """Return what each task costs by the constants, by its id; the answer's cost is at ""."""
    results = SCHEMA_TOKENS + RESULT_TOKENS * len(plan.tasks)
    answer = TaskCost(team.synthesizer_tier, 1, results, 2 * OUTPUT_TOKENS)
    return {task.id: _expect_task(task, team, materials) for task in plan.tasks} | {"": answer}


def price_call(cost: TaskCost, models: ModelCatalog, context: Context) -> float | None:
    """Return the price of what a task costs, in US dollars; None where it is not known."""
    calls = max(1, cost.calls)  # a long request may have a price of its own
    usage = {
        "input_tokens": cost.input_tokens // calls,
        "output_tokens": cost.output_tokens // calls,
    }
    name = models.get_name(cost.tier, context)
    price = compute_cost_usd(name, usage, models.settings.prices)
    return None if price is None else price * calls


def get_call_s(model: str) -> float:
    """Return the seconds of a model's call by the constants."""
    return SECONDS_PER_OWN_CALL if model == EMBEDDED else SECONDS_PER_CALL


def count_at_once(models: ModelCatalog, context: Context) -> int:
    """Return the limit for model calls in flight."""
    limit = models.settings.max_concurrency
    return 1 if context.sequential else min(context.max_concurrency or limit, limit)


def _expect_seconds(
    plan: Plan, costs: Mapping[str, TaskCost], planning: Usage, at_once: int, call_s: float
) -> float:
    """Return the seconds of planning, of the longest chain, and of the answer."""
    chains = dict[str, int]()
    for task in plan.order_tasks():
        before = max((chains[edge.task] for edge in task.depends_on), default=0)
        chains[task.id] = before + costs[task.id].calls
    calls = sum(costs[task.id].calls for task in plan.tasks)
    longest = max(*chains.values(), calls / at_once)
    return call_s * (planning.model_calls + longest + costs[""].calls)


def _widen(amounts: Amounts, names: dict[Tier, str]) -> Estimate:
    """Return amounts that are made of constants with the wide intervals that they deserve."""

    def scale(factor: float, round_number: Callable[[float], int]) -> Amounts:
        cost = amounts.cost_usd
        return Amounts(
            model_calls=round_number(amounts.model_calls * factor),
            input_tokens=round_number(amounts.input_tokens * factor),
            output_tokens=round_number(amounts.output_tokens * factor),
            cost_usd=cost and round(cost * factor, 6),
            seconds=round(amounts.seconds * factor**2, 3),
        )

    shown = amounts.model_copy(update={"seconds": round(amounts.seconds, 3)})
    low, high = scale(FACTOR_BELOW, int), scale(FACTOR_ABOVE, ceil)
    return Estimate(**dict(shown), low=low, high=high, models=names)


def _expect_task(task: Task, team: Team, materials: Mapping[str, str]) -> TaskCost:
    worker = team.find_worker(task.worker)
    sizes = [len(materials[name]) for name in task.materials]
    artifacts = sum(min(size, choose_shown_chars(worker, sizes)) for size in sizes)
    own = (len(build_worker_prompt(worker)) + len(task.description) + artifacts) // CHARS_PER_TOKEN
    given = own + SCHEMA_TOKENS + RESULT_TOKENS * len(task.depends_on)
    tier = worker.choose_tier(task.tier)
    if worker.team or worker.remote or task.is_compound:
        return TaskCost(tier, TEAM_CALLS, TEAM_CALLS * given, TEAM_CALLS * OUTPUT_TOKENS)
    turns = min(worker.limits.max_turns, TURNS_WITH_TOOLS) if worker.tools else 1
    # Each turn sends the whole conversation again.
    again = (OUTPUT_TOKENS + RESULT_TOKENS) * turns * (turns - 1) // 2
    return TaskCost(tier, turns, turns * given + again, turns * OUTPUT_TOKENS)
