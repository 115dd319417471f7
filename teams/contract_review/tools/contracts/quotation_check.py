"""Check quotations against the contracts they name: whether they occur, and in which clause."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from nodes.limits.patterns import Pattern
from nodes.text.counts import format_count
from nodes.text.plain_text import sanitize_line
from nodes.tools.framework.tool_report import ToolReport

from .clauses import find_clauses
from .contract import Contract
from .contract_text import MAX_CHARS

MAX_SHOWN_CHARS = 200
MAX_LISTED_QUOTATIONS = 40
_CLAUSE = Pattern(r"\b(?:clause|section|article)\s+(?P<number>\d[\w.()]*|[IVXL]+\b)", re.IGNORECASE)


def check_quotations(
    claims: Sequence[Mapping[str, str]], materials: Mapping[str, str]
) -> dict[str, Any]:
    """Return a finding for each quotation that is not in its contract as quoted."""
    quoted = [claim for claim in claims if claim["quotation"].strip()]
    named = {claim["source"] for claim in quoted} & materials.keys()
    contracts = {name: Contract(name, materials[name][:MAX_CHARS]) for name in named}
    checked = [(claim, *_check_quotation(claim, contracts)) for claim in quoted]
    wrong = [each for each in checked if each[1]]
    report = ToolReport()
    report.lines.append(
        f"{format_count(len(checked), 'quotation')} checked: {len(checked) - len(wrong)} stand in "
        f"the contract as quoted, {len(wrong)} do not."
    )
    if without := len(claims) - len(quoted):
        report.lines.append(f"{format_count(without, 'claim')} without a quotation.")
    for claim, problem, line in wrong[:MAX_LISTED_QUOTATIONS]:
        quote, text = (sanitize_line(claim[key], MAX_SHOWN_CHARS) for key in ("quotation", "text"))
        message = f"{problem}: \u201c{quote}\u201d, for: {text}"
        advice = "Quote the contract's own words, or take the claim back."
        report.add_finding("high", message, claim["source"], advice, line)
    if len(wrong) > MAX_LISTED_QUOTATIONS:
        report.gaps.append(f"{len(wrong) - MAX_LISTED_QUOTATIONS} more do not hold")
    return report.to_json() | {"verdicts": Counter(problem or "held" for _, problem, _ in checked)}


def _check_quotation(
    claim: Mapping[str, str], contracts: Mapping[str, Contract]
) -> tuple[str, int | None]:
    """Return why a quotation does not hold, empty if it does, and its line."""
    contract = contracts.get(claim["source"])
    if contract is None:
        return "Quotation of what is not a material", None
    loose = Pattern(r"\s+".join(map(re.escape, claim["quotation"].split())))
    places = [found.start() for found in loose.finditer(contract.text.raw)]
    if not places:
        return "Quotation not found", None
    line = contract.text.find_line_number(places[0])
    wanted = _CLAUSE.search(claim["text"])
    clauses = find_clauses(contract.clauses, wanted["number"].rstrip(".")) if wanted else []
    if clauses and not any(c.start <= at < c.whole_end for c in clauses for at in places):
        return f"Quotation is in {contract.find_clause(places[0]).number}, not where named", line
    return "", line
