"""Every shipped team sits its exam with the embedded model, offline.

Each is held to what it reaches, a new one to 80 percent. Requests that the embedded model cannot
meet stay in the exams: a language model should.
"""

import pytest

from extensions.evals.evaluate import aevaluate_team
from graph.settings import Settings
from graph.teams.team_loader import SHIPPED_TEAMS_FOLDER

pytestmark = pytest.mark.slow

DEFAULT = 80
REACHED = {
    "code_review": 77,
    "competitive_intelligence": 99,
    "contract_review": 86,
    "curriculum": 85,
    "engineering_ops": 84,
    "expert_router": 96,
    "market_analysis": 83,
    "organisation": 90,
    "patient_summary": 95,
    "portfolio_rebalancing": 75,
    "product_launch": 78,
    "research_writing_code": 90,
    "tech_support": 80,
}
TEAMS = sorted(path.parent.name for path in SHIPPED_TEAMS_FOLDER.glob("*/evals.jsonl"))


@pytest.mark.parametrize("team", TEAMS)
async def test_a_shipped_team_reaches_its_threshold(team: str) -> None:
    evaluation = await aevaluate_team(team, settings=Settings())

    missed = {row.row.id: row.complaints for row in evaluation.rows if row.complaints}
    assert evaluation.score >= REACHED.get(team, DEFAULT), missed
    assert evaluation.average_metric("valid_plan") == 100
    assert evaluation.average_metric("citations") in (None, 100), missed
