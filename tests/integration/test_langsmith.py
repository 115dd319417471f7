"""What LangSmith receives of a run: the tree of its runs, names, tags, metadata, and sizes."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from langchain_core.tracers.langchain import LangChainTracer
from langsmith import Client, tracing_context

from nodes.schemas.team import Team
from tests.endpoint import Scenario, ScriptedTask, script_tasks
from tests.integration.dev_server import QUESTION, dev_server
from tests.integration.langsmith_server import (
    IngestForm,
    LangSmithRecord,
    format_tree,
    list_paths,
    run_langsmith_server,
)
from tests.runs import GIVEN, Runs
from tests.teams import make_team

PAIR = script_tasks({"a": (), "b": ("a",)})


@pytest.fixture
def langsmith() -> Iterator[LangSmithRecord]:
    with run_langsmith_server("compressed") as record:
        yield record


async def trace_run(
    record: LangSmithRecord, runs: Runs, team: Team, **config: Any
) -> dict[str, Any]:
    """Run the compiled graph with LangSmith's tracer, and return the root of its trace."""
    client = Client(record.url, api_key="lsv2_pt_test")
    graph = runs.build_graph(team)
    tracer = LangChainTracer(client=client)
    own: Any = {**config, "callbacks": [tracer]}

    await graph.ainvoke(GIVEN, own)

    client.flush()
    client.close()
    (root,) = record.list_children()
    assert tracer.latest_run is not None, "a caller's tracer knows the last run"
    return root


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
    assert all(run.get("end_time") for run in langsmith.runs.values())


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


AS_PLANNED = {"speculate": False}
"""No call begins before the plan is complete, so that each run has the same tree."""
FAILURE = {"status": "failed", "output": "The figures are not there.", "confidence": 0}
REPORT = {"output": "Part a costs 42 EUR.", "confidence": 90}
CASCADE = Scenario(
    tasks=(
        ScriptedTask(id="a", report=[FAILURE, REPORT]),
        ScriptedTask(id="b", worker="analyst", depends_on=("a",)),
    )
)
TREE_OF_CASCADE = """\
trio [chain]
  supervisor [chain]
    plan [llm]
  researcher [chain]
    work: a (researcher) [chain] FAILED
      report: a [llm]
    steps: a [chain]
      refine [chain]
        refine: a [llm]
      act [chain]
        work: a (researcher) [chain]
          report: a [llm]
      assess [chain]
  analyst [chain]
    work: b (analyst) [chain]
      report: b [llm]
  supervisor [chain]
  synthesizer [chain]
    answer [llm]
"""
NAMES_OF_CLASSES = ("GuardedModel", "RunnableSequence", "RunnableLambda", "Unnamed", "__start__")
MARK = "The unmistakable sentence of the document."


async def trace_graph(
    record: LangSmithRecord,
    runs: Runs,
    team: Team,
    *,
    subgraphs: bool = False,
    **given: Any,
) -> dict[str, Any]:
    """Run the compiled graph with LangSmith's tracer, and return the last state."""
    client = Client(record.url, api_key="lsv2_pt_test")
    graph = runs.build_graph(team)
    config: Any = {"callbacks": [LangChainTracer(client=client)]}
    request: Any = {"request": QUESTION, **given}
    how: Any = {"stream_mode": ["values"], "subgraphs": subgraphs}
    async for part in graph.astream(request, config, context=AS_PLANNED, **how):
        state: dict[str, Any] = part[-1]
    client.flush()
    client.close()
    return state


def read_metadata(record: LangSmithRecord, name: str) -> list[dict[str, Any]]:
    """Return the metadata of the runs with a name, in the order they began."""
    runs = [run for run in record.runs.values() if run["name"] == name]
    runs.sort(key=lambda run: str(run["start_time"]))
    return [run["extra"]["metadata"] for run in runs]


@pytest.mark.slow
@pytest.mark.parametrize("form", ["batch", "multipart"])
async def test_the_compiled_graph_sends_a_tree_of_runs_named_by_purpose(
    runs: Runs, form: IngestForm
):
    runs.load_scenario(CASCADE)

    with run_langsmith_server(form) as record:
        await trace_graph(record, runs, make_team())

    lines = [line for line in format_tree(record) if "monitor" not in line]
    assert "\n".join(lines) + "\n" == TREE_OF_CASCADE


@pytest.mark.slow
async def test_run_sends_the_same_tree_with_the_thread(runs: Runs, langsmith: LangSmithRecord):
    runs.load_scenario(CASCADE)
    client = Client(langsmith.url, api_key="lsv2_pt_test")

    with tracing_context(enabled=True, client=client):
        outcome = await runs.run(QUESTION, context=AS_PLANNED)
    client.flush()
    client.close()

    lines = [line for line in format_tree(langsmith) if "monitor" not in line]
    assert "\n".join(lines) + "\n" == TREE_OF_CASCADE
    (root,) = langsmith.list_children()
    assert root["extra"]["metadata"]["thread_id"] == outcome.thread
    assert {"supervisor-worker", "trio"} <= set(root["tags"])


@pytest.mark.slow
async def test_each_attempt_names_its_task_worker_rung_tier_and_plan(
    runs: Runs, langsmith: LangSmithRecord
):
    runs.load_scenario(CASCADE)

    await trace_graph(langsmith, runs, make_team())

    first, second = read_metadata(langsmith, "work: a (researcher)")
    shared = {"team": "trio", "task": "a", "worker": "researcher", "plan_version": 1}
    assert first.items() >= {**shared, "attempt": 1, "rung": "", "tier": "standard"}.items()
    assert second.items() >= {**shared, "attempt": 2, "rung": "refine"}.items()
    (refining,) = read_metadata(langsmith, "refine: a")
    assert refining.items() >= {"task": "a", "purpose": "refine", "tier": "fast"}.items()


@pytest.mark.slow
async def test_runs_of_an_inner_team_are_inside_the_task_of_the_outer_team(
    runs: Runs, langsmith: LangSmithRecord
):
    await trace_graph(langsmith, runs, runs.script_inner_team())

    around = "house / library / steps: all / act / work: all (library) / readers"
    paths = list_paths(langsmith)
    assert f"{around} / reader / work: part (reader) / report: part" in paths
    assert f"{around} / supervisor / plan" in paths
    (report,) = read_metadata(langsmith, "report: part")
    assert report.items() >= {"team": "readers", "task": "part", "within": "all"}.items()
    (read,) = (run for run in langsmith.runs.values() if run["name"] == "work: part (reader)")
    assert {"house", "readers"} <= set(read["tags"])


@pytest.mark.slow
async def test_the_loop_of_a_worker_with_tools_has_the_workers_name(
    runs: Runs, langsmith: LangSmithRecord
):
    call = ("search_documents", {"query": "figures"})
    runs.script(ScriptedTask(id="a", tool_calls=(call,)))

    await trace_graph(langsmith, runs, make_tool_team(), materials={"a.md": "Figures: 42."})

    names = {run["name"] for run in langsmith.runs.values()}
    assert {"turn: a", "search_documents"} <= names
    assert not [name for name in names if name in NAMES_OF_CLASSES or name.endswith("_loop")]
    assert any(path.endswith("work: a (researcher) / researcher") for path in list_paths(langsmith))


@pytest.mark.slow
@pytest.mark.parametrize(("chars", "most_bytes"), [(4_400, 300_000), (258_000, 700_000)])
async def test_a_material_is_sent_once_in_a_trace(runs: Runs, chars: int, most_bytes: int):
    document = MARK + "Each part has three figures. " * (chars // 29)
    call = ("search_documents", {"query": "figures"})
    tasks = [
        ScriptedTask(id=name, depends_on=needs, tool_calls=(call,), materials=("parts.md",))
        for name, needs in (("a", ()), ("b", ()), ("c", ("a", "b")))
    ]
    runs.script(*tuple(tasks))

    with run_langsmith_server("multipart") as record:
        state = await trace_graph(record, runs, make_tool_team(), materials={"parts.md": document})

    assert state["status"] == "done"
    steps = [run for run in record.runs.values() if run["run_type"] == "chain"]
    assert json.dumps(steps).count(document) == 1
    (root,) = record.list_children()
    assert root["inputs"]["materials"] == {"parts.md": document}
    assert "materials" not in root["outputs"]
    assert record.received_bytes < most_bytes


def make_tool_team() -> Team:
    fields = make_team("researcher").model_dump()
    return Team.model_validate(
        {**fields, "workers": [{**fields["workers"][0], "tools": ["search_documents"]}]}
    )


@pytest.mark.slow
async def test_a_development_server_with_tracing_on_sends_such_a_tree(
    tmp_path: Any, langsmith: LangSmithRecord
):
    from langgraph_sdk import get_client

    tracing = {
        "LANGSMITH_TRACING": "true",
        "LANGSMITH_ENDPOINT": langsmith.url,
        "LANGSMITH_API_KEY": "lsv2_pt_test",
    }
    with dev_server(tmp_path, **tracing) as server:
        thread = await (client := get_client(url=server.url)).threads.create()
        given: Any = {
            "request": "What did each shop sell?",
            "materials": {"sales.csv": "shop,eur\na,4"},
        }
        await client.runs.wait(thread["thread_id"], "organisation", input=given)
        assert langsmith.wait_for_end()

    (root,) = langsmith.list_children()
    names = {run["name"] for run in langsmith.runs.values()}
    assert root["name"] == "organisation"
    assert {"supervisor-worker", "organisation"} <= set(root["tags"])
    assert root["extra"]["metadata"]["thread_id"] == thread["thread_id"]
    assert "plan" in names and any(name.startswith("work: ") for name in names)
    assert not [name for name in names if name in NAMES_OF_CLASSES or name.endswith("_loop")]
