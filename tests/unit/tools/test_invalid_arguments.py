"""Arguments that do not fit a tool's schema are refused in one line, before any computing."""

import pytest

from nodes.errors import ToolRefused
from nodes.tools.framework.settings import ToolSettings
from tests.shipped_tools import load_shipped_tools

FILES = {"h.csv": "ticker,quantity\nAAA,1\n", "p.csv": "date,AAA\n2025-01-03,9\n"}


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        ("trade_list", {"max_turnover_percent": "much"}, "max_turnover_percent: .* not 'much'"),
        ("trade_list", {"max_turnover_percent": 101}, "less than or equal to 100, not 101"),
        ("trade_list", {"max_turnover_percent": float("nan")}, "max_turnover_percent: .* not nan"),
        ("trade_list", {"deposit_amount": float("inf")}, "deposit_amount: .* not inf"),
        ("trade_list", {"min_trade_amount": -1}, "min_trade_amount: .* not -1"),
        ("trade_list", {"target_weights_percent": {"AAA": -5}}, "target_weights_percent.AAA: "),
        ("trade_list", {"equal_weights": "momentum"}, "equal_weights: .* not 'momentum'"),
        ("trade_list", {"keep": ["A" * 10_000_000]}, "keep.0: .* at most 15 characters"),
        ("trade_list", {"files": ["x"] * 10_000}, "files: .* at most 20 items"),
        ("market_data", {"as_of": "last Monday"}, "as_of: .* valid date.* not 'last Monday'"),
        ("launch_price", {"price_amount": 0}, "price_amount: .* greater than 0, not 0"),
        ("launch_price", {"unit_cost_amount": 1e300}, "unit_cost_amount: "),
        ("check_copy", {"texts": [{"channel": "fax", "text": "x"}]}, "texts.0.channel: "),
        ("check_copy", {"texts": [{"channel": "sms", "text": "x" * 10_000_000}]}, "texts.0.text: "),
        ("check_copy", {"channels": ["sms"] * 31}, "channels: .* at most 30 items"),
    ],
)
async def test_an_argument_that_does_not_fit_is_named_with_what_would(tool, arguments, message):
    (loaded,) = load_shipped_tools([tool], ToolSettings())

    with pytest.raises(ToolRefused, match=message) as raised:
        await loaded.ainvoke({**arguments, "materials": FILES})

    assert "\n" not in str(raised.value) and len(str(raised.value)) < 400


@pytest.mark.parametrize(
    ("tool", "message"),
    [
        ("market_data", "no CSV material is a table of holdings"),
        ("launch_price", "no CSV material has columns of prices and units"),
    ],
)
async def test_the_wrong_kind_of_file_is_refused_with_the_names_of_the_files(tool, message):
    (loaded,) = load_shipped_tools([tool], ToolSettings())

    with pytest.raises(ToolRefused, match=f"{message}.*; materials of this task: lease.txt"):
        await loaded.ainvoke({"materials": {"lease.txt": "The tenant may keep one cat."}})
