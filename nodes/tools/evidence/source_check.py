"""Check a claim against a source: quotation found, figures found, or not."""

from typing import Literal

from pydantic import BaseModel, Field

from nodes.text.csv_table import CsvUnreadable, is_table_name
from nodes.text.plain_text import sanitize_line
from nodes.text.whole_table import read_whole_table
from nodes.tools.evidence.figure_matching import find_figures, find_scale_hints, is_among
from nodes.tools.evidence.quotes import is_quote_in

SourceVerdict = Literal["supported", "partly", "unsupported", "source_unknown"]
MAX_SHOWN_CHARS = 300


class CitedClaim(BaseModel):
    """A claim to check."""

    text: str = Field(min_length=1, max_length=4000)
    source: str = Field("", max_length=1000)
    """Name of a material or document, as the worker cites it."""
    quote: str = Field("", max_length=8000)
    """Words of the source that support the claim."""


class SourceCheck(BaseModel):
    """The result of checking one claim."""

    source: str
    text: str
    claim: str
    quote_found: bool | None = None
    figures_missing: tuple[str, ...] = ()
    verdict: SourceVerdict


def check_claim(claim: CitedClaim, name: str, text: str) -> SourceCheck:
    """Check a claim against the text of the source called `name`."""
    quoted = is_quote_in(claim.quote, text) if claim.quote.strip() else None
    claimed = [figure for figure in find_figures(claim.text) if not figure.is_count]
    held, hints = find_figures(_separate_cells(name, text)), find_scale_hints(text)
    missing = tuple(
        dict.fromkeys(figure.text for figure in claimed if not is_among(figure, held, hints))
    )
    found = len({figure.text for figure in claimed}) - len(missing)
    verdict = _decide_verdict(quoted, found, len(missing))
    return SourceCheck(
        source=name,
        text=f"{verdict}: {_describe_reason(name, quoted, found, missing)}",
        claim=sanitize_line(claim.text, MAX_SHOWN_CHARS),
        quote_found=quoted,
        figures_missing=missing,
        verdict=verdict,
    )


def build_unknown_check(claim: CitedClaim, reason: str) -> SourceCheck:
    """Return a check for a claim whose source cannot be read, with the reason."""
    return SourceCheck(
        source=sanitize_line(claim.source, MAX_SHOWN_CHARS),
        text=f"source_unknown: {reason}",
        claim=sanitize_line(claim.text, MAX_SHOWN_CHARS),
        verdict="source_unknown",
    )


def _separate_cells(name: str, text: str) -> str:
    """Separate the cells of a table: `2024,107` in a CSV is two figures, in prose it may be one."""
    if not is_table_name(name):
        return text
    try:
        table = read_whole_table(text)
    except CsvUnreadable:
        return text
    return "\n".join(" | ".join(row) for row in (table.columns, *table.rows))


def _decide_verdict(quoted: bool | None, found: int, missing: int) -> SourceVerdict:
    if quoted and not missing:
        return "supported"
    if quoted is None and found and not missing:
        return "supported"
    if quoted or (found and not missing) or (quoted is None and not missing):
        return "partly"
    return "unsupported"


def _describe_reason(name: str, quoted: bool | None, found: int, missing: tuple[str, ...]) -> str:
    parts = list[str]()
    if quoted is not None:
        parts.append("the quotation is in it" if quoted else "the quotation is not in it")
    if found and not missing:
        parts.append("every figure is in it")
    if missing:
        listed = ", ".join(missing)
        parts.append(f"not in it: {listed} (derived by calculation, or wrong)")
    if not parts:
        parts.append("neither a quotation nor a figure to look for")
    return f"{name}: {'; '.join(parts)}"
