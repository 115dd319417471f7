"""A list of trades as a report: what to do, what it comes to, and what it could not reach."""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from nodes.tools.portfolio.blocked import Blocked
from nodes.tools.portfolio.book import Book
from nodes.tools.portfolio.holdings import CASH
from nodes.tools.portfolio.shown import answer, signed, unit
from nodes.tools.portfolio.trades import Trades
from nodes.tools.tables.writing import claim, count, finding, money, named, percent, price, table

MAX_TRADES = 200


def proposal(
    book: Book, weights: Mapping[str, Fraction], kept: Blocked, found: Trades
) -> dict[str, Any]:
    """Write the trades up."""
    after = _weights_after(book, found)
    parts = [
        _trade_table(book, found),
        _cash_line(book, found),
        _weight_table(book, weights, after),
        _distance(book, weights, after),
        f"Worked with: {'; '.join(_understood(book, kept))}.",
        "Not investment advice.",
    ]
    return answer(
        book, parts, _claims(book, weights, found), findings=_findings(book, weights, found)
    )


def _value(book: Book) -> Fraction:
    return Fraction(book.value + book.terms.deposit)


def _weights_after(book: Book, found: Trades) -> dict[str, Fraction]:
    total = _value(book)
    after = {
        name: (Fraction(each.quantity) + found.shares.get(name, 0)) * Fraction(each.price) / total
        for name, each in book.positions.items()
    }
    return {**after, CASH: found.cash / total}


def _amounts(found: Trades) -> dict[str, Fraction]:
    """Give the trades, sales before buys and the largest first."""
    return dict(sorted(found.amounts.items(), key=lambda pair: (pair[1] > 0, -abs(pair[1]))))


def _trade_table(book: Book, found: Trades) -> str:
    if not found.shares:
        return "No trade is needed within these limits."
    rows = [
        [
            "sell" if amount < 0 else "buy",
            name,
            count(abs(found.shares[name])),
            price(book.positions[name].price),
            money(abs(amount)),
        ]
        for name, amount in _amounts(found).items()
    ]
    columns = ["trade", "ticker", "shares", f"price{unit(book)}", f"amount{unit(book)}"]
    return table(columns, rows, MAX_TRADES)


def _cash_line(book: Book, found: Trades) -> str:
    amounts, currency = _amounts(found).values(), unit(book)
    sold = -sum(amount for amount in amounts if amount < 0)
    bought = sum(amount for amount in amounts if amount > 0)
    added = f" + new cash {money(book.terms.deposit)}" if book.terms.deposit else ""
    return (
        f"Cash: {money(book.cash)}{added} + sold {money(sold)} - bought {money(bought)} = "
        f"**{money(found.cash)}{currency}** left. Turnover {percent(found.turnover)} percent "
        "(half of all that is bought and sold, of the whole)."
    )


def _weight_table(
    book: Book, weights: Mapping[str, Fraction], after: Mapping[str, Fraction]
) -> str:
    rows = []
    for name in [*book.positions, CASH]:
        wanted = weights.get(name, Fraction(0))
        before = percent(book.weight(name))
        rows.append(
            [name, before, percent(wanted), percent(after[name]), signed(after[name] - wanted)]
        )
    return table(["ticker", "before %", "target %", "after %", "off, points"], rows)


def _distance(book: Book, weights: Mapping[str, Fraction], after: Mapping[str, Fraction]) -> str:
    distances = {name: abs(after[name] - weights.get(name, 0)) for name in book.positions}
    furthest = max(distances, key=lambda name: (distances[name], name))
    share = Fraction(book.positions[furthest].price) / _value(book)
    return (
        f"Furthest from its target afterwards is {furthest}, by {percent(distances[furthest])} "
        f"points; one share of it is {percent(share)} points."
    )


def _understood(book: Book, kept: Blocked) -> list[str]:
    terms, currency = book.terms, unit(book)
    said = ["fractions of shares" if terms.is_fractional else "whole shares"]
    said.append(f"target weights from {_target_source(book)}")
    if terms.min_trade:
        said.append(f"no trade below {money(terms.min_trade)}{currency}")
    if terms.max_turnover is not None:
        said.append(f"turnover at most {count(terms.max_turnover)} percent")
    if terms.deposit:
        said.append(f"{money(terms.deposit)}{currency} of new cash")
    for names, what in ((kept.unsold, "sale"), (kept.unbought, "purchase")):
        if names == book.positions.keys():
            said.append(f"no {what}s")
        elif names:
            said.append(f"no {what} of {', '.join(sorted(names))}")
    return said


def _target_source(book: Book) -> str:
    if book.targets.method:
        return f"the rule {book.targets.method.replace('_', ' ')}"
    return book.targets.source or "the request"


def _claims(book: Book, weights: Mapping[str, Fraction], found: Trades) -> list[dict[str, Any]]:
    amounts, currency = found.amounts, unit(book)
    left = f"After the trades {money(found.cash)}{currency} of cash are left."
    claims = [claim(left, book.holdings_name)]
    if book.targets.source:
        listed = ", ".join(f"{name} {percent(each)}" for name, each in list(weights.items())[:20])
        text = f"The target weights are, in percent: {listed}."
        claims.append(claim(text, book.targets.source))
    for name in sorted(amounts, key=lambda one: -abs(amounts[one])):
        verb, each = "Sell" if amounts[name] < 0 else "Buy", price(book.positions[name].price)
        shares, amount = count(abs(found.shares[name])), money(abs(amounts[name]))
        text = f"{verb} {shares} {name} at {each}{currency} for {amount}{currency}."
        claims.append(claim(text, book.prices.name))
    return claims


def _findings(
    book: Book, weights: Mapping[str, Fraction], found: Trades
) -> Iterator[dict[str, Any]]:
    held, cap = book.holdings_name, book.terms.max_turnover
    positions = {name: each for name, each in book.positions.items() if each.quantity}
    unnamed = [name for name in positions if name not in weights]
    if unnamed:
        text = f"held without a target weight, which is taken as 0 percent: {named(unnamed)}"
        yield finding("high", text, held)
    if cap is not None and found.wanted_turnover > Fraction(cap) / 100:
        text = (
            f"the target is not reached: it takes a turnover of {percent(found.wanted_turnover)} "
            f"percent, {count(cap)} are allowed; all trades were shrunk alike"
        )
        yield finding("medium", text, held)
    if found.left_out:
        text = f"left out as smaller than the least trade, or than a share: {named(found.left_out)}"
        yield finding("low", text, held)
    broken = [name for name, each in positions.items() if each.quantity % 1]
    if broken and not book.terms.is_fractional:
        text = f"parts of a share cannot be traded in whole shares and stay: {named(broken)}"
        yield finding("low", text, held)
