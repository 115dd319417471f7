"""Measure how often the 90 % intervals of estimates hold, and how wide they are.

    python -m tests.benchmarks.estimates [--runs 240] [--seed 1] [--workflows FILE] [--real 100]

Each run is expected from the runs before it alone, then it is run. Runs are those of a fast
simulator, which shares no code with the one of the estimates: it goes through time, from event to
event, and tasks take their places by chance. Its teams have tasks of lognormal and bimodal seconds,
tools, attempts that fail, and days on which everything is slower; in `drift` models become twice as
slow half-way. The first runs of a team do not count: they have hardly any history.
"""

import argparse
import json
import math
import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from graphlib import TopologicalSorter
from pathlib import Path
from statistics import mean, median, quantiles
from typing import Any

from extensions.insight.calibration import print_measured
from extensions.insight.conformal import is_inside
from extensions.insight.estimate import estimate_run
from extensions.insight.history import AMOUNTS, MAX_TASKS, DoneRun, DoneTask
from extensions.insight.simulation import PlannedRun, PlannedTask, Price
from state import Amounts, Estimate
from tests.benchmarks.options import read_options
from tests.benchmarks.real_estimates import measure_real_runs

LEARNING_RUNS = 20
"""Of each team that do not count."""
READ_USD, WRITTEN_USD = 0.25e-6, 2e-6
"""Of a token."""
PRICE = Price(READ_USD, WRITTEN_USD)
AT_ONCE = (2, 4, 8, 16)
WORKFLOW_RUNS = 3
"""Earlier runs of a workflow."""
Shape = Callable[[random.Random], float]


@dataclass
class Kind:
    """How the tasks of a worker behave."""

    name: str
    seconds: Shape
    """Of one attempt."""
    tools: float
    """Tool calls of an attempt on average."""
    fails: float
    """Probability that an attempt fails."""
    read: float
    """Input tokens over those of the constants."""
    written: float
    sigma: float


@dataclass
class FakeTeam:
    """A team, and what of it differs from run to run."""

    name: str
    kinds: list[Kind]
    at_once: int
    tasks: tuple[int, int]
    day_sigma: float = 0.1
    slower: float = 1.0


def make_lognormal(middle_s: float, sigma: float) -> Shape:
    """Return seconds of one kind."""
    return lambda draw: middle_s * math.exp(draw.gauss(0, sigma))


def make_bimodal(fast_s: float, slow_s: float, slow_share: float) -> Shape:
    """Return seconds of two kinds, such as of answers from a cache and others."""
    return lambda draw: (slow_s if draw.random() < slow_share else fast_s) * draw.uniform(0.8, 1.25)


def make_team(name: str, draw: random.Random, *, shape: str) -> FakeTeam:
    """Return a team of two to five workers."""
    kinds = []
    for number in range(draw.randint(2, 5)):
        middle_s = draw.uniform(1, 20)
        is_bimodal = shape == "bimodal" or (shape == "mixed" and number % 2)
        bimodal = make_bimodal(middle_s, middle_s * draw.uniform(3, 8), draw.uniform(0.1, 0.5))
        seconds = bimodal if is_bimodal else make_lognormal(middle_s, draw.uniform(0.2, 0.8))
        tools = draw.choice((0.0, 0.0, 1.0, 3.0))
        amounts = {"read": draw.uniform(0.4, 2), "written": draw.uniform(80, 900)}
        fails, sigma = draw.choice((0.0, 0.05, 0.2)), draw.uniform(0.1, 0.5)
        kinds.append(Kind(f"worker{number}", seconds, tools, fails, sigma=sigma, **amounts))
    small = draw.randint(1, 5)
    return FakeTeam(name, kinds, draw.choice((2, 4, 16)), (small, small + draw.randint(0, 8)))


def plan_request(team: FakeTeam, draw: random.Random) -> PlannedRun:
    """Return the plan of a request: a random graph of tasks."""
    tasks = list[PlannedTask]()
    for place in range(draw.randint(*team.tasks)):
        kind = draw.choice(team.kinds)
        needs = tuple(sorted(draw.sample(range(place), min(place, draw.choice((0, 0, 1, 2))))))
        calls = 3 if kind.tools else 1
        read = int(calls * draw.uniform(600, 3000))
        given = (kind.name, "v1", "openai:m", bool(kind.tools), needs, calls)
        tasks.append(PlannedTask(*given, read, 300 * calls, PRICE))
    answer = PlannedTask("", "", "openai:m", False, (), 1, 400 + 600 * len(tasks), 600, PRICE)
    return PlannedRun(
        team=team.name,
        tasks=tasks,
        answer=answer,
        planning=(1, 1500, 300, READ_USD * 1500 + WRITTEN_USD * 300, 4.0),
        call_s=4.0,
        at_once=team.at_once,
    )


def run_request(team: FakeTeam, planned: PlannedRun, draw: random.Random) -> DoneRun:
    """Return what a run takes; `expected` is filled in by the caller."""
    day = math.exp(draw.gauss(0, team.day_sigma)) * team.slower
    kinds = {kind.name: kind for kind in team.kinds}
    done = [_run_task(kinds[task.worker], task, draw, day) for task in planned.tasks]
    calls, read, written, cost, planning_s = planned.planning
    ended_s = planning_s + _pass_time(planned, [each.seconds for each in done], draw)
    answer = planned.answer
    answered = DoneTask(
        worker="",
        model=answer.model,
        expected_input=answer.input_tokens,
        calls=1,
        input_tokens=round(answer.input_tokens * math.exp(draw.gauss(-0.2, 0.2))),
        output_tokens=round(500 * math.exp(draw.gauss(0, 0.3))),
        seconds=day * 6 * math.exp(draw.gauss(0, 0.3)),
    )
    whole = (*done, answered)
    read += sum(each.input_tokens for each in whole)
    written += sum(each.output_tokens for each in whole)
    spent = sum(READ_USD * e.input_tokens + WRITTEN_USD * e.output_tokens for e in whole)
    return DoneRun(
        team=team.name,
        at=0,
        status="done",
        tasks=(answered, *done),
        expected=Estimate(),
        fact=Amounts(
            model_calls=calls + sum(each.calls for each in whole),
            input_tokens=read,
            output_tokens=written,
            cost_usd=(cost or 0) + spent,
            seconds=ended_s + answered.seconds,
        ),
    )


def _run_task(kind: Kind, task: PlannedTask, draw: random.Random, day: float) -> DoneTask:
    calls, read, written, seconds = 0, 0.0, 0.0, 0.0
    for _ in range(4):
        turns = 1 + sum(draw.random() < 0.5 for _ in range(round(2 * kind.tools)))
        calls += turns
        size = kind.read * task.input_tokens / task.calls
        read += sum(size * (1 + 0.3 * turn) for turn in range(turns))
        written += turns * kind.written * math.exp(draw.gauss(0, kind.sigma))
        seconds += sum(kind.seconds(draw) for _ in range(turns)) * day / (1 + kind.tools)
        if draw.random() >= kind.fails:
            break
    return DoneTask(
        worker=task.worker,
        version=task.version,
        model=task.model,
        uses_tools=task.uses_tools,
        expected_input=task.input_tokens,
        calls=calls,
        input_tokens=round(read),
        output_tokens=round(written),
        seconds=seconds,
    )


def _pass_time(planned: PlannedRun, lengths: Sequence[float], draw: random.Random) -> float:
    """Return when the last task ends; of those that wait for a place one is taken by chance."""
    now, running, ended = 0.0, dict[int, float](), set[int]()
    left = set(range(len(planned.tasks)))
    while left or running:
        open_places = planned.at_once - len(running)
        free = [each for each in sorted(left) if ended.issuperset(planned.tasks[each].needs)]
        for each in draw.sample(free, min(len(free), open_places)):
            running[each] = now + lengths[each] + draw.uniform(0, 0.02)
            left.remove(each)
        now = min(running.values())
        over = {each for each, at in running.items() if at <= now}
        ended |= over
        running = {each: at for each, at in running.items() if each not in over}
    return now


def expect(planned: PlannedRun, runs: Sequence[DoneRun]) -> Estimate:
    """Return the estimate of a run from earlier ones."""
    return estimate_run(runs, planned, Estimate(models={"standard": "openai:m"}))


def expect_by_constants(planned: PlannedRun) -> Estimate:
    """Return what the constants alone say, as before there was a history."""
    tasks = (*planned.tasks, planned.answer)
    calls, read, written, _, _ = planned.planning
    return Estimate(
        model_calls=int(calls + sum(task.calls for task in tasks)),
        input_tokens=int(read + sum(task.input_tokens for task in tasks)),
        output_tokens=int(written + sum(task.output_tokens for task in tasks)),
        cost_usd=sum(
            READ_USD * task.input_tokens + WRITTEN_USD * task.output_tokens for task in tasks
        ),
    )


@dataclass
class Tally:
    """What estimates came to, by amount."""

    best: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    """Widths of who knows how the team behaves, of every tenth run."""
    hits: dict[str, list[bool]] = field(default_factory=lambda: defaultdict(list))
    widths: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    facts: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    errors: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    constant_errors: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    def add(self, run: DoneRun, constant: Estimate, others: Sequence[DoneRun]) -> None:
        """Take in a run.

        Args:
            others: runs of the same plan.
        """
        low, high = run.expected.low, run.expected.high
        for name in AMOUNTS:
            fact = getattr(run.fact, name)
            self.hits[name].append(is_inside(name, run))
            self.widths[name].append(getattr(high, name) - getattr(low, name))
            self.facts[name].append(fact)
            self.errors[name].append(abs(getattr(run.expected, name) / fact - 1))
            if getattr(constant, name):
                self.constant_errors[name].append(abs(getattr(constant, name) / fact - 1))
            if others:
                cuts = quantiles([getattr(other.fact, name) for other in others], n=20)
                self.best[name].append(cuts[18] - cuts[0])

    def measure(self, name: str) -> str:
        """Return coverage, width, the least possible width, and errors, of an amount."""
        middle, constant = median(self.facts[name]), self.constant_errors[name]
        width, best = median(self.widths[name]) / middle, median(self.best[name]) / middle
        old = f"{median(constant):5.0%}" if constant else "    -"
        held, error = mean(self.hits[name]), median(self.errors[name])
        return f"{held:6.1%} {width:5.2f} {best:5.2f} {error:4.0%} {old}"


def run_history(
    teams: Sequence[FakeTeam], runs: int, seed: int, *, drift: bool
) -> Iterator[tuple[str, DoneRun, Estimate, list[DoneRun]]]:
    """Yield the counted runs of teams of one user, which take turns."""
    draw, history = random.Random(seed), list[DoneRun]()
    learning = min(LEARNING_RUNS, runs // 2)
    for number in range(runs):
        for team in teams:
            slower = 2.0 if drift and number >= runs // 2 else 1.0
            planned, now = plan_request(team, draw), replace(team, slower=slower)
            run = run_request(now, planned, draw)
            run = run.model_copy(update={"expected": expect(planned, history[-600:])})
            history.append(run)
            if number >= learning:
                repeated = 0 if (number - learning) % 10 else 100
                others = [run_request(now, planned, draw) for _ in range(repeated)]
                yield team.name, run, expect_by_constants(planned), others


def measure_coverage(options: argparse.Namespace) -> None:
    """Print a line for each scenario and team."""
    print(f"{'':20}", *(f"{name:^30}" for name in AMOUNTS))
    columns = f"{'held':>6} {'width':>5} {'best':>5} {'err':>4} {'const':>5} "
    print(f"{'':20}", *(columns for _ in AMOUNTS))
    overall = Tally()
    for scenario in ("lognormal", "bimodal", "mixed", "drift"):
        draw = random.Random(f"{scenario} {options.seed}")
        shape = "mixed" if scenario == "drift" else scenario
        teams = [make_team(f"team{at}", draw, shape=shape) for at in range(options.teams)]
        tallies = defaultdict[str, Tally](Tally)
        for name, run, constant, others in run_history(
            teams, options.runs, draw.randrange(10**6), drift=scenario == "drift"
        ):
            tallies[name].add(run, constant, others)
            overall.add(run, constant, others)
        for name, tally in tallies.items():
            print(f"{scenario + ', ' + name:20}", *(f"{tally.measure(a):30}" for a in AMOUNTS))
    print(f"{'overall':20}", *(f"{overall.measure(a):30}" for a in AMOUNTS))


def plan_workflow(flow: Mapping[str, Any], at_once: int) -> PlannedRun:
    """Return a published workflow as a plan: a task's name is its worker."""
    ordered = {
        name: place
        for place, name in enumerate(
            TopologicalSorter({task["id"]: task["deps"] for task in flow["tasks"]}).static_order()
        )
    }
    tasks = [
        PlannedTask(
            worker=task["name"],
            version="",
            model="m",
            uses_tools=False,
            needs=tuple(ordered[need] for need in task["deps"]),
            calls=1,
            input_tokens=1000,
            output_tokens=300,
            price=PRICE,
        )
        for task in sorted(flow["tasks"], key=lambda task: ordered[task["id"]])
    ]
    answer = PlannedTask("", "", "m", False, (), 0, 1, 0, PRICE)
    return PlannedRun(team="flow", tasks=tasks, answer=answer, call_s=5.0, at_once=at_once)


def build_workflow_run(flow: Mapping[str, Any], draw: random.Random) -> DoneRun:
    """Return an earlier run of a workflow: the measured seconds, each a little different."""
    amounts = {"expected_input": 1000, "calls": 1, "input_tokens": 900, "output_tokens": 300}
    given = {"model": "m", **amounts}
    chosen = flow["tasks"]
    if len(chosen) >= MAX_TASKS:
        chosen = draw.sample(chosen, MAX_TASKS - 1)
    tasks = [
        DoneTask(worker=task["name"], seconds=task["seconds"] * draw.uniform(0.9, 1.1), **given)
        for task in chosen
    ]
    answer = DoneTask(worker="", seconds=0, **given)
    empty = Estimate()
    return DoneRun(
        team="flow", at=0, status="done", tasks=(answer, *tasks), expected=empty, fact=Amounts()
    )


def measure_workflows(path: Path, seed: int) -> None:
    """Print how far the predicted seconds are from those of the measured tasks."""
    draw, errors, constant_errors = random.Random(seed), list[float](), list[float]()
    print(f"\n{'workflow':52} tasks " + " ".join(f"{f'{k} at once':>18}" for k in AT_ONCE))
    for line in path.read_text(encoding="utf-8").splitlines():
        flow = json.loads(line)
        history = [build_workflow_run(flow, draw) for _ in range(WORKFLOW_RUNS)]
        cells = []
        for at_once in AT_ONCE:
            fact_s = flow["ref_makespan_s"][str(at_once)]["fifo"]
            planned = plan_workflow(flow, at_once)
            found_s, constant_s = expect(planned, history).seconds, expect(planned, []).seconds
            errors.append(abs(found_s / fact_s - 1))
            constant_errors.append(abs(constant_s / fact_s - 1))
            cells.append(f"{found_s:8.0f} {fact_s:6.0f} {found_s / fact_s - 1:+4.0%}")
        print(f"{flow['id'][:52]:52} {len(flow['tasks']):5} " + "".join(f"{c:>20}" for c in cells))
    within = mean(error <= 0.25 for error in errors)
    print(f"within 25 %: {within:.0%} of {len(errors)}; median error {median(errors):.1%}")
    print(f"by constants: {mean(error <= 0.25 for error in constant_errors):.0%} within 25 %")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--runs", type=int, default=240, help="of each team")
    parser.add_argument("--teams", type=int, default=3, help="of one user, in each scenario")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workflows", type=Path, help="published workflows, a JSON line each")
    parser.add_argument("--real", type=int, default=0, help="real runs of each of two teams, too")
    options = read_options(parser, "runs", "teams", "real")
    measure_coverage(options)
    if options.workflows:
        measure_workflows(options.workflows, options.seed)
    if options.real:
        print_measured(measure_real_runs(options.real, options.seed))


if __name__ == "__main__":
    main()
