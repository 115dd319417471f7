"""How a portfolio is split, how far that is from its target, and where its risk comes from."""

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

from langchain_core.tools import tool
from langgraph.prebuilt import InjectedState

from nodes.tools.portfolio.book import Book, Named, load_book
from nodes.tools.portfolio.holdings import CASH
from nodes.tools.portfolio.scope import aside
from nodes.tools.portfolio.shown import answer, signed, unit
from nodes.tools.portfolio.targets import Targets
from nodes.tools.portfolio.terms import RiskMethod
from nodes.tools.tables.writing import claim, money, percent, table

if TYPE_CHECKING:
    from nodes.tools.portfolio.risk import History

REFERENCES: dict[RiskMethod, str] = {
    "minimum_variance": "minimum variance",
    "risk_parity": "equal risk",
}
MAX_MATRIX = 8
"""Positions of which all correlations are shown; of more only the extremes are."""


@tool
async def allocation_analysis(
    request: str,
    holdings: str = "",
    prices: str = "",
    targets: str = "",
    materials: Annotated[dict[str, str] | None, InjectedState("materials")] = None,
) -> dict[str, Any]:
    """Measure a portfolio: weights, drift from the target, volatility, correlation, risk shares.

    `request` is what was asked, in its own words; target weights in it count before those of a
    CSV artifact (ticker, weight). The artifacts are found by their columns; name them where
    several would fit. Two reference allocations from past risk alone come with it, with the
    source of their methods; they are no forecast.
    Example: allocation_analysis(request="How far is my portfolio from 60% VTI, 40% BND?")
    """
    if elsewhere := aside(request, materials):
        return elsewhere
    return await asyncio.to_thread(_analysis, request, materials, Named(holdings, prices, targets))


def _analysis(request: str, materials: Mapping[str, str] | None, named: Named) -> dict[str, Any]:
    from nodes.tools.portfolio.risk import history  # numpy loads where risk is computed

    book = load_book(request, materials, named)
    names = list(book.positions)
    past = history(book.prices, names, book.terms.as_of)
    gaps = []
    if isinstance(past, str):
        gaps.append(f"Volatility, correlation and reference weights are missing: {past}.")
    elif past.left_out:
        gaps.append(f"{past.left_out} dates lack a price of some position and were left out.")
    if not book.targets:
        gaps.append("Drift is missing: neither the request nor a material gives target weights.")
    elif book.targets.method:
        gaps.append("Drift is missing: the target weights come from a method, see the trades.")
    measured = None if isinstance(past, str) else past
    parts = [_weights(book, measured)]
    claims = _weight_claims(book)
    if measured:
        risk = _risk_line(book, measured)
        parts += [risk, _correlations(measured), *_references(measured, gaps)]
        claims.insert(0, claim(risk, book.prices.name))
    return answer(book, parts, claims, gaps=gaps)


def _weights(book: Book, past: "History | None") -> str:
    target = {} if book.targets.method else book.targets.weights
    shares = _risk_shares(book, past)
    columns = ["ticker", f"value{unit(book)}", "weight %"]
    columns += ["target %", "drift, points"] if target else []
    columns += ["volatility % a year", "share of risk %"] if past else []
    rows = []
    for name in [*book.positions, CASH]:
        amount = book.cash if name == CASH else book.positions[name].value
        row = [name, money(amount), percent(book.weight(name))]
        if target:
            wanted = target.get(name, 0)
            row += [percent(wanted), signed(book.weight(name) - wanted)]
        row += shares.get(name, ["0.0", "0.0"]) if past else []
        rows.append(row)
    return table(columns, rows)


def _risk_shares(book: Book, past: "History | None") -> dict[str, list[str]]:
    if past is None:
        return {}
    brought = past.risk_shares(_held(book, past))
    return {
        name: [percent(float(spread), 1), percent(float(share), 1)]
        for name, spread, share in zip(past.names, past.volatilities, brought, strict=True)
    }


def _held(book: Book, past: "History") -> list[float]:
    return [float(book.weight(name)) for name in past.names]


def _risk_line(book: Book, past: "History") -> str:
    whole = percent(past.volatility(_held(book, past)), 1)
    return (
        f"The portfolio's volatility is {whole} percent a year, from {len(past.returns)} "
        f"{past.rhythm} returns, {past.first} to {past.last}."
    )


def _weight_claims(book: Book) -> list[dict[str, Any]]:
    return [
        claim(
            f"{name} has a current weight of {percent(book.weight(name))} percent"
            f"{_drift(book.targets, name, book)}.",
            book.holdings_name,
        )
        for name in [*book.positions, CASH]
    ]


def _drift(targets: Targets, name: str, book: Book) -> str:
    if not targets.weights or targets.method:
        return ""
    return f", {signed(book.weight(name) - targets.weights.get(name, 0))} points from its target"


def _correlations(past: "History") -> str:
    found, names = past.correlation, past.names
    pairs = sorted(
        (float(found[i, j]), f"{names[i]} and {names[j]} {found[i, j]:.2f}")
        for i in range(len(names))
        for j in range(i)
    )
    if not pairs:
        return ""
    line = f"Correlation: highest {pairs[-1][1]}, lowest {pairs[0][1]}."
    if not 2 < len(names) <= MAX_MATRIX:
        return line
    rows = [
        [name, *(f"{value:.2f}" for value in row)] for name, row in zip(names, found, strict=True)
    ]
    return f"{line}\n\n{table(['correlation', *names], rows)}"


def _references(past: "History", gaps: list[str]) -> list[str]:
    from nodes.tools.portfolio.reference import SOURCES, reference_weights

    if len(past.names) < 2:
        return []
    columns, named = dict[str, list[str]](), list[str]()
    for method, title in REFERENCES.items():
        weights = reference_weights(past, method)
        if isinstance(weights, str):
            gaps.append(f"No reference weights by {title}: {weights}.")
            continue
        spread = percent(past.volatility([float(weight) for weight in weights]), 1)
        columns[f"{title} %"] = [*(percent(float(weight), 1) for weight in weights), spread]
        named.append(f"{title}: {SOURCES[method]}")
    rows = [
        [name, *(column[n] for column in columns.values())]
        for n, name in enumerate([*past.names, "volatility % a year"])
    ]
    intro = (
        f"For comparison, weights from the same returns alone, no forecast ({'; '.join(named)}):"
    )
    return [intro, table(["ticker", *columns], rows)] if columns else []
