"""Compute the risk of positions: returns, volatility, correlation, and risk contributions.

Volatility is the standard deviation of simple returns, times the root of the periods a year.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from itertools import pairwise
from math import sqrt
from statistics import median

import numpy as np
from numpy.typing import NDArray

from .holdings import Prices

MIN_RETURNS = 12
FloatArray = NDArray[np.float64]
_PRICE_FREQUENCIES = ((5, 252, "daily"), (10, 52, "weekly"), (45, 12, "monthly"))
"""Days between prices at most, periods a year, and their name."""


@dataclass(frozen=True)
class ReturnHistory:
    """Returns of several tickers on the dates that all have a price for."""

    names: tuple[str, ...]
    returns: FloatArray
    """One row per period, one column per ticker."""
    first_date: date
    last_date: date
    frequency: str
    periods_per_year: int
    skipped_dates: int
    """Dates on which some ticker has no price."""

    @cached_property
    def covariance(self) -> FloatArray:
        """Return the annualized sample covariance of the returns."""
        found = np.atleast_2d(np.cov(self.returns, rowvar=False))
        return np.asarray(found * self.periods_per_year, dtype=np.float64)

    @cached_property
    def volatilities(self) -> FloatArray:
        """Return the annualized volatility of each ticker."""
        return np.asarray(np.sqrt(np.diag(self.covariance)), dtype=np.float64)

    @cached_property
    def correlation(self) -> FloatArray:
        """Return the correlations; a ticker that never moved correlates with nothing."""
        spread = self.volatilities
        scale = np.where(spread > 0, spread, 1.0)
        found = np.asarray(self.covariance / np.outer(scale, scale), dtype=np.float64)
        np.fill_diagonal(found, 1.0)
        return found

    def compute_volatility(self, weights: Sequence[float]) -> float:
        """Return the volatility of a portfolio of these weights; the remainder is cash."""
        vector = np.asarray(weights, dtype=np.float64)
        return sqrt(max(0.0, float(vector @ self.covariance @ vector)))

    def compute_risk_shares(self, weights: Sequence[float]) -> FloatArray:
        """Return each ticker's share of the portfolio's variance; they sum to one."""
        vector = np.asarray(weights, dtype=np.float64)
        parts = vector * (self.covariance @ vector)
        total = parts.sum()
        return np.asarray(parts / total if total > 0 else parts, dtype=np.float64)


def build_return_history(
    prices: Prices, names: Sequence[str], as_of: date | None
) -> ReturnHistory | str:
    """Return the returns of the tickers, or why there are none to compute with."""
    series: list[Mapping[date, object]] = [prices.series.get(name, {}) for name in names]
    every = set[date]().union(*series)
    shared = set(every).intersection(*series)
    every, shared = ({day for day in days if not as_of or day <= as_of} for days in (every, shared))
    days = sorted(shared)
    if len(days) < MIN_RETURNS + 1:
        needed = MIN_RETURNS + 1
        return f"{needed} dates with a price of each position are needed, and there are {len(days)}"
    gap = median((after - before).days for before, after in pairwise(days))
    rhythm = next((each for each in _PRICE_FREQUENCIES if gap <= each[0]), None)
    if rhythm is None:
        return f"prices are {gap:.0f} days apart; daily, weekly or monthly ones are needed"
    table = np.array([[float(prices.series[name][day]) for name in names] for day in days])
    return ReturnHistory(
        names=tuple(names),
        returns=table[1:] / table[:-1] - 1,
        first_date=days[0],
        last_date=days[-1],
        frequency=rhythm[2],
        periods_per_year=rhythm[1],
        skipped_dates=len(every) - len(shared),
    )
