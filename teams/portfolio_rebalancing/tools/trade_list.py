"""List the trades that bring a portfolio to its target weights, and what could not be reached."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any, Literal

from langchain_core.tools import tool
from pydantic import Field

from extensions.tools.tables.formatting import (
    format_money,
    format_number,
    format_percent,
    format_points,
    format_price,
)
from extensions.tools.tables.reader import FileNames, quote_cell
from nodes.errors import ToolRefused
from nodes.tools.framework.materials import Materials
from nodes.tools.framework.tool_report import ToolReport, join_names

from .portfolio.holdings import (
    CASH,
    Amount,
    AsOf,
    Percent,
    TargetWeightsPercent,
    Tickers,
    parse_ticker,
)
from .portfolio.portfolio import Portfolio, load_portfolio
from .portfolio.trades import PlannedTrades, TradePosition, TradeRules, plan_trades

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


ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}
FRACTION_LOT = Fraction(1, 10_000)
Shares = Literal["whole", "fractional"]


@tool
def trade_list(
    target_weights_percent: TargetWeightsPercent = None,
    equal_weights: Annotated[
        bool, Field(description="Whether each position gets the same weight")
    ] = False,
    shares: Annotated[
        Shares, Field(description="Whether parts of a share may be traded")
    ] = "whole",
    min_trade_amount: Annotated[
        Amount | None, Field(description="Smallest trade, in the currency of the files")
    ] = None,
    max_turnover_percent: Annotated[
        Percent | None,
        Field(description="Largest turnover (half of all bought and sold), of the portfolio"),
    ] = None,
    deposit_amount: Annotated[
        Amount | None, Field(description="New money to invest, in the currency of the files")
    ] = None,
    without_selling: Annotated[bool, Field(description="Whether nothing at all is sold")] = False,
    never_sell: Annotated[Tickers, Field(description="Tickers that are not sold")] = (),
    never_buy: Annotated[Tickers, Field(description="Tickers that are not bought")] = (),
    keep: Annotated[Tickers, Field(description="Tickers that are neither sold nor bought")] = (),
    as_of: AsOf = None,
    files: FileNames = (),
    materials: Materials = None,
) -> dict[str, Any]:
    """List the trades that bring a portfolio to its target weights; they sum to the cent.

    Holdings, prices and target weights (ticker, weight) are CSV files, found by their columns.
    The answer states the limits that it worked with.
    Example: trade_list(max_turnover_percent=20, min_trade_amount=250, never_sell=["GOLD"])
    """
    if equal_weights and target_weights_percent:
        raise ToolRefused("give target_weights_percent or equal_weights, not both")
    book = load_portfolio(
        materials,
        files,
        target_weights_percent=target_weights_percent,
        as_of=as_of,
        with_targets=not equal_weights,
    )
    terms = TradeTerms(
        rules=_build_rules(shares, min_trade_amount, max_turnover_percent),
        equal_weights=equal_weights,
        deposit=Fraction(str(deposit_amount or 0)),
        unsold=_find_tickers(book.positions if without_selling else [*never_sell, *keep], book),
        unbought=_find_tickers([*never_buy, *keep], book),
    )
    return _propose_trades(book, terms)


def _build_rules(shares: Shares, least: float | None, cap_percent: float | None) -> TradeRules:
    return TradeRules(
        lot=FRACTION_LOT if shares == "fractional" else Fraction(1),
        min_trade=Fraction(str(least or 0)),
        max_turnover=None if cap_percent is None else Fraction(str(cap_percent)) / 100,
    )


def _find_tickers(names: Iterable[str], book: Portfolio) -> frozenset[str]:
    found = {name: parse_ticker(name) for name in names}
    for name, ticker in found.items():
        if ticker not in book.positions:  # passing over it would trade what must not be traded
            known = ", ".join(sorted(book.positions)[:20])
            raise ToolRefused(f"{quote_cell(name)} is no ticker of the files; name one of {known}")
    return frozenset(filter(None, found.values()))


def _propose_trades(book: Portfolio, terms: TradeTerms) -> dict[str, Any]:
    weights = {name: Fraction(weight) for name, weight in book.targets.weights.items()}
    if terms.equal_weights:
        weights = dict.fromkeys(book.positions, Fraction(1, len(book.positions)))
    if not weights:
        raise ToolRefused(
            "there are no target weights: give a CSV file with ticker and weight, or "
            "target_weights_percent, or equal_weights"
        )
    if not (book.total_value or terms.deposit):
        raise ToolRefused(f"{book.held.name} is worth nothing, and there is no new money")
    positions = {
        name: TradePosition(
            quantity=Fraction(position.quantity),
            price=Fraction(position.price),
            weight=weights.get(name, Fraction(0)),
            may_sell=name not in terms.unsold,
            may_buy=name not in terms.unbought,
        )
        for name, position in book.positions.items()
    }
    trades = plan_trades(positions, Fraction(book.cash) + terms.deposit, terms.rules)
    return report_trades(Proposal(book, terms, weights, trades))
