"""Find prices in documents and tables, with the sentence of each."""

import asyncio
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any

from langchain_core.tools import tool
from langgraph.prebuilt import InjectedState

from nodes.limits.patterns import Pattern
from nodes.text.plain_text import sanitize_line, sanitize_text
from nodes.tools.framework.tool_report import ToolReport
from nodes.tools.tables.formatting import format_price
from nodes.tools.tables.numbers import parse_number

from .launch.drafts import TEXT_SUFFIXES, find_drafts

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}
MAX_POINTS = 24
MAX_QUOTE_CHARS = 260
MAX_TEXT_CHARS = 400_000

_CURRENCY_CODES = {"€": "EUR", "$": "USD", "£": "GBP"}
_CURRENCY_CODES |= {"EURO": "EUR", "EUROS": "EUR", "DOLLARS": "USD"}
_CURRENCY_SIGN = r"€|\$|£|\b(?:EUR|USD|GBP|CHF|euros?|dollars)\b"
_NUMBER = r"\d[\d,.]{0,30}\d|\d"
_AMOUNT = Pattern(
    rf"(?:(?P<before>{_CURRENCY_SIGN})\s?(?P<n>{_NUMBER})|(?P<m>{_NUMBER})\s?(?P<after>{_CURRENCY_SIGN}))"
    r"(?!\s?(?:m|mn|bn|k|thousand|million|billion|trillion)\b)",
    re.IGNORECASE,
)
_SENTENCE_END = Pattern(r"(?<=[.!?])\s+(?=[\"'(\[]?[A-Z0-9])|\n\s*\n|\n(?=\s*[-*#|])")


@dataclass(frozen=True)
class PricePoint:
    """An amount, and its place."""

    amount: Decimal
    currency: str
    source: str
    quote: str


@tool
async def price_points(
    materials: Annotated[dict[str, str] | None, InjectedState("materials")] = None,
) -> dict[str, Any]:
    """List the prices that the files name, each with its sentence, and their range.

    Amounts with a currency in texts: rivals' prices, what people would pay, costs. Market sizes in
    thousands or millions are left out. Read the sentence before you treat an amount as a price.
    Example: price_points()
    """
    return await asyncio.to_thread(_report_prices, materials or {})


def _report_prices(materials: Mapping[str, str]) -> dict[str, Any]:
    report = ToolReport()
    # The product's own drafts name a price, but are no evidence of market prices.
    texts = {
        name: text
        for name, text in materials.items()
        if name.lower().endswith(TEXT_SUFFIXES) and not find_drafts(name, text)[0]
    }
    report.failures += [
        f"only the first {MAX_TEXT_CHARS:,} characters of {name} were read"
        for name, text in texts.items()
        if len(text) > MAX_TEXT_CHARS
    ]
    found = [point for name, text in texts.items() for point in find_prices(name, text)]
    shown = found[:MAX_POINTS]
    if len(found) > len(shown):
        report.gaps.append(f"{len(found) - len(shown)} more amounts are not shown.")
    if not found:
        report.gaps.append("No text among the files names an amount of money.")
        return report.to_json()
    for currency in dict.fromkeys(point.currency for point in shown):
        amounts = [point.amount for point in shown if point.currency == currency]
        if len(amounts) > 1:
            low, high = format_price(min(amounts)), format_price(max(amounts))
            report.lines.append(f"{len(amounts)} amounts in {currency}, from {low} to {high}.\n")
    rows = [[f"{format_price(p.amount)} {p.currency}", p.source, p.quote] for p in shown]
    report.add_table(["amount", "source", "sentence"], rows)
    for source, quote in dict.fromkeys((point.source, point.quote) for point in shown):
        report.add_claim(quote, source, quote)
    return report.to_json()


def find_prices(source: str, text: str) -> Iterator[PricePoint]:
    """Yield the amounts of a text, each with its sentence."""
    for part in _SENTENCE_END.split(sanitize_text(text)[:MAX_TEXT_CHARS]):
        quote = sanitize_line(part.strip().lstrip("#>*- "), MAX_QUOTE_CHARS)
        for match in _AMOUNT.finditer(part):
            amount = parse_number(match["n"] or match["m"], "point")
            sign = (match["before"] or match["after"]).upper()
            if amount is not None:
                yield PricePoint(amount, _CURRENCY_CODES.get(sign, sign), source, quote)
