"""What reaches a thread from outside between two runs: new words, and edits of its state."""

from collections.abc import Callable
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import InvalidUpdateError
from langgraph.types import StateUpdate

from graph import build_supervisor
from graph.settings import Settings
from graph.store import strict_serializer
from graph.supervisor_graph import SupervisorGraph
from nodes.errors import PlanInvalid
from state import Plan
from tests.endpoint import Endpoint, Scenario, ScriptedTask, dag
from tests.teams import team

THREAD: Any = {"configurable": {"thread_id": "one"}}
NO_PLAN = {"goal": "g", "tasks": []}


@pytest.fixture
def graph(settings: Settings) -> SupervisorGraph:
    saver = InMemorySaver(serde=strict_serializer())
    return build_supervisor(team(max_plan_repairs=0), settings=settings, checkpointer=saver)


def words(text: str) -> dict[str, Any]:
    return {"request": text}


def message(text: str) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": text}]}


@pytest.mark.parametrize("earlier", [None, words, message], ids=["new", "words", "message"])
@pytest.mark.parametrize("failed", [words, message])
@pytest.mark.parametrize("then", [words, message])
async def test_what_is_said_after_a_failed_planning_is_what_is_planned(
    endpoint: Endpoint, graph: SupervisorGraph, earlier: Any, failed: Any, then: Any
) -> None:
    endpoint.play(Scenario(tasks=dag({"A": ()})))
    if earlier:
        await graph.ainvoke(earlier("Compare the old parts."), THREAD)
    endpoint.play(Scenario(answers={"Plan": [NO_PLAN, Scenario(tasks=dag({"B": ()})).plan()]}))
    with pytest.raises(PlanInvalid):
        await graph.ainvoke(failed("Compare the lost parts."), THREAD)

    state = await graph.ainvoke(then("Compare the new parts."), THREAD)

    asked = endpoint.calls(schema="Plan")[-1].body["messages"][1]["content"]
    assert "<request>\nCompare the new parts.\n</request>" in asked
    assert (state["status"], state["request"]) == ("done", "Compare the new parts.")
    assert sorted(state["results"]) == ["B"]


async def test_a_failed_planning_is_gone_on_with_for_the_words_it_failed_at(
    endpoint: Endpoint, graph: SupervisorGraph
) -> None:
    endpoint.play(Scenario(answers={"Plan": [NO_PLAN, Scenario(tasks=dag({"B": ()})).plan()]}))
    with pytest.raises(PlanInvalid):
        await graph.ainvoke(message("Compare the parts."), THREAD)

    state = await graph.ainvoke(None, THREAD)

    assert (state["status"], state["request"]) == ("done", "Compare the parts.")


Edit = Callable[[SupervisorGraph, Any], Any]


async def edit_async(graph: SupervisorGraph, values: Any) -> None:
    await graph.aupdate_state(THREAD, values, as_node="supervisor")


async def edit_sync(graph: SupervisorGraph, values: Any) -> None:
    graph.update_state(THREAD, values, as_node="supervisor")


async def edit_bulk(graph: SupervisorGraph, values: Any) -> None:
    await graph.abulk_update_state(THREAD, [[StateUpdate(values, "supervisor")]])


async def edit_bulk_sync(graph: SupervisorGraph, values: Any) -> None:
    graph.bulk_update_state(THREAD, [[StateUpdate(values, "supervisor")]])


@pytest.mark.parametrize("edit", [edit_async, edit_sync, edit_bulk, edit_bulk_sync])
async def test_an_edit_of_the_state_is_read_at_every_door(
    endpoint: Endpoint, graph: SupervisorGraph, edit: Edit
) -> None:
    endpoint.play(Scenario(tasks=dag({"A": ()})))
    await graph.ainvoke(words("Compare the parts."), THREAD, interrupt_after=["supervisor"])
    plan = Scenario(tasks=dag({"B": (), "C": ("B",)})).plan()
    loop = Scenario(tasks=dag({"B": ("C",), "C": ("B",)})).plan()
    cook = Scenario(tasks=dag({"B": ()}, worker="cook")).plan()
    lost = Scenario(tasks=(ScriptedTask(id="B", materials=("lost.csv",)),)).plan()

    for bad, said in ((loop, "cycle"), (cook, "unknown worker"), (lost, "unknown material")):
        with pytest.raises(InvalidUpdateError, match=said):
            await edit(graph, {"plan": bad, "todo": ["B"]})
    await edit(graph, {"plan": plan, "todo": ["B", "C"]})
    state = await graph.ainvoke(None, THREAD)

    assert state["plan"] == Plan.model_validate(plan)
    assert [call.task for call in endpoint.calls(schema="Report")] == ["B", "C"]
    assert state["status"] == "done"
