"""Models: a program's own, their parameters by role and worker, and those of each provider."""

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from aiohttp.test_utils import TestServer
from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, FakeListChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import Field, SecretStr

from graph import aresume, arun, build_supervisor
from graph.settings import Settings
from graph.teams.team_loader import load_team
from nodes.errors import BadResponse, SettingsInvalid, TeamInvalid
from nodes.errors.redaction import redact_text
from nodes.models.catalog import ModelCatalog
from nodes.models.settings import PROVIDERS, ModelSettings
from nodes.schemas.team import Worker
from supervisor_worker.testing import FakeChatModel
from tests.endpoint import ScriptedTask, script_tasks
from tests.providers.server import ProviderServer
from tests.providers.wires import TOKENS_CACHED, TOKENS_IN, TOKENS_OUT, WIRES, Wire
from tests.runs import Runs, run_graph
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
REPLIES = {"Report": [REPORT], "Answer": ANSWER}
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
        return ChatResult(generations=[ChatGeneration(message=message)])


async def run_team(models: dict[Any, Any], settings: Settings) -> tuple[dict[str, Any], list[Any]]:
    graph = build_supervisor(make_team(), settings=settings, models=models)
    return await run_graph(graph, {"request": "Name three figures of part a and the sources of b"})


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


@pytest.mark.parametrize("is_streamed", [False, True], ids=["whole", "streamed"])
async def test_a_model_that_names_no_finish_reason_is_believed_where_its_message_is_whole(
    settings: Settings, is_streamed: bool
):
    words = FakeListChatModel(responses=[json.dumps(each) for each in (PLAN, REPORT, REPORT)])
    models: dict[Any, Any] = {"strong": words, "standard": FakeChatModel(replies=REPLIES)}

    state, _ = await run_team(models, settings.model_copy(update={"stream": is_streamed}))

    assert state["status"] == "done"
    assert state["answer"].text.startswith("The figures are in a.md and b.md.")


async def test_a_fake_model_says_which_reply_it_lacks(settings: Settings):
    fake = FakeChatModel(replies={"Report": REPORT})

    outcome = await arun("Name 3 figures.", models={"strong": fake}, settings=settings)

    assert outcome.status == "failed" and outcome.error
    line = outcome.error.format_line()
    assert "FakeChatModel has no reply for Plan: replies has Report." in line
    assert "OPENAI_BASE_URL" not in line


async def test_what_a_client_of_ones_own_raises_comes_without_advice_on_openai():
    class Broken(WordsModel):
        def _generate(self, *messages: Any, **options: Any) -> ChatResult:
            raise ValueError("no such weights")

    model = ModelCatalog(ModelSettings(), {"strong": Broken()}).get_chat_model("strong")

    with pytest.raises(BadResponse) as raised:
        await model.ainvoke([HumanMessage("Name 3 figures.")])
    assert raised.value.cause.endswith("no such weights")
    assert raised.value.next.startswith("check the client of the model")


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


TEAM_FILE = """---
description: Finds figures.
ladder: [refine]
parameters:
  planner: {temperature: 0.1}
  refiner: {temperature: 0.2}
  synthesizer: {temperature: 0.3, top_p: 0.9}
---
Give figures to the finder.
"""
FINDER_FILE = """---
description: Finds a figure in the files of the request.
parameters: {temperature: 0.4, seed: 7}
---
You find figures.
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    team = tmp_path / "figures"
    team.mkdir()
    (team / "team.md").write_text(TEAM_FILE)
    (team / "finder.md").write_text(FINDER_FILE)
    return team


async def test_each_role_and_worker_sends_its_own(runs: Runs, folder: Path):
    failed = {"status": "failed", "output": "no figure of a"}
    task = ScriptedTask(id="a", worker="finder", report=[failed, {"output": "42 euros"}])
    runs.script(task)
    own = runs.settings.model_copy(
        update={"standard_parameters": {"temperature": 1.0, "n_probs": 1}}
    )

    await arun("Find the figure of a.", team=str(folder), settings=own)

    asked = {call.schema: call.body for call in runs.requests}
    temperatures = {name: body["temperature"] for name, body in asked.items()}
    assert temperatures == {"Plan": 0.1, "Report": 0.4, "Refinement": 0.2, "Answer": 0.3}
    assert (asked["Report"]["seed"], asked["Answer"]["top_p"]) == (7, 0.9)
    assert asked["Answer"]["n_probs"] == 1, "what the tier says of other parameters stays"


@pytest.mark.parametrize(
    "written",
    ["tools: []", "anthropic_api_url: 'http://a.example'", "default_headers: {}", "api_key: x"],
)
def test_a_parameter_that_is_not_a_teams_to_set_is_refused(folder: Path, written: str):
    (folder / "finder.md").write_text(FINDER_FILE.replace("seed: 7", written))

    with pytest.raises(TeamInvalid, match=written.partition(":")[0]):
        load_team(str(folder))


FINDER = Worker(
    name="researcher", description="Finds prices.", instructions="Work.", tools=("calculate",)
)
REQUEST = "What do part A and part B cost?"
TEAM = make_team(workers=(FINDER,))


@pytest.mark.slow
@pytest.mark.parametrize("is_streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("wire", WIRES, ids=[wire.extra for wire in WIRES])
async def test_a_run_of_two_tasks_with_a_tool_costs_six_calls(
    wire: Wire, is_streamed: bool, settings: Settings, monkeypatch: pytest.MonkeyPatch
):
    if not find_spec(PROVIDERS[wire.extra].module):
        pytest.skip(f"the extra {wire.extra} is not installed")
    if is_streamed and wire.write_stream is None:
        pytest.skip("its stream is binary, and not written here")
    server, name = ProviderServer(wire), f"{wire.extra}:{wire.model}"
    events: list[Any] = []
    async with TestServer(server.app) as served:
        address = str(served.make_url("")).rstrip("/")
        for variable, value in wire.environment.items():
            monkeypatch.setenv(variable, value.format(address=address))
        names = {f"model_{tier}": name for tier in ("fast", "standard", "strong")}
        own = settings.model_copy(update={**names, "stream": is_streamed, "openai_base_url": None})

        outcome = await arun(REQUEST, team=TEAM, settings=own, on_event=events.append)

    assert (outcome.status, outcome.answer and outcome.answer.text) == (
        "done",
        "Both parts cost 42 euros.",
    )
    assert len(server.bodies) == outcome.usage.model_calls == 6
    assert outcome.usage.output_tokens == 6 * TOKENS_OUT
    assert outcome.usage.input_tokens == 6 * TOKENS_IN
    assert "Find the price of part A" in server.sent_text
    cached = [e.get("cached_tokens") for e in events if e["kind"] == "model_call"]
    assert cached == [TOKENS_CACHED if wire.is_cached else None] * 6
    assert "42" in server.sent_text, "what the tool returned is sent in the provider's form"


@pytest.mark.slow
async def test_anthropics_prompts_are_cached_as_its_protocol_asks(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
):
    pytest.importorskip("langchain_anthropic")
    (wire,) = (wire for wire in WIRES if wire.extra == "anthropic")
    server, name = ProviderServer(wire), f"anthropic:{wire.model}"
    async with TestServer(server.app) as served:
        monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-x")
        monkeypatch.setenv("ANTHROPIC_API_URL", str(served.make_url("")).rstrip("/"))
        names = {f"model_{tier}": name for tier in ("fast", "standard", "strong")}
        own = settings.model_copy(update={**names, "openai_base_url": None})

        await arun(REQUEST, team=TEAM, settings=own)

    assert all(body["cache_control"] == {"type": "ephemeral"} for body in server.bodies)
    assert all(body["tool_choice"]["type"] == "any" for body in server.bodies)
