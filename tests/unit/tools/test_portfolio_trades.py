"""Lists of trades, and risk, held against sums that this file does on its own."""

import statistics
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from math import sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teams.portfolio_rebalancing.tools.portfolio.holdings import Prices
from teams.portfolio_rebalancing.tools.portfolio.risk import ReturnHistory, build_return_history
from teams.portfolio_rebalancing.tools.portfolio.trades import (
    PlannedTrades,
    TradePosition,
    TradeRules,
    plan_trades,
)

CENT = Fraction(1, 100)
cents = st.integers(1, 200_000).map(lambda n: Fraction(n, 100))


@st.composite
def portfolios(draw: st.DrawFn) -> tuple[dict[str, TradePosition], Fraction]:
    """Draw positions with prices and target weights, and cash; some weight may be cash."""
    shares = draw(st.lists(st.integers(0, 60), min_size=1, max_size=8))
    for_cash = draw(st.integers(0, 10))
    whole = sum(shares) + for_cash or 1
    lines = {
        f"T{n}": TradePosition(
            Fraction(draw(st.integers(0, 800))), draw(cents), Fraction(share, whole)
        )
        for n, share in enumerate(shares)
    }
    return lines, draw(st.integers(0, 10_000_00)) * CENT


def compute_total(lines: dict[str, TradePosition], cash: Fraction) -> Fraction:
    return cash + sum(line.quantity * line.price for line in lines.values())


def compute_kept_cash(lines: dict[str, TradePosition], cash: Fraction) -> Fraction:
    return compute_total(lines, cash) * (1 - sum(line.weight for line in lines.values()))


def compute_value_after(
    lines: dict[str, TradePosition], found: PlannedTrades, name: str
) -> Fraction:
    return (lines[name].quantity + found.shares.get(name, 0)) * lines[name].price


@given(portfolios(), st.sampled_from((Fraction(1), Fraction(1, 10_000))))
def test_trades_bring_each_weight_within_one_lot_of_its_target_but_for_cents(drawn, lot):
    lines, cash = drawn

    found = plan_trades(lines, cash, TradeRules(lot=lot))

    for name, line in lines.items():
        off = compute_value_after(lines, found, name) - line.weight * compute_total(lines, cash)
        cents = 0 if lot == 1 else 2 * len(lines) * CENT
        assert abs(off) < line.price * lot + cents or abs(off) <= cents


@given(
    portfolios(),
    st.sampled_from((Fraction(1), Fraction(1, 10_000))),
    st.sampled_from((Fraction(0), Fraction(250), Fraction(5000))),
    st.sampled_from((None, Fraction(0), Fraction(1, 20), Fraction(1, 4))),
)
def test_trades_sum_to_the_cent_and_keep_every_limit(drawn, lot, min_trade, max_turnover):
    lines, cash = drawn

    found = plan_trades(lines, cash, TradeRules(lot, min_trade, max_turnover))

    assert cash - sum(found.amounts.values()) == found.cash >= 0
    assert found.cash >= min(cash, compute_kept_cash(lines, cash))
    traded = Fraction(0)
    for name, shares in found.shares.items():
        exact = shares * lines[name].price
        traded += abs(exact)
        assert shares % lot == 0 and shares != 0
        assert lines[name].quantity + shares >= 0
        assert 0 <= found.amounts[name] - exact < CENT
        assert abs(exact) >= min_trade
        wanted = (
            lines[name].weight * compute_total(lines, cash)
            - lines[name].quantity * lines[name].price
        )
        assert exact * wanted > 0, "no trade goes away from its target"
    if traded:
        assert found.turnover == traded / 2 / compute_total(lines, cash)
    if max_turnover is not None:
        assert found.turnover <= max_turnover


@given(portfolios(), st.data())
def test_what_may_not_be_sold_or_bought_is_not(drawn, data):
    drawn_lines, cash = drawn
    names = sorted(drawn_lines)
    unsold = data.draw(st.sets(st.sampled_from(names)))
    unbought = data.draw(st.sets(st.sampled_from(names)))
    lines = {
        name: TradePosition(
            line.quantity,
            line.price,
            line.weight,
            may_sell=name not in unsold,
            may_buy=name not in unbought,
        )
        for name, line in drawn_lines.items()
    }

    found = plan_trades(lines, cash, TradeRules())

    assert found.cash >= 0
    assert not {name for name in unsold if found.shares.get(name, 0) < 0}
    assert not {name for name in unbought if found.shares.get(name, 0) > 0}


def test_over_the_turnover_cap_all_trades_shrink_alike():
    lines = {"A": TradePosition(Fraction(1000), Fraction(1), Fraction(1, 2))}
    lines["B"] = TradePosition(Fraction(0), Fraction(1), Fraction(3, 10))
    lines["C"] = TradePosition(Fraction(0), Fraction(1), Fraction(2, 10))

    found = plan_trades(lines, Fraction(0), TradeRules(max_turnover=Fraction(1, 10)))

    assert found.shares == {"A": -100, "B": 60, "C": 40}
    assert found.wanted_turnover == Fraction(1, 2)


def test_a_trade_below_the_minimum_is_left_out_and_buys_shrink_for_the_sale_that_is_gone():
    lines = {"A": TradePosition(Fraction(520), Fraction(1), Fraction(1, 2))}
    lines["B"] = TradePosition(Fraction(480), Fraction(1), Fraction(1, 4))
    lines["C"] = TradePosition(Fraction(0), Fraction(1), Fraction(1, 4))

    found = plan_trades(lines, Fraction(0), TradeRules(min_trade=Fraction(100)))

    assert found.shares == {"B": -230, "C": 230}
    assert found.omitted == ("A",)


def test_new_cash_is_invested_where_it_is_missing():
    lines = {"A": TradePosition(Fraction(90), Fraction(10), Fraction(1, 2), may_sell=False)}
    lines["B"] = TradePosition(Fraction(10), Fraction(10), Fraction(1, 2))

    found = plan_trades(lines, Fraction(505), TradeRules())

    assert found.shares == {"B": 50} and found.cash == 5


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


@pytest.mark.slow
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


@pytest.mark.slow
def test_what_cannot_be_computed_is_said():
    assert "13 dates with a price" in str(
        build_return_history(make_prices([[0.01] * 5]), ["T0"], None)
    )
    assert "60 days apart" in str(
        build_return_history(make_prices([[0.01] * 20], 60), ["T0"], None)
    )


@pytest.mark.slow
def test_the_interval_of_the_prices_is_inferred_from_their_dates():
    found = build_return_history(make_prices([[0.01] * 20], 1), ["T0"], None)

    assert isinstance(found, ReturnHistory)
    assert (found.frequency, found.periods_per_year) == ("daily", 252)


@pytest.mark.slow
def test_a_date_that_lacks_a_price_is_left_out_and_counted():
    prices = make_prices([[0.01, -0.01] * 10, [0.02, -0.02] * 10])
    del prices.series["T1"][date(2024, 1, 12)]

    found = build_return_history(prices, ["T0", "T1"], None)

    assert isinstance(found, ReturnHistory)
    assert found.skipped_dates == 1 and len(found.returns) == 19
