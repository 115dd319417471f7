"""Turns simulated runs into intervals that hold as often as they say.

Split conformal prediction (Vovk et al. 2005; Romano et al. 2019, arXiv 1905.03222): the interval of
the simulation is widened, or narrowed, to where 90 % of the runs before would have been inside.
Newer runs weigh more (Barber et al. 2023, arXiv 2202.13415), and the 90 % themselves are corrected
by how often the intervals of the team held lately (adaptive conformal inference, Gibbs and Candès
2021, arXiv 2106.00170), so they widen by themselves when runs drift. A team with few runs borrows
those of the user's other teams, and one without any a wide prior.
"""

from collections.abc import Iterable, Sequence
from math import exp, log1p
from operator import mul
from typing import Final, NamedTuple

from extensions.insight.history import MAX_NUMBER, DoneRun, take_log

MISSES: Final = 0.1
"""The share of runs outside of their intervals."""
ADAPTATION: Final = 0.02
"""By which a miss lowers the share, and a hit raises it a ninth of that."""
MIN_MISSES, MAX_MISSES = 0.005, 0.25
HALF_LIFE_RUNS: Final = 40.0
"""Runs of a team after which an error counts half in the width of an interval."""
FAST_HALF_LIFE_RUNS: Final = 8.0
"""The same in its place: where all runs lately took longer, so will the next one."""
MIN_ERRORS: Final = 3
"""Before the place of an interval changes at all."""
CAUTION: Final = 4.0
"""How many times as large as by chance the square of a mean error is, of which nothing counts."""
MAX_STEP: Final = 3.0
"""Of an error, in widths of the simulation, that one run moves an interval by."""
BORROWED_RUNS: Final = 10.0
"""Runs of the team from which on those of other teams do not count."""
MIN_WEIGHT: Final = 1e-3
"""Of a run that counts."""
PRIOR_SCORES: Final = (0.3, 0.5, 0.7, 0.9, 1.1, 1.3, 1.5, 1.8, 2.1, 2.5)
"""Errors that are taken for granted until there are some, in widths of the simulation."""
MIN_WIDTH: Final = 0.05
"""Of a simulation, as a logarithm: so an amount that never changes has an error at all."""


class Interval(NamedTuple):
    """What is expected, and the ends of the interval."""

    low: float
    middle: float
    high: float


class Score(NamedTuple):
    """An error of an estimate, in widths of its simulation, and how much it counts."""

    size: float
    weight: float


def choose_interval(
    amount: str,
    simulated: tuple[float, float, float],
    own: Sequence[DoneRun],
    others: Sequence[DoneRun],
) -> Interval:
    """Return the 90 % interval of an amount.

    Args:
        simulated: the 5th, 50th and 95th percentile of the simulated runs.
        own, others: runs of the team, and of other teams; the newest last.
    """
    own, others = ([run for run in runs if _has(run, amount)] for runs in (own, others))
    low, middle, high = (take_log(amount, value) for value in simulated)
    below, above = max(middle - low, MIN_WIDTH), max(high - middle, MIN_WIDTH)
    middle += find_shift(amount, own)
    scores = list(_score(amount, own, others))
    width = find_quantile(scores, 1.0 - adapt_misses(amount, own))
    offset = exp(take_log(amount, 0.0))
    below, above = (_limit_reach(amount, width * side, side, own) for side in (below, above))
    ends = (middle - below, middle, middle + above)
    largest = take_log(amount, MAX_NUMBER)
    return Interval(*(max(0.0, exp(min(end, largest)) - offset) for end in ends))


def _limit_reach(amount: str, reach: float, side: float, own: Sequence[DoneRun]) -> float:
    """Return how far an interval reaches: not beyond its simulation and every error before.

    An error of many narrow widths, of runs that were all alike, says nothing of wide ones.
    """
    if len(own) < MIN_ERRORS:
        return reach
    return min(reach, max(side, *(abs(_measure_error(amount, run)) for run in own)))


def find_shift(amount: str, own: Sequence[DoneRun]) -> float:
    """Return by how much the runs of a team lately differ from their simulations, as a logarithm.

    What may well be chance moves nothing (James and Stein 1961), a single run far off little.
    """
    weights, errors = list[float](), list[float]()
    for age, run in enumerate(reversed(own)):
        low, middle, high = (take_log(amount, each) for each in run.expected.simulated[amount])
        limit = MAX_STEP * max((high - low) / 2, MIN_WIDTH)
        error = take_log(amount, getattr(run.fact, amount)) - middle
        errors.append(min(max(error, -limit), limit))
        weights.append(0.5 ** (age / FAST_HALF_LIFE_RUNS))
    total = sum(weights)
    if len(errors) < MIN_ERRORS:
        return 0.0
    mean = sum(map(mul, weights, errors)) / total
    squares = sum(
        weight * (error - mean) ** 2 for weight, error in zip(weights, errors, strict=True)
    )
    chance = squares / total * sum(weight * weight for weight in weights) / total**2
    return mean * max(0.0, 1.0 - CAUTION * chance / mean**2) if mean else 0.0


def adapt_misses(amount: str, own: Iterable[DoneRun]) -> float:
    """Return the share of misses to aim at, after the hits and misses of a team's intervals.

    Those of its first runs were wide by design: making up for them would make others too narrow.
    """
    share = MISSES
    for run in own:
        if run.expected.runs >= BORROWED_RUNS:
            share += ADAPTATION * (MISSES - (not is_inside(amount, run)))
            share = min(max(share, MIN_MISSES), MAX_MISSES)
    return share


def is_inside(amount: str, run: DoneRun) -> bool:
    """Return whether what a run took is inside of the interval that was said before it."""
    low, high = (getattr(end, amount) for end in (run.expected.low, run.expected.high))
    fact = getattr(run.fact, amount)
    return bool(low is not None and high is not None and low <= fact <= high)


def find_quantile(scores: Iterable[Score], level: float) -> float:
    """Return the score that a next run stays below with a probability, of weighted scores.

    The next run counts as one of average weight, beyond all others. Between two scores the
    probability rises evenly, else few scores would give more than the level.
    """
    ranked = sorted(scores)
    total = sum(score.weight for score in ranked)
    total += sum(score.weight**2 for score in ranked) / total
    reached, size_before, share_before = 0.0, 0.0, 0.0
    for size, weight in ranked:
        reached += weight
        share = reached / total
        if share >= level:
            part = (level - share_before) / (share - share_before)
            return size_before + part * (size - size_before)
        size_before, share_before = size, share
    return size_before


def _score(amount: str, own: Sequence[DoneRun], others: Sequence[DoneRun]) -> Iterable[Score]:
    """Yield the errors of runs, in widths of their simulations."""
    depth = len(own)
    borrowed = max(0.0, 1.0 - depth / BORROWED_RUNS) / 2
    for runs, share in ((own, 1.0), (others, borrowed)):
        for age, run in enumerate(reversed(runs)):
            # An estimate from few runs errs otherwise than one from many.
            likeness = exp(-abs(log1p(run.expected.runs) - log1p(depth)))
            weight = share * likeness * 0.5 ** (age / HALF_LIFE_RUNS)
            if weight > MIN_WEIGHT:
                yield Score(_measure_score(amount, run), weight)
    prior = max(MIN_WEIGHT, 1.0 - depth / BORROWED_RUNS)
    yield from (Score(size, prior) for size in PRIOR_SCORES)


def _measure_score(amount: str, run: DoneRun) -> float:
    low, middle, high = (take_log(amount, each) for each in run.expected.simulated[amount])
    error = _measure_error(amount, run)
    side = high - middle if error > 0 else middle - low
    return abs(error) / max(side, MIN_WIDTH)


def _measure_error(amount: str, run: DoneRun) -> float:
    """Return by how much a run took more than expected, as a logarithm."""
    fact, expected = getattr(run.fact, amount), getattr(run.expected, amount)
    return take_log(amount, fact) - take_log(amount, expected)


def _has(run: DoneRun, amount: str) -> bool:
    known = getattr(run.fact, amount), getattr(run.expected, amount)
    return amount in run.expected.simulated and None not in known
