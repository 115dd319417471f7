"""Report a list of trades: the trades, the result, and what could not be reached."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from extensions.tools.tables.formatting import (
    format_money,
    format_number,
    format_percent,
    format_points,
    format_price,
)
from nodes.tools.framework.tool_report import ToolReport, join_names

from .holdings import CASH
from .portfolio import Portfolio
from .trades import PlannedTrades, TradeRules

MAX_TRADES, MAX_CLAIMS = 200, 24


@dataclass(frozen=True)
class TradeTerms:
    """What the trades must keep to."""

    rules: TradeRules
    equal_weights: bool
    deposit: Fraction
    unsold: frozenset[str]
    unbought: frozenset[str]


@dataclass(frozen=True)
class Proposal:
    """Trades for a portfolio, and what they were planned by."""

    book: Portfolio
    terms: TradeTerms
    weights: Mapping[str, Fraction]
    trades: PlannedTrades

    @property
    def total(self) -> Fraction:
        """Return the value of the portfolio with the new money."""
        return Fraction(self.book.total_value) + self.terms.deposit

    def compute_weight_after(self, name: str) -> Fraction:
        """Return the share of a position, or of cash, after the trades."""
        if name == CASH:
            return self.trades.cash / self.total
        each = self.book.positions[name]
        count = Fraction(each.quantity) + self.trades.shares.get(name, 0)
        return count * Fraction(each.price) / self.total


def report_trades(proposal: Proposal) -> dict[str, Any]:
    """Return the report of the trades."""
    book = proposal.book
    report = book.start_report()
    left = f"After the trades {format_money(proposal.trades.cash)}{book.unit} of cash are left."
    report.add_claim(left, book.held.name)
    if book.targets.source:
        pairs = list(proposal.weights.items())[:20]
        listed = ", ".join(f"{name} {format_percent(each)}" for name, each in pairs)
        report.add_claim(f"The target weights are, in percent: {listed}.", book.targets.source)
    _add_trades(report, proposal)
    _add_weights(report, proposal)
    report.lines.append(f"\nWorked with: {'; '.join(_list_terms(book, proposal.terms))}.")
    report.lines.append("\nNot investment advice.")
    _add_findings(report, proposal)
    return report.to_json()


def _add_trades(report: ToolReport, proposal: Proposal) -> None:
    book, trades, deposit = proposal.book, proposal.trades, proposal.terms.deposit
    unit, rows = book.unit, []
    amounts = sorted(trades.amounts.items(), key=lambda pair: (pair[1] > 0, -abs(pair[1])))
    for name, amount in amounts:
        side, shares = "sell" if amount < 0 else "buy", format_number(abs(trades.shares[name]))
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
    added = f" + new cash {format_money(deposit)}" if deposit else ""
    report.lines.append(
        f"Cash: {format_money(book.cash)}{added} + sold {format_money(sold)} - bought "
        f"{format_money(bought)} = **{format_money(trades.cash)}{unit}** left. Turnover "
        f"{format_percent(trades.turnover)} percent "
        "(half of all that is bought and sold, of the whole).\n"
    )


def _add_weights(report: ToolReport, proposal: Proposal) -> None:
    book, rows, off = proposal.book, [], dict[str, Fraction]()
    for name in [*book.positions, CASH]:
        wanted, after = proposal.weights.get(name, Fraction(0)), proposal.compute_weight_after(name)
        shares = [format_percent(each) for each in (book.compute_weight(name), wanted, after)]
        rows.append([name, *shares, format_points(after - wanted)])
        off[name] = abs(after - wanted)
    report.add_table(["ticker", "before %", "target %", "after %", "off, points"], rows)
    furthest = max(book.positions, key=lambda name: (off[name], name))
    share = Fraction(book.positions[furthest].price) / proposal.total
    report.lines.append(
        f"Furthest from its target afterwards is {furthest}, by {format_percent(off[furthest])} "
        f"points; one share of it is {format_percent(share)} points."
    )


def _list_terms(book: Portfolio, terms: TradeTerms) -> Iterator[str]:
    rules, rule = terms.rules, "the rule equal weights" if terms.equal_weights else ""
    yield "whole shares" if rules.lot == 1 else "fractions of shares"
    yield f"target weights from {rule or book.targets.source or 'the call'}"
    if rules.min_trade:
        yield f"no trade below {format_money(rules.min_trade)}{book.unit}"
    if rules.max_turnover is not None:
        yield f"turnover at most {format_number(rules.max_turnover * 100)} percent"
    if terms.deposit:
        yield f"{format_money(terms.deposit)}{book.unit} of new cash"
    for names, what in ((terms.unsold, "sale"), (terms.unbought, "purchase")):
        if names:
            is_all = names == book.positions.keys()
            yield f"no {what}s" if is_all else f"no {what} of {', '.join(sorted(names))}"


def _add_findings(report: ToolReport, proposal: Proposal) -> None:
    held, trades, rules = proposal.book.held.name, proposal.trades, proposal.terms.rules
    positions = {name: each for name, each in proposal.book.positions.items() if each.quantity}
    if unnamed := [name for name in positions if name not in proposal.weights]:
        text = f"held without a target weight, which is taken as 0 percent: {join_names(unnamed)}"
        report.add_finding("high", text, held)
    if rules.max_turnover is not None and trades.wanted_turnover > rules.max_turnover:
        text = (
            f"the target is not reached: it takes a turnover of "
            f"{format_percent(trades.wanted_turnover)} percent, "
            f"{format_number(rules.max_turnover * 100)} are allowed; all trades were shrunk alike"
        )
        report.add_finding("medium", text, held)
    if trades.omitted:
        names = join_names(trades.omitted)
        text = f"left out as smaller than the least trade, or than a share: {names}"
        report.add_finding("low", text, held)
    broken = [name for name, each in positions.items() if each.quantity % 1]
    if broken and rules.lot == 1:
        text = f"parts of a share cannot be traded in whole shares and stay: {join_names(broken)}"
        report.add_finding("low", text, held)
