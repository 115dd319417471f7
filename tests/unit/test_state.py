"""The vocabulary and the laws of its reducers."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer, _msgpack_ext_hook_to_json
from pydantic import BaseModel, ValidationError

import state
from graph.stores.serializer import build_strict_serializer, list_checkpoint_types
from graph.stores.sqlite import open_saver
from nodes.schemas.team import Team, Worker
from state import (
    Attempt,
    Expense,
    Plan,
    Report,
    Usage,
    merge_attempts,
    merge_ledger,
    merge_plans,
    merge_results,
    merge_steps,
)

IDS = st.sampled_from(["T1", "T2", "T3"])
USAGES = st.builds(
    Usage,
    model_calls=st.integers(0, 5),
    input_tokens=st.integers(0, 10**6),
    cost_usd=st.one_of(st.none(), st.floats(0, 10)),
)
REPORTS = st.builds(
    Report,
    task=IDS,
    worker=st.just("researcher"),
    status=st.sampled_from(["completed", "failed", "skipped", "escalated"]),
    output=st.text(max_size=20),
    attempts=st.integers(0, 3),
    ended_s=st.floats(0, 100),
    usage=USAGES,
)
PLANS = st.builds(
    lambda version, goal: Plan(
        goal=goal,
        tasks=({"id": "T1", "description": "x", "worker": "w"},),
        version=version,
    ),
    st.integers(1, 3),
    st.sampled_from(["a", "b"]),
)
EXPENSES = st.builds(
    Expense, worker=IDS, tier=st.sampled_from(["fast", "standard", "strong"]), usage=USAGES
)
ATTEMPTS = st.builds(Attempt, description=st.text(max_size=5), error=st.text(max_size=5))

REDUCERS: list[Any] = [
    pytest.param(merge_results, st.dictionaries(IDS, REPORTS), id="results"),
    pytest.param(merge_plans, st.lists(PLANS, max_size=3).map(tuple), id="plans"),
    pytest.param(merge_steps, st.dictionaries(IDS, st.integers(0, 5)), id="steps"),
    pytest.param(merge_ledger, st.dictionaries(IDS, EXPENSES), id="ledger"),
    pytest.param(merge_attempts, st.dictionaries(IDS, ATTEMPTS), id="attempts"),
]


@pytest.mark.parametrize(("reducer", "values"), REDUCERS)
@given(data=st.data())
def test_an_update_that_arrives_twice_does_no_harm(reducer: Any, values: Any, data: Any) -> None:
    left, right = data.draw(values), data.draw(values)

    once = reducer(left, right)

    assert reducer(once, right) == once


@pytest.mark.parametrize(("reducer", "values"), REDUCERS)
@given(data=st.data())
def test_values_that_a_server_reads_as_json_are_merged_alike(
    reducer: Any, values: Any, data: Any
) -> None:
    left, right = data.draw(values), data.draw(values)

    merged = reducer(read_as_json(left), read_as_json(right))

    assert read_as_json(merged) == read_as_json(reducer(left, right))


def read_as_json(value: Any) -> Any:
    """Return a value as LangGraph's server reads the state that it shows."""
    serializer = JsonPlusSerializer(__unpack_ext_hook__=_msgpack_ext_hook_to_json)
    return serializer.loads_typed(serializer.dumps_typed(value))


@pytest.mark.parametrize(("reducer", "values"), REDUCERS)
@given(data=st.data())
def test_the_order_of_parallel_arrivals_does_not_matter(
    reducer: Any, values: Any, data: Any
) -> None:
    start, one, other = data.draw(values), data.draw(values), data.draw(values)

    assert reducer(reducer(start, one), other) == reducer(reducer(start, other), one)


@pytest.mark.parametrize(("reducer", "values"), REDUCERS)
@given(data=st.data())
def test_a_reducer_leaves_its_inputs_alone(reducer: Any, values: Any, data: Any) -> None:
    left, right = data.draw(values), data.draw(values)
    before = repr(left), repr(right)

    reducer(left, right)

    assert (repr(left), repr(right)) == before


@given(USAGES, USAGES, USAGES)
def test_usages_add_up_in_any_order(one: Usage, two: Usage, three: Usage) -> None:
    left, right = (one + two) + three, one + (two + three)

    assert left.model_calls == right.model_calls
    assert left.input_tokens == right.input_tokens
    assert (left.cost_usd is None) == (right.cost_usd is None)
    assert left.cost_usd == pytest.approx(right.cost_usd)


def test_an_unknown_price_makes_the_sum_unknown() -> None:
    assert (Usage(cost_usd=1.0) + Usage(cost_usd=None)).cost_usd is None


def make_tasks(*edges: tuple[str, list[Any]]) -> list[dict[str, Any]]:
    return [
        {"id": name, "description": f"do {name}", "worker": "w", "depends_on": needs}
        for name, needs in edges
    ]


@pytest.mark.parametrize(
    ("given_tasks", "message"),
    [
        (make_tasks(("A", ["B"]), ("B", ["A"]), ("C", ["D"]), ("D", ["C"])), "cycle: C"),
        (make_tasks(("A", ["B"]), ("B", ["A"])), "cycle: "),
        (make_tasks(("A", ["A"])), "'A' depends on itself"),
        (make_tasks(("A", ["Z"])), "depends on 'Z', which is no task"),
        (make_tasks(("A", []), ("A", [])), "duplicate task id 'A'"),
        ([], "at least 1 item"),
    ],
)
def test_a_plan_that_is_no_graph_cannot_be_built(given_tasks: Any, message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        Plan(goal="x", tasks=given_tasks)


def test_a_plan_names_all_its_faults_at_once() -> None:
    with pytest.raises(ValidationError) as caught:
        Plan.model_validate({"goal": "x", "tasks": make_tasks(("A", ["A", "Z"]), ("B", ["Y"]))})

    message = str(caught.value)
    assert all(fault in message for fault in ("itself", "'Z'", "'Y'"))


def test_a_bare_id_is_a_required_dependency_and_a_string_is_not_read_as_letters() -> None:
    plan = Plan.model_validate({"goal": "x", "tasks": make_tasks(("T1", []), ("B", "T1"))})  # type: ignore[arg-type]

    assert plan.tasks[1].depends_on[0].task == "T1"
    assert plan.tasks[1].depends_on[0].required


def test_tasks_come_in_topological_order() -> None:
    plan = Plan.model_validate(
        {"goal": "x", "tasks": make_tasks(("C", ["A", "B"]), ("B", ["A"]), ("A", []))}
    )

    assert [task.id for task in plan.order_tasks()] == ["A", "B", "C"]
    assert plan.measure_depth() == 3


def make_worker(name: str, *tools: str) -> Worker:
    return Worker(name=name, description="d", instructions="i", tools=tools)


def test_a_team_whose_workers_share_a_tool_cannot_be_built() -> None:
    with pytest.raises(ValidationError, match="'one' and 'two' share tool 'calculate'"):
        Team(
            name="t",
            description="d",
            guidance="g",
            workers=(make_worker("one", "calculate"), make_worker("two", "calculate")),
        )


def test_a_worker_cannot_take_the_name_of_a_step() -> None:
    with pytest.raises(ValidationError, match="name of a step"):
        Team(name="t", description="d", guidance="g", workers=(make_worker("synthesizer"),))


def make_examples() -> list[BaseModel]:
    report = Report(task="T1", worker="w", output="x", claims=({"text": "c", "source": "s"},))
    plan = Plan.model_validate({"goal": "x", "tasks": make_tasks(("A", []), ("B", ["A"]))})
    return [
        plan,
        report,
        Expense(worker="w", tier="fast", usage=Usage(model_calls=1)),
        Attempt(description="d", report=report, fault="content"),
        state.Answer(text="a", contradictions=(), sources=("s",)),
        state.RunUsage(by_worker={"w": Usage()}),
        state.Timing(
            wall_s=1,
            sequential_s=2,
            critical_path_s=1,
            speedup=2,
            critical_path=("A",),
            bounded_by="A",
        ),
        state.Escalation(reason="timeout", message="m"),
        state.Finding(severity="high", message="m", line=3),
    ]


@pytest.mark.parametrize("value", make_examples(), ids=lambda value: type(value).__name__)
def test_a_strict_checkpoint_gives_each_type_back_as_it_was(value: BaseModel) -> None:
    serializer = build_strict_serializer()

    back = serializer.loads_typed(serializer.dumps_typed({"value": value, "many": [value]}))

    assert back == {"value": value, "many": [value]}
    assert type(back["value"]) is type(value)


def test_every_class_of_the_vocabulary_is_allowed_in_a_checkpoint() -> None:
    listed = {name for _, name in list_checkpoint_types()}

    assert {
        *("Plan", "Task", "Report", "Answer", "Attempt", "Expense", "RunUsage", "Timing"),
    } <= listed


def test_a_strict_checkpoint_does_not_build_what_is_not_listed() -> None:
    class Stranger(BaseModel):
        x: int = 1

    serializer = build_strict_serializer()

    assert not isinstance(serializer.loads_typed(serializer.dumps_typed(Stranger())), Stranger)


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
async def test_a_saver_gives_the_vocabulary_back(kind: str, tmp_path: Any) -> None:
    values = {type(value).__name__: value for value in make_examples()}
    checkpoint = empty_checkpoint() | {
        "channel_values": values,
        "channel_versions": dict.fromkeys(values, 1),
    }
    config: Any = {"configurable": {"thread_id": "t", "checkpoint_ns": ""}}

    async def back(saver: Any) -> Any:
        await saver.aput(config, checkpoint, {"step": 0}, dict.fromkeys(values, 1))
        return (await saver.aget_tuple(config)).checkpoint["channel_values"]

    if kind == "memory":
        restored = await back(InMemorySaver(serde=build_strict_serializer()))
    else:
        async with open_saver(tmp_path / "runs.sqlite") as saver:
            restored = await back(saver)

    assert restored == values


@pytest.mark.parametrize(
    ("written", "confidence"),
    [
        *((80, 80), (250, 100), (-3, 0), (0.85, 85), (1.0, 100), (1, 100), (72.6, 73)),
        *(("85%", 85), ("0.9", 90), ("high", None), ("", None), (None, None), (True, None)),
        *(([80], None), ({"value": 80}, None), ("nan", None)),
    ],
)
def test_a_confidence_is_read_as_it_is_meant_else_it_is_unknown(
    written: Any, confidence: int | None
) -> None:
    assert Report(confidence=written).confidence == confidence


@given(st.recursive(st.none() | st.booleans() | st.floats() | st.integers() | st.text(), st.lists))
def test_no_confidence_makes_a_report_unreadable(written: Any) -> None:
    found = Report(confidence=written).confidence

    assert found is None or 0 <= found <= 100


def test_what_gives_no_confidence_has_an_unknown_one() -> None:
    finding = state.Finding(severity="low", message="Odd")
    answer = state.Answer(text="x")

    assert [Report().confidence, finding.confidence, answer.confidence] == [None] * 3
    assert Report.model_validate({"confidence": 80}).confidence == 80
