"""The facts of a contract that a register would list: title, date, law, sums of money."""

import re
from collections.abc import Iterator
from datetime import date

from dateutil.parser import ParserError, parse  # type: ignore[import-untyped]

from nodes.limits.patterns import Pattern

from .clauses import PREAMBLE, SIGNATURES
from .contract import Contract, ContractPassage
from .quantities import find_amounts

MAX_TITLE_CHARS = 90
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_DATE = Pattern(
    rf"\b(?:\d{{1,2}}(?:st|nd|rd|th)?(?:\s+day)?(?:\s+of)?\s+{_MONTH},?\s+\d{{4}}|"
    rf"{_MONTH}\s+\d{{1,2}}(?:st|nd|rd|th)?,?\s+\d{{4}}|\d{{4}}-\d{{2}}-\d{{2}})\b"
)
_DATE_CUE = Pattern(r"\b(?:dated|made|entered into|effective|executed)\b")
_LEFT_BLANK = Pattern(r"\b(?:dated?|as of|day of)\s*+(?::\s*+)?(\[[^\]\n]{0,20}\]|_{3,})")
_INSTRUMENT = r"(?:Agreement|Contract|Lease|Deed|License|Amendment|Terms and Conditions)"
_TITLE_ABOVE = Pattern(
    r"^[ #*]*(?:EXHIBIT\s+[\d.]+\s+)?(?P<title>[A-Z][A-Z &,/'()-]{2,80}?"
    rf"{_INSTRUMENT.upper()}\b|(?:[A-Z][\w-]*[ ]+){{1,7}}?{_INSTRUMENT}[ *]*$)",
    re.MULTILINE,
)
_TITLE_IN_TEXT = Pattern(
    rf"\b[Tt](?:his|HIS)\s+(?P<title>(?:[A-Z][\w&/-]*\s+){{1,7}}?(?:{_INSTRUMENT}|AGREEMENT))\b"
)
_PLACE_WORD = (
    r"(?!(?i:without|except\w*|exclu\w*|regardless|irrespective|notwithstanding|as|in|to|with|which"
    r"|that|shall|will|for|from|other|but|applicable|including|subject|if|on|by|any|this|such|is|are"
    r"|governs?|applies|or|the|laws?)\b)[A-Z][\w'.-]*+"
)
_JOINED = rf"\s+(?:of\s+the\s+|of\s+|and\s+|the\s+)?{_PLACE_WORD}"
_PLACE = rf"(?:[Tt]he\s+|THE\s+)?{_PLACE_WORD}(?:{_JOINED}){{0,6}}+"
_LAW = Pattern(
    rf"(?i:\blaws?(?:,[^.;]{{1,60}},)?\s+(?:in\s+force\s+in|of))\s+(?P<place>{_PLACE})"
    rf"|\b(?i:governed\s+(?:\w+\s+)?by|under|with)\s+(?P<adjective>{_PLACE})\s+(?i:laws?)\b"
)
_GOVERNING = Pattern(
    r"\b(?:govern(?:ed|s|ing)?|controlled|construed|interpreted|interpretation|enforced)\b"
)
_FORMED = Pattern(r"\b(?:organi[sz]ed|existing|incorporated|formed|established)\b[^,;()]{0,60}$")
_FORMED_LOOKBACK_CHARS = 90


def name_contract(contract: Contract) -> str:
    """Return the contract's title, else the name of its file."""
    top = contract.text.clean[:6_000]
    found = _TITLE_IN_TEXT.search(top) or _TITLE_ABOVE.search(top)
    if not found:
        return contract.name
    shown = " ".join(found["title"].split()).rstrip("* ")[:MAX_TITLE_CHARS]
    return shown.title() if shown.isupper() else shown


def find_agreement_date(contract: Contract) -> tuple[date | None, ContractPassage] | None:
    """Find the date of the contract; the date is None if its place was left blank."""
    clause = contract.clauses[0]
    low, end = contract.text.lowercase, clause.end if clause.number == PREAMBLE else 3_000
    opened = _DATE_CUE.search(low, 0, end)
    start = opened.end() if opened else 0
    blank = _LEFT_BLANK.search(low, 0, end)
    for at in (start, 0):
        for found in _DATE.finditer(low, at, end):
            if (day := _parse_date(found)) and not (blank and blank.start() < found.start()):
                return day, ContractPassage(clause, *found.span())
    return (None, ContractPassage(clause, *blank.span())) if blank else None


def find_governing_law(contract: Contract) -> tuple[str, ContractPassage] | None:
    """Find the governing law, with the words that name it; not the law a party is formed under."""
    clean, low = contract.text.clean, contract.text.lowercase
    for start, end in contract.sentences:
        governs = _GOVERNING.search(low, start, end)
        for found in _LAW.finditer(clean, start, end) if governs else ():
            before = low[max(start, found.start() - _FORMED_LOOKBACK_CHARS) : found.start()]
            if governs and not _FORMED.search(before):
                span = min(governs.start(), found.start()), max(governs.end(), found.end())
                span = contract.text.trim_span(*span)
                place = " ".join((found["place"] or found["adjective"]).split()).rstrip(".")
                return place, ContractPassage(contract.find_clause(start), *span)
    return None


def find_sums(contract: Contract) -> Iterator[ContractPassage]:
    """Find the sums of money that the contract names, except those in signatures."""
    for start, end in find_amounts(contract.text.lowercase):
        clause = contract.find_clause(start)
        if clause.number != SIGNATURES:
            yield ContractPassage(clause, start, end)


def _parse_date(found: re.Match[str]) -> date | None:
    try:
        day: date = parse(found[0], fuzzy=True).date()
        return day
    except (ParserError, OverflowError):
        return None
