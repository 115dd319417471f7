"""The team portfolio_rebalancing as it ships, on its example, with the embedded model."""

from pathlib import Path

import pytest

from graph.runs.trace import load_trace
from graph.settings import Settings
from tests.team_runs import run_team

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "teams" / "portfolio_rebalancing" / "sample"
TEAM = "portfolio_rebalancing"
REQUEST = (
    "Rebalance my portfolio to the target weights in targets.csv, in whole shares, with no trade "
    "below 250 EUR and a turnover of at most 20 percent"
)
NO_ADVICE = "Not investment advice"


async def test_its_example_is_planned_at_once_and_done_with_figures_and_sources():
    outcome, answer, _ = await run_team(TEAM, REQUEST, EXAMPLE, thread="one")

    assert outcome.status == "done" and outcome.exit_code == 0
    assert outcome.plan is not None and outcome.plan.version == 1
    text = answer.text
    assert "| sell | WORLD | 59 | 104.32 | 6,154.88 |" in text
    assert "| buy | GOVT | 38 | 92.16 | 3,502.08 |" in text
    assert "volatility is 9.3 percent a year" in text
    assert set(answer.sources) == {"holdings.csv", "prices.csv", "targets.csv"}
    assert any(NO_ADVICE in gap for gap in answer.gaps)
    assert answer.contradictions == ()
    kinds = [event["kind"] for event in load_trace("one", Settings())["events"]]
    assert "plan_rejected" not in kinds
    # The analyst and the planner of trades work at the same time.
    waits = {task.worker: [edge.task for edge in task.depends_on] for task in outcome.plan.tasks}
    assert waits["allocation_analyst"] == waits["trade_planner"] == ["valuation"]
