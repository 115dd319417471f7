"""Each mechanism has a small program that shows it, with models that play a script."""

from collections.abc import Callable
from importlib import import_module
from itertools import pairwise
from pathlib import Path

import pytest

from examples.mechanisms.cascade import run_example as run_cascade
from examples.mechanisms.dispatch import run_example as run_dispatch
from examples.mechanisms.scripted import Played

FOLDER = Path(__file__).parents[2] / "examples" / "mechanisms"
TESTED_ELSEWHERE = {"scripted", "capacity"}
"""`capacity` is in test_capacity."""


def read_statuses(played: Played) -> dict[str, str]:
    """Return the status of each report by its task."""
    return {name: report.status for name, report in played.state["results"].items()}


def list_worked(played: Played) -> list[str]:
    """List the tasks for which a worker's model was asked, in their order."""
    return [task for schema, task, _ in played.script.calls if schema == "Report"]


def find_prompt(played: Played, schema: str, task: str = "", number: int = 0) -> str:
    """Return the prompt of a call; `number` counts the calls of this schema and task."""
    return [prompt for *key, prompt in played.script.calls if key == [schema, task]][number]


def check_step(played: Played) -> None:
    assert [plan.version for plan in played.state["plans"]] == [1, 2]
    assert "Huila is cheapest" in find_prompt(played, "Decision", number=1)
    assert list_worked(played) == ["S1", "S2"]
    assert played.count_calls()["step"] == 2


def check_recursive(played: Played) -> None:
    assert list_worked(played) == ["prices", "origins", "card"]
    assert played.state["results"]["coffees"].output.startswith("Huila, Colombia")
    assert {"coffees/prices", "coffees/origins"} <= {event["task"] for event in played.events}


def check_recruit(played: Played) -> None:
    (recruited,) = played.select_events("recruited")
    (used,) = played.select_events("tool_call")
    assert (recruited["tools"], recruited["refused"]) == (["calculate"], ["query_database"])
    assert (used["tool"], used["error"]) == ("calculate", None)
    assert "0.17" in find_prompt(played, "Report", "cup", 1)
    assert played.count_calls()["recruit"] == 1


def check_select_best(played: Played) -> None:
    (judged,) = played.select_events("judged")
    prompt = find_prompt(played, "Answer")
    assert judged["best"] == "second"
    assert "red apple" in prompt and "very good" not in prompt


def check_reduce(played: Played) -> None:
    assert played.count_calls()["reduce"] == 3
    assert "Sidamo costs 31 EUR" in find_prompt(played, "Answer")
    last = find_prompt(played, "Answer", number=3)
    assert "From Huila, 24 EUR, to Kona, 75 EUR." in last and "Sidamo" not in last


def check_critic(played: Played) -> None:
    assert list_worked(played) == ["prices", "origins", "card", "prices", "card"]
    assert "Name currency and weight" in find_prompt(played, "Report", "prices", 1)
    assert "24 EUR per kilogram" in played.state["answer"].text


def check_human(played: Played) -> None:
    assert list_worked(played) == ["prices", "origins", "prices"]
    assert "with 19 percent tax" in find_prompt(played, "Report", "prices", 1)


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
    assert not results["code"].invalidates and results["code"].escalation is None
    assert results["ops"].ended_s < results["figures"].ended_s
    assert played.count_calls()["plan review"] == 1


def check_nested(played: Played) -> None:
    assert played.state["results"]["coffee"].is_partial
    assert any("notes.md names no country" in gap for gap in played.state["answer"].gaps)
    assert "Huila is cheapest" in find_prompt(played, "Report", "card")


def check_time_limit(played: Played) -> None:
    results = played.state["results"]
    assert read_statuses(played) == {"cost": "failed", "origin": "completed"}
    assert results["cost"].escalation.reason == "timeout"
    assert '"value": "120"' in results["cost"].escalation.partial


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
}


@pytest.mark.parametrize("name", CHECKS)
async def test_an_example_shows_its_mechanism(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status, check = CHECKS[name]

    played = await import_module(f"examples.mechanisms.{name}").run_example()

    check(played)
    assert played.state["status"] == status
    assert f"answer ({status}): {played.state['answer'].text}" in capsys.readouterr().out


async def test_a_failure_reaches_only_the_tasks_that_need_its_result() -> None:
    runs = await run_cascade()

    shared = {"T1": "failed", "T2": "completed", "T3": "skipped", "T4": "completed"}
    assert read_statuses(runs[True]) == {**shared, "T5": "skipped"}
    assert read_statuses(runs[False]) == {**shared, "T5": "completed"}
    for played in runs.values():
        assert played.state["status"] == "partial"
        assert "T3 was skipped: needs T1, which failed" in played.state["answer"].gaps
    assert "needs T1, which failed" in find_prompt(runs[False], "Report", "T5")


async def test_a_task_waits_for_its_own_inputs_alone() -> None:
    runs = await run_dispatch()

    results = runs[False].state["results"]
    assert results["third"].ended_s < results["slow"].ended_s < results["all"].started_s
    one_by_one = sorted(runs[True].state["results"].values(), key=lambda each: each.started_s)
    assert all(a.ended_s <= b.started_s for a, b in pairwise(one_by_one))
    parallel, sequential = (runs[how].state["timing"].wall_s for how in (False, True))
    assert sequential > parallel


def test_every_example_is_tested() -> None:
    files = {file.stem for file in FOLDER.glob("*.py")}

    assert files - TESTED_ELSEWHERE == {*CHECKS, "cascade", "dispatch"}
