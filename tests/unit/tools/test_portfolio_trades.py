"""Lists of trades, held against sums that this file does on its own."""

from decimal import Decimal
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

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


@given(portfolios())
def test_whole_shares_bring_each_weight_within_one_share_of_its_target(drawn):
    lines, cash = drawn

    found = plan_trades(lines, cash, TradeRules())

    for name, line in lines.items():
        off = compute_value_after(lines, found, name) - line.weight * compute_total(lines, cash)
        assert abs(off) < line.price


@given(portfolios())
def test_fractions_of_shares_bring_each_weight_to_its_target_but_for_cents(drawn):
    lines, cash = drawn
    lot = Fraction(1, 10_000)

    found = plan_trades(lines, cash, TradeRules(lot=lot))

    for name, line in lines.items():
        off = compute_value_after(lines, found, name) - line.weight * compute_total(lines, cash)
        assert abs(off) <= line.price * lot + 2 * len(lines) * CENT


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


def test_a_portfolio_on_its_target_is_left_alone():
    lines = {"A": TradePosition(Fraction(60), Fraction(1), Fraction(6, 10))}
    lines["B"] = TradePosition(Fraction(20), Fraction(2), Fraction(4, 10))

    found = plan_trades(lines, Fraction(0), TradeRules())

    assert not found.shares and found.cash == 0 and found.turnover == 0


def test_part_of_a_share_stays_where_only_whole_ones_trade():
    lines = {"A": TradePosition(Fraction(Decimal("10.5")), Fraction(100), Fraction(0))}
    lines["B"] = TradePosition(Fraction(0), Fraction(30), Fraction(1))

    found = plan_trades(lines, Fraction(0), TradeRules())

    assert found.shares == {"A": -10, "B": 33}
    assert found.cash == 10


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
