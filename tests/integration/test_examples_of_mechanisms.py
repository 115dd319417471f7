"""Each mechanism, and each way to embed a team, has a small program that shows it."""

import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from itertools import pairwise
from pathlib import Path

import pytest
from langgraph.checkpoint.serde.event_hooks import SerdeEvent, register_serde_event_listener

from examples.embedding import node_in_a_graph, own_tools_and_models, tool_of_an_agent
from examples.mechanisms.cascade import run_example as run_cascade
from examples.mechanisms.dispatch import run_example as run_dispatch
from examples.mechanisms.langsmith_trace import run_example as run_langsmith_trace
from examples.mechanisms.outage import run_example as run_outage
from examples.mechanisms.rate_limits import MAX_CONCURRENCY, RETRY_AFTER_S
from examples.mechanisms.rate_limits import run_example as run_rate_limits
from examples.mechanisms.scripted import Played
from graph import resume
from nodes.errors import SettingsInvalid
from nodes.models.circuit_breaker import FAILURE_THRESHOLD
from state import Answer

FOLDER = Path(__file__).parents[2] / "examples" / "mechanisms"
NO_EXAMPLES = {"scripted", "scripted_model", "served"}
TESTED_ELSEWHERE = {"capacity"}
"""`capacity` is in test_capacity."""


def read_statuses(played: Played) -> dict[str, str]:
    """Return the status of each report by its task."""
    return {name: report.status for name, report in played.state["results"].items()}


def list_worked(played: Played, *, at_once: int = 0) -> list[str]:
    """List the tasks for which a worker's model was asked, in their order; the first ones by name.

    Args:
        at_once: how many begin at the same time, in no order.
    """
    worked = [call.task for call in played.script.calls if call.schema == "Report"]
    return sorted(worked[:at_once]) + worked[at_once:]


def check_step(played: Played) -> None:
    assert [plan.version for plan in played.state["plans"]] == [1, 2]
    assert "Huila is cheapest" in played.find_prompt("Decision", number=1)
    assert list_worked(played) == ["S1", "S2"]
    assert played.count_calls()["step"] == 2


def check_recursive(played: Played) -> None:
    assert list_worked(played, at_once=2) == ["origins", "prices", "card"]
    assert played.state["results"]["coffees"].output.startswith("Huila, Colombia")
    assert {"coffees/prices", "coffees/origins"} <= {event["task"] for event in played.events}


def check_recruit(played: Played) -> None:
    (recruited,) = played.select_events("recruited")
    (used,) = played.select_events("tool_call")
    assert (recruited["tools"], recruited["refused"]) == (["calculate"], ["query_database"])
    assert (used["tool"], used["error"]) == ("calculate", None)
    assert "0.17" in played.find_prompt("Report", "cup", 1)
    assert played.count_calls()["recruit"] == 1


def check_select_best(played: Played) -> None:
    (judged,) = played.select_events("judged")
    prompt = played.find_prompt("Answer")
    assert judged["best"] == "second"
    assert "red apple" in prompt and "very good" not in prompt


def check_reduce(played: Played) -> None:
    assert played.count_calls()["reduce"] == 3
    assert "Sidamo costs 31 EUR" in played.find_prompt("Answer")
    last = played.find_prompt("Answer", number=3)
    assert "From Huila, 24 EUR, to Kona, 75 EUR." in last and "Sidamo" not in last


def check_critic(played: Played) -> None:
    assert list_worked(played, at_once=2) == ["origins", "prices", "card", "prices", "card"]
    assert "Name currency and weight" in played.find_prompt("Report", "prices", 1)
    assert "24 EUR per kilogram" in played.state["answer"].text


def check_human(played: Played) -> None:
    assert list_worked(played, at_once=2) == ["origins", "prices", "prices"]
    assert "with 19 percent tax" in played.find_prompt("Report", "prices", 1)


def check_split(played: Played) -> None:
    rungs = [event["rung"] for event in played.select_events("task_started") if event["rung"]]
    models = [event["model"] for event in played.select_events("model_call")]
    assert rungs == ["refine", "tier", "split"]
    assert played.state["results"]["all"].attempts == 4
    assert {"scriptedmodel:medium", "scriptedmodel:large"} <= set(models)


def check_replan(played: Played) -> None:
    results, (revised,) = played.state["results"], played.select_events("plan_revised")
    assert set(results) == {"code", "figures", "ops"}
    assert revised["difference"] == {"added": ["ops"], "removed": ["comms"], "changed": []}
    assert results["code"].found_as_expected is False and results["code"].escalation is None
    assert results["ops"].ended_s < results["figures"].ended_s
    assert played.count_calls()["plan review"] == 1


def check_nested(played: Played) -> None:
    assert played.state["results"]["coffee"].is_partial
    assert any("notes.md names no country" in gap for gap in played.state["answer"].gaps)
    assert "Huila is cheapest" in played.find_prompt("Report", "card")


def check_time_limit(played: Played) -> None:
    results = played.state["results"]
    assert read_statuses(played) == {"cost": "failed", "origin": "completed"}
    assert results["cost"].escalation.reason == "timeout"
    assert '"value": "120"' in results["cost"].escalation.partial


def check_repair(played: Played) -> None:
    first, second = (event["problems"] for event in played.select_events("plan_rejected"))
    assert first == ["cycle: price -> card -> price"]
    assert ["printer" in second[0], "'price' is vague" in second[1]] == [True, True]
    assert "'printer'" in played.find_prompt("Plan", number=2)
    assert list_worked(played) == ["price", "card"]
    assert played.count_calls()["plan repair"] == 2


def check_generalist(played: Played) -> None:
    reports = played.state["results"]
    assert {name: report.worker for name, report in reports.items()} == {
        "price": "accountant",
        "name": "clerk",
    }


def check_contradiction(played: Played) -> None:
    figures, words = played.state["answer"].contradictions
    assert [claim.source for claim in figures.claims] == ["prices.csv", "invoice.pdf"]
    assert figures.verdict == "the second holds (invoice.pdf): An invoice is what was paid."
    assert [claim.source for claim in words.claims] == ["label.md", "letter.md"]
    assert words.verdict == "cannot decide: Neither names a harvest."
    assert played.count_calls()["judge"] == 2


def check_handoff(played: Played) -> None:
    prompt = played.find_prompt("Report", "card")
    assert "Huila costs 24 EUR per kilogram." in prompt
    unknown = ("where it comes from", "Colombia", "origins", "accountant", "taster")
    assert [word for word in unknown if word in prompt] == []
    with_tools = [call.task or call.schema for call in played.script.calls if call.tools]
    assert with_tools == ["price"]


def check_tool_loop(played: Played) -> None:
    used = played.select_events("tool_call")
    assert [use["tool"] for use in used] == ["query_database", *["calculate"] * 3]
    assert [bool(use["error"]) for use in used] == [True, True, False, False]
    assert "division by zero" in played.find_prompt("Report", "cost", 2)
    assert list_worked(played) == ["cost"] * 5


CHECKS: dict[str, tuple[str, Callable[[Played], None]]] = {
    "step": ("done", check_step),
    "recursive": ("done", check_recursive),
    "recruit": ("done", check_recruit),
    "select_best": ("done", check_select_best),
    "reduce": ("done", check_reduce),
    "critic": ("done", check_critic),
    "human": ("done", check_human),
    "split": ("done", check_split),
    "replan": ("done", check_replan),
    "nested": ("partial", check_nested),
    "time_limit": ("partial", check_time_limit),
    "repair": ("done", check_repair),
    "generalist": ("done", check_generalist),
    "contradiction": ("done", check_contradiction),
    "handoff": ("done", check_handoff),
    "tool_loop": ("done", check_tool_loop),
}
WAITS = pytest.param("time_limit", marks=pytest.mark.slow)


@pytest.mark.parametrize("name", [*(name for name in CHECKS if name != "time_limit"), WAITS])
async def test_an_example_shows_its_mechanism(name: str, capsys: pytest.CaptureFixture[str]):
    status, check = CHECKS[name]

    played = await import_module(f"examples.mechanisms.{name}").run_example()

    check(played)
    assert played.state["status"] == status
    assert f"answer ({status}): {played.state['answer'].text}" in capsys.readouterr().out


async def test_a_failure_reaches_only_the_tasks_that_need_its_result():
    runs = await run_cascade()

    shared = {"T1": "failed", "T2": "completed", "T3": "skipped", "T4": "completed"}
    assert read_statuses(runs[True]) == {**shared, "T5": "skipped"}
    assert read_statuses(runs[False]) == {**shared, "T5": "completed"}
    for played in runs.values():
        assert played.state["status"] == "partial"
        assert "T3 was skipped: needs T1, which failed" in played.state["answer"].gaps
    assert "needs T1, which failed" in runs[False].find_prompt("Report", "T5")


@pytest.mark.slow
async def test_a_task_waits_for_its_own_inputs_alone():
    runs = await run_dispatch()

    results = runs[False].state["results"]
    assert results["third"].ended_s < results["slow_1"].ended_s < results["all"].started_s
    one_by_one = sorted(runs[True].state["results"].values(), key=lambda each: each.started_s)
    assert all(a.ended_s <= b.started_s for a, b in pairwise(one_by_one))
    parallel, sequential = (runs[how].state["timing"] for how in (False, True))
    assert sequential.wall_s > parallel.wall_s
    assert parallel.speedup > sequential.speedup == 1


@pytest.mark.slow
async def test_an_outage_ends_in_answers_that_name_whom_to_ask_and_in_no_more_calls():
    (first, received), (second, further) = await run_outage()

    assert first.answer is not None and first.status == "failed"
    assert first.answer.text.endswith("ask the research desk, desk@example.org.")
    assert second.answer is not None and second.status == "failed"
    assert second.answer.text.endswith("ask the research desk, desk@example.org.")
    assert received > FAILURE_THRESHOLD and further == 0


@pytest.mark.slow
async def test_all_runs_of_a_process_share_its_limits_and_obey_a_retry_after():
    seen = await run_rate_limits()

    assert seen.statuses == ["done"] * 3
    assert seen.max_in_flight == MAX_CONCURRENCY
    assert seen.pause_s > RETRY_AFTER_S / 2


@pytest.mark.slow
async def test_langsmith_receives_a_named_tagged_nested_run_where_it_is_switched_on():
    received = await run_langsmith_trace()

    assert received[False].requests == []
    (root,) = received[True].list_children()
    assert root["name"] == "market_analysis"
    assert set(root["tags"]) == {"supervisor-worker", "market_analysis"}
    steps = {run["name"]: run["id"] for run in received[True].list_children(root["id"])}
    assert {"supervisor", "researcher", "monitor", "synthesizer"} <= set(steps)
    inside = received[True].list_children(steps["synthesizer"])
    (written,) = (run for run in inside if run["run_type"] == "llm")
    assert written["name"] == "answer"


@pytest.mark.slow
def test_an_example_that_is_run_says_first_what_it_is_about():
    ended = subprocess.run(
        [sys.executable, "-m", "examples.mechanisms.generalist"],
        cwd=FOLDER.parents[1],
        capture_output=True,
        text=True,
        check=True,
    )

    about, shown = ended.stdout.split("\n\nrequest: ")
    assert about.startswith("Give the task of a worker that does not exist to the generalist")
    assert "python -m" not in about and "answer (done): " in shown


def test_every_example_is_tested():
    files = {file.stem for file in FOLDER.glob("*.py")}
    own = {"cascade", "dispatch", "outage", "rate_limits", "langsmith_trace"}

    assert files - NO_EXAMPLES - TESTED_ELSEWHERE == {*CHECKS, *own}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.slow
def test_a_node_asks_in_the_parent_and_shares_its_keys():
    events: list[SerdeEvent] = []
    stop_listening = register_serde_event_listener(events.append)
    seen = node_in_a_graph.run_example()
    stop_listening()

    assert seen["question"]["kind"] == "plan" and "approve" in str(seen["question"])
    assert ("team", "supervisor") in seen["steps"] and ("", "write_letter") in seen["steps"]
    assert any(step[0] == "team" and "synthesizer" in step for step in seen["steps"])
    state = seen["state"]
    assert isinstance(state["answer"], Answer) and state["answer"].sources == ("prices.md",)
    assert "9000 EUR" in state["letter"] and state["messages"][-1].type == "ai"
    assert "team" in seen["drawing"].draw_mermaid()
    assert not [event for event in events if event["module"] == "state"], "no warning is printed"


@pytest.mark.slow
async def test_an_agent_asks_a_team_as_a_tool():
    messages = await tool_of_an_agent.run_example()

    assert [message.type for message in messages] == ["human", "ai", "tool", "ai"]
    assert "9000 EUR" in messages[2].text and "Sources: prices.md" in messages[2].text
    assert "None" not in messages[2].text


@pytest.mark.slow
def test_tools_and_models_of_a_program_do_the_work():
    outcome = own_tools_and_models.run_example()

    assert outcome.status == "done" and outcome.answer
    assert "3 pieces of heat pump are in stock" in outcome.answer.text
    again = resume(outcome.thread, tools=own_tools_and_models.TOOLS)
    assert again.answer == outcome.answer
    with pytest.raises(SettingsInvalid):
        resume(outcome.thread, tools={"other": own_tools_and_models.count_stock})
