"""Estimate how demand responds to price: a least squares line through the logarithms.

log(units) = level + elasticity * log(price). Standard error, interval and probability are those of
the textbook for one explanatory variable.
"""

from dataclasses import dataclass
from itertools import pairwise
from math import exp, fsum, log, sqrt
from statistics import fmean, linear_regression

from .sales import ProductSales
from .student_t import compute_two_sided_p, find_critical_value

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
