"""Report a list of trades: the trades, the result, and what could not be reached."""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from nodes.tools.tables.formatting import (
    build_claim,
    build_finding,
    format_money,
    format_number,
    format_percent,
    format_price,
    format_table,
    join_names,
)

from .blocked_tickers import BlockedTickers
from .holdings import CASH
from .portfolio import Portfolio
from .report import build_report, format_currency_suffix, format_points
from .trades import PlannedTrades

MAX_TRADES = 200


def write_proposal(
    book: Portfolio, weights: Mapping[str, Fraction], kept: BlockedTickers, found: PlannedTrades
) -> dict[str, Any]:
    """Return the report of the trades."""
    after = _compute_weights_after(book, found)
    parts = [
        _format_trade_table(book, found),
        _format_cash_line(book, found),
        _format_weight_table(book, weights, after),
        _describe_distance(book, weights, after),
        f"Worked with: {'; '.join(_list_applied_terms(book, kept))}.",
        "Not investment advice.",
    ]
    return build_report(
        book,
        parts,
        _build_claims(book, weights, found),
        findings=_build_findings(book, weights, found),
    )


def _compute_total(book: Portfolio) -> Fraction:
    return Fraction(book.total_value + book.terms.deposit)


def _compute_weights_after(book: Portfolio, found: PlannedTrades) -> dict[str, Fraction]:
    total = _compute_total(book)
    after = {
        name: (Fraction(each.quantity) + found.shares.get(name, 0)) * Fraction(each.price) / total
        for name, each in book.positions.items()
    }
    return {**after, CASH: found.cash / total}


def _sort_amounts(found: PlannedTrades) -> dict[str, Fraction]:
    """Return the trades, sales before buys and the largest first."""
    return dict(sorted(found.amounts.items(), key=lambda pair: (pair[1] > 0, -abs(pair[1]))))


def _format_trade_table(book: Portfolio, found: PlannedTrades) -> str:
    if not found.shares:
        return "No trade is needed within these limits."
    rows = [
        [
            "sell" if amount < 0 else "buy",
            name,
            format_number(abs(found.shares[name])),
            format_price(book.positions[name].price),
            format_money(abs(amount)),
        ]
        for name, amount in _sort_amounts(found).items()
    ]
    columns = [
        "trade",
        "ticker",
        "shares",
        f"price{format_currency_suffix(book)}",
        f"amount{format_currency_suffix(book)}",
    ]
    return format_table(columns, rows, MAX_TRADES)


def _format_cash_line(book: Portfolio, found: PlannedTrades) -> str:
    amounts, currency = _sort_amounts(found).values(), format_currency_suffix(book)
    sold = -sum(amount for amount in amounts if amount < 0)
    bought = sum(amount for amount in amounts if amount > 0)
    added = f" + new cash {format_money(book.terms.deposit)}" if book.terms.deposit else ""
    return (
        f"Cash: {format_money(book.cash)}{added} + sold {format_money(sold)} - bought "
        f"{format_money(bought)} = "
        f"**{format_money(found.cash)}{currency}** left. Turnover "
        f"{format_percent(found.turnover)} percent "
        "(half of all that is bought and sold, of the whole)."
    )


def _format_weight_table(
    book: Portfolio, weights: Mapping[str, Fraction], after: Mapping[str, Fraction]
) -> str:
    rows = []
    for name in [*book.positions, CASH]:
        wanted = weights.get(name, Fraction(0))
        before = format_percent(book.compute_weight(name))
        rows.append(
            [
                name,
                before,
                format_percent(wanted),
                format_percent(after[name]),
                format_points(after[name] - wanted),
            ]
        )
    return format_table(["ticker", "before %", "target %", "after %", "off, points"], rows)


def _describe_distance(
    book: Portfolio, weights: Mapping[str, Fraction], after: Mapping[str, Fraction]
) -> str:
    distances = {name: abs(after[name] - weights.get(name, 0)) for name in book.positions}
    furthest = max(distances, key=lambda name: (distances[name], name))
    share = Fraction(book.positions[furthest].price) / _compute_total(book)
    return (
        f"Furthest from its target afterwards is {furthest}, by "
        f"{format_percent(distances[furthest])} "
        f"points; one share of it is {format_percent(share)} points."
    )


def _list_applied_terms(book: Portfolio, kept: BlockedTickers) -> list[str]:
    terms, currency = book.terms, format_currency_suffix(book)
    said = ["fractions of shares" if terms.is_fractional else "whole shares"]
    said.append(f"target weights from {_describe_target_source(book)}")
    if terms.min_trade:
        said.append(f"no trade below {format_money(terms.min_trade)}{currency}")
    if terms.max_turnover is not None:
        said.append(f"turnover at most {format_number(terms.max_turnover)} percent")
    if terms.deposit:
        said.append(f"{format_money(terms.deposit)}{currency} of new cash")
    for names, what in ((kept.not_sellable, "sale"), (kept.not_buyable, "purchase")):
        if names == book.positions.keys():
            said.append(f"no {what}s")
        elif names:
            said.append(f"no {what} of {', '.join(sorted(names))}")
    return said


def _describe_target_source(book: Portfolio) -> str:
    if book.targets.method:
        return f"the rule {book.targets.method.replace('_', ' ')}"
    return book.targets.source or "the request"


def _build_claims(
    book: Portfolio, weights: Mapping[str, Fraction], found: PlannedTrades
) -> list[dict[str, Any]]:
    amounts, currency = found.amounts, format_currency_suffix(book)
    left = f"After the trades {format_money(found.cash)}{currency} of cash are left."
    claims = [build_claim(left, book.holdings_name)]
    if book.targets.source:
        listed = ", ".join(
            f"{name} {format_percent(each)}" for name, each in list(weights.items())[:20]
        )
        text = f"The target weights are, in percent: {listed}."
        claims.append(build_claim(text, book.targets.source))
    for name in sorted(amounts, key=lambda one: -abs(amounts[one])):
        verb, each = (
            "Sell" if amounts[name] < 0 else "Buy",
            format_price(book.positions[name].price),
        )
        shares, amount = format_number(abs(found.shares[name])), format_money(abs(amounts[name]))
        text = f"{verb} {shares} {name} at {each}{currency} for {amount}{currency}."
        claims.append(build_claim(text, book.prices.name))
    return claims


def _build_findings(
    book: Portfolio, weights: Mapping[str, Fraction], found: PlannedTrades
) -> Iterator[dict[str, Any]]:
    held, cap = book.holdings_name, book.terms.max_turnover
    positions = {name: each for name, each in book.positions.items() if each.quantity}
    unnamed = [name for name in positions if name not in weights]
    if unnamed:
        text = f"held without a target weight, which is taken as 0 percent: {join_names(unnamed)}"
        yield build_finding("high", text, held)
    if cap is not None and found.wanted_turnover > Fraction(cap) / 100:
        text = (
            "the target is not reached: it takes a turnover of "
            f"{format_percent(found.wanted_turnover)} "
            f"percent, {format_number(cap)} are allowed; all trades were shrunk alike"
        )
        yield build_finding("medium", text, held)
    if found.omitted:
        text = (
            "left out as smaller than the least trade, or than a share: "
            f"{join_names(found.omitted)}"
        )
        yield build_finding("low", text, held)
    broken = [name for name, each in positions.items() if each.quantity % 1]
    if broken and not book.terms.is_fractional:
        text = f"parts of a share cannot be traded in whole shares and stay: {join_names(broken)}"
        yield build_finding("low", text, held)
