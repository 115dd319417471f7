"""Risk, against the standard library."""

import statistics
from datetime import date, timedelta
from decimal import Decimal
from math import sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teams.portfolio_rebalancing.tools.portfolio.holdings import Prices
from teams.portfolio_rebalancing.tools.portfolio.risk import ReturnHistory, build_return_history

pytestmark = pytest.mark.slow

changes = st.floats(-0.05, 0.05).map(lambda value: round(value, 4))


def make_prices(returns: list[list[float]], days_apart: int = 7) -> Prices:
    found = Prices("prices.csv")
    for n, series in enumerate(returns):
        value, by_day = Decimal(100), {date(2024, 1, 5): Decimal(100)}
        for k, change in enumerate(series, start=1):
            value *= 1 + Decimal(str(change))
            by_day[date(2024, 1, 5) + timedelta(days=days_apart * k)] = value
        found.series[f"T{n}"] = by_day
    return found


def make_history(returns: list[list[float]]) -> ReturnHistory:
    found = build_return_history(make_prices(returns), [f"T{n}" for n in range(len(returns))], None)
    assert isinstance(found, ReturnHistory)
    return found


def series(count: int) -> st.SearchStrategy[list[list[float]]]:
    one = st.lists(changes, min_size=20, max_size=20).filter(
        lambda each: statistics.stdev(each) > 0.001
    )
    return st.lists(one, min_size=count, max_size=count)


@given(series(2))
def test_volatility_correlation_and_risk_are_those_of_the_textbook(returns):
    past, (one, other) = make_history(returns), returns

    assert past.frequency == "weekly" and past.periods_per_year == 52
    spreads = [statistics.stdev(one) * sqrt(52), statistics.stdev(other) * sqrt(52)]
    assert past.volatilities == pytest.approx(spreads, rel=1e-6)
    expected = statistics.correlation(one, other)
    assert past.correlation[0, 1] == pytest.approx(expected, abs=1e-6)
    mixed = [0.6 * a + 0.3 * b for a, b in zip(one, other, strict=True)]
    assert past.compute_volatility([0.6, 0.3]) == pytest.approx(
        statistics.stdev(mixed) * sqrt(52), abs=1e-9
    )
    shares = past.compute_risk_shares([0.6, 0.3])
    brought = 0.6 * statistics.covariance(one, mixed)
    if statistics.variance(mixed) > 1e-9:
        assert shares[0] == pytest.approx(brought / statistics.variance(mixed), abs=1e-6)
        assert shares.sum() == pytest.approx(1)


def test_what_cannot_be_computed_is_said():
    assert "13 dates with a price" in str(
        build_return_history(make_prices([[0.01] * 5]), ["T0"], None)
    )
    assert "60 days apart" in str(
        build_return_history(make_prices([[0.01] * 20], 60), ["T0"], None)
    )


def test_the_interval_of_the_prices_is_inferred_from_their_dates():
    found = build_return_history(make_prices([[0.01] * 20], 1), ["T0"], None)

    assert isinstance(found, ReturnHistory)
    assert (found.frequency, found.periods_per_year) == ("daily", 252)


def test_a_date_that_lacks_a_price_is_left_out_and_counted():
    prices = make_prices([[0.01, -0.01] * 10, [0.02, -0.02] * 10])
    del prices.series["T1"][date(2024, 1, 12)]

    found = build_return_history(prices, ["T0", "T1"], None)

    assert isinstance(found, ReturnHistory)
    assert found.skipped_dates == 1 and len(found.returns) == 19
