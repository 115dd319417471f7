"""Format figures, tables, claims and findings for a report."""

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

MAX_ROWS = 80
MAX_JOINED_NAMES = 6
COMPUTED_CONFIDENCE = 95
"""Confidence of a computed claim: the arithmetic is right, its input may not be."""

Number = Decimal | Fraction | float | int


def format_money(amount: Number) -> str:
    """Return an amount to the cent."""
    return f"{round_exactly(amount, 2):,.2f}"


def format_price(amount: Number) -> str:
    """Return a price with all its decimals, at least two."""
    return (
        format_money(amount)
        if round_exactly(amount, 2) == round_exactly(amount, 6)
        else format_number(amount)
    )


def format_number(number: Number) -> str:
    """Return a number with no more decimals than it has."""
    return f"{round_exactly(number, 6).normalize():,f}"


def format_percent(share: Number, digits: int = 2) -> str:
    """Return a share of one as a percentage, without the percent sign."""
    return f"{round_exactly(share * 100, digits):.{digits}f}"


def format_table(
    columns: Sequence[str], rows: Sequence[Sequence[str]], most: int = MAX_ROWS
) -> str:
    """Return a Markdown table with a limited number of rows."""
    lines = [columns, ["---"] * len(columns), *rows[:most]]
    text = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    return text if len(rows) <= most else f"{text}\n\n{len(rows) - most} more rows are not shown."


def join_names(places: Sequence[str]) -> str:
    """Return the first few names, and how many more."""
    more = f" and {len(places) - MAX_JOINED_NAMES} more" if len(places) > MAX_JOINED_NAMES else ""
    return ", ".join(places[:MAX_JOINED_NAMES]) + more


def build_claim(text: str, source: str, quote: str = "") -> dict[str, Any]:
    """Build a claim of a report; a computed one has no quotation."""
    return {"text": text, "source": source, "quote": quote, "confidence": COMPUTED_CONFIDENCE}


def build_finding(
    severity: str, message: str, file: str, line: int | None = None
) -> dict[str, Any]:
    """Build a finding of a report."""
    made = {
        "severity": severity,
        "message": message,
        "file": file,
        "confidence": COMPUTED_CONFIDENCE,
    }
    return made | ({"line": line} if line else {})


def round_exactly(number: Number, digits: int) -> Decimal:
    """Round exactly, halves to even."""
    return Decimal(round(Fraction(number) * 10**digits)).scaleb(-digits)
