"""How demand answers to the price: a line through the logarithms, by least squares.

log(units) = level + elasticity * log(price). Standard error, interval and probability are those of
the textbook for one explaining variable.
"""

from dataclasses import dataclass
from itertools import pairwise
from math import exp, fsum, log, sqrt
from statistics import fmean, linear_regression

from nodes.tools.launch.sales import MIN_PRICES, MIN_ROWS, Sales
from nodes.tools.launch.student import critical, two_sided

LEVEL = 0.05
"""From which a probability counts as too high to speak of an effect."""
NOISE = 1e-24
"""Share of the squares that is no more than the rounding of the machine."""


@dataclass(frozen=True)
class Demand:
    """A fitted line and how far it may be trusted."""

    elasticity: float
    level: float
    error: float
    """Standard error of the elasticity."""
    low: float
    high: float
    """Ends of its 95 percent interval."""
    probability: float
    """Of an elasticity at least this far from zero, if there were none."""
    r_squared: float
    count: int
    smearing: float
    """What turns the typical number of units into the expected one (Duan 1983)."""
    durbin_watson: float
    """Near 2 where rows that follow each other miss the line independently."""

    @property
    def is_significant(self) -> bool:
        """Say whether the elasticity can be told from zero."""
        return self.probability < LEVEL

    def units(self, price: float) -> float:
        """Give the expected units at a price; the caller stays within the observed prices."""
        return self.smearing * exp(self.level + self.elasticity * log(price))


def fit(sales: Sales) -> Demand | str:
    """Fit the line, or say why there is none."""
    prices = [log(sale.price) for sale in sales.rows]
    units = [log(sale.units) for sale in sales.rows]
    if len(prices) < MIN_ROWS:
        return f"{len(prices)} rows with sales, and {MIN_ROWS} are needed"
    if len(set(prices)) < MIN_PRICES:
        return f"{len(set(prices))} different prices, and {MIN_PRICES} are needed"
    elasticity, level = linear_regression(prices, units)
    missed = [y - level - elasticity * x for x, y in zip(prices, units, strict=True)]
    freedom = len(prices) - 2
    square = fsum(each * each for each in missed)
    spread = fsum((x - fmean(prices)) ** 2 for x in prices)
    total = fsum((y - fmean(units)) ** 2 for y in units)
    if square < NOISE * max(total, spread):
        square = 0.0
    error = sqrt(square / freedom / spread)
    reach = critical(LEVEL, freedom) * error
    return Demand(
        elasticity=elasticity,
        level=level,
        error=error,
        low=elasticity - reach,
        high=elasticity + reach,
        probability=two_sided(elasticity / error, freedom) if error else 0.0 if elasticity else 1.0,
        r_squared=1 - square / total if total else 0.0,
        count=len(prices),
        smearing=fmean(map(exp, missed)),
        durbin_watson=_durbin_watson(missed, square),
    )


def _durbin_watson(missed: list[float], square: float) -> float:
    steps = fsum((after - before) ** 2 for before, after in pairwise(missed))
    return steps / square if square else 2.0
