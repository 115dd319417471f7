"""The team research_writing_code as it ships, on its example, mostly with the embedded model."""

from functools import partial
from pathlib import Path

import pytest

from graph.runs.trace import load_trace
from graph.settings import Settings
from teams.research_writing_code.tools.sandbox.limits import SandboxLimits
from teams.research_writing_code.tools.sandbox.runner import RunRefused, run_python
from tests.endpoint import ScriptedTask
from tests.runs import Runs
from tests.team_runs import run_team

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "teams" / "research_writing_code" / "sample"
TEAM = "research_writing_code"
run_here = partial(run_team, TEAM, folder=EXAMPLE)
CRASH = "Run stock.py: why does it crash?"
BOTH = ("stock.py", "stock.csv")


@pytest.fixture
async def a_machine_with_cells() -> None:
    try:
        await run_python({"a.py": ""}, "a.py", SandboxLimits())
    except RunRefused as problem:
        pytest.skip(str(problem))


async def test_its_example_is_read_with_findings_at_their_lines_and_not_run():
    outcome, answer, _ = await run_here(CRASH, *BOTH, thread="one")

    assert outcome.status == "done" and outcome.exit_code == 0
    assert {(each.file, each.line) for each in answer.findings} == {
        ("stock.py", 15),
        ("stock.py", 4),
    }
    assert answer.sources == ("stock.py",)
    assert any("running code is off" in gap for gap in answer.gaps)
    assert "ZeroDivisionError" not in answer.text
    kinds = [event["kind"] for event in load_trace("one", Settings())["events"]]
    assert "plan_rejected" not in kinds


@pytest.mark.usefixtures("a_machine_with_cells")
async def test_where_it_is_allowed_the_code_is_run_and_the_error_found(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setenv("SUPERVISE_RUN_CODE", "true")

    outcome, answer, _ = await run_here(CRASH, *BOTH)

    source = (EXAMPLE / "stock.py").read_text().splitlines()
    line = 1 + source.index("    return article.on_hand / article.sold_per_week")
    assert outcome.status == "done"
    assert f"ZeroDivisionError: float division by zero, in line {line} of stock.py" in answer.text
    assert ("stock.py", line) in {(each.file, each.line) for each in answer.findings}


async def test_a_language_model_s_code_is_checked_and_run_where_it_may(runs: Runs):
    wrong = "def half(x):\n    return x / too\n"
    runs.script(
        ScriptedTask(
            id="coder",
            worker="coder",
            tool_calls=(
                ("check_code", {"code": wrong}),
                ("run_code", {"code": wrong}),
            ),
        ),
        answers={"Decision": {"worker": "coder", "reason": "It asks for code."}},
    )

    graph = runs.build_graph(TEAM)
    state = await graph.ainvoke({"request": "Write a half of a number"})

    result = "\n".join(str(call.body) for call in runs.select_calls(schema="Report"))
    assert "Undefined name `too`" in result and "running code is off" in result
    assert state["status"] == "done"
