"""What the trace holds of tools and of models: cut, redacted, prompts only where asked for."""

from typing import Any

from langchain_core.messages import HumanMessage

from graph import arun
from graph.runs.trace import get_log_path, load_trace
from graph.settings import Settings
from nodes.errors.redaction import register_secrets
from nodes.models.run_context import MAX_MESSAGE_CHARS, describe_messages
from nodes.schemas.team import Team
from tests.endpoint import Endpoint, Scenario, ScriptedTask, script_tasks
from tests.teams import make_team

REQUEST = "Compare the parts and say which one is best."


async def start_run(settings: Settings, **options: Any) -> Any:
    return await arun(
        REQUEST, **{"team": make_team(), "settings": settings, "thread": "one", **options}
    )


async def test_a_long_result_of_a_tool_is_cut_in_the_trace(
    endpoint: Endpoint, settings: Settings
) -> None:
    worker = {"name": "reader", "description": "Reads.", "instructions": "Read."}
    team = make_team().model_copy(update={"workers": ()}).model_dump()
    tools = ("search_documents",)
    query = ("search_documents", {"query": "parts"})
    endpoint.load_scenario(
        Scenario(
            tasks=(
                ScriptedTask(id="A", worker="reader", tool_calls=(query,), materials=("parts.md",)),
            )
        )
    )

    await start_run(
        settings,
        team=Team.model_validate({**team, "workers": ({**worker, "tools": tools},)}),
        materials={"parts.md": "\n\n".join(f"Parts of {i}: {'many ' * 40}" for i in range(90))},
    )

    (call,) = [e for e in load_trace("one", settings)["events"] if e["kind"] == "tool_call"]
    assert 2_000 < len(call["result"]) < 2_100 and "[cut " in call["result"]


async def test_the_trace_holds_prompts_and_replies_only_where_it_is_asked_to(
    endpoint: Endpoint, settings: Settings
) -> None:
    endpoint.load_scenario(Scenario(tasks=script_tasks({"A": ()})))
    asked = settings.model_copy(update={"trace_content": True})

    await start_run(settings)
    await start_run(asked, thread="two")

    without, (planned, worked, answered) = (
        [e for e in load_trace(thread, settings)["events"] if e["kind"] == "model_call"]
        for thread in ("one", "two")
    )
    assert not any({"prompt", "reply"} & call.keys() for call in without)
    assert REQUEST in str(planned["prompt"]) and "researcher" in str(planned["reply"])
    assert "task: A" in str(worked["prompt"])
    assert answered["reply"][0]["tool_calls"][0]["name"] == "Answer"


async def test_a_key_in_a_request_is_not_in_a_traced_prompt(
    endpoint: Endpoint, settings: Settings
) -> None:
    endpoint.load_scenario(Scenario(tasks=script_tasks({"A": ()})))
    key = "sk-" + "0123456789abcdef" * 3
    asked = settings.model_copy(update={"trace_content": True})
    register_secrets([key])
    padding = "x" * (MAX_MESSAGE_CHARS - 10)

    await start_run(asked, materials={"a.md": f"{padding} {key}"})
    made = describe_messages([HumanMessage(f"{padding}{key}")])

    assert key not in get_log_path("one", settings).read_text()
    assert "sk-0" not in made[0]["text"]
    assert made[0]["text"] == f"{padding}[secret]"
