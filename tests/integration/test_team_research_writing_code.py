"""The team research_writing_code as it ships, on its example, mostly with the embedded model."""

import re
from functools import partial
from pathlib import Path

import pytest

from graph import build_supervisor, load_team
from graph.runs.outcome import Outcome
from graph.runs.trace import load_trace
from graph.settings import Settings
from teams.research_writing_code.tools.sandbox.limits import SandboxLimits
from teams.research_writing_code.tools.sandbox.runner import RunRefused, run_python
from tests.endpoint import Endpoint, Scenario, ScriptedTask
from tests.team_runs import run_team

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "teams" / "research_writing_code" / "sample"
TEAM = "research_writing_code"
run_here = partial(run_team, TEAM, folder=EXAMPLE)
CRASH = "Run stock.py: why does it crash?"
BOTH = ("stock.py", "stock.csv")


def list_workers(outcome: Outcome) -> set[str]:
    assert outcome.plan is not None
    return {task.worker for task in outcome.plan.tasks}


@pytest.fixture
async def a_machine_with_cells() -> None:
    try:
        await run_python({"a.py": ""}, "a.py", SandboxLimits())
    except RunRefused as problem:
        pytest.skip(str(problem))


@pytest.mark.parametrize(
    ("request_text", "files", "worker"),
    [
        ("What is wrong with this module?", ("stock.py",), "coder"),
        ("Write a function that reverses a list", (), "coder"),
        ("Fix the bug in our program", (), "coder"),
        ("Write a letter to the tenants", ("notice.md",), "writer"),
        ("Proofread the notice", ("notice.md",), "writer"),
        ("Who built the mill, and when?", ("mill_report.md",), "researcher"),
        ("Compute 17 * 23", (), "generalist"),
        ("Xylophones!", (), "generalist"),
    ],
)
async def test_each_kind_of_request_reaches_its_worker(
    request_text: str, files: tuple[str, ...], worker: str
) -> None:
    outcome, _, _ = await run_here(request_text, *files)

    assert list_workers(outcome) == {worker}


async def test_a_pinned_word_sends_code_to_the_coder_without_a_model_call() -> None:
    outcome, _, _ = await run_here("Explain the traceback in this article", "notice.md")

    assert list_workers(outcome) == {"coder"}
    assert "plan" not in outcome.usage.by_mechanism


def test_a_busy_coder_keeps_what_is_for_it() -> None:
    team = load_team(TEAM)

    assert not team.prefer_idle and team.generalist == "generalist"


async def test_its_example_is_read_with_findings_at_their_lines_and_not_run() -> None:
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
) -> None:
    monkeypatch.setenv("SUPERVISE_RUN_CODE", "true")

    outcome, answer, _ = await run_here(CRASH, *BOTH)

    source = (EXAMPLE / "stock.py").read_text().splitlines()
    line = 1 + source.index("    return article.on_hand / article.sold_per_week")
    assert outcome.status == "done"
    assert f"ZeroDivisionError: float division by zero, in line {line} of stock.py" in answer.text
    assert ("stock.py", line) in {(each.file, each.line) for each in answer.findings}


@pytest.mark.usefixtures("a_machine_with_cells")
async def test_what_a_script_prints_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUPERVISE_RUN_CODE", "true")

    _, answer, _ = await run_here("What does this script print?", "exam/median.py")

    assert sorted([12, 3, 7, 25, 9, 4, 16])[3] == 9
    assert "    median of 7 values: 9 minutes" in answer.text.splitlines()


async def test_a_question_is_answered_with_the_words_of_the_document() -> None:
    outcome, answer, _ = await run_here("How much will the wheel cost?", "mill_report.md")

    assert outcome.status == "passages" and "148,000 EUR" in answer.text
    assert answer.sources == ("mill_report.md",)
    report = (EXAMPLE / "mill_report.md").read_text()
    claims = [claim for result in outcome.results.values() for claim in result.claims]
    assert claims and all(
        " ".join(claim.quotation.split()) in " ".join(report.split()) for claim in claims
    )


async def test_a_draft_is_made_of_the_material_and_says_what_it_lacks(tmp_path: Path) -> None:
    outcome, answer, _ = await run_here(
        "Draft an announcement of the repair of the mill as a Word document", "mill_report.md"
    )

    assert outcome.status == "partial"
    assert "The state pays 40 percent of the wheel, and nothing of the weir." in answer.text
    assert any("takes a language model or a person" in gap for gap in answer.gaps)
    assert list((tmp_path / ".supervise" / "documents").glob("*.docx"))


async def test_a_text_is_checked_line_by_line() -> None:
    _, answer, _ = await run_here("Proofread notice.md, it may have at most 90 words", "notice.md")

    text = re.sub(r"<!--.*?-->|#", "", (EXAMPLE / "notice.md").read_text())
    count = len(text.split())
    found = {(each.line, each.message) for each in answer.findings}
    assert (None, f"{count} words, {count - 90} over the 90 that are allowed") in found
    assert (6, "repeated words: “was was”") in found


async def test_a_language_model_s_code_is_checked_and_run_where_it_may(
    endpoint: Endpoint, settings: Settings
) -> None:
    wrong = "def half(x):\n    return x / too\n"
    endpoint.load_scenario(
        Scenario(
            answers={"Decision": {"worker": "coder", "reason": "It asks for code."}},
            tasks=(
                ScriptedTask(
                    id="coder",
                    worker="coder",
                    tool_calls=(
                        ("check_code", {"code": wrong}),
                        ("run_code", {"code": wrong}),
                    ),
                ),
            ),
        )
    )

    graph = build_supervisor(TEAM, settings=settings)
    state = await graph.ainvoke({"request": "Write a half of a number"})

    result = "\n".join(str(call.body) for call in endpoint.select_calls(schema="Report"))
    assert "Undefined name `too`" in result and "running code is off" in result
    assert state["status"] == "done"


@pytest.mark.parametrize(
    ("request_text", "files", "message"),
    [
        ("Book a train to Ghent", (), "out of scope"),
        ("Find the bug in my program", (), "there is no Python code"),
        ("Find the bug in this function", ("exam/page.js",), "page.js is none"),
        ("Proofread this text", ("stock.csv",), "no text of whole sentences in stock.csv"),
        ("Proofread this text", (), "there is no text of whole sentences"),
    ],
)
async def test_what_it_cannot_do_ends_in_one_line_that_says_why(
    request_text: str, files: tuple[str, ...], message: str
) -> None:
    outcome, answer, _ = await run_here(request_text, *files)

    assert outcome.status == "partial"
    lines = [gap for gap in answer.gaps if message in gap]
    assert lines
    assert all("\n" not in line and "Traceback" not in line for line in lines)


async def test_huge_code_is_refused_by_its_size(tmp_path: Path) -> None:
    huge = tmp_path / "huge.py"
    huge.write_text("x = 1\n" * 50_000)

    outcome, answer, _ = await run_here("Check this module", str(huge))

    assert outcome.status == "partial"
    assert any("huge.py has 300000 characters" in gap for gap in answer.gaps)


async def test_orders_inside_code_and_texts_change_nothing() -> None:
    _, code, _ = await run_here("Is there a bug in talking.py?", "exam/talking.py")
    _, text, _ = await run_here("What does a ticket cost?", "exam/talking_notes.md")

    assert [(each.line, each.severity) for each in code.findings] == [(8, "high")]
    assert "17.50 EUR" in text.text
    ordered = [line for line in text.text.splitlines() if "closed" in line]
    assert all(line.startswith(">") for line in ordered), "only quoted"
