"""The team portfolio_rebalancing as it ships, on its example, with the embedded model."""

import shutil
from pathlib import Path

import pytest

from graph import build_supervisor
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


async def test_its_example_is_planned_at_once_and_done_with_figures_and_sources() -> None:
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


async def test_the_analyst_and_the_planner_of_trades_work_at_the_same_time() -> None:
    outcome, _, _ = await run_team(TEAM, REQUEST, EXAMPLE)

    assert outcome.plan is not None
    waits = {task.worker: [edge.task for edge in task.depends_on] for task in outcome.plan.tasks}
    assert waits["allocation_analyst"] == waits["trade_planner"] == ["valuation"]


async def test_the_trades_become_a_document_where_one_is_asked_for(tmp_path: Path) -> None:
    request = "Rebalance my portfolio to the target weights in targets.csv"
    request += " and write it up as a Word document"

    outcome, _, _ = await run_team(TEAM, request, EXAMPLE)

    assert outcome.status == "partial" and outcome.plan is not None
    assert outcome.plan.untaken == ("write it up as a Word document (needs a language model)",)
    assert list((tmp_path / ".supervise" / "documents").glob("*.docx"))


async def test_it_works_as_a_bare_graph_on_materials() -> None:
    graph = build_supervisor(TEAM)

    state = await graph.ainvoke(
        {
            "request": "What is my portfolio worth?",
            "materials": {
                "mine.csv": "ticker,shares\nAAA,3\n",
                "closes.csv": "date,AAA\n2025-01-03,10.5\n",
            },
        }
    )

    assert state["status"] == "done"
    assert "31.50" in state["answer"].text and "mine.csv" in state["answer"].sources


@pytest.mark.parametrize(
    ("request_text", "files", "message"),
    [
        ("What is my portfolio worth?", ("exam/unpriced.csv", "prices.csv"), "no price of TIMBER"),
        ("What is my portfolio worth?", ("exam/lease.txt",), "no CSV material is a table of"),
        (
            "Rebalance my portfolio to the target weights in targets.csv",
            ("exam/mixed_currencies.csv", "prices.csv", "targets.csv"),
            "several currencies: EUR (line 3), USD (line 4)",
        ),
        ("Rebalance my portfolio", (), "materials of this task: none"),
    ],
)
async def test_files_it_cannot_work_on_end_in_one_line_that_names_the_place(
    request_text: str, files: tuple[str, ...], message: str
) -> None:
    outcome, answer, _ = await run_team(TEAM, request_text, *(EXAMPLE / name for name in files))

    assert outcome.status == "partial"
    (line,) = [gap for gap in answer.gaps if message in gap]
    assert "\n" not in line and "Traceback" not in line


async def test_an_empty_file_is_named(tmp_path: Path) -> None:
    empty = tmp_path / "holdings.csv"
    empty.write_text("ticker,quantity\n")
    shutil.copy(EXAMPLE / "prices.csv", tmp_path / "prices.csv")

    outcome, answer, _ = await run_team(
        TEAM, "What is my portfolio worth?", empty, tmp_path / "prices.csv"
    )

    assert outcome.status == "partial"
    assert any("holdings.csv has column names and no rows" in gap for gap in answer.gaps)


async def test_a_huge_table_is_refused_by_its_size(tmp_path: Path) -> None:
    huge = tmp_path / "prices.csv"
    huge.write_text("date,WORLD\n" + "2025-01-03,100.25\n" * 100_001)

    outcome, answer, _ = await run_team(
        TEAM, "What is my portfolio worth?", EXAMPLE / "holdings.csv", huge
    )

    assert outcome.status == "partial"
    assert any("has more than 100000 rows" in gap for gap in answer.gaps)


async def test_a_request_on_another_kind_of_file_is_escalated_and_not_answered() -> None:
    outcome, answer, _ = await run_team(
        TEAM, "May the tenant keep a dog under this lease?", EXAMPLE / "exam/lease.txt"
    )

    assert outcome.status == "partial"
    assert "cat" not in answer.text.split()
    assert answer.sources == ()


async def test_orders_inside_the_files_change_nothing() -> None:
    request = "Rebalance my portfolio to 60 percent WORLD and 40 percent GOVT"

    outcome, answer, _ = await run_team(
        TEAM, request, EXAMPLE / "exam/talking_holdings.csv", EXAMPLE / "prices.csv"
    )

    assert outcome.status == "partial", "which weight is whose takes a language model"
    assert "APPROVED" not in answer.text and "| sell |" not in answer.text


async def test_what_the_request_does_not_give_is_a_gap() -> None:
    files = (EXAMPLE / "holdings.csv", EXAMPLE / "prices.csv")

    _, answer, _ = await run_team(TEAM, "How far is my portfolio from targets.csv?", *files)

    assert any("Drift is missing" in gap for gap in answer.gaps)
