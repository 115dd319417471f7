"""Mechanisms that shipped teams use by themselves, with a language model."""

from typing import Any

import pytest

from graph import load_team
from state import RequestInput
from tests.endpoint import ScriptedTask
from tests.runs import Runs, run_graph, select_events

pytestmark = pytest.mark.slow

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
