"""What a request asks of the trades, read from its words."""

from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodes.errors import ToolRefused
from teams.portfolio_rebalancing.tools.portfolio.blocked_tickers import find_blocked_tickers
from teams.portfolio_rebalancing.tools.portfolio.request_terms import read_request_terms


@pytest.mark.parametrize(
    ("request_text", "amount"),
    [
        ("no trade below 250 EUR", 250),
        ("No trades under $1,500", 1500),
        ("no orders smaller than 99.50", Decimal("99.50")),
        ("a minimum trade of 300", 300),
        ("minimum order size: 300 EUR", 300),
        ("each trade at least 200 EUR", 200),
        ("skip trades below 75", 75),
        ("do not trade below 40 EUR", 40),
        ("rebalance it", None),
    ],
)
def test_the_minimum_size_of_a_trade_is_read_from_the_request(request_text, amount):
    assert read_request_terms(request_text).min_trade == amount


@pytest.mark.parametrize(
    ("request_text", "percent"),
    [
        ("turnover at most 20 percent", 20),
        ("a turnover of at most 20%", 20),
        ("turnover capped at 7.5 %", Decimal("7.5")),
        ("at most 10 per cent turnover", 10),
        ("keep turnover below 15 percent", 15),
        ("the turnover is high", None),
    ],
)
def test_the_turnover_cap_is_read_from_the_request(request_text, percent):
    assert read_request_terms(request_text).max_turnover == percent


@pytest.mark.parametrize(
    ("request_text", "amount"),
    [
        ("invest another 5,000 EUR", 5000),
        ("add €2500 more", 2500),
        ("with 1,000 of new cash", 1000),
        ("invest 300 EUR in cash", 300),
        ("invest 5000 in WORLD", 0),
    ],
)
def test_new_cash_is_read_from_the_request(request_text, amount):
    assert read_request_terms(request_text).deposit == amount


@pytest.mark.parametrize(
    ("request_text", "weights"),
    [
        ("60% VTI, 40% BND", {"VTI": 60, "BND": 40}),
        ("VTI 60 percent, BND 40 percent", {"VTI": 60, "BND": 40}),
        ("VTI 60% BND 30% cash 10%", {"VTI": 60, "BND": 30, "CASH": 10}),
        ("55 percent in BRK.B and 45 percent of BND, turnover at most 20 percent", None),
        ("VTI: 62.5%, BND: 37.5%", {"VTI": Decimal("62.5"), "BND": Decimal("37.5")}),
        ("at most 20 percent turnover", {}),
        ("no more than 5% EUR", {}),
    ],
)
def test_target_weights_are_read_in_either_order(request_text, weights):
    expected = {"BRK.B": 55, "BND": 45} if weights is None else weights

    assert read_request_terms(request_text).weights == expected


@pytest.mark.parametrize(
    ("request_text", "unsold", "unbought"),
    [
        ("Rebalance, but do not sell GOLD or BND, and never buy VTI", "BND GOLD", "VTI"),
        ("Do not sell any of my gold.", "GOLD", ""),
        ("Don't touch BRK.B; sell the rest", "BRK.B", "BRK.B"),
        ("never trade VTI and BND but GOLD", "BND VTI", "BND VTI"),
        ("Do not sell anything", "BND BRK.B GOLD VTI", ""),
        ("without selling, please", "BND BRK.B GOLD VTI", ""),
        ("Do not sell.", "BND BRK.B GOLD VTI", ""),
        ("no sales", "BND BRK.B GOLD VTI", ""),
        ("do not trade below 250 EUR", "", ""),
        ("rebalance it", "", ""),
    ],
)
def test_what_must_not_be_sold_or_bought_is_read_from_the_request(request_text, unsold, unbought):
    terms = read_request_terms(request_text)

    found = find_blocked_tickers(
        terms.prohibitions, ["VTI", "BND", "GOLD", "BRK.B"], no_sales=terms.is_buying_only
    )

    assert found.not_sellable == set(unsold.split()) and found.not_buyable == set(unbought.split())


def test_a_prohibition_that_names_no_ticker_is_refused_and_not_passed_over():
    terms = read_request_terms("Rebalance, but do not sell the family silver")

    with pytest.raises(ToolRefused, match="names no ticker of the files; name one of BND, VTI"):
        find_blocked_tickers(terms.prohibitions, ["VTI", "BND"], no_sales=False)


def test_currency_method_and_date_are_read_from_the_request():
    terms = read_request_terms("Bring it to risk parity with fractional shares as of 2025-05-30")

    assert terms.method == "risk_parity" and terms.is_fractional
    assert terms.as_of == date(2025, 5, 30)
    assert read_request_terms("minimum variance").method == "minimum_variance"
    assert read_request_terms("equally weighted").method == "equal_weight"
    assert read_request_terms("no trade below 250 USD").currencies == {"USD"}


def test_a_figure_that_nothing_took_is_named_with_its_words():
    terms = read_request_terms(
        "Rebalance to targets2.csv, turnover at most 20 percent, keep 12 months"
    )

    assert terms.unread_figures == ("keep 12 months",)


@pytest.mark.parametrize(
    ("request_text", "message"),
    [
        ("no trade below 250, no trade below 300", "says both"),
        ("60% VTI, 50% VTI", "two weights"),
        ("as of 2025-05-30 and 2025-06-30", "several dates"),
        ("as of 2025-13-40", "is not a date"),
        ("turnover at most 1.2.3 percent", "not a number"),
    ],
)
def test_what_can_be_read_in_two_ways_is_refused(request_text, message):
    with pytest.raises(ToolRefused, match=message):
        read_request_terms(request_text)


@given(st.text(max_size=400))
def test_any_text_is_read_or_refused(request_text):
    try:
        read_request_terms(request_text)
    except ToolRefused as refusal:
        assert "\n" not in str(refusal)


@given(
    st.lists(
        st.sampled_from(
            (
                "60%",
                "VTI",
                "turnover",
                "at most",
                "no trade below",
                "250",
                "EUR",
                "do not sell",
                ",",
            )
        ),
        max_size=60,
    )
)
def test_any_order_of_its_own_words_is_read_or_refused(words):
    try:
        read_request_terms(" ".join(words))
    except ToolRefused as refusal:
        assert str(refusal)
