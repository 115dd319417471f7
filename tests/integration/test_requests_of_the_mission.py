"""Requests of the kinds that the application was built for, each with a scripted language model."""

from pathlib import Path
from typing import Any

import pytest

from graph import load_team
from state import RequestInput
from tests.endpoint import Endpoint, ScriptedTask
from tests.runs import Runs, run_graph, select_events

pytestmark = pytest.mark.slow

TEAMS = Path(__file__).parents[2] / "teams"
CODE = "def is_prime(n):\n    return n > 1 and all(n % d for d in range(2, int(n**0.5) + 1))\n"


async def run_scripted(team: str, request: str, runs: Runs, **state: Any) -> Any:
    return await runs.build_graph(team).ainvoke({"request": request, **state})


def read_prompt(endpoint: Endpoint, task: str) -> str:
    """Return what a task's worker was shown in its last turn."""
    return str(endpoint.select_calls(task=task)[-1].body["messages"])


@pytest.mark.parametrize(
    ("request_text", "worker", "words", "tool_calls", "output"),
    [
        (
            "Our API returns intermittent 500 errors under load. What is wrong?",
            "troubleshooter",
            "Diagnose the intermittent 500 errors of the API under load: causes, steps, pitfalls.",
            (),
            "Root cause (likely): the connection pool is exhausted.\n1. Read the pool's metrics.\n"
            "Pitfalls: a restart hides it.",
        ),
        (
            "How do I implement OAuth 2.0 login in a Python web application?",
            "documenter",
            "Explain OAuth 2.0 login in a Python web application, with a code example and links.",
            (("search_help", {"query": "OAuth 2.0 login Python"}),),
            "Use the authorization code flow.\n```python\nclient.authorize_redirect()\n```\n"
            "Links: RFC 6749.",
        ),
        (
            "I have reported this three times and nobody answered. I want to complain.",
            "escalator",
            "Draft a ticket for the complaint that three reports had no answer.",
            (("draft_ticket", {"asked": "Three reports had no answer.", "severity": "high"}),),
            "**Ticket (draft, not sent)**",
        ),
    ],
)
async def test_a_support_request_reaches_its_specialist_and_is_answered(
    runs: Runs,
    request_text: str,
    worker: str,
    words: str,
    tool_calls: tuple[Any, ...],
    output: str,
):
    task = ScriptedTask(id=worker, tool_calls=tool_calls, report={"output": output})
    decision = {"worker": worker, "task": words, "reason": "It is for it."}
    answers = {"Decision": decision, "Answer": {"text": output, "confidence": 60}}
    runs.script(task, answers=answers)

    state = await run_scripted("tech_support", request_text, runs)

    assert state["status"] == "done" and state["answer"].text.startswith(output)
    assert [report.worker for report in state["results"].values()] == [worker]
    prompt = read_prompt(runs.endpoint, worker)
    assert words in prompt and request_text in prompt


async def test_research_code_and_a_blog_post_build_on_each_other(runs: Runs):
    request = "Research the latest AI trends and write a blog post with code examples"
    tasks = (
        ScriptedTask(
            id="trends", worker="researcher", report={"output": "Trend: small local models."}
        ),
        ScriptedTask(
            id="examples",
            worker="coder",
            depends_on=({"task": "trends"},),
            tool_calls=(("check_code", {"code": CODE}),),
            report={"output": f"```python\n{CODE}```"},
        ),
        ScriptedTask(
            id="post",
            worker="writer",
            depends_on=({"task": "trends"}, {"task": "examples"}),
            report={"output": "# Small models\n\nThey run anywhere."},
        ),
    )
    decision = {"worker": "researcher", "needs_plan": True, "reason": "The post needs facts."}
    runs.script(*tasks, answers={"Decision": decision})

    state = await run_scripted("research_writing_code", request, runs)

    assert state["status"] == "done"
    workers = {name: report.worker for name, report in state["results"].items()}
    assert workers == {"trends": "researcher", "examples": "coder", "post": "writer"}
    assert state["plan"].measure_depth() == 3
    assert "small local models" in read_prompt(runs.endpoint, "examples")
    prompt = read_prompt(runs.endpoint, "post")
    assert "small local models" in prompt and "is_prime" in prompt
    (planned,) = runs.select_calls(schema="Plan")
    shown = str(planned.body["messages"][0]["content"])
    assert shown.count("<example>") == shown.count("</example>") <= 3


async def test_a_function_is_written_by_the_coder_alone(runs: Runs):
    request = "Write a Python function to calculate prime numbers"
    task = ScriptedTask(
        id="coder",
        tool_calls=(("check_code", {"code": CODE}),),
        report={"output": f"```python\n{CODE}```"},
    )
    decision = {"worker": "coder", "reason": "It asks for code."}
    answers = {"Decision": decision, "Answer": {"text": f"```python\n{CODE}```", "confidence": 90}}
    runs.script(task, answers=answers)

    state = await run_scripted("research_writing_code", request, runs)

    assert state["status"] == "done" and "def is_prime" in state["answer"].text
    assert not runs.select_calls(schema="Plan")
    assert "syntax in order" in read_prompt(runs.endpoint, "coder")


async def test_market_value_growth_and_positioning_are_planned_apart_and_answered_together(
    runs: Runs,
):
    request = (
        "Compare the market capitalization of the top 3 cloud providers. Include year-over-year "
        "growth rates and a brief analysis of competitive positioning."
    )
    caps = "market_caps.csv"
    source = {"source": caps, "quotation": ""}
    growth = {"text": "Amazon grew by 47.3 percent to 2324 billion USD.", **source}
    tasks = (
        ScriptedTask(
            id="growth",
            worker="analyst",
            description=f"Rank the companies of {caps} by market capitalization, with growth.",
            tool_calls=(("analyze_table", {}),),
            report={
                "output": "| company | growth |\n|---|---|\n| Amazon | 47.3 |",
                "claims": [growth],
            },
            materials=(caps,),
        ),
        ScriptedTask(
            id="positioning",
            worker="researcher",
            description="Find the market share and the strengths of each of the three providers.",
            report={"output": "Amazon leads with 30 percent."},
        ),
        ScriptedTask(
            id="check",
            worker="reviewer",
            depends_on=({"task": "growth"}, {"task": "positioning"}),
            description="Check the claims on growth and on market share against their sources.",
            report={"output": "All claims are supported."},
        ),
    )
    text = "Amazon grew by 47.3 percent (market_caps.csv) and leads with a share of 30 percent."
    answers = {"Answer": {"text": text, "confidence": 80, "sources": [caps]}}
    runs.script(*tasks, answers=answers, goal=request)
    sample = (TEAMS / "market_analysis" / "sample" / caps).read_text(encoding="utf-8")

    state = await run_scripted("market_analysis", request, runs, materials={caps: sample})

    assert state["status"] == "done" and state["answer"].sources == (caps,)
    workers = {name: report.worker for name, report in state["results"].items()}
    assert workers == {"growth": "analyst", "positioning": "researcher", "check": "reviewer"}
    assert "leads with 30 percent" in read_prompt(runs.endpoint, "check")


async def test_a_worksheet_is_written_from_what_the_texts_say(runs: Runs):
    text = "reading_leaf.md"
    sheet = "# Leaves\n\n1. Name the green pigment.\n\n## Solutions\n\n1. Chlorophyll."
    tasks = (
        ScriptedTask(
            id="facts",
            worker="librarian",
            tool_calls=(("search_documents", {"query": "leaf green"}),),
            report={"output": "Chlorophyll makes leaves green."},
            materials=(text,),
        ),
        ScriptedTask(
            id="sheet",
            worker="materials_writer",
            depends_on=({"task": "facts"},),
            report={"output": sheet},
        ),
    )
    runs.script(*tasks, answers={"Answer": {"text": sheet}})
    leaf = (TEAMS / "curriculum" / "sample" / text).read_text(encoding="utf-8")

    state = await run_scripted(
        "curriculum",
        "Write a worksheet on leaves",
        runs,
        materials={text: leaf},
    )

    assert state["status"] == "done" and state["answer"].text == sheet
    assert "Chlorophyll makes leaves green." in read_prompt(runs.endpoint, "sheet")


REVIEWED = {"contract_review": "extractor", "patient_summary": "archivist"}
CLAIM = {"text": "The notice period is 30 days.", "source": "contract.txt"}


@pytest.mark.parametrize("team", REVIEWED)
@pytest.mark.parametrize(("confidence", "reviews"), [(45, 1), (85, 0)])
async def test_an_answer_that_is_not_sure_of_itself_is_reviewed_and_no_other(
    runs: Runs, team: str, confidence: int, reviews: int
):
    report = {"output": CLAIM["text"], "claims": [CLAIM], "confidence": confidence}
    answer = {"text": CLAIM["text"], "confidence": confidence, "sources": ["contract.txt"]}
    task = ScriptedTask(id="only", worker=REVIEWED[team], report=report)
    answers = {"Answer": answer, "Critique": {"accepted": True}}
    runs.script(task, answers=answers)

    state, _ = await run_graph(runs.build_graph(team))

    assert state["status"] == "done"
    assert len(runs.select_calls(schema="Critique")) == reviews


async def test_the_better_of_two_drafts_of_launch_copy_is_chosen(runs: Runs):
    (example,) = (
        example
        for example in load_team("product_launch", runs.settings).examples
        if example.plan.aggregation == "select"
    )
    request: RequestInput = {
        "request": example.request,
        "materials": {"market_notes.md": "Nordlys weighs 38 grams."},
    }
    drafts: dict[str, dict[str, Any]] = {
        "draft_1": {"output": "A very good lamp.", "confidence": 90},
        "draft_2": {"output": "38 grams that light a whole trail.", "confidence": 80},
    }
    runs.script(
        *tuple(ScriptedTask(id=name, report=report) for name, report in drafts.items()),
        answers={
            "Plan": example.plan.model_dump(mode="json"),
            "Verdict": {"best": "draft_2", "reason": "It names a benefit."},
        },
    )

    _, events = await run_graph(runs.build_graph("product_launch"), request)

    (judged,) = select_events(events, "judged")
    assert (judged["best"], judged["attempts"]) == ("draft_2", ["draft_1", "draft_2"])
    (asked,) = runs.select_calls(schema="Answer")
    prompt = str(asked.body["messages"])
    assert "38 grams" in prompt and "very good lamp" not in prompt
