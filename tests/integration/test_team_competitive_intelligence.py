"""The team competitive_intelligence on its example, with the embedded model."""

from pathlib import Path

import pytest

from tests.team_runs import run_team

pytestmark = pytest.mark.slow

TEAM = "competitive_intelligence"
EXAMPLE = Path(__file__).parents[2] / "teams/competitive_intelligence/sample"
REQUEST = (
    "Compare Quillpad, Inkwell and Marginal feature by feature, and say what users think of each"
)


async def test_three_products_are_set_side_by_side_with_what_each_does_not_state():
    outcome, _, _ = await run_team(TEAM, REQUEST, EXAMPLE)

    assert outcome.status == "passages" and outcome.answer is not None
    answer = outcome.answer
    assert "| Price | 8 EUR per user and month | 11 EUR per user and month | 5 EUR" in answer.text
    assert {path.name for path in EXAMPLE.iterdir()} == set(answer.sources)
    assert "Inkwell does not state Offline use" in answer.gaps
    for report in outcome.results.values():
        for claim in report.claims:
            assert claim.quotation in (EXAMPLE / claim.source).read_text()
    # Its pages are read at the same time.
    assert outcome.plan is not None and outcome.plan.measure_depth() == 2
    assert len(outcome.plan.tasks) == 6
