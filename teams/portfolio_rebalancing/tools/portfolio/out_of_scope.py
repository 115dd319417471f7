"""Distinguish a request about a portfolio from one about something else."""

import re
from collections.abc import Mapping
from typing import Any

from nodes.limits.patterns import Pattern
from nodes.tools.framework.out_of_scope import escalate_out_of_scope
from nodes.tools.tables.reader import read_headers

from .holdings import is_holdings_table

MIN_WORDS = 3
"""A request with fewer words only states limits, such as "as of 2025-05-30"."""

_WORD = Pattern(r"[^\W\d_]{3,}")
_PORTFOLIO_TERMS = Pattern(
    r"portfolio|holding|position|weight|alloc|rebalanc|drift|target|trad(?:e|ing)|\bbuy|sell|sold"
    r"|sale|shares?\b|turnover|\bcash|risk|volatil|correlat|varianc|price|market|valu|worth|invest"
    r"|securit|stock|bond|fund|\betf|ticker|asset|depot|diversif",
    re.IGNORECASE,
)


def reject_if_out_of_scope(
    request: str, materials: Mapping[str, str] | None
) -> dict[str, Any] | None:
    """Escalate a request that is not about a portfolio; None if it is for this team."""
    words = _WORD.findall(request)
    if _PORTFOLIO_TERMS.search(request) or (len(words) < MIN_WORDS and _has_holdings(materials)):
        return None
    return escalate_out_of_scope(
        "this team values a portfolio, measures its allocation and lists trades; the request asks "
        "for something else"
    )


def _has_holdings(materials: Mapping[str, str] | None) -> bool:
    return any(is_holdings_table(table) for table in read_headers(materials))
