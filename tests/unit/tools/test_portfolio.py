"""The tools of a portfolio desk: what they compute, and what they refuse."""

import json
import re
from collections.abc import Mapping
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodes.errors import ToolRefused
from teams.portfolio_rebalancing.tools.allocation_analysis import allocation_analysis
from teams.portfolio_rebalancing.tools.market_data import market_data
from teams.portfolio_rebalancing.tools.trade_list import trade_list

HOLDINGS = "ticker,quantity,currency\nAAA,10,EUR\nBBB,5,EUR\nCASH,100,EUR\n"
PRICES = "date,AAA,BBB\n2025-01-02,19,41\n2025-01-03,20,40\n"
TARGETS = "ticker,weight\nAAA,50\nBBB,50\n"
FILES = {"holdings.csv": HOLDINGS, "prices.csv": PRICES, "targets.csv": TARGETS}
MAX_RESULT_CHARS = 20_000


async def call_tool(
    tool: Any, changed: Mapping[str, str | None] | None = None, **arguments: Any
) -> dict[str, Any]:
    """Call a tool with the files above, or with others in their place; None leaves one out."""
    files = {**FILES, **(changed or {})}
    held = {name: text for name, text in files.items() if text is not None}
    answer: dict[str, Any] = await tool.ainvoke({**arguments, "materials": held})
    assert len(json.dumps(answer)) < MAX_RESULT_CHARS
    return answer


def find_rows(summary: str, first: str) -> list[list[str]]:
    """Return the rows of the summary's table whose first column has this name."""
    lines = summary.split(f"| {first} |", 1)[1].split("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in lines]


def parse_figure(text: str) -> Fraction:
    return Fraction(text.replace(",", ""))


def join_messages(answer: dict[str, Any]) -> str:
    return "\n".join(finding["message"] for finding in answer["findings"])


async def test_positions_are_valued_at_their_last_price_or_that_of_a_given_day():
    answer = await call_tool(market_data)

    assert "**500.00 EUR on 2025-01-03**" in answer["summary"]
    assert find_rows(answer["summary"], "ticker")[0] == [
        "AAA", "10", "20.00", "2025-01-03", "200.00", "40.00"
    ]  # fmt: skip
    assert {claim["source"] for claim in answer["claims"]} == {"holdings.csv", "prices.csv"}
    assert answer["findings"] == []
    assert any("Not investment advice" in gap for gap in answer["gaps"])
    earlier = await call_tool(market_data, as_of="2025-01-02")
    assert "**495.00 EUR on 2025-01-02**" in earlier["summary"]


async def test_prices_in_rows_and_values_instead_of_quantities_give_the_same():
    long = "date;symbol;close\n2025-01-03;AAA;20,00\n2025-01-03;BBB;40,00\n"
    values = "Symbol;Market value (EUR)\nAAA;200,00\nBBB;200,00\nEUR cash;100,00\n"

    answer = await call_tool(market_data, {"holdings.csv": values, "prices.csv": long})

    assert "**500.00 on 2025-01-03**" in answer["summary"]
    assert "No file names a currency" in " ".join(answer["gaps"])


BAD_FILES = [
    ({"holdings.csv": None}, r"no CSV material is a table of holdings .* prices.csv, targets.csv"),
    ({"prices.csv": None}, "no CSV material is a table of prices"),
    (
        {"holdings.csv": "ticker,quantity\nAAA,ten\n"},
        r"holdings.csv line 2: .*'ten', is not a number",
    ),
    ({"holdings.csv": "ticker,quantity\nAAA,1\nAAA,2\n"}, "line 3: AAA stands here again, after"),
    ({"holdings.csv": "ticker,quantity\nAAA,-4\n"}, "AAA, '-4', is below zero"),
    ({"holdings.csv": "ticker,quantity\nCASH,-4\nAAA,1\n"}, "CASH, '-4', is below zero"),
    ({"holdings.csv": "ticker,quantity\nAAA,\n"}, "AAA has neither a quantity nor a value"),
    (
        {"holdings.csv": "ticker,quantity,currency\nAAA,1,EUR\nBBB,2,USD\n"},
        r"several currencies: EUR \(line 2\), USD \(line 3\)",
    ),
    (
        {"prices.csv": "date,ticker,close,currency\n2025-01-03,AAA,1,USD\n2025-01-03,BBB,1,USD\n"},
        "prices are in USD, holdings in EUR",
    ),
    ({"prices.csv": "date,AAA\n2025-01-03,20\n"}, "there is no price of BBB"),
    (
        {"prices.csv": "date,AAA,BBB\n2025-01-03,x,40\n"},
        r"prices.csv line 2: the price of AAA, 'x'",
    ),
    ({"prices.csv": "date,AAA,BBB\n2025-01-03,0,40\n"}, "is not above zero"),
    ({"prices.csv": "date,AAA,BBB\n03/01/2025,1,2\n"}, "'03/01/2025' is not a date such as"),
    (
        {"prices.csv": "date,AAA,BBB\n2025-01-03,1,2\n2025-01-03,3,2\n"},
        "AAA has another price on 2025-01-03 than in line 2: 3, not 1",
    ),
    ({"targets.csv": "ticker,weight\nAAA,50\nBBB,47\n"}, "targets.csv sum to 97, not to 100"),
    ({"targets.csv": "ticker,weight\nAAA,50\nCCC,50\n"}, "there is no price of CCC"),
    ({"targets.csv": "ticker,weight\nAAA,half\nBBB,50\n"}, "targets.csv line 2: the weight of AAA"),
    ({"targets.csv": "ticker,weight\nAAA,50\nAAA,50\n"}, "AAA has a second weight"),
    ({"more.csv": HOLDINGS}, "more than one CSV material is a table of holdings"),
]


@pytest.mark.parametrize(
    ("files", "message"), BAD_FILES, ids=[message[:40] for _, message in BAD_FILES]
)
async def test_files_that_cannot_be_computed_with_are_refused_with_the_place(files, message):
    with pytest.raises(ToolRefused, match=message) as raised:
        await call_tool(trade_list, files)

    assert "\n" not in str(raised.value) and len(str(raised.value)) < 600


async def test_a_named_file_decides_where_several_would_fit():
    other = {"other.csv": "ticker,quantity\nAAA,1\nBBB,1\n"}

    answer = await call_tool(market_data, other, files=["other.csv", "prices.csv"])

    assert answer["claims"][0]["text"] == "The portfolio is worth 60.00 on 2025-01-03."
    with pytest.raises(ToolRefused, match="no material is named 'mine"):
        await call_tool(market_data, other, files=["mine.csv"])


async def test_odd_values_are_reported_and_still_used():
    held = "ticker,quantity,value\nAAA,10,200\nBBB,5,150\n"
    prices = (
        "date,ticker,close\n2024-11-01,BBB,40\n2025-01-02,AAA,50\n2025-01-03,AAA,20\n"
        "2025-01-03,AAA,20\n"
    )

    answer = await call_tool(market_data, {"holdings.csv": held, "prices.csv": prices})

    text = join_messages(answer)
    assert "BBB (line 3) 150, not 200.00" in text
    assert "BBB (line 2, 2024-11-01)" in text
    assert "AAA (line 4) -60% to 2025-01-03" in text


async def test_the_drift_is_the_weight_less_its_target():
    answer = await call_tool(allocation_analysis)

    table = find_rows(answer["summary"], "ticker")
    assert table[0] == ["AAA", "200.00", "40.00", "50.00", "-10.00"]
    assert table[2] == ["CASH", "100.00", "20.00", "0.00", "+20.00"]
    assert "13 dates with a price of each position are needed, and there are 2" in " ".join(
        answer["gaps"]
    )


async def test_target_weights_may_be_a_column_of_the_holdings():
    held = "ticker,quantity,target\nAAA,10,40\nBBB,5,60\nCASH,100,\n"

    answer = await call_tool(allocation_analysis, {"holdings.csv": held, "targets.csv": None})

    assert [row[3] for row in find_rows(answer["summary"], "ticker")] == ["40.00", "60.00", "0.00"]


async def test_given_weights_replace_those_of_the_file_and_this_is_reported():
    answer = await call_tool(trade_list, target_weights_percent={"AAA": 100})

    assert ["buy", "AAA", "15", "20.00", "300.00"] in find_rows(answer["summary"], "trade")
    assert "not those of targets.csv" in " ".join(answer["gaps"])
    assert "held without a target weight, which is taken as 0 percent: BBB" in join_messages(answer)


async def test_every_limit_is_kept_and_reported():
    answer = await call_tool(
        trade_list,
        shares="fractional",
        min_trade_amount=20.5,
        max_turnover_percent=30,
        deposit_amount=50,
        never_sell=["bbb"],
        never_buy=["BBB"],
    )

    assert (
        "Worked with: fractions of shares; target weights from targets.csv; no trade below 20.50 "
        "EUR; turnover at most 30 percent; 50.00 EUR of new cash; no sale of BBB; no purchase of "
        "BBB."
    ) in answer["summary"]
    assert [row[1] for row in find_rows(answer["summary"], "trade")] == ["AAA"]


@pytest.mark.parametrize(
    ("limit", "sold", "bought"),
    [
        ({}, {"AAA"}, {"BBB"}),
        ({"never_sell": ["AAA"]}, set(), {"BBB"}),
        ({"never_buy": ["BBB"]}, {"AAA"}, set()),
        ({"keep": ["AAA", "BBB"]}, set(), set()),
        ({"without_selling": True}, set(), {"BBB"}),
    ],
)
async def test_what_must_not_be_traded_is_not(limit, sold, bought):
    files = {"holdings.csv": HOLDINGS.replace("AAA,10", "AAA,40")}

    answer = await call_tool(trade_list, files, **limit)

    listed = "| trade |" in answer["summary"]
    rows = find_rows(answer["summary"], "trade") if listed else []
    assert {row[1] for row in rows if row[0] == "sell"} == sold
    assert {row[1] for row in rows if row[0] == "buy"} == bought


async def test_equal_weights_need_no_table_of_targets():
    answer = await call_tool(trade_list, {"targets.csv": None}, equal_weights=True)

    bought = [["buy", "AAA", "3", "20.00", "60.00"], ["buy", "BBB", "1", "40.00", "40.00"]]
    assert find_rows(answer["summary"], "trade") == bought


async def test_neither_a_rule_for_the_weights_nor_a_valuation_reads_the_table_of_targets():
    files = {"targets.csv": "ticker,weight\nCCC,half\n"}

    rebalanced = await call_tool(trade_list, files, equal_weights=True)
    valued = await call_tool(market_data, files)

    assert [row[1] for row in find_rows(rebalanced["summary"], "trade")] == ["AAA", "BBB"]
    assert valued["claims"][0]["text"] == "The portfolio is worth 500.00 EUR on 2025-01-03."


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"never_sell": ["ZZZ"]}, "'ZZZ' is no ticker of the files; name one of AAA, BBB"),
        ({"keep": ["a b"]}, "'a b' is no ticker of the files"),
        ({"target_weights_percent": {"AAA": 60, "BBB": 30}}, "sum to 90, not to 100"),
        ({"target_weights_percent": {"AAA": 60, "aaa": 40}}, "'aaa' has a second weight"),
        ({"target_weights_percent": {"the rest": 100}}, "'the rest' is not a ticker"),
        ({"target_weights_percent": {"CCC": 100}}, "there is no price of CCC"),
        ({"target_weights_percent": {"AAA": 100}, "equal_weights": True}, "not both"),
        ({"as_of": "2024-01-01"}, "there is no price of AAA on or before 2024-01-01"),
    ],
)
async def test_arguments_that_do_not_fit_the_files_are_refused(arguments, message):
    with pytest.raises(ToolRefused, match=message):
        await call_tool(trade_list, **arguments)


async def test_without_target_weights_there_are_no_trades():
    with pytest.raises(ToolRefused, match="no target weights: give a CSV file"):
        await call_tool(trade_list, {"targets.csv": None})


async def test_a_portfolio_of_two_hundred_positions_fits_into_the_answer():
    names = [f"T{n:03}" for n in range(200)]
    held = "ticker,quantity\n" + "".join(f"{name},{n + 1}\n" for n, name in enumerate(names))
    days = [date(2025, 1, 1) + timedelta(days=n) for n in range(14)]
    prices = f"date,{','.join(names)}\n"
    for n, day in enumerate(days):
        prices += f"{day},{','.join(str(100 + (n * k) % 7) for k in range(200))}\n"
    files = {"holdings.csv": held, "prices.csv": prices, "targets.csv": None}

    for tool in (market_data, allocation_analysis):
        await call_tool(tool, files)
    await call_tool(trade_list, files, equal_weights=True)


@st.composite
def tables(draw: st.DrawFn) -> tuple[dict[str, int], dict[str, Decimal], dict[str, int], Decimal]:
    """Draw quantities, prices and weights in percent by ticker, and cash."""
    names = [f"T{n}" for n in range(draw(st.integers(2, 6)))]
    cuts = sorted(draw(st.lists(st.integers(0, 100), min_size=len(names), max_size=len(names))))
    weights = {
        name: cut - before for name, cut, before in zip(names, cuts, [0, *cuts], strict=False)
    }
    weights["CASH"] = 100 - cuts[-1]
    quantities = {name: draw(st.integers(1, 500)) for name in names}
    prices = {name: Decimal(draw(st.integers(100, 90_000))) / 100 for name in names}
    return quantities, prices, weights, Decimal(draw(st.integers(0, 500_000))) / 100


@given(tables())
async def test_the_list_sums_and_the_weights_arrive_as_computed_from_the_files_alone(drawn):
    quantities, prices, weights, cash = drawn
    held = "ticker,quantity\n" + "".join(f"{name},{n}\n" for name, n in quantities.items())
    files = {
        "holdings.csv": f"{held}CASH,{cash}\n",
        "prices.csv": "date,ticker,close\n"
        + "".join(f"2025-01-03,{name},{price}\n" for name, price in prices.items()),
        "targets.csv": "ticker,weight\n" + "".join(f"{k},{v}\n" for k, v in weights.items()),
    }

    answer = await call_tool(trade_list, files)

    left, held_after = Fraction(cash), {name: Fraction(n) for name, n in quantities.items()}
    listed = find_rows(answer["summary"], "trade") if "| trade |" in answer["summary"] else []
    for side, name, shares, price, amount in listed:
        assert parse_figure(price) == prices[name]
        assert parse_figure(amount) == parse_figure(shares) * parse_figure(price)
        sign = 1 if side == "buy" else -1
        held_after[name] += sign * parse_figure(shares)
        left -= sign * parse_figure(amount)
    text = re.search(r"= \*\*([\d,.]+)\*\* left", answer["summary"])
    assert text and parse_figure(text[1]) == left >= 0
    whole = Fraction(cash) + sum(n * Fraction(prices[name]) for name, n in quantities.items())
    for name, count in held_after.items():
        assert count >= 0
        off = count * Fraction(prices[name]) / whole - Fraction(weights[name], 100)
        assert abs(off) < Fraction(prices[name]) / whole, "within one share of its target"
    for row in find_rows(answer["summary"].split("left.")[1], "ticker"):
        name, share = row[0], Fraction(row[3])
        value = left if name == "CASH" else held_after[name] * Fraction(prices[name])
        assert abs(share - 100 * value / whole) <= Fraction(1, 200), "to the digits shown"
