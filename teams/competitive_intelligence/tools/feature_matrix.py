"""Compare products, feature by feature."""

from typing import Annotated, Any

from langchain_core.tools import tool
from pydantic import Field

from nodes.errors import ToolRefused
from nodes.tools.framework.argument_types import CitedClaim
from nodes.tools.framework.tool_report import ToolReport, fit_to_size

from .features.extraction import UNSTATED_VALUE, FeatureMatrix, build_matrix

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}
MAX_CLAIMS = 600
MAX_GAPS = 12
ROW_COUNTS = (80, 40, 20, 10, 5)
"""Rows that are shown; fewer where they are too long together."""


@tool
def feature_matrix(
    claims: Annotated[
        list[CitedClaim], Field(description="Claims of the form `Product — feature: value`")
    ],
) -> dict[str, Any]:
    """Compare products side by side: a row for each feature, shared features first.

    Lists what a product does not state. Pass all claims on features of your context unchanged.
    """
    if len(claims) > MAX_CLAIMS:
        raise ToolRefused(f"{len(claims)} claims, of at most {MAX_CLAIMS}; give fewer")
    made = build_matrix(claims)
    if len(made.products) < 2:
        raise ToolRefused(
            f"a matrix takes two products or more, and the claims name {len(made.products)}"
        )
    return fit_to_size(lambda count: _compose_report(made, count), ROW_COUNTS)


def _compose_report(made: FeatureMatrix, row_count: int) -> ToolReport:
    gaps = [
        f"{product} does not state {name}"
        for name, *values in made.rows
        for product, value in zip(made.products, values, strict=True)
        if value == UNSTATED_VALUE
    ]
    if len(gaps) > MAX_GAPS:
        gaps = [*gaps[:MAX_GAPS], f"{len(gaps) - MAX_GAPS} more features are not stated by all"]
    if (left := len(made.rows) - row_count) > 0:
        gaps.append(f"{left} of {len(made.rows)} features are not shown in the table")
    report = ToolReport(gaps=[*made.conflicts, *gaps])
    shared = sum(UNSTATED_VALUE not in row for row in made.rows)
    report.lines.append(
        f"{shared} of {len(made.rows)} features are stated by all {len(made.products)} products.\n"
    )
    report.add_table(["feature", *made.products], made.rows[:row_count])
    named = "; ".join(f"{product}: {source}" for product, source in made.sources)
    report.lines.append(f"Source: {named}.")
    return report
