"""Elasticity and price, against numpy, printed tables and a search over every cent."""

import math
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from nodes.errors import ToolRefused
from teams.product_launch.tools.launch.demand import (
    Demand,
    compute_break_even,
    compute_two_sided_p,
    find_best_price,
    find_critical_value,
    find_price_interval,
    fit_demand,
)
from teams.product_launch.tools.launch.sales import load_sales
from teams.product_launch.tools.launch_price import launch_price
from teams.product_launch.tools.price_elasticity import price_elasticity

pytestmark = pytest.mark.slow

PRINTED_TABLE = ((1, 12.706), (2, 4.303), (5, 2.571), (10, 2.228), (30, 2.042), (120, 1.980))
"""Two-sided 5 percent points of Student's t, by degrees of freedom, as statistics books print."""


def make_sales_csv(rows: list[tuple[float, float]], head: str = "week,price_eur,units") -> str:
    return head + "\n" + "".join(f"{n},{p},{u}\n" for n, (p, u) in enumerate(rows, start=1))


def make_noisy_sales(elasticity: float, noise: float, count: int = 40, seed: int = 1) -> str:
    draw = random.Random(seed)
    prices = [draw.choice((19.9, 22.9, 24.9, 27.9, 29.9, 34.9)) for _ in range(count)]
    units = [90_000 * p**elasticity * math.exp(draw.gauss(0, noise)) for p in prices]
    return make_sales_csv([(p, round(u, 3)) for p, u in zip(prices, units, strict=True)])


def fit_sales_text(text: str) -> Demand:
    (sales,) = load_sales({"sales.csv": text})
    found = fit_demand(sales)
    assert isinstance(found, Demand)
    return found


async def call_tool(tool: Any, sales: str, costs: str = "", **arguments: Any) -> dict[str, Any]:
    materials = {"sales.csv": sales} | ({"costs.csv": costs} if costs else {})
    answer: dict[str, Any] = await tool.ainvoke({**arguments, "materials": materials})
    return answer


@pytest.mark.parametrize(("freedom", "point"), PRINTED_TABLE)
def test_students_distribution_is_that_of_the_printed_tables(freedom, point):
    assert find_critical_value(0.05, freedom) == pytest.approx(point, abs=5e-4)
    assert compute_two_sided_p(point, freedom) == pytest.approx(0.05, abs=1e-4)


rows_of_sales = st.lists(
    st.tuples(
        st.integers(100, 10_000).map(lambda cents: cents / 100), st.integers(1, 5_000).map(float)
    ),
    min_size=8,
    max_size=60,
)


@given(rows_of_sales)
def test_the_line_is_that_of_an_independent_least_squares(rows):
    assume(len({price for price, _ in rows}) > 2 and len({units for _, units in rows}) > 2)
    x, y = np.log([p for p, _ in rows]), np.log([u for _, u in rows])
    (slope, level), covariance = np.polyfit(x, y, 1, cov=True)
    assume(covariance[0, 0] > 1e-12)

    found = fit_sales_text(make_sales_csv(rows))

    assert found.elasticity == pytest.approx(slope, rel=1e-6, abs=1e-8)
    assert found.intercept == pytest.approx(level, rel=1e-6, abs=1e-7)
    assert found.standard_error == pytest.approx(math.sqrt(covariance[0, 0]), rel=1e-6)
    assert found.r_squared == pytest.approx(np.corrcoef(x, y)[0, 1] ** 2, abs=1e-8)
    missed = y - slope * x - level
    assert found.smearing_factor == pytest.approx(np.exp(missed).mean(), rel=1e-6)
    assert found.durbin_watson == pytest.approx((np.diff(missed) ** 2).sum() / (missed**2).sum())
    assert found.interval_low < found.elasticity < found.interval_high


def test_an_elasticity_that_made_the_sales_is_found_again():
    exact = fit_sales_text(make_noisy_sales(-1.75, 0.0))
    rough = fit_sales_text(make_noisy_sales(-1.75, 0.1))

    assert exact.elasticity == pytest.approx(-1.75, abs=1e-4)
    assert rough.interval_low < -1.75 < rough.interval_high
    assert rough.is_significant


@given(st.floats(-4, -0.1), st.floats(1, 60), st.floats(5, 40), st.floats(1, 40))
def test_no_tried_price_earns_more_than_the_best_one(elasticity, unit_cost, lowest, width):
    demand = fit_sales_text(make_noisy_sales(elasticity, 0.0))
    highest = lowest + width

    best = find_best_price(demand.elasticity, unit_cost, lowest, highest)

    assert lowest <= best.price <= highest
    at_best = (best.price - unit_cost) * demand.estimate_units(best.price)
    for price in np.linspace(lowest, highest, 400):
        earned = (price - unit_cost) * demand.estimate_units(float(price))
        assert earned <= at_best + 1e-6 * abs(at_best)
    low, high = find_price_interval(demand, unit_cost, lowest, highest)
    assert lowest <= low <= high <= highest


@given(st.floats(0, 1e6), st.floats(1, 100), st.floats(0, 99))
def test_break_even_is_the_first_number_of_units_that_pays(fixed, price, unit_cost):
    units = compute_break_even(fixed, price, unit_cost)

    if price <= unit_cost:
        assert units is None
        return
    assume(price - unit_cost > 0.01)
    assert units is not None
    assert units * (price - unit_cost) >= fixed - 1e-3
    assert (units - 1) * (price - unit_cost) < fixed + 1e-3


async def test_the_estimate_comes_with_all_that_it_rests_on():
    answer = await call_tool(price_elasticity, make_noisy_sales(-1.75, 0.1))

    demand = fit_sales_text(make_noisy_sales(-1.75, 0.1))
    (claim,) = answer["claims"]
    assert (
        f"is {demand.elasticity:.2f}, standard error {demand.standard_error:.2f}, n 40"
        in claim["text"]
    )
    assert claim["source"] == "sales.csv"
    assert "19.90 to 34.90 EUR" in claim["text"]
    assert "not an experiment" in " ".join(answer["gaps"])


async def test_what_is_not_significant_is_called_so_and_gives_no_price():
    text = make_noisy_sales(0.0, 0.4)

    result = await call_tool(price_elasticity, text)
    priced = await call_tool(launch_price, text, unit_cost_amount=6)

    assert "**Not significant**" in result["summary"]
    assert "most profitable" not in priced["summary"]
    assert "the elasticity is not significant" in " ".join(priced["gaps"])
    assert "units a week" in priced["summary"] and "margin is" in priced["summary"]


async def test_demand_that_rises_with_the_price_is_a_finding_and_gives_no_price():
    text = make_noisy_sales(1.2, 0.05)

    result = await call_tool(price_elasticity, text)
    priced = await call_tool(launch_price, text, unit_cost_amount=6)

    assert result["findings"][0]["severity"] == "high"
    assert "demand rises with the price" in " ".join(priced["gaps"])
    assert "most profitable" not in priced["summary"]


async def test_a_trend_in_the_rows_is_a_finding():
    rows = [(20.0 + (n * 7) % 10, 500.0 - 8 * n) for n in range(40)]

    answer = await call_tool(price_elasticity, make_sales_csv(rows))

    assert "Durbin-Watson" in answer["findings"][0]["message"]


async def test_the_best_price_never_leaves_the_tried_range_and_it_is_said():
    answer = await call_tool(launch_price, make_noisy_sales(-1.75, 0.0), unit_cost_amount=20)

    assert "(19.90 EUR to 34.90 EUR) is 34.90 EUR" in answer["claims"][0]["text"]
    assert "the best price would be 46.67 EUR, but nothing was measured there" in answer["summary"]
    assert "no unit earns anything at 19.90 EUR" in answer["findings"][0]["message"]


async def test_a_price_that_was_never_tried_has_a_margin_and_no_units():
    answer = await call_tool(
        launch_price,
        make_noisy_sales(-1.75, 0.0),
        unit_cost_amount=9.8,
        fixed_cost_amount=24_000,
        price_amount=49,
    )

    row = next(line for line in answer["summary"].splitlines() if line.startswith("| 49.00"))
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert cells == ["49.00", "asked about", "", "", "80.0", "", "613", ""]
    assert "What sells at 49.00 EUR is not known" in " ".join(answer["gaps"])


async def test_costs_are_given_or_else_come_from_a_table():
    costs = "item,amount_eur\nunit_cost,9.80\nfixed costs,24000\nrent,1\n"
    sales = make_noisy_sales(-2.0, 0.0)

    listed = await call_tool(launch_price, sales, costs)
    given = await call_tool(launch_price, sales, costs, unit_cost_amount=10)
    neither = await call_tool(launch_price, sales)

    assert "is 19.90 EUR" in listed["claims"][0]["text"]
    assert "would be 19.60 EUR" in listed["summary"]
    assert {claim["source"] for claim in listed["claims"]} == {"sales.csv", "costs.csv"}
    assert "is 20.00 EUR" in given["claims"][0]["text"]
    assert "24,000.00 EUR" in given["claims"][2]["text"]
    assert "the unit cost is not given" in " ".join(neither["gaps"])


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        ("item,amount\nunit_cost,cheap\n", "costs.csv line 2: the amount, 'cheap', is not a num"),
        ("item,amount\nunit_cost,1\nunit_cost,2\n", "costs.csv line 3: a second unit_cost"),
    ],
)
async def test_costs_that_cannot_be_read_are_refused_with_the_place(costs, message):
    with pytest.raises(ToolRefused, match=message):
        await call_tool(launch_price, make_noisy_sales(-2, 0), costs)


async def test_several_products_are_estimated_apart_and_one_is_priced():
    head = "week,product,price_eur,units\n"
    lines = [f"{n},Lamp,{20 + n},{4000 / (20 + n) ** 2:.4f}\n" for n in range(10)]
    lines += [f"{n},Strap,{5 + n},{900 / (5 + n) ** 1.5:.4f}\n" for n in range(10)]
    text = head + "".join(lines)

    estimated = await call_tool(price_elasticity, text)
    priced = await call_tool(launch_price, text, product="lamp", unit_cost_amount=11)

    assert (
        "| Lamp | -2.00 |" in estimated["summary"] and "| Strap | -1.50 |" in estimated["summary"]
    )
    assert "is 22.00 EUR" in priced["claims"][0]["text"]
    with pytest.raises(ToolRefused, match="Lamp, Strap; name one"):
        await call_tool(launch_price, text, unit_cost_amount=11)
    with pytest.raises(ToolRefused, match="Lamp, Strap; name one"):
        await call_tool(launch_price, text, product="Belt")


async def test_rows_without_sales_are_left_out_and_counted():
    answer = await call_tool(price_elasticity, make_noisy_sales(-1.75, 0.0) + "41,30,0\n")

    assert "1 rows without sales" in " ".join(answer["gaps"])


BAD = [
    ("week,price,units\n1,x,5\n", "line 2: the price, 'x', is not a number"),
    ("week,price,units\n1,0,5\n", "the price is not above zero"),
    ("week,price,units\n1,5,-1\n", "the number of units, '-1', is below zero"),
    ("week,price,units\n1,5,1\n2,6,1\n", "2 rows with sales, and 8 are needed"),
    ("week,price,units\n" + "1,5,1\n" * 9, "1 different prices, and 3 are needed"),
    ("week,price,units\n1,5,0\n", "0 rows with sales, and 8 are needed"),
    ("a,b\n1,2\n", "no CSV material has columns of prices and units"),
]


@pytest.mark.parametrize(("text", "message"), BAD, ids=[message for _, message in BAD])
async def test_sales_that_cannot_be_read_are_refused_with_the_place(text, message):
    with pytest.raises(ToolRefused, match=message) as raised:
        await call_tool(price_elasticity, text)

    assert "\n" not in str(raised.value)
