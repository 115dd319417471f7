"""The critic, on the compiled graph against the endpoint."""

from tests.endpoint import Scenario, ScriptedTask
from tests.runs import Runs, select_events


async def test_the_critic_sends_a_task_back_with_what_to_fix(runs: Runs):
    refusal = {
        "accepted": False,
        "problems": ["No page is named."],
        "send_back": [{"task": "A", "fix": "Name the page."}, {"task": "Z", "fix": "?"}],
    }
    tasks = (
        ScriptedTask(id="A", report=[{"output": "first"}, {"output": "second, page 4"}]),
        ScriptedTask(id="B"),
        ScriptedTask(id="C", depends_on=("A",)),
    )
    answers = {"Critique": [refusal, {"accepted": True}]}

    state, events = await runs.play(Scenario(tasks=tasks, answers=answers), critic="on")

    again = runs.select_calls(task="A")[-1]
    assert "Name the page." in str(again.body["messages"])
    assert [len(runs.select_calls(task=name)) for name in "ABC"] == [2, 1, 2]
    assert state["results"]["A"].output == "second, page 4"
    assert state["status"] == "done"
    assert state["usage"].model_calls == len(runs.requests) == 10
    assert sum(state["steps"].values()) == 5
    assert [event["sent_back"] for event in select_events(events, "criticized")] == [
        {"A": "Name the page."},
        {},
    ]


async def test_a_result_that_was_not_fixed_is_used_again(runs: Runs):
    refusal = {"accepted": False, "send_back": [{"task": "A", "fix": "More."}]}
    reports = [{"output": "good"}, {"status": "failed", "output": "worse"}]
    scenario = Scenario(
        tasks=(ScriptedTask(id="A", report=reports),), answers={"Critique": refusal}
    )

    state, _ = await runs.play(scenario, critic="on", max_attempts=1)

    assert "good" in str(runs.select_calls(schema="Answer")[-1].body["messages"])
    assert any("its first result is used" in gap for gap in state["answer"].gaps)
