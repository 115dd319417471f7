"""What the trace says of model calls, handoffs and workers, in runs of the examples."""

from examples.mechanisms import human, replan


async def test_each_model_call_has_its_purpose():
    played = await replan.run_example()

    purposes = [event["purpose"] for event in played.select_events("model_call")]
    assert sorted(purposes) == [
        "answer",
        "plan",
        "plan review",
        "report",
        "report",
        "report",
        "revision",
    ]


async def test_a_request_names_the_workers_and_a_handoff_the_reports_in_it():
    played = await replan.run_example()

    (request,) = played.select_events("request")
    assert set(request["workers"]) >= {"code", "data", "ops", "comms"}
    given = {e["task"]: e["handoff"]["given"] for e in played.select_events("task_started")}
    assert given == {"code": [], "figures": [], "ops": ["code"]}


async def test_a_humans_answer_is_with_the_attempt_that_used_it():
    played = await human.run_example()

    last = [e for e in played.select_events("task_started") if e["task"] == "prices"][-1]
    assert list(last["handoff"]["answers"].values()) == ["with 19 percent tax"]
