"""Mechanisms that a run switches on for any team: divided tasks, and specialists with a grant."""

from typing import Any

import pytest
from langgraph.errors import InvalidUpdateError
from langgraph.types import Command

from nodes.errors import SettingsInvalid
from nodes.schemas.team import Team, Worker
from tests.endpoint import Fault, Scenario, ScriptedTask, script_tasks
from tests.injections.fake_internet import FakeInternet
from tests.runs import REQUEST, Runs
from tests.teams import make_team

RECURSIVE = {"strategy": "recursive"}
CALCULATE = {"recruit": ["calculate"]}
RECRUIT = {"role": "Clerk", "instructions": "Add.", "tools": ["calculate", "query_database"]}
SUM = ("calculate", {"expression": "6 * 7"})
SEARCH = "tests.injections.tools:web_search"
ONE = ScriptedTask(id="A", worker="specialist", tool_calls=(SUM,))


def make_plan(*tasks: ScriptedTask, compound: tuple[str, ...] = ()) -> dict[str, Any]:
    shown = Scenario(tasks=tasks).build_plan()
    for task in shown["tasks"]:
        task["is_compound"] = task["id"] in compound
    return shown


def script_levels(*levels: tuple[str, ...]) -> Scenario:
    """Return a scenario in which each plan has these tasks, and all but the last divide the first.

    The endpoint gives the plans in this order.
    """
    plans: list[dict[str, Any]] = []
    tasks: list[ScriptedTask] = []
    for names in levels:
        level = script_tasks({name: () for name in names}, worker="analyst")
        is_last = names is levels[-1]
        plans.append(make_plan(*level, compound=() if is_last else names[:1]))
        tasks += level
    return Scenario(tasks=tuple(tasks), answers={"Plan": plans})


async def test_a_run_divides_compound_tasks_of_a_team_that_plans(runs: Runs):
    runs.load_scenario(script_levels(("A", "B"), ("X", "Y")))

    outcome = await runs.run(thread="one", context=RECURSIVE)

    assert outcome.status == "done"
    planned = runs.load_events("one", "plan_created")
    assert [event.get("within", "") for event in planned] == ["", "A"]
    (request,) = [each for each in runs.load_events("one", "request") if "within" not in each]
    assert (request["strategy"], request["max_recursion"], request["max_breadth"]) == (
        *("recursive", 1),
        5,
    )
    assert runs.load_trace("one")["run"]["strategy"] == "recursive"


@pytest.mark.parametrize("depth", [0, 2])
async def test_a_run_divides_no_deeper_than_its_team_allows(runs: Runs, depth: int):
    runs.load_scenario(script_levels(*((name,) for name in "ABCD")))

    await runs.run(thread="one", context=RECURSIVE, team=make_team(max_recursion=depth))

    events = runs.load_events("one", "plan_created")
    levels = [event.get("within", "").count("/") + bool(event.get("within")) for event in events]
    assert max(levels) == depth
    rejected = runs.load_events("one", "plan_rejected")
    assert all("this team divides no tasks" in event["problems"][0] for event in rejected)


async def test_a_run_divides_no_wider_than_its_team_allows(runs: Runs):
    runs.load_scenario(script_levels(("A",), ("U", "V", "W", "X")))

    await runs.run(thread="one", context=RECURSIVE, team=make_team(max_breadth=3))

    plans = [event for event in runs.load_events("one", "plan_created") if "within" in event]
    assert plans and all(len(event["plan"]["tasks"]) <= 3 for event in plans)
    rejected = runs.load_events("one", "plan_rejected")
    assert "at most 3 are allowed" in rejected[0]["problems"][0]


async def test_a_team_inside_a_task_is_not_made_recursive_by_the_run(runs: Runs):
    inner = Worker(name="inner", description="Does parts.", team=make_team("analyst"))
    tasks = script_tasks({"A": ()}, worker="inner")
    inside = script_tasks({"X": ()}, worker="analyst")
    runs.script(*tasks, *inside, answers={"Plan": [make_plan(*tasks), make_plan(*inside)]})

    await runs.run(
        thread="one", context={**RECURSIVE, **CALCULATE}, team=make_team(workers=(inner,))
    )

    outer, within = runs.load_events("one", "request")
    assert (outer["strategy"], within["strategy"]) == ("recursive", "plan")
    assert outer["grant"] == ["calculate"] and "grant" not in within
    offered = [str(call.body) for call in runs.select_calls(schema="Plan")]
    assert ["is_compound" in body for body in offered] == [True, False]


async def test_a_plan_with_a_compound_task_may_be_edited_in_where_the_run_divides(runs: Runs):
    scenario = script_levels(("A",), ("X",))
    runs.load_scenario(scenario)
    graph = runs.build_saved()
    config: Any = {"configurable": {"thread_id": "one"}}
    edited = make_plan(*script_tasks({"A": ()}, worker="analyst"), compound=("A",))
    context = {**RECURSIVE, "approve_plan": True}
    await graph.ainvoke({"request": REQUEST}, config, context=context)

    state = await graph.ainvoke(Command(resume=edited), config)

    assert state["status"] == "done" and [plan.version for plan in state["plans"]] == [1, 2]
    plain: Any = {"configurable": {"thread_id": "two"}}
    await graph.ainvoke({"request": REQUEST}, plain, context={"approve_plan": True})
    with pytest.raises(InvalidUpdateError, match="is compound"):
        await graph.aupdate_state(plain, {"plan": edited})


async def test_a_run_recruits_a_specialist_with_what_it_grants_and_no_more(runs: Runs):
    runs.script(ONE, answers={"Recruit": RECRUIT})

    outcome = await runs.run(thread="one", context=CALCULATE)

    assert outcome.status == "done" and outcome.results["A"].worker == "specialist"
    (recruited,) = runs.load_events("one", "recruited")
    assert (recruited["tools"], recruited["refused"]) == (["calculate"], ["query_database"])
    offered = runs.select_calls(schema="Report", task="A")[0].tools
    assert set(offered) == {"calculate", "Report"}
    assert runs.load_trace("one")["run"]["grant"] == ["calculate"]


@pytest.mark.parametrize(
    "granted",
    [{"context": CALCULATE}, {"team": make_team(recruit=True, grant=("calculate",))}],
    ids=["by the run", "by the team"],
)
async def test_a_task_out_of_every_scope_goes_to_a_specialist(runs: Runs, granted: Any):
    handed = {"reason": "out_of_scope", "message": "Not mine."}
    reports = [{"status": "escalated", "escalation": handed}, {"output": "Painted zzz."}]
    task = ScriptedTask(id="A", description="Paint zzz.", report=reports)
    runs.script(task, answers={"Recruit": RECRUIT})

    outcome = await runs.run(thread="one", **granted)

    assert [event["to"] for event in runs.load_events("one", "reassigned")] == ["specialist"]
    assert len(runs.select_calls(schema="Recruit")) == 1 and outcome.status == "done"


async def test_a_run_with_specialists_resumes_with_its_grant(runs: Runs):
    fault = Fault(kind="unauthorized", schema="Report")
    scenario = Scenario(tasks=(ONE,), answers={"Recruit": RECRUIT})
    runs.script(ONE, answers=scenario.answers, faults=(fault,))
    first = await runs.run(thread="one", context=CALCULATE)
    runs.load_scenario(scenario)

    outcome = await runs.resume("one")

    assert (first.status, outcome.status) == ("failed", "done")
    assert not runs.load_events("one", "team_changed")


async def test_a_specialist_of_a_run_cannot_send_what_is_private(runs: Runs):
    leak = ("web_search", {"query": "growth KEY-4711"})
    tasks = (
        ScriptedTask(id="R", worker="analyst", materials=("memo.md",)),
        ScriptedTask(id="S", worker="specialist", depends_on=("R",), tool_calls=(leak,)),
    )
    made = {"Recruit": {**RECRUIT, "tools": [SEARCH]}}
    runs.script(*tasks, answers=made)

    async with FakeInternet() as world:
        await runs.run(
            thread="one",
            team=make_team(grant=(SEARCH,)),
            context={"recruit": [SEARCH]},
            materials={"memo.md": "Memo.\nThe key is KEY-4711."},
        )

    assert [call["denied"] for call in runs.load_events("one", "tool_call")] == [True]
    assert world.queries == []


def make_clerk_team() -> Team:
    clerk = Worker(name="clerk", description="Adds.", instructions="Add.", tools=("calculate",))
    return make_team(workers=(clerk,), grant=("web_search",))


@pytest.mark.parametrize(
    ("tool", "cause"),
    [
        ("calculate", "worker clerk has it, and no two workers share a tool"),
        ("calculat", "there is no such tool"),
        ("fetch_pag", "did you mean 'fetch_page'?"),
        ("os:system", "there is no such tool"),
        ("mcp:files/write", "there is no such tool"),
    ],
)
async def test_a_tool_that_cannot_be_granted_is_refused_in_one_line_before_any_call(
    runs: Runs, tool: str, cause: str
):
    context = {"recruit": ["query_database", tool]}
    graph = runs.build_graph(make_clerk_team())

    with pytest.raises(SettingsInvalid) as refused:
        await runs.run(thread="one", team=make_clerk_team(), context=context)
    with pytest.raises(SettingsInvalid):
        await graph.ainvoke({"request": REQUEST}, context=context)

    line = refused.value.format_line()
    assert f"tool {tool!r} cannot be granted to specialists: {cause}" in line
    assert "\n" not in line and not runs.requests


async def test_a_user_of_a_server_grants_only_what_the_teams_file_grants(runs: Runs):
    runs.script(*script_tasks({"A": ()}, worker="clerk"))
    graph = runs.build_graph(make_clerk_team())
    config: Any = {"configurable": {"langgraph_auth_user_id": "alice"}}

    async def grant(tool: str) -> Any:
        context: Any = {"recruit": [tool]}
        return await graph.ainvoke({"request": REQUEST}, config, context=context)

    with pytest.raises(SettingsInvalid, match="'query_database' cannot be granted"):
        await grant("query_database")
    assert (await grant("web_search"))["status"] == "done"
