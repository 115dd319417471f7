"""The request in what a caller gave: an estimate of its run, small talk, and a to-do list."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langgraph.graph.ui import ui_message_reducer

from nodes.errors import RequestInvalid
from nodes.planning.direct_reply import recognize_small_talk
from nodes.planning.estimate import (
    SECONDS_PER_CALL,
    TEAM_CALLS,
    TURNS_WITH_TOOLS,
    estimate_run,
)
from nodes.planning.request import (
    MAX_HISTORY_CHARS,
    MAX_MATERIAL_BYTES,
    MAX_REQUEST_BYTES,
    is_last_message,
    is_new_request,
    read_history,
    read_kept_materials,
    read_request,
)
from nodes.planning.todo_list import build_plan_message, build_status_event, build_todos
from nodes.text.counts import format_estimate
from state import Context, Estimate, Plan, Report, SupervisorState, Task, Usage
from supervisor_worker.testing.fake_models import make_models
from tests.node_runs import make_config
from tests.node_samples import make_plan, make_planned_state, make_task
from tests.teams import make_team

CHAT: list[AnyMessage] = [
    HumanMessage("Hello."),
    AIMessage("Yes?"),
    HumanMessage("Count the shops."),
]


@pytest.mark.parametrize(
    ("state", "request_text"),
    [
        ({"request": " Count. "}, "Count."),
        ({"messages": CHAT}, "Count the shops."),
        ({"request": "Count.", "messages": CHAT}, "Count."),
        ({"request": "Old.", "planned_for": "Old.", "messages": CHAT}, "Count the shops."),
    ],
)
def test_the_request_is_what_was_given_last(state: SupervisorState, request_text: str):
    assert read_request(state) == request_text


@pytest.mark.parametrize(
    "state",
    [
        {},
        {"messages": CHAT[:2]},
        {"request": "x" * (MAX_REQUEST_BYTES + 1)},
        {"request": "x", "materials": {"a": "x" * (MAX_MATERIAL_BYTES + 1)}},
    ],
)
def test_an_empty_or_oversized_request_is_refused(state: SupervisorState):
    with pytest.raises(RequestInvalid):
        read_request(state)


@pytest.mark.parametrize(
    ("fields", "is_new"),
    [({}, False), ({"status": "done"}, True), ({"plan": None}, True), ({"request": "New."}, True)],
)
def test_a_request_is_new_until_it_has_a_plan(fields: dict[str, Any], is_new: bool):
    state = cast(SupervisorState, {**make_planned_state(), **fields})

    assert is_new_request(state) == is_new


def test_the_history_is_all_but_the_open_message():
    assert read_history({"messages": CHAT}) == "human: Hello.\n\nai: Yes?"
    assert is_last_message({"messages": CHAT}, "Count the shops.")
    long: list[AnyMessage] = [AIMessage("x" * 2_000) for _ in range(9)]
    assert len(read_history({"messages": long})) == MAX_HISTORY_CHARS


def test_a_nested_team_has_no_kept_materials():
    assert read_kept_materials(make_config(kept=("a.csv",))) == ["a.csv"]
    assert read_kept_materials(make_config(kept=("a.csv",), within="outer")) == []


def estimate_calls(team: Any, *tasks: Any) -> int:
    planning = Usage(model_calls=1)
    return estimate_run(
        make_plan(*tasks), team, make_models(), Context(), materials={}, planning=planning
    ).model_calls


def test_a_run_takes_one_call_for_each_task_and_two_more():
    assert estimate_calls(make_team()) == 4


def test_tools_and_divided_tasks_take_more_calls():
    team = make_team()
    able = team.workers[0].model_copy(update={"tools": ("calculate",)})
    team = team.model_copy(update={"workers": (able, *team.workers[1:])})

    assert estimate_calls(team, make_task("A")) == 2 + TURNS_WITH_TOOLS
    assert estimate_calls(team, make_task("A", "writer", is_compound=True)) == 2 + TEAM_CALLS


def test_a_task_is_estimated_on_the_tier_that_it_will_use():
    team, prices = make_team(), {"strong": (900.0, 900.0), "standard": (0.0, 0.0)}
    able = team.workers[0].model_copy(update={"tiers": ("strong",)})
    team = team.model_copy(update={"workers": (able, *team.workers[1:])})
    models = make_models()
    models.settings = replace(
        models.settings, prices={f"openai:{tier}": price for tier, price in prices.items()}
    )

    def estimate_usd(*tasks: Any) -> float:
        estimate = estimate_run(
            make_plan(*tasks), team, models, Context(), materials={}, planning=Usage(cost_usd=0.0)
        )
        assert estimate.cost_usd is not None
        return estimate.cost_usd

    assert estimate_usd(make_task("A")) == 0
    assert estimate_usd(make_task("A", tier="strong")) > 0
    assert estimate_usd(make_task("A", "writer", tier="strong")) == 0


def test_an_unknown_price_makes_the_cost_unknown():
    estimate = estimate_run(
        make_plan(), make_team(), make_models(), Context(), materials={}, planning=Usage()
    )

    assert estimate.cost_usd is None and estimate.input_tokens > 0


def test_constants_have_wide_intervals_and_the_seconds_of_the_longest_chain():
    def estimate(**caps: Any) -> Estimate:
        tasks = [make_task("A"), make_task("B"), make_task("C", "writer", "A")]
        given: dict[str, Any] = {"materials": {}, "planning": Usage(model_calls=1)}
        return estimate_run(make_plan(*tasks), make_team(), make_models(), Context(**caps), **given)

    free, alone = estimate(), estimate(sequential=True)

    assert free.low and free.high and free.runs == 0
    assert free.low.seconds < free.seconds < free.high.seconds
    assert free.low.model_calls < free.model_calls < free.high.model_calls
    assert (free.seconds, alone.seconds) == (4 * SECONDS_PER_CALL, 5 * SECONDS_PER_CALL)


def test_an_estimate_is_worded_with_its_intervals_and_an_old_one_without():
    old = {"model_calls": 1, "input_tokens": 2_000, "output_tokens": 10, "cost_usd": None}
    low, high = ({**old, "cost_usd": None, "seconds": s, "model_calls": 1} for s in (1.0, 9.0))

    assert format_estimate(old) == "1 model call · 2,000 tokens in · 10 out · cost unknown"
    assert format_estimate({**old, "seconds": 4.0, "low": low, "high": high, "runs": 2}) == (
        "1 model call · 2,000 tokens in · 10 out · cost unknown · 4.0 s (1.0 to 9.0); "
        "in brackets 9 of 10 runs, from 2 earlier runs"
    )


TEAMS = Path(__file__).parents[3] / "teams"


GREETINGS = (
    "Hello, what can you do?",
    "hi",
    "Hey there 👋",
    "Good morning! Who are you and what can you do?",
    "What kind of questions can you answer?",
    "Hi team, how are you today?",
    "Please tell me what you can do.",
    "Oh, hello! What can you help me with?",
    "Who's on the team?",
)
THANKS = ("thanks", "Thanks, that's great!", "Great, thanks man", "No, that's all. See you later!")
REQUESTS = (
    *("", "Hello, compare Microsoft and Amazon.", "Thanks, now do the same for 2023"),
    *("What can you do about a broken build?", "Say hello in French", "What is this?"),
    *("Who are the competitors?", "yes", "ok, great", "yes, help me with my taxes", "approve"),
    *("and the second one?", "Welcome email for new customers"),
    "hello " * 100,
)


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        *((words, "greeting") for words in GREETINGS),
        *((words, "thanks") for words in THANKS),
        *((words, None) for words in REQUESTS),
    ],
)
def test_only_words_that_ask_for_no_work_are_small_talk(words: str, kind: str | None):
    assert recognize_small_talk(words) == kind


@pytest.mark.needs("teams")
def test_no_request_of_an_exam_is_taken_for_small_talk():
    rows = [
        json.loads(line)
        for path in TEAMS.glob("*/evals.jsonl")
        for line in path.read_text(encoding="utf-8").splitlines()
        if line.strip()
    ]

    assert len(rows) > 200
    assert [row["request"] for row in rows if recognize_small_talk(row["request"])] == []


PLAN = Plan(
    goal="Compare.",
    tasks=(
        Task(id="A", description="Read a.", worker="reader"),
        Task(id="B", description="Read b.", worker="reader"),
        Task(id="C", description="Compare both.", worker="writer", depends_on=("A", "B")),
    ),
)


def test_a_task_is_pending_in_progress_then_completed():
    before = build_todos(PLAN, {})
    running = build_todos(PLAN, {"A": Report(task="A")}, sent=("B", "C"))

    assert [todo["status"] for todo in before] == ["pending"] * 3
    assert [todo["status"] for todo in running] == ["completed", "in_progress", "pending"]


def test_a_failed_task_has_ended_and_says_so():
    todos = build_todos(PLAN, {"A": Report(task="A", status="failed")})

    assert todos[0] == {"id": "A", "content": "Read a. (failed)", "status": "completed"}


def test_an_event_changes_one_task_of_the_shown_plan():
    shown = build_plan_message({"goal": "g", "task:A": "pending"}, is_merged=False)
    event = build_status_event("A", "completed", {"configurable": {}})

    (merged,) = ui_message_reducer([shown], [event])  # type: ignore[list-item]  # with the fields of an event

    assert merged["props"] == {"goal": "g", "task:A": "completed"}  # type: ignore[typeddict-item]  # it is not removed
    assert event["kind"] == "ui" and event["task"] == "A"
