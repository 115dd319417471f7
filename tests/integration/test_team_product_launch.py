"""The team product_launch as it ships, on its example, with the embedded model."""

from pathlib import Path

import pytest

from graph.runs.trace import load_trace
from graph.settings import Settings
from tests.team_runs import run_team

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "teams" / "product_launch" / "sample"
TEAM = "product_launch"
REQUEST = (
    "Prepare the launch of Nordlys: what does the market say, which price earns most, and does our "
    "copy fit its channels?"
)


async def test_its_example_is_planned_at_once_and_has_figures_passages_and_sources():
    outcome, answer, _ = await run_team(TEAM, REQUEST, EXAMPLE, thread="one")

    assert outcome.status == "passages" and outcome.exit_code == 0
    assert outcome.plan is not None and outcome.plan.version == 1
    assert {task.worker for task in outcome.plan.tasks} == {
        "market_researcher",
        "pricing_analyst",
        "copywriter",
    }
    assert "| sales.csv | -1.67 | 0.09 | -1.86 to -1.49 |" in answer.text
    assert "is 24.34 EUR, between 21.20 EUR and 29.84 EUR" in answer.text
    assert "| 29.95 EUR | market_notes.md | The Glimt Pro costs 29.95 EUR" in answer.text
    assert "8 texts checked: 4 without a remark, 4 with one." in answer.text
    assert set(answer.sources) == {"market_notes.md", "sales.csv", "costs.csv", "copy.md"}
    assert [finding.line for finding in answer.findings] == [8, 14, 22, 26]
    assert answer.contradictions == ()
    kinds = [event["kind"] for event in load_trace("one", Settings())["events"]]
    assert "plan_rejected" not in kinds
    assert all(not task.depends_on for task in outcome.plan.tasks)
