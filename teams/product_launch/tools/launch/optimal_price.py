"""Find the most profitable price, never outside the prices that were tried.

For a demand with a constant elasticity e below -1 the best price is the unit cost times e / (1 +
e); for one between -1 and 0 profit rises with the price within the range of the fit.
"""

from dataclasses import dataclass
from math import ceil
from typing import Literal

from .demand import Demand

RangeEnd = Literal["", "lowest", "highest"]


@dataclass(frozen=True)
class OptimalPrice:
    """A best price, and which end of the tried range limits it, if any."""

    price: float
    range_end: RangeEnd
    unbounded_price: float | None
    """The optimum by the fitted line alone; None if the line has no maximum."""


def find_optimal_price(
    demand: Demand, unit_cost: float, lowest: float, highest: float
) -> OptimalPrice:
    """Find the most profitable price within the range."""
    return _optimize_in_range(demand.elasticity, unit_cost, lowest, highest)


def find_price_interval(
    demand: Demand, unit_cost: float, lowest: float, highest: float
) -> tuple[float, float]:
    """Return the best prices at both ends of the elasticity's interval."""
    ends = [
        _optimize_in_range(min(elasticity, 0.0), unit_cost, lowest, highest).price
        for elasticity in (demand.interval_low, demand.interval_high)
    ]
    return min(ends), max(ends)


def compute_profit(demand: Demand, price: float, unit_cost: float) -> float:
    """Return the expected contribution to fixed costs and profit, of one row's span."""
    return (price - unit_cost) * demand.estimate_units(price)


def compute_break_even(fixed: float, price: float, unit_cost: float) -> int | None:
    """Return the units that cover the fixed costs; None if no number does."""
    return ceil(round(fixed / (price - unit_cost), 9)) if price > unit_cost else None


def _optimize_in_range(
    elasticity: float, unit_cost: float, lowest: float, highest: float
) -> OptimalPrice:
    if elasticity >= -1:
        return OptimalPrice(highest, "highest", None)
    best = unit_cost * elasticity / (1 + elasticity)
    if best > highest:
        return OptimalPrice(highest, "highest", best)
    return OptimalPrice(lowest, "lowest", best) if best < lowest else OptimalPrice(best, "", best)
