"""Estimates a run from the runs before it: a simulation, and the errors of earlier estimates."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from math import nan
from operator import attrgetter
from random import Random

from langchain_core.runnables import RunnableConfig
from langgraph.store.base import BaseStore

from extensions.insight.conformal import choose_interval
from extensions.insight.history import (
    AMOUNTS,
    DoneRun,
    build_place,
    build_run,
    describe_kind,
    load_values,
    name_history,
    read_runs,
    save_run,
)
from extensions.insight.simulation import Past, PlannedRun, PlannedTask, Price, simulate
from nodes.limits.deadline import now_s
from nodes.limits.run_scope import get_run_scope
from nodes.models.usage import compute_cost_usd
from nodes.planning.estimate import count_at_once, expect_costs, get_call_s
from nodes.planning.plan_request import PlanRequest
from nodes.planning.team_record import build_team_record
from nodes.schemas.team import Team
from state import Amounts, Estimate, Plan, SupervisorState, Tier, Usage

PRICED_TOKENS = 10_000
"""Of which the price is asked: one token's would be rounded away."""


class HistoryEstimator:
    """Estimates runs from the history of their user."""

    async def refine(
        self, base: Estimate, plan: Plan, asked: PlanRequest, planning: Usage
    ) -> Estimate | None:
        """Return the estimate of a run; None where there is no earlier one."""
        if (store := asked.runtime.store) is None:
            return None
        places = build_place(asked.config), build_place(asked.config, name_history(asked.team))
        values = await load_values(store, *places)

        def estimate() -> Estimate | None:
            runs = read_runs(values)
            return estimate_run(runs, describe_run(plan, asked, planning), base) if runs else None

        return await asyncio.to_thread(estimate)  # other runs of the process continue meanwhile

    async def learn(
        self, values: SupervisorState, team: Team, config: RunnableConfig, store: BaseStore
    ) -> None:
        """Keep what a run has taken."""
        run = await asyncio.to_thread(build_run, values, team)
        if run is not None:
            number = len(values.get("plans", ())) - values.get("revisions", 0)
            await save_run(store, config, run, number)


def estimate_run(runs: Sequence[DoneRun], planned: PlannedRun, base: Estimate) -> Estimate:
    """Return the estimate of a run from earlier ones, the newest last.

    The same runs and the same plan have the same estimate.
    """
    own = [run for run in runs if run.team == planned.team]
    others = [run for run in runs if run.team != planned.team]
    past = Past(runs, planned.team, now_s())
    simulated = simulate(planned, past, Random(f"{planned.team} {len(own)} {len(planned.tasks)}"))
    found = {
        name: choose_interval(name, percentiles, own, others)
        for name, percentiles in simulated.items()
    }
    spent = dict(zip(AMOUNTS[:4], planned.planning, strict=False))
    low, middle, high = (
        _build_amounts({name: max(ends[at], spent.get(name) or 0) for name, ends in found.items()})
        for at in range(3)
    )
    return Estimate(
        **dict(middle),
        low=low,
        high=high,
        runs=len(own),
        models=base.models,
        simulated={name: tuple(map(_round, three)) for name, three in simulated.items()},
    )


def _build_amounts(values: Mapping[str, float]) -> Amounts:
    cost = values.get("cost_usd")
    return Amounts(
        **{name: round(values[name]) for name in AMOUNTS[:3]},
        cost_usd=None if cost is None else round(cost, 6),
        seconds=_round(values["seconds"]),
    )


def _round(value: float) -> float:
    return float(f"{value:.5g}")


def describe_run(plan: Plan, asked: PlanRequest, planning: Usage) -> PlannedRun:
    """Return a plan with the limits of its run."""
    team, context, settings = asked.team, asked.context, asked.models.settings
    *tasks, answer = _describe_tasks(plan, asked)
    is_known = planning.model_calls and planning.seconds
    scope, caps = get_run_scope(asked.config), team.add_caps(context)
    ends_s = scope.deadline.work_ends_at - now_s() if scope.deadline else None
    return PlannedRun(
        team=name_history(team),
        tasks=tasks,
        answer=answer,
        planning=attrgetter(*AMOUNTS)(planning),
        call_s=planning.seconds / planning.model_calls if is_known else get_call_s(answer.model),
        at_once=count_at_once(asked.models, context),
        deadline_s=None if ends_s is None else max(0.0, planning.seconds + ends_s),
        max_tokens=caps.max_tokens,
        max_cost_usd=caps.max_cost_usd,
        max_steps=team.max_steps if context.max_steps is None else context.max_steps,
        requests_per_minute=settings.requests_per_minute,
        tokens_per_minute=settings.tokens_per_minute,
    )


def _describe_tasks(plan: Plan, asked: PlanRequest) -> Iterator[PlannedTask]:
    """Yield the tasks in the order of their needs, then the answer."""
    team, ordered = asked.team, plan.order_tasks()
    costs = expect_costs(plan, team, asked.materials)
    words = build_team_record(team).words
    places = {task.id: place for place, task in enumerate(ordered)}
    prices = {tier: _find_price(asked, tier) for tier in {cost.tier for cost in costs.values()}}
    for task in (*ordered, None):
        cost = costs[task.id if task else ""]
        worker = team.find_worker(task.worker) if task else None
        yield PlannedTask(
            **describe_kind(worker, words, asked.models.get_name(cost.tier, asked.context)),
            needs=tuple(places[edge.task] for edge in task.depends_on) if task else (),
            calls=cost.calls,
            input_tokens=max(1, cost.input_tokens),
            output_tokens=cost.output_tokens,
            price=prices[cost.tier],
        )


def _find_price(asked: PlanRequest, tier: Tier) -> Price:
    """Return the prices of a tier's tokens."""
    models, name = asked.models, asked.models.get_name(tier, asked.context)
    read, written = (
        compute_cost_usd(name, {kind: PRICED_TOKENS, other: 0}, models.settings.prices)
        for kind, other in (("input_tokens", "output_tokens"), ("output_tokens", "input_tokens"))
    )
    if read is None or written is None:
        return Price(nan, nan)
    return Price(read / PRICED_TOKENS, written / PRICED_TOKENS)
