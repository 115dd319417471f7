"""The organisation: three departments, each a supervised team, in one run and one trace."""

import asyncio
from pathlib import Path

import pytest

from graph.runs.trace import load_trace
from graph.settings import Settings
from tests.team_runs import run_team

pytestmark = pytest.mark.slow

TEAM = "organisation"
EXAMPLE = Path(__file__).parents[2] / "teams/organisation/sample"
REQUEST = (
    "Write a report on which of our three shops we should enlarge, from sales.csv, customers.md "
    "and leases.md"
)


@pytest.fixture
def offline(tmp_path: Path) -> Settings:
    return Settings(database_url=f"sqlite:///{tmp_path / 'runs.sqlite'}")


def test_three_departments_answer_with_one_report(offline: Settings, tmp_path: Path):
    asked = run_team(TEAM, REQUEST, EXAMPLE, thread="one", settings=offline)
    outcome, _, _ = asyncio.run(asked)

    assert outcome.status == "partial" and outcome.answer is not None
    assert set(outcome.answer.sources) == {"sales.csv", "customers.md", "leases.md"}
    assert all(shop in outcome.answer.text for shop in ("Altona", "Barmbek", "Wandsbek"))
    assert any("“year”" in gap for gap in outcome.answer.gaps), (
        "quarters were compared, and said so"
    )
    (written,) = tmp_path.rglob("*.md")
    assert "31 December 2030" in written.read_text()
    # The runs of the three inner supervisors are in the trace.
    trace = load_trace("one", offline)
    inner = {task["worker"]: task["team"] for task in trace["tasks"]}
    assert {name: team["name"] for name, team in inner.items()} == {
        "research": "research",
        "analysis": "analysis",
        "report": "report",
    }
    assert [len(inner[name]["tasks"]) for name in ("research", "analysis", "report")] == [3, 2, 1]
    statuses = {task["status"] for team in inner.values() for task in team["tasks"]}
    assert statuses == {"completed"}
    assert not [event for event in trace["events"] if event["kind"] == "plan_rejected"]


async def test_a_department_without_its_material_is_named_as_the_gap(offline: Settings):
    files = [EXAMPLE / "customers.md", EXAMPLE / "leases.md"]

    outcome, _, _ = await run_team(TEAM, REQUEST, *files, settings=offline)

    assert outcome.status == "partial" and outcome.answer is not None
    assert any("no file with a table" in gap for gap in outcome.answer.gaps)
    assert "leases.md" in outcome.answer.sources
