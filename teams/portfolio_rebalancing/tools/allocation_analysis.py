"""Measure how a portfolio is allocated, how far it is from its target, and where its risk is."""

from itertools import combinations
from typing import TYPE_CHECKING, Any

from langchain_core.tools import tool

from extensions.tools.tables.formatting import format_money, format_percent, format_points
from extensions.tools.tables.reader import FileNames
from nodes.tools.framework.materials import Materials
from nodes.tools.framework.tool_report import ToolReport

from .portfolio.holdings import CASH, AsOf, TargetWeightsPercent
from .portfolio.portfolio import Portfolio, load_portfolio

if TYPE_CHECKING:
    from .portfolio.risk import ReturnHistory

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}
MAX_CLAIMS = 24
MAX_MATRIX_POSITIONS = 8
"""Up to this number of positions all correlations are shown; beyond it, only the extremes."""


@tool
def allocation_analysis(
    target_weights_percent: TargetWeightsPercent = None,
    as_of: AsOf = None,
    files: FileNames = (),
    materials: Materials = None,
) -> dict[str, Any]:
    """Measure a portfolio: weights, drift from the target, volatility, correlation, risk shares.

    Holdings, prices and target weights (ticker, weight) are CSV files, found by their columns.
    Example: allocation_analysis(target_weights_percent={"VTI": 60, "BND": 40})
    """
    from .portfolio.risk import build_return_history  # numpy loads only where risk is computed

    book = load_portfolio(
        materials, files, target_weights_percent=target_weights_percent, as_of=as_of
    )
    report = book.start_report()
    past = build_return_history(book.prices, list(book.positions), book.as_of)
    if isinstance(past, str):
        report.gaps.append(f"Volatility, correlation and reference weights are missing: {past}.")
    elif past.skipped_dates:
        text = f"{past.skipped_dates} dates lack a price of some position and were left out."
        report.gaps.append(text)
    if not book.targets.weights:
        report.gaps.append("Drift is missing: there are no target weights.")
    measured = None if isinstance(past, str) else past
    if measured:
        risk = _describe_risk(book, measured)
        report.lines.append(f"{risk}\n")
        report.add_claim(risk, book.prices.name)
    _add_weights(report, book, measured)
    if measured:
        _add_correlations(report, measured)
    return report.to_json()


def _add_weights(report: ToolReport, book: Portfolio, past: "ReturnHistory | None") -> None:
    target, shares = book.targets.weights, dict[str, list[str]]()
    if past:
        brought = past.compute_risk_shares(_list_weights(book, past))
        for name, spread, share in zip(past.names, past.volatilities, brought, strict=True):
            shares[name] = [format_percent(float(each), 1) for each in (spread, share)]
    columns = ["ticker", f"value{book.unit}", "weight %"]
    columns += ["target %", "drift, points"] if target else []
    columns += ["volatility % a year", "share of risk %"] if past else []
    rows = []
    for name in [*book.positions, CASH]:
        amount = book.cash if name == CASH else book.positions[name].value
        weight, wanted = book.compute_weight(name), target.get(name, 0)
        row, drift = [name, format_money(amount), format_percent(weight)], ""
        if target:
            row += [format_percent(wanted), format_points(weight - wanted)]
            drift = f", {row[-1]} points from its target"
        rows.append(row + (shares.get(name, ["0.0", "0.0"]) if past else []))
        if len(report.claims) < MAX_CLAIMS:
            text = f"{name} has a current weight of {format_percent(weight)} percent{drift}."
            report.add_claim(text, book.held.name)
    report.add_table(columns, rows)


def _list_weights(book: Portfolio, past: "ReturnHistory") -> list[float]:
    return [float(book.compute_weight(name)) for name in past.names]


def _describe_risk(book: Portfolio, past: "ReturnHistory") -> str:
    whole = format_percent(past.compute_volatility(_list_weights(book, past)), 1)
    return (
        f"The portfolio's volatility is {whole} percent a year, from {len(past.returns)} "
        f"{past.frequency} returns, {past.first_date} to {past.last_date}."
    )


def _add_correlations(report: ToolReport, past: "ReturnHistory") -> None:
    found, names = past.correlation, past.names
    pairs = [
        (float(found[i, j]), f"{names[j]} and {names[i]} {found[i, j]:.2f}")
        for i, j in combinations(range(len(names)), 2)
    ]
    if pairs:
        high, low = max(pairs)[1], min(pairs)[1]
        report.lines.append(f"Correlation: highest {high}, lowest {low}.\n")
    if 2 < len(names) <= MAX_MATRIX_POSITIONS:
        lines = zip(names, found, strict=True)
        rows = [[name, *(f"{value:.2f}" for value in row)] for name, row in lines]
        report.add_table(["correlation", *names], rows)
