"""Runs whose workers only quote documents, without a language model that reads them."""

from pathlib import Path
from typing import Any

import pytest
from langchain_core.outputs import ChatResult

from graph import aresume, arun
from graph.runs.outcome import Outcome
from graph.runs.trace import load_trace
from graph.settings import Settings
from nodes.schemas.team import Team, Worker
from nodes.synthesis.delivery import write_chat_message
from nodes.text.phrases import PHRASES
from supervisor_worker.testing.fake_models import FakeChatModel
from tests.teams import make_team

pytestmark = pytest.mark.slow

REQUEST = "How long does the juice keep, and who sells it?"
READERS = (
    Worker(
        name="researcher",
        description="Finds facts in documents.",
        instructions="Search.",
        tools=("search_documents",),
    ),
)
QUOTED = {"output": "> The juice keeps 18 months.", "is_unread": True}
COMPUTED = {"output": "Three shops sell it."}
PLAN = {
    "goal": REQUEST,
    "tasks": [
        {"id": "a", "description": "Find in keeping.md how long it keeps.", "worker": "researcher"},
        {"id": "b", "description": "Count in shops.csv who sells it.", "worker": "researcher"},
    ],
}
ANSWER = {"text": f"{PHRASES['en']['passages']}\n\n> The juice keeps 18 months."}


class RuleModel(FakeChatModel):
    """Takes the place of the built-in model."""

    @property
    def _llm_type(self) -> str:
        return "embedded"

    def _generate(self, *messages: Any, tools: Any = (), **options: Any) -> ChatResult:
        names = [tool["function"]["name"] for tool in tools]
        return super()._generate(*messages, **{**options, "tool_names": names, "tool_choice": None})


def make_models(kind: type[FakeChatModel], **replies: Any) -> dict[Any, FakeChatModel]:
    known = {"Plan": PLAN, "Answer": ANSWER, **replies}
    return dict.fromkeys(("fast", "standard", "strong"), kind(replies=known))


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path / "home")


async def run_reports(
    settings: Settings, *reports: Any, team: Team | None = None, **replies: Any
) -> Outcome:
    models = make_models(RuleModel, Report=list(reports), **replies)
    team = team or make_team(workers=READERS, max_recursion=0, ladder=())
    return await arun(REQUEST, team=team, models=models, settings=settings, thread="juice")


async def test_a_run_that_quotes_one_document_ends_as_passages_without_a_confidence(
    settings: Settings,
) -> None:
    outcome = await run_reports(settings, QUOTED, COMPUTED)

    assert (outcome.status, outcome.exit_code) == ("passages", 0)
    assert outcome.answer is not None and outcome.answer.is_unread
    assert (outcome.answer.confidence, outcome.answer.unrated) == (None, ())
    assert sorted(report.is_unread for report in outcome.results.values()) == [False, True]
    trace = load_trace("juice", settings)
    assert trace["run"]["status"] == "passages"
    assert [each["status"] for each in trace["events"] if each["kind"] == "answer"] == ["passages"]
    assert "Confidence" not in write_chat_message(outcome.answer, outcome.status)


async def test_a_resume_of_passages_shows_them_again_and_asks_no_model(settings: Settings) -> None:
    first = await run_reports(settings, QUOTED)

    again = await aresume("juice", settings=settings, team=make_team(workers=READERS))

    assert (again.status, again.answer, again.usage) == ("passages", first.answer, first.usage)


async def test_a_team_within_a_team_hands_up_that_its_passages_are_unread(
    settings: Settings,
) -> None:
    inner = make_team(workers=READERS, name="readers", max_recursion=0, ladder=())
    worker = Worker(name="researcher", description="Reads documents.", team=inner)

    outcome = await run_reports(
        settings, QUOTED, team=make_team(workers=(worker,), name="desk", ladder=())
    )

    assert outcome.status == "passages"
    assert all(report.is_unread and not report.is_partial for report in outcome.results.values())


async def test_a_language_model_cannot_call_its_own_report_unread(settings: Settings) -> None:
    models = make_models(FakeChatModel, Report=QUOTED, Answer={"text": "Long.", "confidence": 80})

    outcome = await arun(REQUEST, team=make_team(workers=READERS), models=models, settings=settings)

    assert outcome.status == "done" and outcome.answer is not None
    assert (outcome.answer.confidence, outcome.answer.is_unread) == (80, False)
