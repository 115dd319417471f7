"""What a run makes of a faltering endpoint, by the rows H of the catalogue of faults."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from graph import arun
from graph.runs.outcome import Outcome
from graph.settings import Settings
from nodes.models.circuit_breaker import FAILURE_THRESHOLD, MIN_RETRIES
from nodes.schemas.team import Worker
from tests.endpoint import Endpoint, Fault, Scenario, ScriptedTask, script_tasks
from tests.runs import REQUEST, Runs
from tests.teams import make_team

pytestmark = pytest.mark.slow

PAIR = script_tasks({"a": (), "b": ()})


@dataclass(frozen=True, kw_only=True)
class FaultRow:
    """A fault, and what a run with two tasks must make of it."""

    faults: tuple[Fault, ...]
    exit_code: int
    calls: Mapping[str, int] = field(default_factory=dict)
    """Requests of a schema that the endpoint sees; what one model fails at, the other is asked."""
    most: Mapping[str, int] = field(default_factory=dict)
    """The same as a bound."""
    says: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)


def make_plan_fault(kind: str, **fields: Any) -> tuple[Fault, ...]:
    return (Fault(kind=kind, schema="Plan", **fields),)  # type: ignore[arg-type]


def make_task_fault(kind: str, task: str | None = "a", **fields: Any) -> tuple[Fault, ...]:
    return (Fault(kind=kind, schema="Report", task=task, **fields),)  # type: ignore[arg-type]


ROWS = {
    "H01 429 for a moment": FaultRow(
        faults=make_task_fault("rate_limited", task=None, nth=(1,), retry_after="0.2"),
        exit_code=0,
        calls={"Report": 3},
    ),
    "H02 429 for an hour, planner": FaultRow(
        faults=make_plan_fault("rate_limited", retry_after="3600"),
        exit_code=4,
        calls={"Plan": 1},
        says="try again in 60 min",
    ),
    "H02 429 for three days, worker": FaultRow(
        faults=make_task_fault("rate_limited", task=None, nth=(1, 2), retry_after="259200"),
        exit_code=4,
        most={"Report": 2},
        says="RATE_LIMITED",
    ),
    "H04 quota": FaultRow(
        faults=make_plan_fault("quota"), exit_code=3, calls={"Plan": 2}, says="quota"
    ),
    "H05 500 with a page of HTML": FaultRow(
        faults=make_task_fault("server_error", status=500), exit_code=3, most={"Report": 10}
    ),
    "H06 context too long": FaultRow(
        faults=make_task_fault("context_length"),
        exit_code=3,
        calls={"Refinement": 0},
        most={"Report": 6},  # each model is asked once more, with a shorter request
        says="CONTEXT_TOO_SMALL",
    ),
    "H07 wrong key": FaultRow(
        faults=(Fault(kind="unauthorized"),),
        exit_code=4,
        calls={"Plan": 2, "Report": 0},
        says="error[UNAUTHORIZED]",
    ),
    "H08 unknown model": FaultRow(
        faults=(Fault(kind="unknown_model"),),
        exit_code=2,
        calls={"Plan": 2, "Report": 0},
        says="next: check the model's name and address (setting: SUPERVISE_MODEL_*",
    ),
    "H09 hang": FaultRow(
        faults=make_task_fault("hang"),
        exit_code=3,
        calls={"Report": 3},
        settings={"call_timeout_s": 0.5},
        says="CALL_TIMED_OUT",
    ),
    "H11 half a body": FaultRow(faults=make_task_fault("half_body", nth=(1,)), exit_code=0),
    "H13 H14 a stream breaks off": FaultRow(
        faults=make_task_fault("stream_error", nth=(1,)), exit_code=0, settings={"stream": True}
    ),
    "H15 an error inside a 200": FaultRow(
        faults=make_task_fault("error_in_200", nth=(1,)), exit_code=0
    ),
    "H16 HTML for an answer": FaultRow(
        faults=make_task_fault("html"), exit_code=3, calls={"Report": 5}, says="BAD_RESPONSE"
    ),
    "H17 a byte now and then": FaultRow(
        faults=make_task_fault("drip"),
        exit_code=3,
        calls={"Report": 3},
        settings={"call_timeout_s": 0.5},
        says="CALL_TIMED_OUT",
    ),
    "H18 a huge body": FaultRow(
        faults=make_task_fault("huge"), exit_code=3, calls={"Report": 3}, says="RESPONSE_TOO_LARGE"
    ),
    "H19 a bomb": FaultRow(
        faults=make_task_fault("gzip_bomb", size=50_000_000),
        exit_code=3,
        calls={"Report": 3},
        says="RESPONSE_TOO_LARGE",
    ),
    "H20 no usage": FaultRow(faults=(Fault(kind="no_usage"),), exit_code=0),
    "H20 absurd usage": FaultRow(faults=(Fault(kind="bad_usage"),), exit_code=0),
    "H21 503 for ever, planner": FaultRow(
        faults=make_plan_fault("server_error"),
        exit_code=3,
        most={"Plan": 5},
        says="made by rule: openai:gpt-5-mini failed: 503",
    ),
    "H21 503 for ever, all models": FaultRow(
        faults=(Fault(kind="server_error"),),
        exit_code=4,
        most={"Plan": 5, "Report": 1},
        says="ENDPOINT_DOWN",
    ),
    "H22 503 once on each task": FaultRow(
        faults=(
            *make_task_fault("server_error", "a", nth=(1,)),
            *make_task_fault("reset", "b", nth=(1,)),
        ),
        exit_code=0,
        calls={"Report": 4},
    ),
    "H30 a kept connection is closed": FaultRow(
        faults=make_task_fault("reset", task=None, nth=(1,)), exit_code=0, calls={"Report": 3}
    ),
}


async def run_request(settings: Settings, **options: Any) -> Outcome:
    return await arun(REQUEST, team=options.pop("team", make_team()), settings=settings, **options)


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS.keys())
async def test_a_fault_ends_as_its_row_says(runs: Runs, row: FaultRow):
    runs.script(*PAIR, faults=row.faults)

    outcome = await run_request(runs.settings.model_copy(update=dict(row.settings)))

    text = list_statements(outcome)
    assert outcome.exit_code == row.exit_code, text
    assert row.says in text
    assert "sk-test" not in text and "<h1>" not in text
    for schema, number in row.calls.items():
        assert len(runs.select_calls(schema=schema)) == number
    for schema, number in row.most.items():
        assert len(runs.select_calls(schema=schema)) <= number


def list_statements(outcome: Outcome) -> str:
    gaps = outcome.answer.gaps if outcome.answer else ()
    line = outcome.error.format_line() if outcome.error else ""
    return "\n".join([line, *gaps, str(outcome.results)])


async def test_h20_an_endpoint_that_counts_nothing_is_counted_by_estimate(runs: Runs):
    runs.script(*PAIR, faults=(Fault(kind="no_usage"),))

    whole = await run_request(runs.settings)
    capped = await run_request(runs.settings, context={"max_tokens": 2_600})

    assert whole.usage.cost_usd
    assert whole.usage.uncounted_calls == whole.usage.model_calls == 4
    assert capped.exit_code == 3
    assert "BUDGET_SPENT" in list_statements(capped)


async def test_a_cap_on_money_holds_where_an_endpoint_counts_nothing_of_long_answers(runs: Runs):
    long = {"output": "Part a costs 42 euros. " * 4_000, "claims": []}
    tasks = tuple(
        ScriptedTask(id=name, depends_on=needed, report=long)
        for name, needed in {"a": (), "b": ("a",), "c": ("b",)}.items()
    )
    runs.script(*tasks, faults=(Fault(kind="zero_usage"),))

    outcome = await run_request(runs.settings, context={"max_cost_usd": 0.06})

    assert outcome.exit_code == 3
    assert outcome.results["a"].status == "completed"
    assert "BUDGET_SPENT" in (outcome.results["b"].error or "")


async def test_h21_an_address_where_all_models_are_dead_gets_six_requests_from_a_run(runs: Runs):
    runs.script(*PAIR, faults=(Fault(kind="server_error"),))
    three = {"model_fast": "openai:a", "model_standard": "openai:b", "model_strong": "openai:c"}

    outcome = await run_request(runs.settings.model_copy(update=three))

    assert outcome.exit_code == 4
    assert len(runs.requests) <= FAILURE_THRESHOLD
    assert "all models at http://127.0.0.1:" in list_statements(outcome)


async def test_h21_a_dead_endpoint_costs_a_large_plan_a_tenth_more_calls_at_most(
    runs: Runs, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("nodes.models.circuit_breaker.PAUSE_S", 0.25)
    tasks = script_tasks({f"t{index}": () for index in range(60)})
    faults = (Fault(kind="server_error", schema="Report"),)
    runs.script(*tasks, faults=faults)

    outcome = await run_request(runs.settings.model_copy(update={"max_concurrency": 16}))

    errors = [report.error or "" for report in outcome.results.values()]
    assert (outcome.status, outcome.exit_code) == ("failed", 4)
    assert len(runs.select_calls(schema="Report")) <= 2 * FAILURE_THRESHOLD + 16
    assert len(errors) == 60
    assert all("ENDPOINT_DOWN" in error or "ENDPOINT_FAILED" in error for error in errors)
    assert {report.attempts for report in outcome.results.values()} <= {1, 2}


async def test_a_rate_limit_that_never_ends_costs_a_large_plan_a_tenth_more_calls_at_most(
    runs: Runs,
):
    tasks = script_tasks({f"t{index}": () for index in range(60)})
    runs.script(*tasks, faults=(Fault(kind="rate_limited", schema="Report"),))

    outcome = await run_request(runs.settings.model_copy(update={"max_concurrency": 16}))

    attempts = sum(report.attempts for report in outcome.results.values())
    assert attempts >= 60 and outcome.status == "failed"
    assert len(runs.select_calls(schema="Report")) <= 1.1 * attempts + MIN_RETRIES


async def test_h21_the_trace_tells_that_an_endpoint_was_given_up(runs: Runs):
    tasks = script_tasks({f"t{index}": () for index in range(12)})
    runs.script(*tasks, faults=(Fault(kind="server_error", schema="Report"),))

    outcome = await run_request(runs.settings)

    events = runs.load_events(outcome.thread)
    down = [event for event in events if event["kind"] == "error"]
    refused = [event for event in events if event.get("error") == "ENDPOINT_DOWN"]
    assert {(event["code"], event["state"]) for event in down} == {("ENDPOINT_DOWN", "open")}
    assert {event["model"] for event in down} <= {"openai:gpt-5-mini", "openai:gpt-5"}
    assert any("all models at http://127.0.0.1" in event["message"] for event in down)
    assert refused
    assert all(event["tries"] <= 4 for event in refused)


async def test_h22_the_trace_shows_the_tries(runs: Runs):
    fault = Fault(kind="server_error", schema="Report", task="a", nth=(1,))
    runs.script(*PAIR, faults=(fault,))

    outcome = await run_request(runs.settings)

    events = runs.load_events(outcome.thread)
    tries = {e["task"]: e["tries"] for e in events if e["kind"] == "model_call" and e["task"]}
    assert tries == {"a": 2, "b": 1}


async def test_t01_a_clock_that_is_set_back_changes_no_wait_and_no_duration(
    runs: Runs, monkeypatch: pytest.MonkeyPatch
):
    now_s, scenario = time.time, Scenario(tasks=PAIR)

    def plan_an_hour_earlier(body: dict[str, Any]) -> dict[str, Any]:
        monkeypatch.setattr(time, "time", lambda: now_s() - 3600)
        return scenario.build_plan()

    faults = make_task_fault("server_error", nth=(1,))
    answers = {"Plan": plan_an_hour_earlier}
    runs.script(*PAIR, faults=faults, answers=answers)

    outcome = await run_request(runs.settings, context={"deadline_s": 60})

    moments = [event["t"] for event in runs.load_events(outcome.thread)]
    assert outcome.status == "done"
    assert moments == sorted(moments) and moments[0] >= 0
    assert 0 < outcome.timing["wall_s"] < 60
    assert all(0 <= r.started_s <= r.ended_s for r in outcome.results.values())


async def test_h24_h27_a_slow_endpoint_sees_no_more_calls_than_allowed_and_no_retries(runs: Runs):
    tasks = script_tasks({f"t{index}": () for index in range(100)})
    slow = Fault(kind="latency", schema="Report", seconds=0.05)
    runs.script(*tasks, faults=(slow,))

    outcome = await run_request(runs.settings.model_copy(update={"max_concurrency": 4}))

    assert outcome.exit_code == 0
    assert runs.max_in_flight <= 4
    assert len(runs.requests) == 102


async def test_h25_a_model_that_talks_where_it_should_report_is_asked_again(runs: Runs):
    talk = "I would rather talk."
    report = {"output": "Part a costs 42 euros.", "claims": []}
    task = ScriptedTask(
        id="a", tool_calls=(("look", {}),), report=[talk, talk, report], description=""
    )
    runs.script(task)

    outcome = await run_request(runs.settings)

    assert outcome.exit_code == 0
    assert outcome.results["a"].attempts <= 3


async def test_h28_of_three_models_one_is_down_and_another_does_its_tasks(
    endpoint: Endpoint, settings: Settings
):
    workers = tuple(
        Worker(name=name, description=f"A {tier} one.", instructions="Work.", tier=tier)
        for name, tier in (("quick", "fast"), ("usual", "standard"))
    )
    tasks = tuple(
        ScriptedTask(id=f"{worker}{n}", worker=worker)
        for worker in ("quick", "usual")
        for n in range(8)
    )
    down = Fault(kind="server_error", model="gpt-5-nano")
    endpoint.load_scenario(Scenario(tasks=tasks, faults=(down,)))
    settings = settings.model_copy(update={"model_fast": "openai:gpt-5-nano"})

    outcome = await run_request(settings, team=make_team().model_copy(update={"workers": workers}))

    status = {name: report.status for name, report in outcome.results.items()}
    assert outcome.exit_code == 0
    assert set(status.values()) == {"completed"}
    assert {call.model for call in endpoint.select_calls(schema="Report") if not call.fault} == {
        "gpt-5-mini"
    }
