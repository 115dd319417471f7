"""Checkpointers of the user's: any kind serves, none is changed, and a human needs one."""

import asyncio
import sqlite3
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.encrypted import EncryptedSerializer
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command
from pydantic import BaseModel

from graph.topology.checkpointer_adapter import CheckpointerMissing, adapt_checkpointer
from nodes.errors import SettingsInvalid
from nodes.schemas.team import Team, Worker
from state import Plan
from tests.endpoint import Scenario, script_tasks
from tests.runs import GIVEN, REQUEST, THREAD, Runs
from tests.teams import make_team


class ReversingCipher:
    """A cipher for tests."""

    def encrypt(self, plaintext: bytes) -> tuple[str, bytes]:
        return "reversed", plaintext[::-1]

    def decrypt(self, ciphername: str, ciphertext: bytes) -> bytes:
        return ciphertext[::-1]


def nest_team(inner: Team) -> Team:
    worker = Worker(name="desk", description="Is a team.", team=inner)
    return make_team().model_copy(update={"workers": (*make_team().workers, worker)})


@pytest.mark.parametrize(
    ("asking", "context", "named"),
    [
        (make_team(), {"approve_plan": True}, "the context (approve_plan)"),
        (make_team(approve_plan=True), {}, "the team trio (approve_plan)"),
        (make_team(ladder=("refine", "human")), {}, "the team trio (human in its ladder)"),
        (
            nest_team(make_team(name="inner", approve_plan=True)),
            {},
            "the team inner (approve_plan)",
        ),
    ],
)
@pytest.mark.parametrize("config", [None, THREAD])
async def test_a_human_cannot_be_asked_without_a_checkpointer_and_nothing_is_spent(
    runs: Runs, asking: Team, context: Any, named: str, config: Any
):
    runs.script(*script_tasks({"A": ()}))
    graph = runs.build_graph(asking)

    with pytest.raises(CheckpointerMissing) as refused:
        await graph.ainvoke(GIVEN, config, context=context)

    assert named in str(refused.value) and "\n" not in refused.value.format_line()
    assert refused.value.exit_code == 2
    assert not runs.requests


async def test_a_node_of_another_graph_asks_by_the_checkpointer_of_that_graph(runs: Runs):
    runs.script(*script_tasks({"A": ()}))
    outer = StateGraph(MessagesState)
    outer.add_node("team", runs.build_graph(make_team(approve_plan=True)))
    outer.add_edge(START, "team")
    chat_input: Any = {"messages": [("user", REQUEST)]}

    with pytest.raises(CheckpointerMissing):
        await outer.compile().ainvoke(chat_input)
    asked = await outer.compile(checkpointer=InMemorySaver()).ainvoke(chat_input, THREAD)

    assert [question.value["kind"] for question in asked["__interrupt__"]] == ["plan"]


async def test_a_synchronous_sqlite_saver_keeps_a_run_that_waits(runs: Runs):
    runs.script(*script_tasks({"A": (), "B": ("A",)}))
    with SqliteSaver.from_conn_string("runs.sqlite") as saver:
        graph = runs.build_graph(make_team(approve_plan=True), checkpointer=saver)
        asked = await asyncio.to_thread(graph.invoke, GIVEN, THREAD)
    with SqliteSaver.from_conn_string("runs.sqlite") as saver:  # as after a restart
        graph = runs.build_graph(make_team(approve_plan=True), checkpointer=saver)
        ended = await asyncio.to_thread(graph.invoke, Command(resume="accept"), THREAD)
        kept = graph.get_state(THREAD).values
        history = list(graph.get_state_history(THREAD))

    assert [question.value["kind"] for question in asked["__interrupt__"]] == ["plan"]
    assert (ended["status"], kept["status"]) == ("done", "done")
    assert isinstance(kept["plan"], Plan) and kept["answer"] == ended["answer"]
    assert len(history) >= 4


async def test_the_asynchronous_methods_work_with_a_synchronous_saver(runs: Runs):
    runs.script(*script_tasks({"A": ()}))
    connection = sqlite3.connect("runs.sqlite", check_same_thread=False)
    graph = runs.build_graph(checkpointer=SqliteSaver(connection))

    await graph.ainvoke(GIVEN, THREAD)
    kept = (await graph.aget_state(THREAD)).values
    history = [snapshot async for snapshot in graph.aget_state_history(THREAD)]
    connection.close()

    assert kept["status"] == "done" and isinstance(kept["plan"], Plan)
    assert history[0].values["status"] == "done"


async def test_the_checkpointer_of_the_user_stays_as_it_was(runs: Runs):
    runs.script(*script_tasks({"A": ()}))
    saver = InMemorySaver()
    before, serializer = dict(vars(saver)), dict(vars(saver.serde))

    graph = runs.build_graph(checkpointer=saver)
    await graph.ainvoke(GIVEN, THREAD)

    assert graph.checkpointer is saver and type(saver) is InMemorySaver
    assert vars(saver) == before and vars(saver.serde) == serializer
    assert saver.get_tuple(THREAD) is not None


async def test_an_encrypting_serializer_goes_on_encrypting(runs: Runs):
    runs.script(*script_tasks({"A": ()}))
    saver = InMemorySaver(serde=EncryptedSerializer(ReversingCipher(), JsonPlusSerializer()))
    graph = runs.build_graph(checkpointer=saver)

    await graph.ainvoke(GIVEN, THREAD)
    kept = (await graph.aget_state(THREAD)).values

    assert isinstance(kept["plan"], Plan)
    kinds = {kind for kind, _ in saver.blobs.values()} - {"empty"}
    assert kinds and all(kind.endswith("+reversed") for kind in kinds)


class Note(BaseModel):
    """A type of the user's."""

    text: str


def test_types_that_a_serializer_names_itself_are_read_too_and_no_others():
    plan = Plan.model_validate(Scenario(tasks=script_tasks({"A": ()})).build_plan())
    naming = JsonPlusSerializer(allowed_msgpack_modules=[Note])

    named = adapt_checkpointer(InMemorySaver(serde=naming)).serde
    usual = adapt_checkpointer(InMemorySaver()).serde

    assert named.loads_typed(named.dumps_typed([plan, Note(text="x")])) == [plan, Note(text="x")]
    assert usual.loads_typed(usual.dumps_typed([plan, Note(text="x")])) == [plan, {"text": "x"}]


async def test_a_run_that_would_be_saved_under_no_name_is_refused_in_one_line(runs: Runs):
    graph = runs.build_graph(checkpointer=InMemorySaver())

    with pytest.raises(SettingsInvalid, match="needs a thread_id") as refused:
        await graph.ainvoke(GIVEN)

    assert "configurable" in refused.value.format_line() and not runs.requests
