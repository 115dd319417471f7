"""The calls that were begun before the plan was complete: taken, discarded, closed."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langchain_core.messages.ai import UsageMetadata

from nodes.errors import EndpointFailed
from nodes.limits.budget import Budget
from nodes.planning.speculation import (
    MAX_SPECULATIVE_CALLS,
    SPECULATION_KEY,
    SpeculativeCall,
    SpeculativeCalls,
    get_speculative_calls,
)
from state import Plan, Task, Usage
from tests.node_runs import NodeRun, make_config

Ask = Callable[[SpeculativeCall], Coroutine[Any, Any, AIMessage]]

SENT = Usage(model_calls=1, input_tokens=40, models=("openai:gpt-5",), uncounted_calls=1)
COUNTED = UsageMetadata(input_tokens=50, output_tokens=5, total_tokens=55)


def make_task(name: str, words: str = "Name the figures of part") -> Task:
    return Task(id=name, description=f"{words} {name}.", worker="researcher")


def make_plan(*tasks: Task) -> Plan:
    return Plan(goal="Compare.", tasks=tasks)


async def answer(call: SpeculativeCall) -> AIMessage:
    return AIMessage("Done.", usage_metadata=COUNTED)


async def never_answer(call: SpeculativeCall) -> AIMessage:
    call.prompt_usage = SENT
    await asyncio.Event().wait()
    raise AssertionError("it waits until it is cancelled")


async def wait_to_be_sent(call: SpeculativeCall) -> AIMessage:
    await asyncio.Event().wait()
    raise AssertionError("it waits until it is cancelled")


async def fail(call: SpeculativeCall) -> AIMessage:
    error = EndpointFailed("no answer")
    error.usage = SENT
    raise error


async def begin_calls(ask: Ask, *tasks: Task) -> SpeculativeCalls:
    calls = SpeculativeCalls()
    for task in tasks:
        calls.begin(task, ask)
    await asyncio.sleep(0)
    return calls


async def test_a_task_takes_its_call_once() -> None:
    calls = await begin_calls(answer, make_task("A"))

    call = calls.take(make_task("A"))

    assert call and (await call.reply.call).text == "Done."
    assert calls.take(make_task("A")) is None


async def test_a_task_that_has_changed_takes_no_call() -> None:
    calls = await begin_calls(answer, make_task("A"))

    assert calls.take(make_task("A", "Sum the figures of part")) is None
    assert calls.take(make_task("B")) is None


async def test_an_id_that_came_before_begins_nothing() -> None:
    begun: list[str] = []

    async def note(call: SpeculativeCall) -> AIMessage:
        begun.append(call.task.description)
        return await answer(call)

    first, again = make_task("A"), make_task("A", "Sum the figures of part")
    calls = await begin_calls(note, first, again, first)

    assert begun == [first.description] and calls.take(first)


async def test_the_calls_of_one_plan_are_limited() -> None:
    tasks = [make_task(f"T{number}") for number in range(MAX_SPECULATIVE_CALLS + 5)]
    calls = await begin_calls(never_answer, *tasks)

    assert [bool(calls.take(task)) for task in tasks].count(True) == MAX_SPECULATIVE_CALLS
    await calls.close()


@pytest.mark.parametrize(
    ("ask", "tokens", "charged"),
    [(never_answer, 40, 40), (answer, 55, 0), (fail, 40, 0)],
    ids=["open: an estimate", "ended: charged before", "failed: charged before"],
)
async def test_a_call_for_a_task_that_the_plan_lacks_is_discarded_and_billed(
    ask: Ask, tokens: int, charged: int
) -> None:
    budget = Budget(max_tokens=1_000)
    run = NodeRun(make_config(budget=budget))
    calls = await begin_calls(ask, make_task("A"), make_task("B"))

    (spent,) = await run.call(calls.keep_planned, make_plan(make_task("B")))

    assert (spent.purpose, spent.task, spent.worker) == ("speculation", "A", "researcher")
    assert spent.usage.input_tokens + spent.usage.output_tokens == tokens
    assert budget.tokens == charged
    (event,) = run.list_events("speculated")
    assert (event["task"], event["outcome"]) == ("A", "discarded") and event["reason"]
    assert len(run.list_events("model_call")) == (1 if charged else 0)
    assert calls.take(make_task("B"))


async def test_a_call_that_was_not_sent_costs_nothing() -> None:
    run = NodeRun()
    calls = await begin_calls(wait_to_be_sent, make_task("A"))

    assert await run.call(calls.keep_planned, make_plan(make_task("B"))) == []
    assert [event["outcome"] for event in run.list_events("speculated")] == ["discarded"]


async def test_without_a_plan_every_call_is_discarded() -> None:
    calls = await begin_calls(answer, make_task("A"), make_task("B"))

    spent = await NodeRun().call(calls.keep_planned, None)

    assert [expense.task for expense in spent] == ["A", "B"]
    assert calls.take(make_task("A")) is None


async def test_closing_cancels_what_is_open_and_lets_nothing_begin() -> None:
    ended: list[str] = []

    async def note_end(call: SpeculativeCall) -> AIMessage:
        try:
            return await never_answer(call)
        finally:
            ended.append(call.task.id)

    calls = await begin_calls(note_end, make_task("A"), make_task("B"))
    await calls.close()
    calls.begin(make_task("C"), note_end)

    assert ended == ["A", "B"] and calls.take(make_task("C")) is None


async def test_a_config_outside_a_run_has_no_calls() -> None:
    calls = SpeculativeCalls()

    assert get_speculative_calls({}) is None
    assert get_speculative_calls({"configurable": {SPECULATION_KEY: calls}}) is calls
