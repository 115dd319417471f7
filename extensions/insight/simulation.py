"""Simulates runs of a plan: each task takes what a task like it has taken before.

Which one is drawn by chance: one of the same worker, version and model with the probability
`n / (n + PRIOR)`, where `n` counts them, newer ones more; else one of the worker in an earlier
version, one of the same model with or without tools, or the constants. So few of them move the
estimate a little, many decide it. The plan is scheduled with the limits of the run.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush, heapreplace
from itertools import accumulate
from math import exp, inf, isnan, nan
from random import Random
from statistics import quantiles
from typing import Any, Final, NamedTuple

from extensions.insight.history import AMOUNTS, DoneRun, DoneTask
from nodes.limits.budget import ANSWER_SHARE

PRIOR: Final = 1.0
"""Tasks that a level must have to count as much as all below it."""
HALF_LIFE_RUNS: Final = 20.0
"""Runs of its team after which a run counts half."""
HALF_LIFE_S: Final = 60 * 86_400.0
"""The same in time."""
TASKS_SIMULATED: Final = 16_000
"""In all simulated runs together; a large plan needs fewer, as its tasks balance each other."""
MIN_DRAWS, MAX_DRAWS = 16, 200
NOISE, NOISE_S = 0.5, 1.0
"""Of the constants: the standard deviation of the logarithm of tokens, and of seconds."""
PERIOD_S: Final = 60.0
"""Of the rates."""


class Price(NamedTuple):
    """US dollars of one token; not a number where that is not known."""

    read: float
    written: float


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
    """What of the past is alike: what each run had of it, with weights."""

    runs: list[list[Any]] = field(default_factory=list)
    weights: list[float] = field(default_factory=list)

    def add(self, found: list[Any], weight: float) -> None:
        self.runs.append(found)
        self.weights.append(weight)

    @property
    def share(self) -> float:
        """With which one of these is drawn, and not one of a level below."""
        pairs = [*zip(self.weights, map(len, self.runs), strict=True)]
        squares = sum(weight * weight * size for weight, size in pairs)
        count = sum(weight * size for weight, size in pairs) ** 2 / squares if squares else 0.0
        return count / (count + PRIOR)  # Kish's effective number


class Past:
    """The tasks of earlier runs by what they have in common.

    Args:
        runs: the newest last, of all teams of the user.
        team: whose tasks come first.
    """

    def __init__(self, runs: Sequence[DoneRun], team: str, now: float) -> None:
        self._levels = defaultdict[tuple[object, ...], _Level](_Level)
        self._other = _Level()
        for run, weight in reversed([*zip(runs, weigh_runs(runs, now), strict=True)]):
            found = defaultdict[tuple[object, ...], list[DoneTask]](list)
            for task in run.tasks:
                if run.team == team:
                    found[task.worker, task.version, task.model].append(task)
                    found[task.worker, task.model].append(task)
                found[not task.worker, task.model, task.uses_tools].append(task)
            for key, tasks in found.items():
                self._levels[key].add(tasks, weight)
            if run.team == team:
                self._other.add([run.other], weight)

    def choose(
        self, task: PlannedTask, size: int, count: int, random: Random
    ) -> list[DoneTask | None]:
        """Return tasks of the past that are like one of a plan; None for the constants.

        Those of one run are dealt out together, as a slow day or one large task among many is.

        Args:
            size: how many a simulated run has of it; they follow each other.
            count: of simulated runs.
        """
        keys: tuple[tuple[object, ...], ...] = (
            (task.worker, task.version, task.model),
            (task.worker, task.model),
            (not task.worker, task.model, task.uses_tools),
        )
        return _deal([self._levels[key] for key in keys], size, count, random)

    def choose_other(self, count: int, random: Random) -> list[tuple[float, float, float] | None]:
        """Return what the supervisor took beside planning and answer in runs of the past."""
        return _deal([self._other], 1, count, random)


def _deal(levels: Sequence[_Level], size: int, count: int, random: Random) -> list[Any]:
    runs, weights, left = list[list[Any]](), list[float](), 1.0
    for level in levels:
        own = [weight * len(run) for weight, run in zip(level.weights, level.runs, strict=True)]
        if total := sum(own):
            share = level.share
            runs += level.runs
            weights += [left * share * weight / total for weight in own]
            left *= 1.0 - share
    runs, sums = [*runs, [None] * size], [*accumulate([*weights, left])]
    dealt = list[Any]()
    for number in range(1, count + 1):
        while (wanted := number * size - len(dealt)) > 0:
            [run] = random.choices(runs, cum_weights=sums)
            dealt += random.sample(run, min(wanted, len(run)))
    return dealt


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
    count = min(MAX_DRAWS, max(MIN_DRAWS, TASKS_SIMULATED // (len(planned.tasks) + 1)))
    tasks = (*planned.tasks, planned.answer)
    alike = defaultdict[tuple[object, ...], list[int]](list)
    for place, task in enumerate(tasks):
        alike[task.worker, task.version, task.model, task.uses_tools].append(place)
    drawn = list[list[Draw]]([[]] * len(tasks))
    for places in alike.values():
        dealt = past.choose(tasks[places[0]], len(places), count, random)
        for at, place in enumerate(places):
            likes = dealt[at :: len(places)]
            drawn[place] = [_draw(tasks[place], like, planned.call_s, random) for like in likes]
    others = past.choose_other(count, random)
    schedule = _Schedule(planned)
    taken = [
        schedule.run(draws, other or (0, 0, 0))
        for draws, other in zip(zip(*drawn, strict=True), others, strict=True)
    ]
    found = dict[str, tuple[float, float, float]]()
    for name, column in zip(AMOUNTS, zip(*taken, strict=True), strict=True):
        if not isnan(column[0]):
            cuts = quantiles(column, n=20, method="inclusive")
            found[name] = (cuts[0], cuts[9], cuts[18])
    return found


def _draw(task: PlannedTask, like: DoneTask | None, call_s: float, random: Random) -> Draw:
    """Return what a task takes if it is like one of the past, or as the constants say."""
    if like is not None:
        read = task.input_tokens * like.input_tokens / like.expected_input
        return Draw(like.calls, read, like.output_tokens, like.seconds)
    noise, noise_s = exp(random.gauss(0, NOISE)), exp(random.gauss(0, NOISE_S))
    read, written = task.input_tokens * noise, task.output_tokens * noise
    return Draw(task.calls * noise, read, written, task.calls * call_s * noise_s)


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
        calls, read, written, paid, last = planned.planning
        calls, read, written = calls + other[0], read + other[1], written + other[2]
        price = planned.answer.price
        cost = nan if paid is None else paid
        cost += price.read * (other[1] + answer[1]) + price.written * (other[2] + answer[2])
        waits, wanted, ends, left = self._waits[:], self._wanted, self._ends, self._max_tasks
        places = [last] * min(planned.at_once, len(planned.tasks))
        ready = [(last, index) for index, count in enumerate(waits) if not count]
        while ready:
            since, index = heappop(ready)
            start = places[0] if places[0] > since else since
            is_spent = read + written >= self._max_tokens or cost >= self._max_cost
            if start >= ends or is_spent or left <= 0:
                continue
            draw, price, left = drawn[index], planned.tasks[index].price, left - 1
            end, part = start + draw[3], 1.0
            if end > ends:
                end, part = ends, (ends - start) / draw[3]
            heapreplace(places, end)
            calls += draw[0] * part
            read += draw[1] * part
            written += draw[2] * part
            cost += (price.read * draw[1] + price.written * draw[2]) * part
            last = end if end > last else last
            for wanting in wanted[index]:
                waits[wanting] -= 1
                if not waits[wanting]:
                    heappush(ready, (end, wanting))
        last = max(last, planned.planning[4] + self._wait_for_rates(calls, read + written))
        read, written = read + answer.input_tokens, written + answer.output_tokens
        return calls + answer.calls, read, written, cost, last + answer.seconds

    def _wait_for_rates(self, calls: float, tokens: float) -> float:
        """Return the seconds before which so many calls and tokens are not allowed."""
        rates = self._planned.requests_per_minute, self._planned.tokens_per_minute
        return max(
            amount // (rate + 1e-9) * PERIOD_S if rate else 0.0
            for amount, rate in zip((calls, tokens), rates, strict=True)
        )
