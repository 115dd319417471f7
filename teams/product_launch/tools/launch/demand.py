"""Estimate how demand responds to price, and what follows from a price.

A least squares line through the logarithms: log(units) = level + elasticity * log(price). Standard
error, interval and probability are those of the textbook for one explanatory variable. For a demand
with a constant elasticity e below -1 the best price is the unit cost times e / (1 + e); for one
between -1 and 0 profit rises with the price within the range of the fit.
"""

from dataclasses import dataclass
from itertools import pairwise
from math import atan, ceil, cos, exp, fsum, log, pi, sin, sqrt
from statistics import fmean, linear_regression

from .sales import ProductSales

BISECTION_STEPS = 80
MAX_CRITICAL_VALUE = 1e4


def compute_two_sided_p(t: float, freedom: int) -> float:
    """Return the probability of a value at least this far from zero, on either side."""
    return max(0.0, 1.0 - _compute_central_probability(abs(t), freedom))


def find_critical_value(level: float, freedom: int) -> float:
    """Return the critical value that is exceeded, on either side, with this probability."""
    low, high = 0.0, MAX_CRITICAL_VALUE
    for _ in range(BISECTION_STEPS):
        middle = (low + high) / 2
        low, high = (
            (middle, high) if compute_two_sided_p(middle, freedom) > level else (low, middle)
        )
    return (low + high) / 2


def _compute_central_probability(t: float, freedom: int) -> float:
    angle = atan(t / sqrt(freedom))
    if freedom % 2:
        series = _sum_cosine_series(cos(angle), first=1, last=freedom - 2) if freedom > 1 else 0.0
        return 2 / pi * (angle + sin(angle) * series)
    return sin(angle) * _sum_cosine_series(cos(angle), first=0, last=freedom - 2)


def _sum_cosine_series(cosine: float, *, first: int, last: int) -> float:
    """Sum the powers of a cosine, each with the factor (n - 1)/n over the one before."""
    term = total = cosine**first
    for power in range(first + 2, last + 1, 2):
        term *= cosine * cosine * (power - 1) / power
        total += term
    return total


MIN_PRICES, MIN_ROWS = 3, 8
SIGNIFICANCE_LEVEL = 0.05
"""From here on a probability is too high to report an effect."""
ROUNDING_NOISE = 1e-24
"""Share of the squares below which a difference is only rounding error."""


@dataclass(frozen=True)
class Demand:
    """A fitted line and its reliability."""

    elasticity: float
    intercept: float
    standard_error: float
    """Standard error of the elasticity."""
    interval_low: float
    interval_high: float
    """Ends of its 95 percent interval."""
    p_value: float
    """Probability of an elasticity at least this far from zero, if there were none."""
    r_squared: float
    row_count: int
    smearing_factor: float
    """Factor from the typical number of units to the expected one (Duan 1983)."""
    durbin_watson: float
    """Near 2 if the residuals of consecutive rows are independent."""

    @property
    def is_significant(self) -> bool:
        """Return whether the elasticity differs significantly from zero."""
        return self.p_value < SIGNIFICANCE_LEVEL

    def estimate_units(self, price: float) -> float:
        """Return the expected units at a price; the caller stays within the observed prices."""
        return self.smearing_factor * exp(self.intercept + self.elasticity * log(price))


def fit_demand(sales: ProductSales) -> Demand | str:
    """Fit the line, or return why there is none."""
    prices = [log(sale.price) for sale in sales.sold]
    units = [log(sale.units) for sale in sales.sold]
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
    if square < ROUNDING_NOISE * max(total, spread):
        square = 0.0
    error = sqrt(square / freedom / spread)
    reach = find_critical_value(SIGNIFICANCE_LEVEL, freedom) * error
    steps = fsum((after - before) ** 2 for before, after in pairwise(missed))
    without_error = 0.0 if elasticity else 1.0
    return Demand(
        elasticity=elasticity,
        intercept=level,
        standard_error=error,
        interval_low=elasticity - reach,
        interval_high=elasticity + reach,
        p_value=compute_two_sided_p(elasticity / error, freedom) if error else without_error,
        r_squared=1 - square / total if total else 0.0,
        row_count=len(prices),
        smearing_factor=fmean(map(exp, missed)),
        durbin_watson=steps / square if square else 2.0,
    )


@dataclass(frozen=True)
class BestPrice:
    """A best price, and which end of the tried range limits it, if any."""

    price: float
    range_end: str = ""
    unbounded_price: float | None = None
    """The optimum by the fitted line alone; None if the line has no maximum."""


def find_best_price(
    elasticity: float, unit_cost: float, lowest: float, highest: float
) -> BestPrice:
    """Return the most profitable price within the range."""
    best = unit_cost * elasticity / (1 + elasticity) if elasticity < -1 else None
    if best is None or best > highest:
        return BestPrice(highest, "highest", best)
    return BestPrice(lowest, "lowest", best) if best < lowest else BestPrice(best)


def find_price_interval(
    demand: Demand, unit_cost: float, lowest: float, highest: float
) -> tuple[float, float]:
    """Return the best prices at both ends of the elasticity's interval, the lower one first."""
    ends = (min(each, 0.0) for each in (demand.interval_low, demand.interval_high))
    low, high = sorted(find_best_price(end, unit_cost, lowest, highest).price for end in ends)
    return low, high


def compute_break_even(fixed: float, price: float, unit_cost: float) -> int | None:
    """Return the units that cover the fixed costs; None if no number does."""
    return ceil(round(fixed / (price - unit_cost), 9)) if price > unit_cost else None
