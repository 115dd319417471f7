"""Report a list of trades: the trades, the result, and what could not be reached."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from nodes.tools.framework.tool_report import ToolReport, join_names
from nodes.tools.tables.formatting import (
    format_money,
    format_number,
    format_percent,
    format_points,
    format_price,
)

from .arguments import WeightMethod
from .holdings import CASH
from .portfolio import Portfolio
from .trades import PlannedTrades

MAX_TRADES, MAX_CLAIMS = 200, 24


@dataclass(frozen=True)
class TradeTerms:
    """What the trades must keep to."""

    is_fractional: bool
    method: WeightMethod | None
    min_trade: Decimal
    max_turnover_percent: Decimal | None
    deposit: Decimal
    unsold: frozenset[str]
    unbought: frozenset[str]


def report_trades(
    book: Portfolio, terms: TradeTerms, weights: Mapping[str, Fraction], found: PlannedTrades
) -> dict[str, Any]:
    """Return the report of the trades."""
    report = book.start_report()
    left = f"After the trades {format_money(found.cash)}{book.unit} of cash are left."
    report.add_claim(left, book.held.name)
    if book.targets.source:
        pairs = list(weights.items())[:20]
        listed = ", ".join(f"{name} {format_percent(each)}" for name, each in pairs)
        report.add_claim(f"The target weights are, in percent: {listed}.", book.targets.source)
    _add_trades(report, book, terms, found)
    _add_weights(report, book, terms, weights, found)
    report.lines.append(f"\nWorked with: {'; '.join(_list_terms(book, terms))}.")
    report.lines.append("\nNot investment advice.")
    _add_findings(report, book, terms, weights, found)
    return report.to_json()


def _add_trades(
    report: ToolReport, book: Portfolio, terms: TradeTerms, found: PlannedTrades
) -> None:
    unit, rows = book.unit, []
    amounts = sorted(found.amounts.items(), key=lambda pair: (pair[1] > 0, -abs(pair[1])))
    for name, amount in amounts:
        side, shares = "sell" if amount < 0 else "buy", format_number(abs(found.shares[name]))
        price, paid = format_price(book.positions[name].price), format_money(abs(amount))
        rows.append([side, name, shares, price, paid])
        if len(report.claims) < MAX_CLAIMS:
            text = f"{side.capitalize()} {shares} {name} at {price}{unit} for {paid}{unit}."
            report.add_claim(text, book.prices.name)
    if rows:
        columns = ["trade", "ticker", "shares", f"price{unit}", f"amount{unit}"]
        report.add_table(columns, rows, max_rows=MAX_TRADES)
    else:
        report.lines.append("No trade is needed within these limits.\n")
    sold = -sum(amount for _, amount in amounts if amount < 0)
    bought = sum(amount for _, amount in amounts if amount > 0)
    added = f" + new cash {format_money(terms.deposit)}" if terms.deposit else ""
    report.lines.append(
        f"Cash: {format_money(book.cash)}{added} + sold {format_money(sold)} - bought "
        f"{format_money(bought)} = **{format_money(found.cash)}{unit}** left. Turnover "
        f"{format_percent(found.turnover)} percent "
        "(half of all that is bought and sold, of the whole).\n"
    )


def _add_weights(
    report: ToolReport,
    book: Portfolio,
    terms: TradeTerms,
    weights: Mapping[str, Fraction],
    found: PlannedTrades,
) -> None:
    total, rows, off = Fraction(book.total_value + terms.deposit), [], dict[str, Fraction]()
    for name in [*book.positions, CASH]:
        wanted, after = weights.get(name, Fraction(0)), found.cash / total
        if name != CASH:
            each = book.positions[name]
            count = Fraction(each.quantity) + found.shares.get(name, 0)
            after = count * Fraction(each.price) / total
            off[name] = abs(after - wanted)
        shares = [format_percent(each) for each in (book.compute_weight(name), wanted, after)]
        rows.append([name, *shares, format_points(after - wanted)])
    report.add_table(["ticker", "before %", "target %", "after %", "off, points"], rows)
    furthest = max(off, key=lambda name: (off[name], name))
    share = Fraction(book.positions[furthest].price) / total
    report.lines.append(
        f"Furthest from its target afterwards is {furthest}, by {format_percent(off[furthest])} "
        f"points; one share of it is {format_percent(share)} points."
    )


def _list_terms(book: Portfolio, terms: TradeTerms) -> list[str]:
    rule = f"the rule {terms.method.replace('_', ' ')}" if terms.method else ""
    kept = ["fractions of shares" if terms.is_fractional else "whole shares"]
    kept.append(f"target weights from {rule or book.targets.source or 'the call'}")
    if terms.min_trade:
        kept.append(f"no trade below {format_money(terms.min_trade)}{book.unit}")
    if terms.max_turnover_percent is not None:
        kept.append(f"turnover at most {format_number(terms.max_turnover_percent)} percent")
    if terms.deposit:
        kept.append(f"{format_money(terms.deposit)}{book.unit} of new cash")
    for names, what in ((terms.unsold, "sale"), (terms.unbought, "purchase")):
        if names:
            is_all = names == book.positions.keys()
            kept.append(f"no {what}s" if is_all else f"no {what} of {', '.join(sorted(names))}")
    return kept


def _add_findings(
    report: ToolReport,
    book: Portfolio,
    terms: TradeTerms,
    weights: Mapping[str, Fraction],
    found: PlannedTrades,
) -> None:
    held, cap = book.held.name, terms.max_turnover_percent
    positions = {name: each for name, each in book.positions.items() if each.quantity}
    if unnamed := [name for name in positions if name not in weights]:
        text = f"held without a target weight, which is taken as 0 percent: {join_names(unnamed)}"
        report.add_finding("high", text, held)
    if cap is not None and found.wanted_turnover > Fraction(cap) / 100:
        text = (
            "the target is not reached: it takes a turnover of "
            f"{format_percent(found.wanted_turnover)} percent, {format_number(cap)} are allowed; "
            "all trades were shrunk alike"
        )
        report.add_finding("medium", text, held)
    if found.omitted:
        names = join_names(found.omitted)
        text = f"left out as smaller than the least trade, or than a share: {names}"
        report.add_finding("low", text, held)
    broken = [name for name, each in positions.items() if each.quantity % 1]
    if broken and not terms.is_fractional:
        text = f"parts of a share cannot be traded in whole shares and stay: {join_names(broken)}"
        report.add_finding("low", text, held)
