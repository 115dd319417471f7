"""Chat models of a Python program do the work of the tiers that they are passed for."""

import json
from typing import Any

import pytest
from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import Field, SecretStr

from graph import aresume, arun, build_supervisor
from graph.settings import Settings
from nodes.errors import SettingsInvalid
from nodes.errors.redaction import redact_text
from tests.endpoint import script_tasks
from tests.runs import Runs
from tests.teams import make_team

PLAN = {
    "goal": "Name the figures.",
    "tasks": [
        {"id": "a", "description": "Write a.md: name three figures.", "worker": "researcher"},
        {"id": "b", "description": "Write b.md: name the sources.", "worker": "analyst"},
    ],
    "final_instruction": "Bring the parts together.",
}
REPORT = {"output": "Three figures, from a.md.", "status": "completed", "confidence": 90}
ANSWER = {"text": "The figures are in a.md and b.md.", "confidence": 90}
PARTS = script_tasks({"a": (), "b": ()}, worker="researcher")


class WordsModel(BaseChatModel):
    """A client that only writes text, as one of a program's own may."""

    model_name: str = "words-1"
    api_key: SecretStr = SecretStr("words-hidden-0123456789")
    failures: int = 0
    prompts: list[str] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "words"

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        prompt = str(messages[0].text)
        self.prompts.append(prompt)
        if len(self.prompts) <= self.failures:
            raise ConnectionError("the line is dead")
        keys = {'"final_instruction"': PLAN, '"escalation"': REPORT, '"gaps"': ANSWER}
        value = next(value for key, value in keys.items() if key in prompt)
        message = AIMessage(f"Here it is:\n{json.dumps(value)}")
        message.response_metadata = {"finish_reason": "stop"}
        return ChatResult(generations=[ChatGeneration(message=message)])


async def run_team(models: dict[Any, Any], settings: Settings) -> tuple[dict[str, Any], list[Any]]:
    graph = build_supervisor(make_team(), settings=settings, models=models)
    events: list[Any] = []
    async for place, mode, value in graph.astream(
        {"request": "Name three figures of part a and the sources of part b"},
        stream_mode=["custom", "values"],
        subgraphs=True,
    ):
        if mode == "custom":
            events.append(value)
        elif not place:
            state = value
    return state, events


async def test_a_model_without_tools_is_asked_by_the_prompt_for_plan_reports_and_answer():
    words = WordsModel()

    state, events = await run_team(dict.fromkeys(("fast", "standard", "strong"), words), Settings())

    assert state["status"] == "done"
    assert state["answer"].text.startswith("The figures are in a.md and b.md.")
    calls = [event for event in events if event["kind"] == "model_call"]
    assert {call["method"] for call in calls} == {"json_prompt"}
    assert {call["model"] for call in calls} == {"wordsmodel:words-1"}
    assert len(calls) == len(words.prompts) == 4
    (change,) = [event for event in events if event["kind"] == "output_method"]
    assert (change["purpose"], change["method"]) == ("value", "json_prompt")


async def test_a_tier_that_is_not_named_uses_the_settings(runs: Runs):
    runs.script(*PARTS)
    words = WordsModel()

    state, events = await run_team({"strong": words}, runs.settings)

    assert state["status"] == "done"
    models = {event["tier"]: event["model"] for event in events if event["kind"] == "model_call"}
    assert models == {"strong": "wordsmodel:words-1", "standard": "openai:gpt-5-mini"}


async def test_a_given_model_is_tried_again_and_its_key_is_redacted():
    words = WordsModel(failures=1)

    state, events = await run_team(dict.fromkeys(("standard", "strong"), words), Settings())

    assert state["status"] == "done"
    tries = [event["tries"] for event in events if event["kind"] == "model_call"]
    assert sorted(tries) == [1, 1, 1, 2]
    assert redact_text("words-hidden-0123456789") == "[secret]"


@pytest.mark.parametrize(
    ("models", "message"),
    [
        ({"cheap": WordsModel()}, "'cheap', which is not a tier"),
        ({"fast": "openai:gpt-5"}, r"models\['fast'\] is a str, not a chat model"),
        ({"fast": WordsModel().bind(stop=["x"])}, "Binding, not a chat model"),
    ],
)
def test_what_is_no_model_is_refused_when_the_graph_is_built(models: dict[Any, Any], message: str):
    with pytest.raises(SettingsInvalid, match=message):
        build_supervisor(make_team(), settings=Settings(), models=models)


async def test_a_saved_run_takes_models_and_so_does_its_resume(settings: Settings):
    words = WordsModel()
    given: Any = dict.fromkeys(("fast", "standard", "strong"), words)
    request = "Name three figures of part a and the sources of part b"

    waits = await arun(
        request, team=make_team(), settings=settings, models=given, context={"approve_plan": True}
    )
    ended = await aresume(waits.thread, answer="accept", settings=settings, models=given)

    assert (waits.status, ended.status) == ("needs_input", "done")
    assert len(words.prompts) == 4
