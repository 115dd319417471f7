"""Build the report of a portfolio tool."""

from collections.abc import Iterable, Sequence
from typing import Any

from nodes.tools.tables.formatting import Number, round_exactly

from .portfolio import Portfolio

MAX_CLAIMS = 24
ADVICE_DISCLAIMER = (
    "Not investment advice: this is arithmetic on the files given. Whether weights and trades suit "
    "their owner, with taxes, fees and aims, is for a human to judge."
)


def format_points(share: Number) -> str:
    """Return a difference of shares in percentage points."""
    points = round_exactly(share * 100, 2)
    return f"{points:+.2f}" if points else "0.00"


def format_currency_suffix(book: Portfolio) -> str:
    """Return the currency with a space before it; empty if no file names one."""
    return f" {book.currency}" if book.currency else ""


def build_report(
    book: Portfolio,
    parts: Iterable[str],
    claims: Sequence[dict[str, Any]],
    *,
    findings: Iterable[dict[str, Any]] = (),
    gaps: Iterable[str] = (),
) -> dict[str, Any]:
    """Build the report, with the known issues of the files."""
    return {
        "summary": "\n\n".join(part for part in parts if part),
        "claims": list(claims)[:MAX_CLAIMS],
        "findings": [*book.findings, *findings],
        "gaps": [*book.gaps, *gaps, ADVICE_DISCLAIMER],
    }
