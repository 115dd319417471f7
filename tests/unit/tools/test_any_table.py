"""Whatever the tables say and the arguments are, a tool answers or refuses in one line."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nodes.errors import ToolRefused
from teams.portfolio_rebalancing.tools.allocation_analysis import allocation_analysis
from teams.portfolio_rebalancing.tools.market_data import market_data
from teams.portfolio_rebalancing.tools.trade_list import trade_list
from teams.product_launch.tools.launch_price import launch_price
from teams.product_launch.tools.price_elasticity import price_elasticity

CELLS = (
    *("AAA", "BBB", "CASH", "EUR", "USD", "10", "0", "-3", "1,5", "1.234,50", "x", "", '"', "|"),
    *("2025-01-03", "2025-01-04", "2024-12-01", "50", "50%", "1e5", "a b", "9" * 18, "0.000001"),
)
PERCENTS = st.floats(0, 100) | st.sampled_from((0, 20, 60, 100))
AMOUNTS = st.floats(0, 1e12) | st.sampled_from((0, 5, 250))
TICKERS = st.lists(st.sampled_from(("AAA", "bbb", "CASH", "ZZZ", "")), max_size=3)
ARGUMENTS: dict[str, st.SearchStrategy[Any]] = {
    "target_weights_percent": st.dictionaries(st.sampled_from(("AAA", "BBB", "CASH")), PERCENTS)
    | st.just({"AAA": 60, "BBB": 40}),
    "equal_weights": st.booleans(),
    "shares": st.sampled_from(("whole", "fractional")),
    "min_trade_amount": AMOUNTS,
    "max_turnover_percent": PERCENTS,
    "deposit_amount": AMOUNTS,
    "without_selling": st.booleans(),
    "never_sell": TICKERS,
    "keep": TICKERS,
    "as_of": st.dates().map(str) | st.just("2025-01-03"),
    "unit_cost_amount": AMOUNTS,
    "fixed_cost_amount": AMOUNTS,
    "price_amount": st.floats(0.01, 1e12),
    "product": st.sampled_from(("", "AAA", "x")),
}
GOOD = {
    "holdings.csv": "ticker,quantity\nAAA,10\nBBB,5\nCASH,10\n",
    "prices.csv": "date,AAA,BBB\n"
    + "".join(f"2025-01-{day:02},{10 + day % 3},{20 + day % 4}\n" for day in range(1, 28)),
    "targets.csv": "ticker,weight\nAAA,50\nBBB,40\nCASH,10\n",
    "sales.csv": "week,price,units\n" + "".join(f"{n},{n},{900 // n}\n" for n in range(5, 20)),
}
HEADS = {
    "holdings.csv": ("ticker", "quantity", "value", "currency", "target", "AAA"),
    "prices.csv": ("date", "AAA", "BBB", "ticker", "close", "currency", "CASH"),
    "targets.csv": ("ticker", "weight", "percent"),
    "sales.csv": ("week", "price_eur", "units", "product", "quantity", "item", "amount"),
}


def build_table_texts(heads: tuple[str, ...]) -> st.SearchStrategy[str]:
    columns = st.lists(st.sampled_from(heads), min_size=1, max_size=5)
    rows = st.lists(st.lists(st.sampled_from(CELLS), min_size=1, max_size=5), max_size=10)
    return st.builds(
        lambda head, body, mark: "\n".join(mark.join(line) for line in [head, *body]),
        columns,
        rows,
        st.sampled_from((",", ";", "\t")),
    )


materials = st.fixed_dictionaries(
    {name: st.just(text) | build_table_texts(HEADS[name]) for name, text in GOOD.items()}
)


@pytest.mark.parametrize(
    "tool", [market_data, allocation_analysis, trade_list, price_elasticity, launch_price]
)
@given(files=materials, drawn=st.data())
@settings(suppress_health_check=[HealthCheck.too_slow])
async def test_a_tool_answers_or_refuses_in_one_line(
    tool: Any, files: dict[str, str], drawn: st.DataObject
) -> None:
    known = {name: values for name, values in ARGUMENTS.items() if name in tool.args}
    arguments = drawn.draw(st.fixed_dictionaries({}, optional=known))
    try:
        answer = await tool.ainvoke({**arguments, "materials": files})
    except ToolRefused as refusal:
        assert "\n" not in str(refusal) and len(str(refusal)) < 2000
    else:
        assert answer["summary"] and answer["gaps"]
