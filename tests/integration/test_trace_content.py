"""What the trace holds of tools and of models, and a file for it that cannot be written."""

import json
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import HumanMessage

from examples.mechanisms import human, replan
from graph.runs.event_log import EventLog
from graph.runs.trace import ThreadUnknown, get_log_path
from nodes.errors import StoreError
from nodes.errors.redaction import register_secrets
from nodes.models.run_context import MAX_MESSAGE_CHARS, describe_messages
from nodes.schemas.team import Team
from tests.endpoint import ScriptedTask, script_tasks
from tests.runs import REQUEST, Runs
from tests.teams import make_team


async def search_once(runs: Runs, given: tuple[str, ...], **materials: str) -> dict[str, Any]:
    """Return the call of a worker that searches documents, in a run with materials."""
    return await call_once(runs, given, ("search_documents", {"query": "parts"}), materials)


async def call_once(
    runs: Runs, given: tuple[str, ...], query: tuple[str, Any], materials: dict[str, str]
) -> dict[str, Any]:
    worker = {"name": "reader", "description": "Reads.", "instructions": "Read."}
    team = make_team().model_copy(update={"workers": ()}).model_dump()
    tools = (query[0],)
    runs.script(ScriptedTask(id="A", worker="reader", tool_calls=(query,), materials=given))

    await runs.run(
        thread="one",
        team=Team.model_validate({**team, "workers": ({**worker, "tools": tools},)}),
        materials=materials,
    )

    (call,) = [e for e in runs.load_events() if e["kind"] == "tool_call"]
    return call


async def test_a_task_without_the_files_of_the_request_says_that_it_was_given_none(runs: Runs):
    call = await search_once(runs, (), parts="Parts.", prices="Prices.")

    assert call["error"].startswith(
        "the plan gives this task no file of the request (parts, prices); there is nothing to "
    )
    assert "lacks_file" not in call


async def test_a_request_without_a_file_is_told_to_attach_one(runs: Runs):
    call = await search_once(runs, ())

    assert call["error"].startswith("there is nothing to search: no file that can be read is")
    assert call["lacks_file"]


async def test_a_long_result_of_a_tool_is_cut_in_the_trace(runs: Runs):
    parts = "\n\n".join(f"Parts of {i}: {'many ' * 40}" for i in range(90))

    call = await search_once(runs, ("parts",), parts=parts)

    assert 2_000 < len(call["result"]) < 2_100 and "[cut " in call["result"]


async def test_a_result_with_the_rows_of_its_figures_is_whole_in_the_trace(runs: Runs):
    table = "customer,job,price\n" + "".join(
        f"Customer number {row % 12},Repair {row} of a machine,{row}\n" for row in range(30)
    )
    asked = {"question": "What is the average price per customer?"}

    call = await call_once(runs, ("a.csv",), ("analyze_table", asked), {"a.csv": table})

    assert len(call["result"]) > 3_000 and len(json.loads(call["result"])["used"]["rows"]) == 30


async def test_the_trace_holds_prompts_and_replies_only_where_it_is_asked_to(runs: Runs):
    runs.script(*script_tasks({"A": ()}))
    asked = runs.settings.model_copy(update={"trace_content": True})

    await runs.run(thread="one")
    await runs.run(settings=asked, thread="two")

    without, (planned, worked, answered) = (
        [e for e in runs.load_trace(thread)["events"] if e["kind"] == "model_call"]
        for thread in ("one", "two")
    )
    assert not any({"prompt", "reply"} & call.keys() for call in without)
    assert REQUEST in str(planned["prompt"]) and "researcher" in str(planned["reply"])
    assert "task: A" in str(worked["prompt"])
    assert answered["reply"][0]["tool_calls"][0]["name"] == "Answer"


async def test_a_key_in_a_request_is_not_in_a_traced_prompt(runs: Runs):
    runs.script(*script_tasks({"A": ()}))
    key = "sk-" + "0123456789abcdef" * 3
    asked = runs.settings.model_copy(update={"trace_content": True})
    register_secrets([key])
    padding = "x" * (MAX_MESSAGE_CHARS - 10)

    await runs.run(thread="one", settings=asked, materials={"a.md": f"{padding} {key}"})
    made = describe_messages([HumanMessage(f"{padding}{key}")])

    assert key not in get_log_path("one", runs.settings).read_text()
    assert "sk-0" not in made[0]["text"]
    assert made[0]["text"] == f"{padding}[secret]"


FULL = Path("/dev/full")
needs_a_full_disk = pytest.mark.skipif(not FULL.exists(), reason="no device that is always full")


async def test_o02_a_run_whose_trace_cannot_be_opened_does_not_begin(runs: Runs):
    traces = get_log_path("one", runs.settings).parent
    traces.touch()

    with pytest.raises(StoreError, match="cannot be written") as caught:
        await runs.run(thread="one")

    assert caught.value.exit_code == 5 and str(traces) in caught.value.format_line()
    assert not runs.requests
    with pytest.raises(ThreadUnknown):
        runs.load_trace("one")


@needs_a_full_disk
def test_o02_a_run_is_not_accepted_whose_request_is_not_on_file():
    with EventLog(FULL) as journal, pytest.raises(StoreError, match="No space left"):
        journal.write_required({"run": {"thread": "one"}})


@needs_a_full_disk
def test_o02_a_trace_that_finds_no_room_ends_with_one_warning_and_the_run_continues():
    heard: list[Any] = []

    with EventLog(FULL, heard.append) as journal:
        for moment in (1.0, 2.0):
            journal.record_event({"t": moment, "kind": "dispatched"})

    assert [event["kind"] for event in heard] == ["error", "dispatched", "dispatched"]
    assert "the run continues" in heard[0]["message"]


async def test_a_listener_that_fails_ends_neither_the_run_nor_its_trace(
    runs: Runs, caplog: pytest.LogCaptureFixture
):
    runs.script(*script_tasks({"a": ()}))

    def fail(event: Any) -> None:
        raise OSError("the display is gone")

    outcome = await runs.run(thread="one", on_event=fail)

    assert outcome.status == "done" and "the listener failed at" in caplog.text
    assert runs.load_trace("one")["events"][-1]["kind"] == "answer"


async def test_a_run_whose_trace_is_lost_is_unknown_and_says_so(runs: Runs):
    runs.script(*script_tasks({"a": ()}))
    await runs.run(thread="one")
    get_log_path("one", runs.settings).unlink()

    with pytest.raises(ThreadUnknown, match="no thread 'one'"):
        await runs.resume("one")


async def test_each_model_call_has_its_purpose_and_each_handoff_the_reports_in_it():
    played = await replan.run_example()

    purposes = [event["purpose"] for event in played.select_events("model_call")]
    expected = ["answer", "plan", "plan review", "report", "report", "report", "revision"]
    assert sorted(purposes) == expected
    (request,) = played.select_events("request")
    assert set(request["workers"]) >= {"code", "data", "ops", "comms"}
    given = {e["task"]: e["handoff"]["given"] for e in played.select_events("task_started")}
    assert given == {"code": [], "figures": [], "ops": ["code"]}


async def test_a_humans_answer_is_with_the_attempt_that_used_it():
    played = await human.run_example()

    last = [e for e in played.select_events("task_started") if e["task"] == "prices"][-1]
    assert list(last["handoff"]["answers"].values()) == ["with 19 percent tax"]
