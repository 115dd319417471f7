"""The price that earns most, never outside the prices that were tried.

Of a demand with a constant elasticity e below -1 the best price is the unit cost times e / (1 + e);
with one between -1 and 0 profit rises with the price as far as the line holds.
"""

from dataclasses import dataclass
from math import ceil
from typing import Literal

from nodes.tools.launch.demand import Demand

End = Literal["", "lowest", "highest"]


@dataclass(frozen=True)
class Optimum:
    """A best price, and which end of the tried range holds it, if one does."""

    price: float
    end: End
    unbounded: float | None
    """Where the line alone would put it; None where it has no highest point."""


def optimum(demand: Demand, unit_cost: float, lowest: float, highest: float) -> Optimum:
    """Find the most profitable price within the range."""
    return _within(demand.elasticity, unit_cost, lowest, highest)


def interval(
    demand: Demand, unit_cost: float, lowest: float, highest: float
) -> tuple[float, float]:
    """Give the best prices at both ends of the elasticity's interval."""
    ends = [
        _within(min(elasticity, 0.0), unit_cost, lowest, highest).price
        for elasticity in (demand.low, demand.high)
    ]
    return min(ends), max(ends)


def profit(demand: Demand, price: float, unit_cost: float) -> float:
    """Give the expected contribution to fixed costs and profit, of one row's span."""
    return (price - unit_cost) * demand.units(price)


def break_even(fixed: float, price: float, unit_cost: float) -> int | None:
    """Give the units that earn the fixed costs back; None where none do."""
    return ceil(round(fixed / (price - unit_cost), 9)) if price > unit_cost else None


def _within(elasticity: float, unit_cost: float, lowest: float, highest: float) -> Optimum:
    if elasticity >= -1:
        return Optimum(highest, "highest", None)
    best = unit_cost * elasticity / (1 + elasticity)
    if best > highest:
        return Optimum(highest, "highest", best)
    return Optimum(lowest, "lowest", best) if best < lowest else Optimum(best, "", best)
