"""Products side by side, feature by feature."""

import asyncio
from typing import Any

from langchain_core.tools import tool

from nodes.errors import ToolRefused
from nodes.tools.evidence.verdict import CitedClaim
from nodes.tools.features.matrix import matrix

MAX_CLAIMS = 600
MAX_ROWS = 80
MAX_GAPS = 12


@tool
async def feature_matrix(claims: list[CitedClaim]) -> dict[str, Any]:
    """Set products side by side from claims of the form `Product — feature: value`.

    Gives a table with a row for each feature, what all products state first, and names what a
    product does not state. Hand over all such claims of your context as they stand.
    Example: feature_matrix(claims=[{"text": "Acme — SSO: yes", "source": "acme.md"}])
    """
    made = await asyncio.to_thread(matrix, claims[:MAX_CLAIMS])
    if len(made.products) < 2:
        raise ToolRefused(
            f"a matrix takes two products or more, and the claims name {len(made.products)}"
        )
    gaps = [f"{product} does not state {feature}" for product, feature in made.unstated]
    if len(gaps) > MAX_GAPS:
        gaps = [*gaps[:MAX_GAPS], f"{len(gaps) - MAX_GAPS} more features are not stated by all"]
    shared = sum("not stated" not in row for row in made.rows)
    shown = made.markdown() if len(made.rows) <= MAX_ROWS else _cut(made.markdown())
    return {
        "summary": f"{shared} of {len(made.rows)} features are stated by all "
        f"{len(made.products)} products.\n\n{shown}",
        "gaps": [*made.conflicts, *gaps],
    }


def _cut(table: str) -> str:
    *rows, source = table.splitlines()
    kept = [*rows[: MAX_ROWS + 2], f"{len(rows) - MAX_ROWS - 2} more rows.", source]
    return "\n".join(kept)
