"""What follows from a price: margin, break-even, and the most profitable one of those tried.

For a demand with a constant elasticity e below -1 the best price is the unit cost times e / (1 +
e); for one between -1 and 0 profit rises with the price within the range of the fit.
"""

from dataclasses import dataclass
from math import ceil

from .demand import Demand


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
