"""The answer, as a listener hears it while a model writes it."""

from itertools import pairwise
from typing import Any

from graph import arun
from graph.runs.outcome import Outcome
from graph.settings import Settings
from tests.endpoint import Endpoint, Fault, Scenario, script_tasks
from tests.teams import make_team

REQUEST = "Compare the parts and say which one is best."
TEXT = " ".join(["Part A is the best of the parts, as its three figures show."] * 8)
ANSWER = {"text": TEXT, "confidence": 90}


async def run_with_listener(endpoint: Endpoint, settings: Settings, **scenario: Any) -> Any:
    heard: list[str] = []
    endpoint.load_scenario(
        Scenario(
            tasks=script_tasks({"A": ()}),
            answers={"Answer": ANSWER},
            chunk_delay_s=0.03,
            **scenario,
        )
    )
    outcome = await arun(REQUEST, team=make_team(), settings=settings, on_answer_text=heard.append)
    return outcome, heard


async def test_a_listener_hears_the_answer_grow_and_only_the_answer_is_streamed(
    endpoint: Endpoint, settings: Settings
) -> None:
    outcome, heard = await run_with_listener(endpoint, settings)

    assert isinstance(outcome, Outcome) and outcome.answer and outcome.answer.text == TEXT
    assert len(heard) >= 2 and heard == sorted(heard, key=len)
    assert all(TEXT.startswith(text) for text in heard)
    assert [call.schema for call in endpoint.requests if call.stream] == ["Plan", "Answer"]


async def test_an_answer_whose_stream_breaks_is_heard_again_from_its_beginning(
    endpoint: Endpoint, settings: Settings
) -> None:
    fault = Fault(kind="cut_stream", schema="Answer", nth=(1,), chunks=8)

    outcome, heard = await run_with_listener(endpoint, settings, faults=(fault,))

    assert outcome.status == "done"
    assert all(TEXT.startswith(text) for text in heard)
    assert any(len(after) < len(before) for before, after in pairwise(heard))


async def test_without_a_listener_only_the_plan_is_streamed(
    endpoint: Endpoint, settings: Settings
) -> None:
    endpoint.load_scenario(Scenario(tasks=script_tasks({"A": ()})))

    await arun(REQUEST, team=make_team(), settings=settings)

    assert [call.schema for call in endpoint.requests if call.stream] == ["Plan"]
