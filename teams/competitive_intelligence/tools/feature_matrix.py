"""Compare products, feature by feature."""

import asyncio
from itertools import accumulate
from typing import Any

from langchain_core.tools import tool

from nodes.errors import ToolRefused
from nodes.tools.evidence.source_check import CitedClaim

from .features.matrix import build_matrix

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}
MAX_CLAIMS = 600
MAX_ROWS = 80
MAX_SHOWN_CHARS = 14_000
"""Limit of the table."""
MAX_GAPS = 12


@tool
async def feature_matrix(claims: list[CitedClaim]) -> dict[str, Any]:
    """Compare products side by side from claims of the form `Product — feature: value`.

    Returns a table with a row for each feature, with the features that all products state first,
    and lists what a product does not state. Pass all such claims of your context unchanged.
    Example: feature_matrix(claims=[{"text": "Acme — SSO: yes", "source": "acme.md"}])
    """
    if len(claims) > MAX_CLAIMS:
        raise ToolRefused(f"{len(claims)} claims, of at most {MAX_CLAIMS}; give fewer")
    made = await asyncio.to_thread(build_matrix, claims)
    if len(made.products) < 2:
        raise ToolRefused(
            f"a matrix takes two products or more, and the claims name {len(made.products)}"
        )
    gaps = [f"{product} does not state {feature}" for product, feature in made.empty_cells]
    if len(gaps) > MAX_GAPS:
        gaps = [*gaps[:MAX_GAPS], f"{len(gaps) - MAX_GAPS} more features are not stated by all"]
    shared = sum("not stated" not in row for row in made.rows)
    shown, left = _fit_table(made.to_markdown(), len(made.rows))
    if left:
        gaps.append(f"{left} of {len(made.rows)} features are not shown in the table")
    return {
        "summary": f"{shared} of {len(made.rows)} features are stated by all "
        f"{len(made.products)} products.\n\n{shown}",
        "gaps": [*made.conflicts, *gaps],
    }


def _fit_table(table: str, count: int) -> tuple[str, int]:
    """Return as many rows of a table as fit, and how many are left out."""
    head, rule, *rows, blank, source = table.splitlines()
    sizes = accumulate(map(len, rows), initial=len(head) + len(source))
    fitting = sum(size <= MAX_SHOWN_CHARS for size in sizes) - 1
    kept = rows[: max(1, min(MAX_ROWS, fitting))]
    return "\n".join([head, rule, *kept, blank, source]), count - len(kept)
