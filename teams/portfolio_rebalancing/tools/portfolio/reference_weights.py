"""Reference weights that follow from past risk alone, for comparison; long only.

Equal risk: each position brings the same share of the variance (Maillard, Roncalli, Teiletche,
"The Properties of Equally Weighted Risk Contribution Portfolios", 2010). Minimum variance:
Markowitz, "Portfolio Selection", 1952, without short positions. Both are found by cyclical
coordinate descent (for equal risk: Griveau-Billion, Richard, Roncalli, "A Fast Algorithm for
Computing High-dimensional Risk Parity Portfolios", 2013): each coordinate in turn takes the value
that is best while the others stay as they are.
"""

from collections.abc import Callable
from math import sqrt

import numpy as np

from .arguments import RiskMethod
from .risk import FloatArray, ReturnHistory

MAX_UPDATES = 400_000
"""Limit on single weights, about a second's work."""
TOLERANCE = 1e-9
METHOD_SOURCES: dict[RiskMethod, str] = {
    "minimum_variance": "Markowitz 1952, long only",
    "risk_parity": "equal risk contributions, Maillard, Roncalli and Teiletche 2010",
}
CoordinateUpdate = Callable[[float, float], float]
"""The best value of a coordinate, from its own variance and its covariance with the rest."""


def compute_reference_weights(past: ReturnHistory, method: RiskMethod) -> FloatArray | str:
    """Return the weights by a method, or why it has none."""
    count = len(past.names)
    still = [name for name, spread in zip(past.names, past.volatilities, strict=True) if not spread]
    if still:
        return f"the price of {', '.join(still)} never moves"
    if method == "minimum_variance":
        if len(past.returns) <= count:
            return f"{len(past.returns)} returns are too few for {count} positions"
        return _descend_coordinates(past.covariance, _update_minimum_variance)
    return _descend_coordinates(past.covariance, _update_equal_risk)


def _update_minimum_variance(own: float, others: float) -> float:
    return max(0.0, (1.0 - others) / own)


def _update_equal_risk(own: float, others: float) -> float:
    return (sqrt(others * others + 4.0 * own) - others) / (2.0 * own)


def _descend_coordinates(covariance: FloatArray, update: CoordinateUpdate) -> FloatArray | str:
    scaled = covariance / np.diag(covariance).mean()
    found: FloatArray = 1.0 / np.sqrt(np.diag(scaled))
    for _ in range(MAX_UPDATES // len(found)):
        before = found.copy()
        for n in range(len(found)):
            own = float(scaled[n, n])
            others = float(scaled[n] @ found) - own * float(found[n])
            found[n] = update(own, others)
        if np.abs(found - before).max() <= TOLERANCE * np.abs(found).max():
            return np.asarray(found / found.sum(), dtype=np.float64)
    return f"no solution within {MAX_UPDATES:,} steps; some positions move too much alike"
