"""Simulates runs of a plan: each task takes what a task like it has taken before.

Which one is drawn by chance: one of the same worker, version and model with the probability
`n / (n + PRIOR)`, where `n` counts them, newer ones more; else one of the worker in an earlier
version, one of the same model with or without tools, or the constants. So few of them move the
estimate a little, many decide it. The plan is scheduled with the limits of the run.
"""

from bisect import bisect
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush, heapreplace
from itertools import accumulate
from math import exp, inf
from random import Random
from statistics import quantiles
from typing import Final, NamedTuple

from extensions.insight.history import AMOUNTS, DoneRun, DoneTask
from nodes.limits.budget import ANSWER_SHARE

PRIOR: Final = 2.0
"""Tasks that a level must have to count as much as all below it."""
HALF_LIFE_RUNS: Final = 20.0
"""Runs of its team after which a run counts half."""
HALF_LIFE_S: Final = 60 * 86_400.0
"""The same in time."""
MAX_SAMPLES: Final = 300
"""Of one level: older ones hardly count."""
TASKS_SIMULATED: Final = 16_000
"""In all simulated runs together; a large plan needs fewer, as its tasks balance each other."""
MIN_DRAWS, MAX_DRAWS = 24, 200
NOISE, NOISE_S = 0.5, 1.0
"""Of the constants: the standard deviation of the logarithm of tokens, and of seconds."""
PERIOD_S: Final = 60.0
"""Of the rates."""


class Price(NamedTuple):
    """US dollars of one token; None where it is not known."""

    read: float | None
    written: float | None


@dataclass(frozen=True)
class PlannedTask:
    """A task of a plan, and what the constants say of it; of the worker "" it is the answer."""

    worker: str
    version: str
    model: str
    uses_tools: bool
    needs: tuple[int, ...]
    """Places of the tasks it waits for, all before its own."""
    calls: int
    input_tokens: int
    output_tokens: int
    price: Price


@dataclass(frozen=True, kw_only=True)
class PlannedRun:
    """A plan with the limits of its run; the tasks are in the order of their needs."""

    team: str
    tasks: Sequence[PlannedTask]
    answer: PlannedTask
    planning: tuple[float, float, float, float | None, float] = (0, 0, 0, 0.0, 0)
    """What has been spent, in the order of `AMOUNTS`."""
    call_s: float
    """Seconds of a call by the constants."""
    at_once: int = 16
    deadline_s: float | None = None
    """Until work must end."""
    max_tokens: float | None = None
    max_cost_usd: float | None = None
    max_steps: int | None = None
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None


class Draw(NamedTuple):
    """What a task takes in one simulated run."""

    calls: float
    input_tokens: float
    output_tokens: float
    seconds: float


@dataclass
class _Level:
    """Tasks of the past that are alike, with their weights."""

    tasks: list[DoneTask] = field(default_factory=list)
    weights: list[float] = field(default_factory=list)
    sums: list[float] = field(default_factory=list)
    share: float = 0.0
    """With which one of these is drawn, and not one of a level below."""

    def close(self) -> None:
        self.sums = list(accumulate(self.weights))
        total = self.sums[-1] if self.sums else 0.0
        squares = sum(weight * weight for weight in self.weights)
        count = total * total / squares if squares else 0.0  # Kish's effective number
        self.share = count / (count + PRIOR)

    def draw(self, random: Random) -> DoneTask:
        return self.tasks[bisect(self.sums, random.random() * self.sums[-1])]


class Past:
    """The tasks of earlier runs by what they have in common.

    Args:
        runs: the newest last, of all teams of the user.
        team: whose tasks come first.
    """

    def __init__(self, runs: Sequence[DoneRun], team: str, now: float) -> None:
        self._levels = defaultdict[tuple[object, ...], _Level](_Level)
        self.other = _Level()
        self._others = list[tuple[float, float, float]]()
        weights = weigh_runs(runs, now)
        for run, weight in zip(reversed(runs), reversed(weights), strict=True):
            for task in run.tasks:
                is_own = run.team == team
                if is_own:
                    self._add((task.worker, task.version, task.model), task, weight)
                    self._add((task.worker, task.model), task, weight)
                self._add((not task.worker, task.model, task.uses_tools), task, weight)
            if run.team == team and len(self._others) < MAX_SAMPLES:
                self._others.append(run.other)
                self.other.weights.append(weight)
        for level in (*self._levels.values(), self.other):
            level.close()

    def list_levels(self, task: PlannedTask) -> list[_Level]:
        """Return the levels of a task, the nearest first; the constants are below them."""
        keys: tuple[tuple[object, ...], ...] = (
            (task.worker, task.version, task.model),
            (task.worker, task.model),
            (not task.worker, task.model, task.uses_tools),
        )
        return [self._levels[key] for key in keys if key in self._levels]

    def draw_other(self, random: Random) -> tuple[float, float, float]:
        """Return what the supervisor took beside planning and answer in a run of the past."""
        if not self._others or random.random() > self.other.share:
            return 0.0, 0.0, 0.0
        return self._others[bisect(self.other.sums, random.random() * self.other.sums[-1])]

    def _add(self, key: tuple[object, ...], task: DoneTask, weight: float) -> None:
        level = self._levels[key]
        if len(level.tasks) < MAX_SAMPLES:
            level.tasks.append(task)
            level.weights.append(weight)


def weigh_runs(runs: Sequence[DoneRun], now: float) -> list[float]:
    """Return how much each run counts, by how many of its team came later, and by its age."""
    later, weights = defaultdict[str, int](int), list[float]()
    for run in reversed(runs):
        age_s = max(0.0, now - run.at)
        weights.append(0.5 ** (later[run.team] / HALF_LIFE_RUNS + age_s / HALF_LIFE_S))
        later[run.team] += 1
    return weights[::-1]


def simulate(
    planned: PlannedRun, past: Past, random: Random
) -> dict[str, tuple[float, float, float]]:
    """Return the 5th, 50th and 95th percentile of each amount; without those of unknown price."""
    draws = min(MAX_DRAWS, max(MIN_DRAWS, TASKS_SIMULATED // (len(planned.tasks) + 1)))
    levels = [past.list_levels(task) for task in (*planned.tasks, planned.answer)]
    makers = [
        _Maker(task, near, planned.call_s)
        for task, near in zip((*planned.tasks, planned.answer), levels, strict=True)
    ]
    schedule = _Schedule(planned)
    columns: list[list[float]] = [[] for _ in AMOUNTS]
    for _ in range(draws):
        drawn = [maker.draw(random) for maker in makers]
        for column, value in zip(
            columns, schedule.run(drawn, past.draw_other(random)), strict=True
        ):
            column.append(value)
    found = dict[str, tuple[float, float, float]]()
    for name, column in zip(AMOUNTS, columns, strict=True):
        if column[0] == column[0]:  # a price that is not known is not a number
            cuts = quantiles(column, n=20, method="inclusive")
            found[name] = (cuts[0], cuts[9], cuts[18])
    return found


class _Maker:
    """Draws what one task takes."""

    def __init__(self, task: PlannedTask, levels: Iterable[_Level], call_s: float) -> None:
        self._task, self._levels, self._call_s = task, list(levels), call_s

    def draw(self, random: Random) -> Draw:
        task = self._task
        for level in self._levels:
            if random.random() < level.share:
                like = level.draw(random)
                ratio = like.input_tokens / like.expected_input
                read = task.input_tokens * ratio
                return Draw(like.calls, read, like.output_tokens, like.seconds)
        noise, noise_s = exp(random.gauss(0, NOISE)), exp(random.gauss(0, NOISE_S))
        read, written = task.input_tokens * noise, task.output_tokens * noise
        return Draw(task.calls * noise, read, written, task.calls * self._call_s * noise_s)


class _Schedule:
    """Runs a plan with given amounts: first come, first served, so many at once."""

    def __init__(self, planned: PlannedRun) -> None:
        self._planned, tasks = planned, planned.tasks
        self._waits = [len(task.needs) for task in tasks]
        self._wanted: list[list[int]] = [[] for _ in tasks]
        for index, task in enumerate(tasks):
            for need in task.needs:
                self._wanted[need].append(index)
        work = 1.0 - ANSWER_SHARE
        self._max_tokens = inf if planned.max_tokens is None else planned.max_tokens * work
        self._max_cost = inf if planned.max_cost_usd is None else planned.max_cost_usd * work
        self._max_tasks = inf if planned.max_steps is None else planned.max_steps
        self._ends = inf if planned.deadline_s is None else planned.deadline_s

    def run(
        self, drawn: Sequence[Draw], other: tuple[float, float, float]
    ) -> tuple[float, float, float, float, float]:
        """Return the amounts of a run, in the order of `AMOUNTS`."""
        planned, answer = self._planned, drawn[-1]
        calls, read, written, paid, began = planned.planning
        nan = float("nan")
        cost = nan if paid is None else paid
        calls, read, written = calls + other[0], read + other[1], written + other[2]
        cost += _price(planned.answer.price, other[1], other[2])
        waits, done, last = list(self._waits), 0, began
        places = [began] * min(planned.at_once, len(planned.tasks))
        ready = [(began, index) for index, count in enumerate(waits) if not count]
        heapify(ready)
        while ready:
            since, index = heappop(ready)
            start = max(since, places[0])
            is_spent = read + written >= self._max_tokens or cost >= self._max_cost
            if start >= self._ends or is_spent or done >= self._max_tasks:
                continue
            done += 1
            draw = drawn[index]
            end = min(start + draw.seconds, max(self._ends, start))
            part = (end - start) / draw.seconds if draw.seconds else 1.0
            heapreplace(places, end)
            calls += draw.calls * part
            read += draw.input_tokens * part
            written += draw.output_tokens * part
            price = planned.tasks[index].price
            cost += _price(price, draw.input_tokens * part, draw.output_tokens * part)
            last = max(last, end)
            for wanting in self._wanted[index]:
                waits[wanting] -= 1
                if not waits[wanting]:
                    heappush(ready, (end, wanting))
        last = max(last, began + self._wait_for_rates(calls, read + written))
        cost += _price(planned.answer.price, answer.input_tokens, answer.output_tokens)
        calls += answer.calls
        read, written = read + answer.input_tokens, written + answer.output_tokens
        return calls, read, written, cost, last + answer.seconds

    def _wait_for_rates(self, calls: float, tokens: float) -> float:
        """Return the seconds before which so many calls and tokens are not allowed."""
        planned, wait_s = self._planned, 0.0
        for amount, rate in (
            (calls, planned.requests_per_minute),
            (tokens, planned.tokens_per_minute),
        ):
            if rate:
                wait_s = max(wait_s, amount // (rate + 1e-9) * PERIOD_S)
        return wait_s


def _price(price: Price, read: float, written: float) -> float:
    if price.read is None or price.written is None:
        return float("nan")
    return price.read * read + price.written * written
