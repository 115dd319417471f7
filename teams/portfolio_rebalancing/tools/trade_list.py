"""List the trades that bring a portfolio to its target weights."""

import asyncio
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any

from langchain_core.tools import tool
from langgraph.prebuilt import InjectedState

from nodes.errors import ToolRefused

from .portfolio.blocked_tickers import BlockedTickers, find_blocked_tickers
from .portfolio.out_of_scope import reject_if_out_of_scope
from .portfolio.portfolio import MaterialNames, Portfolio, load_portfolio
from .portfolio.proposal import write_proposal
from .portfolio.request_terms import RequestTerms, RiskMethod
from .portfolio.trades import TradePosition, TradeRules, plan_trades

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}
FRACTION_LOT = Fraction(1, 10_000)


@tool
async def trade_list(
    request: str,
    holdings: str = "",
    prices: str = "",
    targets: str = "",
    materials: Annotated[dict[str, str] | None, InjectedState("materials")] = None,
) -> dict[str, Any]:
    """List the trades that bring a portfolio to its target weights; they sum to the cent.

    State in `request` all that the trades must satisfy, in plain words: target weights ("60% VTI,
    40% BND", "risk parity", "equal weights") unless a CSV artifact has them, "whole shares" (the
    default) or "fractional shares", "no trade below 250 EUR", "turnover at most 20 percent", "do
    not sell GOLD", "without selling", "invest another 5,000 EUR", "as of 2025-05-30". The answer
    states what was understood. The artifacts are found by their columns; name them where several
    fit.
    Example: trade_list(request="Rebalance to targets.csv, turnover at most 20 percent")
    """
    if elsewhere := reject_if_out_of_scope(request, materials):
        return elsewhere
    return await asyncio.to_thread(
        _propose_trades, request, materials, MaterialNames(holdings, prices, targets)
    )


def _propose_trades(
    request: str, materials: Mapping[str, str] | None, named: MaterialNames
) -> dict[str, Any]:
    book = load_portfolio(request, materials, named)
    weights = _choose_target_weights(book)
    total = book.total_value + book.terms.deposit
    if not total:
        raise ToolRefused(f"{book.holdings_name} is worth nothing, and no new cash is named")
    kept = find_blocked_tickers(
        book.terms.prohibitions, book.positions, no_sales=book.terms.is_buying_only
    )
    cash = Fraction(book.cash + book.terms.deposit)
    found = plan_trades(_build_lines(book, weights, kept), cash, _build_rules(book.terms))
    return write_proposal(book, weights, kept, found)


def _choose_target_weights(book: Portfolio) -> dict[str, Fraction]:
    match book.targets.method:
        case None if not book.targets.weights:
            raise ToolRefused(
                "there are no target weights: give a CSV file with ticker and weight, or say them "
                "(60% VTI, 40% BND), or name a rule: equal weights, risk parity, minimum variance"
            )
        case None:
            return {name: Fraction(weight) for name, weight in book.targets.weights.items()}
        case "equal_weight":
            return dict.fromkeys(book.positions, Fraction(1, len(book.positions)))
        case method:
            return _compute_risk_weights(book, method)


def _compute_risk_weights(book: Portfolio, method: RiskMethod) -> dict[str, Fraction]:
    from .portfolio.reference_weights import (
        compute_reference_weights,  # numpy, for these rules alone
    )
    from .portfolio.risk import build_return_history

    past = build_return_history(book.prices, list(book.positions), book.terms.as_of)
    weights = past if isinstance(past, str) else compute_reference_weights(past, method)
    if isinstance(weights, str):
        raise ToolRefused(f"no weights by {method.replace('_', ' ')}: {weights}")
    shares = [Fraction(str(round(float(weight), 6))) for weight in weights]
    return {name: share / sum(shares) for name, share in zip(book.positions, shares, strict=True)}


def _build_lines(
    book: Portfolio, weights: Mapping[str, Fraction], kept: BlockedTickers
) -> dict[str, TradePosition]:
    return {
        name: TradePosition(
            quantity=Fraction(position.quantity),
            price=Fraction(position.price),
            weight=weights.get(name, Fraction(0)),
            may_sell=name not in kept.not_sellable,
            may_buy=name not in kept.not_buyable,
        )
        for name, position in book.positions.items()
    }


def _build_rules(terms: RequestTerms) -> TradeRules:
    cap = terms.max_turnover
    return TradeRules(
        lot=FRACTION_LOT if terms.is_fractional else Fraction(1),
        min_trade=Fraction(terms.min_trade or Decimal(0)),
        max_turnover=None if cap is None else Fraction(cap) / 100,
    )
