"""Answers to open questions of a thread: bare, by name, by id, as a chat message."""

from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.types import Command

from graph.topology.answers import AnswerUnclear
from graph.topology.supervisor_graph import SupervisorGraph
from nodes.errors import RequestInvalid
from tests.endpoint import ScriptedTask, script_tasks
from tests.integration.test_chat import attach
from tests.runs import GIVEN, REQUEST, THREAD, Runs

pytestmark = pytest.mark.slow

GOOD = {"output": "Found it, with its source.", "confidence": 90}


def make_escalation(question: str) -> dict[str, Any]:
    asked = {"reason": "ambiguous_input", "message": question}
    return {"status": "escalated", "output": "", "escalation": asked}


YEAR, CURRENCY = make_escalation("Which year?"), make_escalation("Which currency?")


@pytest.fixture
async def asking(runs: Runs) -> SupervisorGraph:
    """A thread on which B has asked first, then A."""
    tasks = (
        ScriptedTask(id="A", report=[YEAR, GOOD], latency_s=0.3),
        ScriptedTask(id="B", report=[CURRENCY, GOOD]),
    )
    runs.script(*tasks)
    graph = runs.build_saved(ladder=("refine", "human"))
    await graph.ainvoke(GIVEN, THREAD)
    return graph


@pytest.fixture
async def proposing(runs: Runs) -> SupervisorGraph:
    """A thread on which the plan waits to be approved."""
    runs.script(*script_tasks({"A": ()}))
    graph = runs.build_saved(approve_plan=True)
    await graph.ainvoke({"messages": [HumanMessage("Compare the parts.")]}, THREAD)
    return graph


async def list_open_tasks(graph: SupervisorGraph) -> list[str]:
    return sorted(each.value["task"] for each in (await graph.aget_state(THREAD)).interrupts)


async def test_several_questions_are_answered_at_once(runs: Runs, asking: SupervisorGraph):
    asked = (await asking.aget_state(THREAD)).interrupts
    replies = {each.id: {"A": "2025", "B": "euros"}[each.value["task"]] for each in asked}

    state = await asking.ainvoke(Command(resume=replies), THREAD)

    assert state["status"] == "done"
    second = {name: str(runs.select_calls(task=name)[1].body["messages"]) for name in "AB"}
    assert "2025" in second["A"] and "euros" not in second["A"]
    assert "euros" in second["B"] and "2025" not in second["B"]


@pytest.mark.parametrize("name", ["Z", "0" * 32])
async def test_an_answer_to_an_unknown_question_is_refused_and_nothing_is_lost(
    asking: SupervisorGraph, name: str
):
    with pytest.raises(AnswerUnclear) as refused:
        await asking.ainvoke(Command(resume={"A": "2025", name: "x"}), THREAD)

    line = refused.value.format_line()
    assert repr(name) in line and "A, " in line.replace("B, A", "A, B") and "kept: " in line
    assert await list_open_tasks(asking) == ["A", "B"]


@pytest.mark.parametrize("is_chat", [False, True], ids=["bare", "in the chat"])
async def test_an_answer_without_a_name_is_for_the_question_that_was_asked_first(
    runs: Runs, asking: SupervisorGraph, is_chat: bool
):
    replies: list[Any] = [Command(resume="euros"), Command(resume="2025")]
    if is_chat:
        replies = [{"messages": [HumanMessage(each.resume)]} for each in replies]
    await asking.ainvoke(replies[0], THREAD)
    left = await list_open_tasks(asking)
    state = await asking.ainvoke(replies[1], THREAD)

    assert left == ["A"] and (state["status"], state["request"]) == ("done", REQUEST)
    assert len(runs.select_calls(schema="Plan")) == 1
    assert 'question="Which currency?"' in str(runs.select_calls(task="B")[1].body)
    assert "euros" in str(runs.select_calls(task="B")[1].body)
    assert "2025" in str(runs.select_calls(task="A")[1].body)
    said = [message.text for message in state["messages"]]
    assert not is_chat or said.index("euros") < said.index("2025") < len(said) - 1


async def test_each_question_of_a_worker_appears_once_in_the_chat(asking: SupervisorGraph):
    before = (await asking.aget_state(THREAD)).values["messages"]
    assert ["currency?" in message.text for message in before[-2:]] == [True, False]
    await asking.ainvoke(Command(resume="euros"), THREAD)
    after = (await asking.aget_state(THREAD)).values["messages"]
    state = await asking.ainvoke(Command(resume="2025"), THREAD)

    for messages in (before, after, state["messages"]):
        said = [message.text for message in messages if isinstance(message, AIMessage)]
        assert sum("Which year?" in text for text in said) == 1
        assert sum("Which currency?" in text for text in said) == 1
    assert isinstance(after[-1], AIMessage)
    assert state["messages"][-1].text.startswith(state["answer"].text)


async def test_a_chat_message_approves_the_plan(runs: Runs, proposing: SupervisorGraph):
    asked = (await proposing.aget_state(THREAD)).values["messages"]
    state = await proposing.ainvoke({"messages": [HumanMessage("approve")]}, THREAD)

    assert "**A** (researcher)" in asked[1].text and "Approve the plan" in asked[1].text
    assert state["status"] == "done" and state["request"] == "Compare the parts."
    assert len(runs.select_calls(schema="Plan")) == 1
    assert [m.type for m in state["messages"]] == ["human", "ai", "human", "ai"]


async def test_a_chat_message_that_is_unclear_is_answered_in_the_chat(
    runs: Runs, proposing: SupervisorGraph
):
    await proposing.ainvoke({"messages": [HumanMessage("hm")]}, THREAD)
    messages = (await proposing.aget_state(THREAD)).values["messages"]
    state = await proposing.ainvoke({"messages": [HumanMessage("ok")]}, THREAD)

    assert "unclear: 'hm' is neither" in messages[-1].text
    assert state["status"] == "done" and len(runs.select_calls(schema="Plan")) == 1


@pytest.mark.parametrize("is_answered", [True, False])
async def test_a_request_replaces_a_question_or_follows_one_that_was_answered(
    runs: Runs, proposing: SupervisorGraph, is_answered: bool
):
    if is_answered:
        await proposing.ainvoke({"messages": [HumanMessage("approve")]}, THREAD)

    state = await proposing.ainvoke({"request": "Compare other parts."}, THREAD)

    assert state["request"] == "Compare other parts." and "__interrupt__" in state
    assert len(runs.select_calls(schema="Plan")) == 2


async def test_a_chat_message_approves_a_plan_that_was_edited_in_the_state(
    runs: Runs, proposing: SupervisorGraph
):
    plan = (await proposing.aget_state(THREAD)).values["plan"]
    edited = plan.model_copy(update={"goal": "Compare them."})
    await proposing.aupdate_state(THREAD, {"plan": edited})

    state = await proposing.ainvoke({"messages": [HumanMessage("ok")]}, THREAD)

    assert (state["status"], state["plan"].goal) == ("done", "Compare them.")
    assert state["request"] == "Compare the parts."
    assert len(runs.select_calls(schema="Plan")) == 1


@pytest.mark.parametrize("words", ["ok", ""])
async def test_a_file_beside_an_approval_has_the_plan_made_again_with_it(
    runs: Runs, proposing: SupervisorGraph, words: str
):
    message = HumanMessage([words, attach("prices.md", "A costs 2031 euros.")])

    state = await proposing.ainvoke({"messages": [message]}, THREAD)

    assert state["__interrupt__"][0].value["plan"]["version"] == 2
    asked = str(runs.select_calls(schema="Plan")[1].body)
    assert "Use these files: `prices.md`" in asked and "A costs 2031" in asked


async def test_files_that_came_with_answers_to_workers_are_gaps_and_kept(
    asking: SupervisorGraph,
):
    for name in ("one.md", "two.md"):
        message = HumanMessage(["See the file.", attach(name, "2031")])
        state = await asking.ainvoke({"messages": [message]}, THREAD)

    assert state["status"] == "partial" and len(state["answer"].gaps) == 2
    assert all("came with the answer to a question" in gap for gap in state["answer"].gaps)
    kept = (await asking.aget_state(THREAD)).values["materials"]
    assert kept == {"one.md": "2031", "two.md": "2031"}


async def test_a_file_that_was_not_read_is_a_gap_although_the_plan_was_asked_about_in_between(
    runs: Runs,
):
    runs.script(*script_tasks({"A": ()}))
    graph = runs.build_saved(approve_plan=True)
    picture = {"type": "image", "url": "https://host/a.png"}
    await graph.ainvoke({"messages": [HumanMessage(["Compare the parts.", picture])]}, THREAD)

    state = await graph.ainvoke({"messages": [HumanMessage("ok")]}, THREAD)

    assert state["status"] == "partial"
    assert [gap[:17] for gap in state["answer"].gaps] == ["not read: picture"]


async def test_a_failed_run_says_first_which_attached_file_could_not_be_read(runs: Runs):
    runs.script(ScriptedTask(id="A", report={"status": "failed", "output": "no file is attached"}))
    picture = {"type": "image", "url": "https://host/a.png"}
    message = HumanMessage(["Compare the parts.", picture])

    state = await runs.build_saved().ainvoke({"messages": [message]}, THREAD)

    first = state["answer"].text.partition("\n")[0]
    assert state["status"] == "failed"
    assert first.startswith("picture is attached, but it could not be read: pictures cannot")


@pytest.mark.parametrize(
    "given",
    [
        {"messages": [{"role": "remove", "content": "", "id": "unknown"}]},
        {"messages": [{"text": "euros"}]},
        {"messages": [{"role": "user", "content": {"type": "text", "text": "euros"}}]},
        Command(resume="euros", update={"messages": [{"role": "alien", "content": "euros"}]}),
    ],
)
async def test_a_message_that_cannot_be_read_leaves_the_thread_as_it_is(
    asking: SupervisorGraph, given: Any
):
    with pytest.raises(RequestInvalid) as refused:
        await asking.ainvoke(given, THREAD)

    assert "kept: the thread as it is" in refused.value.format_line()
    assert await list_open_tasks(asking) == ["A", "B"]
