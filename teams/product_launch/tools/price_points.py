"""Find prices in documents and tables, with the sentence of each."""

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from langchain_core.tools import tool

from extensions.tools.sql.numbers import parse_number
from extensions.tools.tables.formatting import format_price
from nodes.limits.patterns import Pattern
from nodes.text.plain_text import sanitize_line, sanitize_text
from nodes.tools.framework.materials import Materials
from nodes.tools.framework.tool_report import ToolReport

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


@tool
def price_points(materials: Materials = None) -> dict[str, Any]:
    """List the prices that the files name, each with its sentence, and their range.

    Amounts with a currency in texts: rivals' prices, what people would pay, costs. Market sizes in
    thousands or millions are left out. Read the sentence before you treat an amount as a price.
    Example: price_points()
    """
    report, rows, amounts = ToolReport(), list[tuple[str, str, str]](), dict[str, list[Decimal]]()
    for name, text in _select_evidence(materials or {}).items():
        if len(text) > MAX_TEXT_CHARS:
            cut = f"only the first {MAX_TEXT_CHARS:,} characters of {name} were read"
            report.failures.append(cut)
        for amount, currency, quote in _find_prices(text[:MAX_TEXT_CHARS]):
            rows.append((f"{format_price(amount)} {currency}", name, quote))
            amounts.setdefault(currency, []).append(amount)
    if not rows:
        report.gaps.append("No text among the files names an amount of money.")
        return report.to_json()
    for currency, found in amounts.items():
        if len(found) > 1:
            low, high = format_price(min(found)), format_price(max(found))
            report.lines.append(f"{len(found)} amounts in {currency}, from {low} to {high}.\n")
    report.add_table(["amount", "source", "sentence"], rows, max_rows=MAX_POINTS)
    for source, quote in dict.fromkeys((source, quote) for _, source, quote in rows[:MAX_POINTS]):
        report.add_claim(quote, source, quote)
    return report.to_json()


def _select_evidence(materials: Mapping[str, str]) -> dict[str, str]:
    """Return the texts but for the product's own drafts, which are no evidence of the market."""
    texts = {k: text for k, text in materials.items() if k.lower().endswith(TEXT_SUFFIXES)}
    return {name: text for name, text in texts.items() if not find_drafts(name, text)[0]}


def _find_prices(text: str) -> Iterator[tuple[Decimal, str, str]]:
    """Yield the amounts of a text and their currencies, each with its sentence."""
    for part in _SENTENCE_END.split(sanitize_text(text)):
        quote = sanitize_line(part.strip().lstrip("#>*- "), MAX_QUOTE_CHARS)
        for match in _AMOUNT.finditer(part):
            amount = parse_number(match["n"] or match["m"], "point")
            sign = (match["before"] or match["after"]).upper()
            if amount is not None:
                yield amount, _CURRENCY_CODES.get(sign, sign), quote
