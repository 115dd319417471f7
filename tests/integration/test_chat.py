"""A team in a chat: what is streamed, what the last message says, and what is attached."""

from base64 import b64encode
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from graph.topology.supervisor_graph import SupervisorGraph
from tests.endpoint import Endpoint, Fault, Scenario, script_tasks
from tests.runs import REQUEST, Runs

CHAT: Any = {"messages": [HumanMessage(REQUEST)]}
CONFIG: Any = {"configurable": {"thread_id": "chat"}}
TEXT = " ".join(["Part A is the best of the parts, as its three figures show."] * 8)
PICTURE = "![pixel](https://host/?q=secret) is a picture."
PARTS = script_tasks({"A": (), "B": ("A",)})


def play(endpoint: Endpoint, text: str = TEXT, **fields: Any) -> None:
    answer = {"text": text, "confidence": 90, "gaps": ["No figure of C."]}
    fields = {"answers": {"Answer": answer}, "chunk_delay_s": 0.02, **fields}
    endpoint.load_scenario(Scenario(tasks=PARTS, **fields))


async def stream_messages(
    graph: SupervisorGraph, given: Any = CHAT, **options: Any
) -> tuple[dict[str, list[str]], Any]:
    """Return the texts of the streamed parts by message id, and the last values."""
    texts: dict[str, list[str]] = {}
    values: Any = None
    modes: Any = ["messages", "values"]
    async for part in graph.astream(given, CONFIG, stream_mode=modes, **options):
        *where, mode, content = part
        if mode == "messages":
            texts.setdefault(content[0].id, []).append(content[0].text)
        elif not where or not where[0]:
            values = content
    return texts, values


def attach(name: str, text: str) -> dict[str, Any]:
    encoded = b64encode(text.encode()).decode()
    return {"type": "file", "base64": encoded, "extras": {"filename": name}}


@pytest.mark.parametrize(
    ("options", "faults"),
    [
        ({}, ()),
        ({"subgraphs": True}, ()),
        ({}, (Fault(kind="cut_stream", schema="Answer", nth=(1,), chunks=8),)),
    ],
    ids=["a graph", "its inner graphs", "an answer that is written again"],
)
async def test_only_the_answer_is_streamed_and_its_parts_are_the_last_message(
    runs: Runs, options: dict[str, Any], faults: tuple[Fault, ...]
):
    play(runs.endpoint, faults=faults)

    texts, values = await stream_messages(runs.build_saved(), **options)

    last = values["messages"][-1]
    assert list(texts) == [last.id] and len(texts[last.id]) > 2
    assert "".join(texts[last.id]) == last.text
    assert last.text.startswith(values["answer"].text)


async def test_the_content_block_protocol_streams_the_answer_too(runs: Runs):
    play(runs.endpoint)

    with pytest.warns(match="experimental"):
        run = await runs.build_saved().astream_events(CHAT, CONFIG, version="v3")
        parts = [[text async for text in message.text] async for message in run.messages]

    assert len(parts) == 1 and len(parts[0]) > 2
    assert "".join(parts[0]).startswith(TEXT)


async def test_a_draft_that_a_critic_may_send_back_is_not_streamed_before(runs: Runs):
    play(runs.endpoint, answers={"Answer": {"text": TEXT}, "Critique": {"accepted": True}})

    texts, values = await stream_messages(runs.build_saved(critic="on"))

    last = values["messages"][-1]
    assert texts == {last.id: [last.text]}


async def test_a_picture_in_an_answer_is_escaped_in_the_message_and_its_stream(runs: Runs):
    play(runs.endpoint, f"{TEXT} {PICTURE}")

    texts, values = await stream_messages(runs.build_saved())

    last = values["messages"][-1]
    assert PICTURE.removesuffix(".") in values["answer"].text
    assert "\\![pixel]" in last.text and "".join(texts[last.id]) == last.text


async def test_the_message_says_what_is_missing_where_it_is_from_and_how_it_ended(runs: Runs):
    play(runs.endpoint, answers={})
    given = {"messages": [HumanMessage([REQUEST, {"type": "image", "url": "https://host/a.png"}])]}

    state = await runs.build_saved().ainvoke(given, CONFIG)

    shown = state["messages"][-1].text
    assert state["status"] == "partial" and isinstance(state["messages"][-1], AIMessage)
    assert "**Sources**\n\n- A.md\n- B.md" in shown and "**Confidence:** 50 of 100" in shown
    assert "- not read: picture (pictures cannot be read" in shown
    assert "**Status:** partial" in shown


async def test_a_run_returns_neither_its_materials_nor_the_content_of_its_attachments(runs: Runs):
    play(runs.endpoint)
    graph, secret = runs.build_saved(), "a line of the document\n" * 500
    given = {"messages": [HumanMessage([REQUEST, attach("long.md", secret)])]}

    _, values = await stream_messages(graph, given)

    kept = (await graph.aget_state(CONFIG)).values
    assert kept["materials"] == {"long.md": secret}
    assert "a line of the document" not in str(values)
    assert b64encode(secret.encode()).decode()[:60] not in str(kept)
    assert set(values) >= {"answer", "status", "messages", "plan", "plans", "results", "todos"}


async def test_a_file_of_an_earlier_message_is_a_material_of_the_next(runs: Runs):
    play(runs.endpoint)
    graph = runs.build_saved()

    await graph.ainvoke({"messages": [HumanMessage([REQUEST, attach("a.md", "one")])]}, CONFIG)
    await graph.ainvoke({"messages": [HumanMessage([REQUEST, attach("b.md", "two")])]}, CONFIG)

    assert (await graph.aget_state(CONFIG)).values["materials"] == {"a.md": "one", "b.md": "two"}
    assert "Part A is the best" in str(runs.select_calls(schema="Plan")[-1].body["messages"])
    assert "Part A is the best" in str(runs.select_calls(schema="Answer")[-1].body["messages"])


async def test_a_greeting_gets_a_word_on_the_team_and_no_model_is_called(runs: Runs):
    play(runs.endpoint)
    graph = runs.build_saved()

    state = await graph.ainvoke({"messages": [("user", "Hello, what can you do?")]}, CONFIG)

    assert runs.requests == [] and state["plan"] is None and state["todos"] == ()
    assert state["status"] == "done" and state["usage"].model_calls == 0
    assert [message.type for message in state["messages"]] == ["human", "ai"]
    assert "**researcher**" in state["messages"][-1].text

    after = await graph.ainvoke(CHAT, CONFIG)
    thanked = await graph.ainvoke({"messages": [("user", "Thanks!")]}, CONFIG)

    assert after["answer"].text == TEXT and len(after["plan"].tasks) == 2
    assert thanked["messages"][-1].text == "You are welcome." and thanked["plan"] is None


async def test_a_file_without_words_is_kept_for_the_next_message(runs: Runs):
    play(runs.endpoint)
    graph = runs.build_saved()

    asked = await graph.ainvoke({"messages": [HumanMessage([attach("a.md", "one")])]}, CONFIG)
    await graph.ainvoke(CHAT, CONFIG)

    assert "`a.md`.\n\nWhat should be done with them?" in asked["messages"][-1].text
    assert "a.md" in str(runs.select_calls(schema="Plan")[0].body["messages"])


async def test_the_plan_is_a_list_of_to_dos_that_changes_while_tasks_run(runs: Runs):
    play(runs.endpoint)
    seen, streamed = [], []

    async for mode, part in runs.build_saved().astream(
        CHAT, CONFIG, stream_mode=["values", "custom"]
    ):
        if mode == "values" and "todos" in part:
            seen.append([todo["status"] for todo in part["todos"]])
        elif mode == "custom" and part["kind"] == "ui" and part["task"]:
            streamed.append((part["task"], part["props"][f"task:{part['task']}"]))

    assert seen[0] == ["in_progress", "pending"] and seen[-1] == ["completed", "completed"]
    assert streamed == [
        ("A", "in_progress"),
        ("A", "completed"),
        ("B", "in_progress"),
        ("B", "completed"),
    ]
