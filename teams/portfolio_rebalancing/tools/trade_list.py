"""List the trades that bring a portfolio to its target weights."""

import asyncio
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any, Literal

from langchain_core.tools import tool
from langgraph.prebuilt import InjectedState
from pydantic import Field

from nodes.errors import ToolRefused
from nodes.tools.tables.reader import quote_cell
from nodes.tools.tables.selection import FileNames

from .portfolio.arguments import (
    Amount,
    AsOf,
    Percent,
    RiskMethod,
    TargetWeightsPercent,
    Tickers,
    WeightMethod,
)
from .portfolio.holdings import parse_ticker
from .portfolio.portfolio import Portfolio, load_portfolio
from .portfolio.proposal import TradeTerms, report_trades
from .portfolio.trades import TradePosition, TradeRules, plan_trades

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}
FRACTION_LOT = Fraction(1, 10_000)


@tool
async def trade_list(
    target_weights_percent: TargetWeightsPercent = None,
    method: Annotated[
        WeightMethod | None, Field(description="Rule for the target weights, where none are given")
    ] = None,
    shares: Annotated[
        Literal["whole", "fractional"], Field(description="Whether parts of a share may be traded")
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
    materials: Annotated[dict[str, str] | None, InjectedState("materials")] = None,
) -> dict[str, Any]:
    """List the trades that bring a portfolio to its target weights; they sum to the cent.

    Holdings, prices and target weights (ticker, weight) are CSV files, found by their columns.
    The answer states the limits that it worked with.
    Example: trade_list(max_turnover_percent=20, min_trade_amount=250, never_sell=["GOLD"])
    """
    if method and target_weights_percent:
        raise ToolRefused("give target_weights_percent or method, not both")
    book = await asyncio.to_thread(
        load_portfolio,
        materials,
        files,
        target_weights_percent=target_weights_percent,
        as_of=as_of,
        with_targets=method is None,
    )
    sold = book.positions if without_selling else [*never_sell, *keep]
    cap = max_turnover_percent
    terms = TradeTerms(
        is_fractional=shares == "fractional",
        method=method,
        min_trade=Decimal(str(min_trade_amount or 0)),
        max_turnover_percent=None if cap is None else Decimal(str(cap)),
        deposit=Decimal(str(deposit_amount or 0)),
        unsold=_find_tickers(sold, book),
        unbought=_find_tickers([*never_buy, *keep], book),
    )
    return await asyncio.to_thread(_propose_trades, book, terms)


def _find_tickers(names: Iterable[str], book: Portfolio) -> frozenset[str]:
    found = {name: parse_ticker(name) for name in names}
    for name, ticker in found.items():
        if ticker not in book.positions:  # passing over it would trade what must not be traded
            known = ", ".join(sorted(book.positions)[:20])
            raise ToolRefused(f"{quote_cell(name)} is no ticker of the files; name one of {known}")
    return frozenset(filter(None, found.values()))


def _propose_trades(book: Portfolio, terms: TradeTerms) -> dict[str, Any]:
    weights = _choose_target_weights(book, terms.method)
    if not book.total_value + terms.deposit:
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
    cap = terms.max_turnover_percent
    rules = TradeRules(
        lot=FRACTION_LOT if terms.is_fractional else Fraction(1),
        min_trade=Fraction(terms.min_trade),
        max_turnover=None if cap is None else Fraction(cap) / 100,
    )
    found = plan_trades(positions, Fraction(book.cash + terms.deposit), rules)
    return report_trades(book, terms, weights, found)


def _choose_target_weights(book: Portfolio, method: WeightMethod | None) -> dict[str, Fraction]:
    if method == "equal_weights":
        return dict.fromkeys(book.positions, Fraction(1, len(book.positions)))
    if method:
        return _compute_risk_weights(book, method)
    if not book.targets.weights:
        raise ToolRefused(
            "there are no target weights: give a CSV file with ticker and weight, or "
            "target_weights_percent, or a method"
        )
    return {name: Fraction(weight) for name, weight in book.targets.weights.items()}


def _compute_risk_weights(book: Portfolio, method: RiskMethod) -> dict[str, Fraction]:
    from .portfolio.reference_weights import compute_reference_weights  # numpy, for these alone
    from .portfolio.risk import build_return_history

    past = build_return_history(book.prices, list(book.positions), book.as_of)
    weights = past if isinstance(past, str) else compute_reference_weights(past, method)
    if isinstance(weights, str):
        raise ToolRefused(f"no weights by {method.replace('_', ' ')}: {weights}")
    shares = [Fraction(str(round(float(weight), 6))) for weight in weights]
    return {name: share / sum(shares) for name, share in zip(book.positions, shares, strict=True)}
