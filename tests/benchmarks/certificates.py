"""Count how often a run spends more than its certificate says, with models that try to.

    python -m tests.benchmarks.certificates [--runs 10000] [--plans 2000] [--seed 1] [--processes 2]

Each run is of a random team with random caps, in the real graph. Then what certificates say of
flows and of parallel writes is compared with a search over all paths and pairs of random plans, and
the certificate of 1,000 tasks is timed.
"""

import argparse
import asyncio
import logging
import random
import sys
import traceback
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from multiprocessing import get_context
from statistics import median
from typing import Any

from graph import build_supervisor
from graph.settings import Settings
from nodes.errors import SupervisorError
from nodes.limits.run_scope import SCOPE_KEY, RunScope
from nodes.models.clients import name_given_model
from nodes.schemas.team import Team
from state import Context, Plan
from tests.benchmarks.adversaries import HABITS, AdversaryModel, build_tools, draw_caps, draw_team
from tests.benchmarks.certified_plans import compare_with_search, time_certificate
from tests.benchmarks.options import read_options

PRICES = (3.0, 15.0)
RUN_TIMEOUT_S = 120.0
RUNS_OF_A_TEAM = 10
REQUEST: Any = {
    "request": "Compare all parts with the figures.",
    "materials": {"alpha.md": "The figure is 12."},
}


@dataclass
class Trial:
    """One run, its bounds, and what it has spent."""

    seed: int
    habit: str = ""
    strategy: str = ""
    status: str = ""
    bounds: Mapping[str, Any] = field(default_factory=dict)
    calls: int = 0
    tokens: int = 0
    cost_usd: float = 0.0
    problem: str = ""
    is_held: bool = False
    """It was run again, held to its certificate."""

    def list_breaches(self) -> Iterator[str]:
        """Yield each figure that is above its bound."""
        spent = {"model_calls": self.calls, "tokens": self.tokens, "cost_usd": self.cost_usd}
        for name, value in spent.items():
            bound = self.bounds.get(name)
            if bound is not None and value > bound:
                yield f"{name} {value:,} of {bound:,}"


def run_trials(seed: int) -> list[Trial]:
    """Run a random team some times, each with other caps and models that do their worst."""
    draw = random.Random(seed)
    team, models = draw_team(draw), list[AdversaryModel]()
    names = draw.choice((("worst",) * 3, ("worst", "worse", "bad"), ("bad", "worst", "worst")))
    for name in names:
        about: dict[str, Any] = {"team": team, "draw": draw, "spent": [], "max_tokens": 400}
        models.append(AdversaryModel(**about, model_name=name))
    tools = {name for each in _list_teams(team) for worker in each.workers for name in worker.tools}
    graph = build_supervisor(
        team,
        settings=Settings(prices=dict.fromkeys(map(name_given_model, models), PRICES)),
        models=dict(zip(("fast", "standard", "strong"), models, strict=True)),
        tools=build_tools(sorted(tools)),
    )
    return [_run_trial(graph, models, draw, seed) for _ in range(RUNS_OF_A_TEAM)]


def _run_trial(
    graph: Any, models: Sequence[AdversaryModel], draw: random.Random, seed: int
) -> Trial:
    caps = draw_caps(draw)
    trial = Trial(seed, draw.choice(HABITS), caps.strategy or graph.team.strategy)
    for model in models:
        model.habit = trial.habit
    try:
        asyncio.run(asyncio.wait_for(_run(graph, trial, caps, models, draw), RUN_TIMEOUT_S))
    except SupervisorError as error:
        trial.status = error.code
        if trial.is_held and error.code == "OUTSIDE_CERTIFICATE":
            trial.problem = str(error)
    except TimeoutError:
        trial.status = "TIMEOUT"
    except Exception as error:  # is counted, and shown
        trial.problem = f"{type(error).__name__}: {error}"[:300] + traceback.format_exc()[-600:]
    return trial


async def _run(
    graph: Any,
    trial: Trial,
    caps: Context,
    models: Sequence[AdversaryModel],
    draw: random.Random,
) -> None:
    """Run once, and sometimes once more the same plan, held to the certificate of the first."""
    first = await _invoke(graph, trial, caps, RunScope(), models)
    if draw.random() < 0.3 and first is not None and not any(trial.list_breaches()):
        certificate, plan = first
        scope, context = RunScope(given_plan=plan), replace(caps, certificate=dict(certificate))
        trial.is_held = True
        await _invoke(graph, trial, context, scope, models)


async def _invoke(
    graph: Any, trial: Trial, context: Context, scope: RunScope, models: Sequence[AdversaryModel]
) -> tuple[Mapping[str, Any], Plan] | None:
    """Run once; return the certificate and the first plan, None where there was none."""
    found, plans, calls = list[Mapping[str, Any]](), list[Plan](), 0
    spent = list[tuple[int, int]]()
    for model in models:
        model.spent = spent

    def listen(event: Mapping[str, Any]) -> None:
        nonlocal calls
        calls += event["kind"] == "model_call"
        if event["kind"] == "plan_created" and not event.get("within"):
            plans.append(Plan.model_validate(event["plan"]))

    followed = replace(scope, on_certificate=found.append, keep_event=listen)
    config = {"configurable": {SCOPE_KEY: followed}}
    try:
        state = await graph.ainvoke(REQUEST, config, context=context)
        trial.status = state["status"]
        known = {task.id for task in plans[0].tasks}
        if context.certificate and (added := state["results"].keys() - known):
            trial.problem = f"a run held to its certificate did {added}"
    finally:
        trial.bounds = found[0]["worst_case"] if found else {}
        trial.calls = calls
        trial.tokens = sum(read + written for read, written in spent)
        trial.cost_usd = sum(r * PRICES[0] + w * PRICES[1] for r, w in spent) / 1_000_000
    return (found[0], plans[0]) if found else None


def _list_teams(team: Team) -> Iterator[Team]:
    yield team
    for worker in team.workers:
        if worker.team:
            yield from _list_teams(worker.team)


def main() -> int:
    """Run all trials and print the counts; return 1 if a bound was broken."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--plans", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=2)
    options = read_options(parser, "runs", "plans")
    first, teams, broken = options.seed * 1_000_000, -(-options.runs // RUNS_OF_A_TEAM), 0
    seeds = range(first, first + teams)
    held = 0
    statuses, shares = Counter[str](), dict[str, list[float]]()
    how: dict[str, Any] = {"initializer": logging.disable, "initargs": (logging.WARNING,)}
    how["mp_context"] = get_context("spawn")
    with ProcessPoolExecutor(options.processes, **how) as pool:
        trials = (trial for some in pool.map(run_trials, seeds) for trial in some)
        for number, trial in enumerate(trials, 1):
            if number % 500 == 0:
                print(f"{number:,} runs so far", file=sys.stderr)
            statuses[trial.status or "ERROR"] += 1
            held += trial.is_held
            if problems := [*trial.list_breaches(), *filter(None, [trial.problem])]:
                broken += 1
                print(f"seed {trial.seed} ({trial.habit}, {trial.strategy}): {problems}")
            for name, value in (("calls", trial.calls), ("tokens", trial.tokens)):
                key = "model_calls" if name == "calls" else name
                if bound := trial.bounds.get(key):
                    shares.setdefault(name, []).append(value / bound)
    print(f"{sum(statuses.values()):,} runs, {broken} with a figure above its bound or an error")
    print(f"{held:,} of them were run again, held to their certificates")
    print("ended:", ", ".join(f"{name} {times:,}" for name, times in statuses.most_common()))
    for name, found in shares.items():
        text = f"median {median(found):.3f}, most {max(found):.3f}"
        print(
            f"{name} spent, as a share of the bound, in {len(found):,} runs that have one: {text}"
        )
    missed = compare_with_search(options.plans, options.seed)
    print(f"{options.plans:,} plans, {missed} whose flows or pairs differ from those of a search")
    milliseconds = time_certificate() * 1000
    print(f"the certificate of 1,000 tasks: {milliseconds:.0f} ms of a processor, median of 9")
    return 1 if broken or missed else 0


if __name__ == "__main__":
    raise SystemExit(main())
