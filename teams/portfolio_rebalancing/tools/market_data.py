"""Check and value holdings and prices."""

from typing import Any

from langchain_core.tools import tool

from extensions.tools.tables.formatting import (
    format_money,
    format_number,
    format_percent,
    format_price,
)
from extensions.tools.tables.reader import FileNames
from nodes.tools.framework.materials import Materials

from .portfolio.holdings import CASH, AsOf
from .portfolio.portfolio import load_portfolio

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}
MAX_CLAIMS = 24


@tool
def market_data(
    as_of: AsOf = None, files: FileNames = (), materials: Materials = None
) -> dict[str, Any]:
    """Check holdings and prices, and value each position at its last price.

    Holdings (ticker, quantity or value) and prices (date and a column for each ticker, or date,
    ticker, close) are CSV files, found by their columns. Defects are refused with file and
    line. Currencies are not converted.
    Example: market_data(as_of="2025-05-30")
    """
    book = load_portfolio(materials, files, as_of=as_of, with_targets=False)
    report, unit = book.start_report(), book.unit
    held = {name: each for name, each in book.positions.items() if each.quantity}
    worth = f"{format_money(book.total_value)}{unit} on {book.as_of}"
    report.lines.append(f"The portfolio is worth **{worth}**.\n")
    report.add_claim(f"The portfolio is worth {worth}.", book.held.name)
    rows = []
    for name, each in held.items():
        price, weight = format_price(each.price), format_percent(book.compute_weight(name))
        quantity, value = format_number(each.quantity), format_money(each.value)
        rows.append([name, quantity, price, each.priced_on, value, weight])
        text = f"The last price of {name} is {price}{unit}, of {each.priced_on}."
        if len(report.claims) < MAX_CLAIMS:
            report.add_claim(text, book.prices.name)
    share = format_percent(book.compute_weight(CASH))
    rows.append([CASH, "", "", "", format_money(book.cash), share])
    rows.append(["**total**", "", "", "", format_money(book.total_value), ""])
    columns = ["ticker", "quantity", f"price{unit}", "of", f"value{unit}", "weight %"]
    report.add_table(columns, rows)
    days = sorted({day for name in book.positions for day in book.prices.series[name]})
    report.lines.append(f"{book.prices.name}: prices of {len(days)} days, {days[0]} to {days[-1]}.")
    return report.to_json()
