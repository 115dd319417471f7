"""What LangSmith receives of a run of the compiled graph, read from a server in its place."""

from collections.abc import Iterator
from typing import Any

import pytest
from langchain_core.tracers.langchain import LangChainTracer
from langsmith import Client

from nodes.schemas.team import Team, Worker
from tests.endpoint import Scenario, ScriptedTask, script_tasks
from tests.integration.langsmith_server import LangSmithRecord, run_langsmith_server
from tests.runs import GIVEN, Runs
from tests.teams import make_team

PAIR = script_tasks({"a": (), "b": ("a",)})


@pytest.fixture
def langsmith() -> Iterator[LangSmithRecord]:
    with run_langsmith_server() as record:
        yield record


async def trace_run(
    record: LangSmithRecord, runs: Runs, team: Team, **config: Any
) -> dict[str, Any]:
    """Run the compiled graph with LangSmith's tracer, and return the root of its trace."""
    client = Client(record.url, api_key="lsv2_pt_test")
    graph = runs.build_graph(team)
    traced: Any = {**config, "callbacks": [LangChainTracer(client=client)]}

    await graph.ainvoke(GIVEN, traced)

    client.flush()
    client.close()
    (root,) = record.list_children()
    return root


def list_all_names(record: LangSmithRecord, kind: str) -> set[str]:
    return {run["name"] for run in record.runs.values() if run["run_type"] == kind}


async def test_a_run_of_the_compiled_graph_is_named_and_tagged_by_its_team(
    runs: Runs, langsmith: LangSmithRecord
):
    runs.script(*PAIR)

    root = await trace_run(langsmith, runs, make_team())

    assert root["name"] == "trio"
    assert set(root["tags"]) == {"supervisor-worker", "trio"}
    assert root["extra"]["metadata"]["team"] == "trio"
    steps = [run["name"] for run in langsmith.list_children(root["id"])]
    assert steps[0] == "supervisor" and steps[-1] == "synthesizer"
    assert steps.count("researcher") == 2
    assert list_all_names(langsmith, "llm") == {"plan", "report: a", "report: b", "answer"}
    assert all(run.get("end_time") for run in langsmith.runs.values())


async def test_a_callers_own_name_and_tags_are_kept_beside_the_teams(
    runs: Runs, langsmith: LangSmithRecord
):
    runs.script(*PAIR)

    root = await trace_run(
        langsmith,
        runs,
        make_team(),
        run_name="nightly",
        tags=["ci"],
        metadata={"build": 7},
    )

    assert root["name"] == "nightly"
    assert set(root["tags"]) == {"supervisor-worker", "trio", "ci"}
    assert root["extra"]["metadata"].items() >= {"team": "trio", "build": 7}.items()


async def test_an_inner_team_is_nested_below_its_worker_and_tagged_by_its_own_name(
    runs: Runs, langsmith: LangSmithRecord
):
    inner = make_team("reader", name="readers")
    worker = Worker(name="library", description="Reads.", team=inner)
    outer = make_team(name="house", workers=(worker,))
    plans = [
        Scenario(tasks=(ScriptedTask(id=name, worker=who),)).build_plan()
        for name, who in (("all", "library"), ("part", "reader"))
    ]
    runs.script(answers={"Plan": plans})

    root = await trace_run(langsmith, runs, outer)

    assert "readers" not in root["tags"]
    (read,) = (run for run in langsmith.runs.values() if run["name"] == "work: part (reader)")
    assert {"house", "readers"} <= set(read["tags"])
    assert read["extra"]["metadata"].items() >= {"team": "readers", "within": "all"}.items()


async def test_with_a_key_alone_nothing_is_sent(
    runs: Runs,
    langsmith: LangSmithRecord,
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setenv("LANGSMITH_ENDPOINT", langsmith.url)
    monkeypatch.setenv("LANGSMITH_API_KEY", "lsv2_pt_test")
    runs.script(*PAIR)

    await runs.build_graph().ainvoke(GIVEN)

    assert langsmith.requests == []
