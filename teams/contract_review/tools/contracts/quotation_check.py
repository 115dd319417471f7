"""Check quotations against the contracts they name: whether they occur, and in which clause."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from nodes.limits.patterns import Pattern
from nodes.text.counts import format_count
from nodes.text.plain_text import sanitize_line

from .clauses import find_clauses
from .contract import Contract
from .tool_result import fit_to_size

QuotationVerdict = Literal[
    "verbatim", "spacing differs", "not found", "other clause", "source unknown"
]
MAX_SHOWN_CHARS = 200
MAX_LISTED_QUOTATIONS = 40
_CLAUSE = Pattern(r"\b(?:clause|section|article)\s+(?P<number>\d[\w.()]*|[IVXL]+\b)", re.IGNORECASE)
WRONG_VERDICTS: tuple[QuotationVerdict, ...] = ("not found", "other clause", "source unknown")


def check_quotations(
    claims: Sequence[Mapping[str, str]], contracts: Mapping[str, Contract]
) -> dict[str, Any]:
    """Return a verdict for each quotation, and a finding for each that is not confirmed."""
    quotes = [claim for claim in claims if claim["quote"].strip()]
    results = [_check_quotation(claim, contracts) for claim in quotes]
    wrong = [result for result in results if result["verdict"] in WRONG_VERDICTS]
    more = len(wrong) - MAX_LISTED_QUOTATIONS
    answer = {
        "summary": _build_summary(results, wrong, len(claims) - len(quotes)),
        "quotations": len(results),
        "wrong": wrong[:MAX_LISTED_QUOTATIONS],
        "findings": [_build_finding(result) for result in wrong[:MAX_LISTED_QUOTATIONS]],
        "gaps": [f"{more} more quotations that do not hold are left out"] * (more > 0),
    }
    return fit_to_size(answer, ("wrong",), ("findings",))


def _check_quotation(claim: Mapping[str, str], contracts: Mapping[str, Contract]) -> dict[str, Any]:
    contract = contracts.get(claim["source"])
    shown = {
        "claim": sanitize_line(claim["text"], MAX_SHOWN_CHARS),
        "quote": sanitize_line(claim["quote"], MAX_SHOWN_CHARS),
        "source": sanitize_line(claim["source"], MAX_SHOWN_CHARS),
    }
    if contract is None:
        return {**shown, "verdict": "source unknown", "line": None, "clause": ""}
    verdict, at = _find_quotation(claim["quote"], contract.text.raw)
    if at is None:
        return {**shown, "verdict": "not found", "line": None, "clause": ""}
    number = contract.find_clause(at).number
    wanted = _CLAUSE.search(claim["text"])
    if wanted and not _is_in_clause(contract, wanted["number"], claim["quote"]):
        verdict = "other clause"
    line = contract.text.find_line_number(at)
    return {**shown, "verdict": verdict, "line": line, "clause": number}


def _find_quotation(quote: str, text: str) -> tuple[QuotationVerdict, int | None]:
    at = text.find(quote)
    if at >= 0:
        return "verbatim", at
    loose = r"\s+".join(map(re.escape, quote.split()))
    found = Pattern(loose).search(text) if loose else None
    return ("spacing differs", found.start()) if found else ("not found", None)


def _is_in_clause(contract: Contract, number: str, quote: str) -> bool:
    """Return whether a quotation begins in a clause; true for an unknown clause number."""
    clauses = find_clauses(contract.clauses, number.rstrip("."))
    if not clauses:
        return True
    loose = r"\s+".join(map(re.escape, quote.split()))
    places = [found.start() for found in Pattern(loose).finditer(contract.text.raw)]
    return any(each.start <= at < each.whole_end for each in clauses for at in places)


def _build_finding(result: Mapping[str, Any]) -> dict[str, Any]:
    told = {
        "not found": f"Quotation not found in {result['source']}",
        "other clause": f"Quotation is in {result['clause']}, not in the clause named",
        "source unknown": f"Quotation of {result['source'] or 'no source'}, not a material",
    }[result["verdict"]]
    found: dict[str, Any] = {
        "severity": "high",
        "message": f"{told}: \u201c{result['quote']}\u201d, for: {result['claim']}",
        "file": result["source"],
        "suggestion": "Quote the contract's own words, or take the claim back.",
        "confidence": 95,
    }
    return found | ({"line": result["line"]} if result["line"] else {})


def _build_summary(
    results: Sequence[Mapping[str, Any]], wrong: Sequence[Mapping[str, Any]], without: int
) -> str:
    held = len(results) - len(wrong)
    lines = [
        f"{format_count(len(results), 'quotation')} checked: {held} stand in the contract as "
        "quoted, "
        f"{len(wrong)} do not."
    ]
    if without:
        lines[0] += f" {format_count(without, 'claim')} without a quotation."
    lines += [
        f"- {each['verdict']}: \u201c{each['quote']}\u201d ({each['claim']})" for each in wrong[:10]
    ]
    return "\n".join(lines)
