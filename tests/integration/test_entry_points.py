"""What reaches a thread from outside between two runs: new words, and edits of its state."""

from collections.abc import Callable
from typing import Any

import pytest
from langgraph.errors import InvalidUpdateError
from langgraph.types import StateUpdate

from graph.topology.supervisor_graph import SupervisorGraph
from nodes.errors import Unauthorized
from state import Plan
from tests.endpoint import Fault, Scenario, ScriptedTask, script_tasks
from tests.runs import THREAD, Runs

pytestmark = pytest.mark.slow

REFUSED_FIRST = Scenario(
    tasks=script_tasks({"B": ()}),
    faults=(Fault(kind="unauthorized", schema="Plan", nth=(1, 2)),),
)
"""Neither tier's model can be reached for the first plan."""


@pytest.fixture
def graph(runs: Runs) -> SupervisorGraph:
    return runs.build_saved(max_plan_repairs=0)


def make_request(text: str) -> dict[str, Any]:
    return {"request": text}


def make_message(text: str) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": text}]}


@pytest.mark.parametrize(
    ("earlier", "failed", "then"),
    [
        (None, make_request, make_message),
        (None, make_message, make_request),
        (make_request, make_request, make_request),
        (make_message, make_message, make_message),
    ],
)
async def test_what_is_said_after_a_failed_planning_is_what_is_planned(
    runs: Runs, graph: SupervisorGraph, earlier: Any, failed: Any, then: Any
):
    runs.script(*script_tasks({"A": ()}))
    if earlier:
        await graph.ainvoke(earlier("Compare the old parts."), THREAD)
    runs.load_scenario(REFUSED_FIRST)
    with pytest.raises(Unauthorized):
        await graph.ainvoke(failed("Compare the lost parts."), THREAD)

    state = await graph.ainvoke(then("Compare the new parts."), THREAD)

    asked = runs.select_calls(schema="Plan")[-1].body["messages"][1]["content"]
    assert "<request>\nCompare the new parts.\n</request>" in asked
    assert (state["status"], state["request"]) == ("done", "Compare the new parts.")
    assert sorted(state["results"]) == ["B"]


async def test_a_failed_planning_is_gone_on_with_for_the_words_it_failed_at(
    runs: Runs, graph: SupervisorGraph
):
    runs.load_scenario(REFUSED_FIRST)
    with pytest.raises(Unauthorized):
        await graph.ainvoke(make_message("Compare the parts."), THREAD)

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
async def test_an_edit_of_the_state_is_validated_at_every_entry_point(
    runs: Runs, graph: SupervisorGraph, edit: Edit
):
    runs.script(*script_tasks({"A": ()}))
    caps: Any = {"speculate": False}
    request = make_request("Compare the parts.")
    await graph.ainvoke(request, THREAD, context=caps, interrupt_after=["supervisor"])
    plan = Scenario(tasks=script_tasks({"B": (), "C": ("B",)})).build_plan()
    loop = Scenario(tasks=script_tasks({"B": ("C",), "C": ("B",)})).build_plan()
    cook = Scenario(tasks=script_tasks({"B": ()}, worker="cook")).build_plan()
    lost = Scenario(tasks=(ScriptedTask(id="B", materials=("lost.csv",)),)).build_plan()

    for bad, message in ((loop, "cycle"), (cook, "unknown worker"), (lost, "unknown material")):
        with pytest.raises(InvalidUpdateError, match=message):
            await edit(graph, {"plan": bad, "todo": ["B"]})
    await edit(graph, {"plan": plan, "todo": ["B", "C"]})
    state = await graph.ainvoke(None, THREAD)

    assert state["plan"] == Plan.model_validate(plan)
    assert [call.task for call in runs.select_calls(schema="Report")] == ["B", "C"]
    assert state["status"] == "done"
