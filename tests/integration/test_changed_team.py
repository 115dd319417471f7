"""A team whose files change while a run waits: the run goes on where it can, or says why not."""

import asyncio
import logging
from pathlib import Path
from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.types import Command

from graph.runs.runner import ThreadUnfinished
from nodes.planning.team_record import TeamChanged, build_team_record, require_same_team
from nodes.schemas.team import Team, Worker
from state import Context, Plan, SupervisorState, Task
from tests.endpoint import script_tasks
from tests.runs import REQUEST, Runs
from tests.teams import make_team

WAITS = {"approve_plan": True}
PLAN = Plan(
    goal="Compare.",
    tasks=(Task(id="a", description="Write a.md: name three figures.", worker="barista"),),
)


def write_team(**tools: str) -> Path:
    """Write a team folder of workers, each with the tools that are named."""
    folder = Path("coffee")
    folder.mkdir(exist_ok=True)
    for old in folder.glob("*.md"):
        old.unlink()
    (folder / "team.md").write_text("---\ndescription: A team for tests.\n---\nPlan.\n")
    for name, held in tools.items():
        front = f"description: Does what a {name} does.\ntools: [{held}]"
        (folder / f"{name}.md").write_text(f"---\n{front}\n---\nWork.\n")
    return folder


async def start_waiting_run(runs: Runs) -> None:
    """Leave a run of two workers waiting for approval."""
    runs.script(*script_tasks({"a": (), "b": ("a",)}, worker="reader"))
    folder = write_team(reader="", analyst="calculate")
    outcome = await runs.run(team=folder, thread="t1", context=WAITS)
    assert outcome.exit_code == 7


CHANGES = {
    "a worker has another name": (
        {"verifier": "", "analyst": "calculate"},
        "worker reader is gone; worker verifier is new",
    ),
    "a worker that no task has is gone": ({"reader": ""}, "worker analyst is gone"),
    "a worker has more tools": (
        {"reader": "fetch_page", "analyst": "calculate"},
        r"worker reader has other tools \(\+fetch_page\)",
    ),
    "a worker has fewer tools": (
        {"reader": "", "analyst": ""},
        r"worker analyst has other tools \(-calculate\)",
    ),
}


@pytest.mark.parametrize("change", CHANGES)
async def test_a_run_does_not_go_on_with_a_team_that_may_do_something_else(
    runs: Runs, change: str, caplog: pytest.LogCaptureFixture
):
    await start_waiting_run(runs)
    asked, (tools, message) = len(runs.requests), CHANGES[change]
    write_team(**tools)

    with caplog.at_level(logging.WARNING), pytest.raises(TeamChanged, match=message) as raised:
        await runs.resume("t1", answer="accept")

    assert raised.value.exit_code == 2
    assert "on another thread" in raised.value.format_line()
    assert len(runs.requests) == asked
    assert "unknown node" not in caplog.text


async def test_a_run_goes_on_with_new_words_and_new_workers_and_says_so(runs: Runs):
    await start_waiting_run(runs)
    folder = write_team(reader="", analyst="calculate", writer="")
    for name in ("team.md", "reader.md"):
        (folder / name).write_text((folder / name).read_text() + "Be brief.\n")

    outcome = await runs.resume("t1", answer="accept")

    events = runs.load_events("t1")
    (change_event,) = [event for event in events if event["kind"] == "team_changed"]
    assert outcome.status == "done"
    assert change_event["changes"] == [
        "worker writer is new",
        "team.md has changed",
        "reader.md has changed",
    ]
    assert "Be brief" in str(runs.select_calls(task="a")[-1].body)


async def test_a_run_that_is_done_gives_its_answer_whatever_became_of_its_team(runs: Runs):
    await start_waiting_run(runs)
    done = await runs.resume("t1", answer="accept")
    write_team(verifier="")

    calls = len(runs.requests)
    again = await runs.resume("t1")

    assert (again.answer, again.timing) == (done.answer, done.timing)
    assert len(runs.requests) == calls


async def test_a_new_request_does_not_take_the_place_of_tasks_whose_worker_is_gone(runs: Runs):
    runs.script(*script_tasks({"a": ()}, latency_s=60.0, worker="reader"))
    folder = write_team(reader="")
    begun = asyncio.create_task(runs.run(team=folder, thread="t1"))
    await runs.wait_for_calls(2)
    begun.cancel()
    await asyncio.wait([begun])
    write_team(verifier="")

    with pytest.raises(ThreadUnfinished):
        await runs.run("Something else.", team=folder, thread="t1")
    with pytest.raises(TeamChanged):
        await runs.resume("t1")


def make_trio(**tools: tuple[str, ...]) -> Team:
    workers = tuple(
        Worker(name=name, description="Works.", instructions="Work.", tools=held)
        for name, held in tools.items()
    )
    return make_team().model_copy(update={"workers": workers})


@pytest.mark.parametrize(
    ("stops_at", "later", "message"),
    [
        ("approval", make_trio(verifier=()), "worker reader is gone; worker verifier is new"),
        ("the workers", make_trio(reader=("fetch_page",)), r"\+fetch_page"),
        ("approval", make_trio(reader=()).model_copy(update={"strategy": "step"}), "strategy step"),
    ],
)
async def test_a_graph_with_a_checkpointer_of_the_user_refuses_too(
    runs: Runs, later: Team, message: str, stops_at: str
):
    runs.script(*script_tasks({"a": ()}, worker="reader"))
    saver: Any = InMemorySaver()
    config: Any = {"configurable": {"thread_id": "1"}}
    first = runs.build_graph(make_trio(reader=()), checkpointer=saver)
    options: dict[str, Any] = {"context": WAITS}
    resumed: Any = Command(resume="accept")
    if stops_at == "the workers":
        options, resumed = {"interrupt_after": ["supervisor"]}, None
    await first.ainvoke({"request": REQUEST}, config, **options)
    asked = len(runs.requests)
    second = runs.build_graph(later, checkpointer=saver)

    with pytest.raises(TeamChanged, match=message):
        await second.ainvoke(resumed, config)

    assert len(runs.requests) == asked
    ended = await first.ainvoke(resumed, config)
    assert ended["status"] == "done"


async def test_a_team_that_is_a_node_of_another_graph_refuses_too(runs: Runs):
    runs.script(*script_tasks({"a": ()}, worker="reader"))
    saver, config = InMemorySaver(), RunnableConfig(configurable={"thread_id": "1"})

    def outer(inner: Team) -> Any:
        builder = StateGraph(SupervisorState, context_schema=Context)
        builder.add_node("team", runs.build_graph(inner))
        builder.add_edge(START, "team")
        return builder.compile(checkpointer=saver)

    await outer(make_trio(reader=())).ainvoke(
        {"request": REQUEST}, config, context=Context(approve_plan=True)
    )

    with pytest.raises(TeamChanged, match="reader is gone; worker verifier is new"):
        await outer(make_trio(verifier=())).ainvoke(Command(resume="accept"), config)

    ended = await outer(make_trio(reader=())).ainvoke(Command(resume="accept"), config)
    assert ended["status"] == "done"


def test_a_team_within_a_team_may_get_no_more_workers_and_tools():
    def cafe(**tools: tuple[str, ...]) -> Team:
        barista = Worker(name="barista", description="A team.", team=make_trio(**tools))
        return make_team().model_copy(update={"workers": (barista,)})

    def changed(before: Team, after: Team) -> Any:
        plan = {"plan": PLAN, "status": "running", "planned_for": "x", "request": "x"}
        return require_same_team(after, {**plan, "team_record": build_team_record(before)})

    assert changed(cafe(reader=()), cafe(reader=())) == []
    with pytest.raises(TeamChanged, match=r"worker barista/reader has other tools"):
        changed(cafe(reader=()), cafe(reader=("fetch_page",)))
    with pytest.raises(TeamChanged, match=r"worker barista/analyst is new"):
        changed(cafe(reader=()), cafe(reader=(), analyst=("calculate",)))


async def test_without_a_record_of_the_team_the_workers_of_the_plan_must_be_there():
    values = {"plan": PLAN, "status": "running", "planned_for": "x", "request": "x"}

    assert require_same_team(make_trio(barista=()), values) == []
    with pytest.raises(TeamChanged, match="worker barista is gone"):
        require_same_team(make_trio(reader=()), values)
