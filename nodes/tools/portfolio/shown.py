"""How amounts and tables are written in a report."""

from collections.abc import Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

from nodes.tools.portfolio.book import Book

MAX_CLAIMS = 24
MAX_ROWS = 80
ADVICE = (
    "Not investment advice: this is arithmetic on the files given. Whether weights and trades suit "
    "their owner, with taxes, fees and aims, is for a person to judge."
)

Number = Decimal | Fraction | float | int


def money(amount: Number) -> str:
    """Write an amount to the cent."""
    return f"{_rounded(amount, 2):,.2f}"


def percent(share: Number, digits: int = 2) -> str:
    """Write a share of one as a percentage, without its sign."""
    return f"{_rounded(share * 100, digits):.{digits}f}"


def price(amount: Number) -> str:
    """Write a price with all its decimals, two at least."""
    return money(amount) if _rounded(amount, 2) == _rounded(amount, 6) else count(amount)


def count(number: Number) -> str:
    """Write a number of shares with no more decimals than it has."""
    return f"{_rounded(number, 6).normalize():,f}"


def signed(share: Number) -> str:
    """Write a difference of shares in percentage points."""
    points = _rounded(share * 100, 2)
    return f"{points:+.2f}" if points else "0.00"


def table(columns: Sequence[str], rows: Sequence[Sequence[str]], most: int = MAX_ROWS) -> str:
    """Write a Markdown table of at most so many rows."""
    lines = [columns, ["---"] * len(columns), *rows[:most]]
    text = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    return text if len(rows) <= most else f"{text}\n\n{len(rows) - most} more rows are not shown."


def unit(book: Book) -> str:
    """Give the currency with a space before it; empty where no file names one."""
    return f" {book.currency}" if book.currency else ""


def claim(text: str, source: str) -> dict[str, Any]:
    """Make a claim of a report; what was computed has no quotation."""
    return {"text": text, "source": source, "quote": "", "confidence": 95}


def answer(
    book: Book,
    parts: Iterable[str],
    claims: Sequence[dict[str, Any]],
    *,
    findings: Iterable[dict[str, Any]] = (),
    gaps: Iterable[str] = (),
) -> dict[str, Any]:
    """Answer in the report's own words, with what is to be known of the files."""
    return {
        "summary": "\n\n".join(part for part in parts if part),
        "claims": list(claims)[:MAX_CLAIMS],
        "findings": [*book.findings, *findings],
        "gaps": [*book.gaps, *gaps, ADVICE],
    }


def _rounded(number: Number, digits: int) -> Decimal:
    exact = Fraction(number)
    scaled = exact * 10**digits
    return Decimal(round(scaled)).scaleb(-digits)
