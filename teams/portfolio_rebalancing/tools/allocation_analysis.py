"""Measure how a portfolio is allocated, how far it is from its target, and where its risk is."""

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

from langchain_core.tools import tool
from langgraph.prebuilt import InjectedState

from nodes.tools.tables.formatting import build_claim, format_money, format_percent, format_table

from .portfolio.holdings import CASH
from .portfolio.out_of_scope import reject_if_out_of_scope
from .portfolio.portfolio import MaterialNames, Portfolio, load_portfolio
from .portfolio.report import build_report, format_currency_suffix, format_points
from .portfolio.request_terms import RiskMethod
from .portfolio.targets import TargetWeights

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}
if TYPE_CHECKING:
    from .portfolio.risk import ReturnHistory

REFERENCE_METHODS: dict[RiskMethod, str] = {
    "minimum_variance": "minimum variance",
    "risk_parity": "equal risk",
}
MAX_MATRIX_POSITIONS = 8
"""Up to this number of positions all correlations are shown; beyond it, only the extremes."""


@tool
async def allocation_analysis(
    request: str,
    holdings: str = "",
    prices: str = "",
    targets: str = "",
    materials: Annotated[dict[str, str] | None, InjectedState("materials")] = None,
) -> dict[str, Any]:
    """Measure a portfolio: weights, drift from the target, volatility, correlation, risk shares.

    `request` is the user's request in its own words; target weights in it take precedence over a
    CSV artifact (ticker, weight). The artifacts are found by their columns; name them where several
    would fit. The result includes two reference allocations computed from past risk alone, with the
    source of their methods; they are no forecast.
    Example: allocation_analysis(request="How far is my portfolio from 60% VTI, 40% BND?")
    """
    if elsewhere := reject_if_out_of_scope(request, materials):
        return elsewhere
    return await asyncio.to_thread(
        _analyze_allocation, request, materials, MaterialNames(holdings, prices, targets)
    )


def _analyze_allocation(
    request: str, materials: Mapping[str, str] | None, named: MaterialNames
) -> dict[str, Any]:
    from .portfolio.risk import (
        build_return_history,  # numpy loads only where risk is computed
    )

    book = load_portfolio(request, materials, named)
    names = list(book.positions)
    past = build_return_history(book.prices, names, book.terms.as_of)
    gaps = []
    if isinstance(past, str):
        gaps.append(f"Volatility, correlation and reference weights are missing: {past}.")
    elif past.skipped_dates:
        gaps.append(f"{past.skipped_dates} dates lack a price of some position and were left out.")
    if not book.targets:
        gaps.append("Drift is missing: neither the request nor a material gives target weights.")
    elif book.targets.method:
        gaps.append("Drift is missing: the target weights come from a method, see the trades.")
    measured = None if isinstance(past, str) else past
    parts = [_format_weights(book, measured)]
    claims = _build_weight_claims(book)
    if measured:
        risk = _describe_risk(book, measured)
        parts += [
            risk,
            _describe_correlations(measured),
            *_describe_reference_weights(measured, gaps),
        ]
        claims.insert(0, build_claim(risk, book.prices.name))
    return build_report(book, parts, claims, gaps=gaps)


def _format_weights(book: Portfolio, past: "ReturnHistory | None") -> str:
    target = {} if book.targets.method else book.targets.weights
    shares = _format_risk_shares(book, past)
    columns = ["ticker", f"value{format_currency_suffix(book)}", "weight %"]
    columns += ["target %", "drift, points"] if target else []
    columns += ["volatility % a year", "share of risk %"] if past else []
    rows = []
    for name in [*book.positions, CASH]:
        amount = book.cash if name == CASH else book.positions[name].value
        row = [name, format_money(amount), format_percent(book.compute_weight(name))]
        if target:
            wanted = target.get(name, 0)
            row += [format_percent(wanted), format_points(book.compute_weight(name) - wanted)]
        row += shares.get(name, ["0.0", "0.0"]) if past else []
        rows.append(row)
    return format_table(columns, rows)


def _format_risk_shares(book: Portfolio, past: "ReturnHistory | None") -> dict[str, list[str]]:
    if past is None:
        return {}
    brought = past.compute_risk_shares(_list_weights(book, past))
    return {
        name: [format_percent(float(spread), 1), format_percent(float(share), 1)]
        for name, spread, share in zip(past.names, past.volatilities, brought, strict=True)
    }


def _list_weights(book: Portfolio, past: "ReturnHistory") -> list[float]:
    return [float(book.compute_weight(name)) for name in past.names]


def _describe_risk(book: Portfolio, past: "ReturnHistory") -> str:
    whole = format_percent(past.compute_volatility(_list_weights(book, past)), 1)
    return (
        f"The portfolio's volatility is {whole} percent a year, from {len(past.returns)} "
        f"{past.frequency} returns, {past.first_date} to {past.last_date}."
    )


def _build_weight_claims(book: Portfolio) -> list[dict[str, Any]]:
    return [
        build_claim(
            f"{name} has a current weight of {format_percent(book.compute_weight(name))} percent"
            f"{_describe_drift(book.targets, name, book)}.",
            book.holdings_name,
        )
        for name in [*book.positions, CASH]
    ]


def _describe_drift(targets: TargetWeights, name: str, book: Portfolio) -> str:
    if not targets.weights or targets.method:
        return ""
    return (
        f", {format_points(book.compute_weight(name) - targets.weights.get(name, 0))} points "
        "from its target"
    )


def _describe_correlations(past: "ReturnHistory") -> str:
    found, names = past.correlation, past.names
    pairs = sorted(
        (float(found[i, j]), f"{names[i]} and {names[j]} {found[i, j]:.2f}")
        for i in range(len(names))
        for j in range(i)
    )
    if not pairs:
        return ""
    line = f"Correlation: highest {pairs[-1][1]}, lowest {pairs[0][1]}."
    if not 2 < len(names) <= MAX_MATRIX_POSITIONS:
        return line
    rows = [
        [name, *(f"{value:.2f}" for value in row)] for name, row in zip(names, found, strict=True)
    ]
    return f"{line}\n\n{format_table(['correlation', *names], rows)}"


def _describe_reference_weights(past: "ReturnHistory", gaps: list[str]) -> list[str]:
    from .portfolio.reference_weights import METHOD_SOURCES, compute_reference_weights

    if len(past.names) < 2:
        return []
    columns, named = dict[str, list[str]](), list[str]()
    for method, title in REFERENCE_METHODS.items():
        weights = compute_reference_weights(past, method)
        if isinstance(weights, str):
            gaps.append(f"No reference weights by {title}: {weights}.")
            continue
        spread = format_percent(past.compute_volatility([float(weight) for weight in weights]), 1)
        columns[f"{title} %"] = [*(format_percent(float(weight), 1) for weight in weights), spread]
        named.append(f"{title}: {METHOD_SOURCES[method]}")
    rows = [
        [name, *(column[n] for column in columns.values())]
        for n, name in enumerate([*past.names, "volatility % a year"])
    ]
    intro = (
        f"For comparison, weights from the same returns alone, no forecast ({'; '.join(named)}):"
    )
    return [intro, format_table(["ticker", *columns], rows)] if columns else []
