"""Runs of every kind, and the replay of each: equal, and nothing is opened for it."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from extensions.replay.runs import areplay
from graph import aresume, arun
from graph.runs.outcome import Outcome
from graph.runs.stopping import astop
from graph.runs.trace import get_record_path
from graph.settings import Settings
from state import Context
from tests.endpoint import Endpoint, Fault, Scenario, ScriptedTask
from tests.teams import make_team
from tests.unit.extensions.replay.kept_records import make_counting_team, watch_replays

pytestmark = pytest.mark.needs("replay")

REQUEST = "Compare the parts and say which one is best."
HANG_S = 20.0
"""A guard against what never comes, and no measure."""
GOOD = {"status": "completed", "output": "Part A costs 42 euros."}
ASKS = {"reason": "ambiguous_input", "message": "Which year?", "partial": ""}
ASKED = {"status": "escalated", "escalation": ASKS}
FAILED = {"status": "failed", "output": "the figures are not there"}
TASKS = (
    ScriptedTask(id="A", tool_calls=(("calculate", {"expression": "3*4"}),)),
    ScriptedTask(id="B", worker="analyst", report=[FAILED, GOOD]),
    ScriptedTask(id="C", worker="writer", depends_on=("A", "B")),
)
FAULTS = (
    Fault(kind="server_error", schema="Report", task="A", nth=(1,)),
    Fault(kind="broken_json", schema="Answer", nth=(1,)),
)
HANGS = Fault(kind="hang", schema="Report", task="B")
DECISIONS: dict[str, Any] = {
    "route": {"worker": "analyst", "needs_plan": True, "reason": "It needs both."},
    "step": [
        {"worker": "analyst", "task": "Look at part A.", "reason": "It is first."},
        {"worker": "writer", "task": "Write about part A.", "reason": "It is next."},
        {"is_done": True, "reason": "All is there."},
    ],
}

Play = Callable[[Endpoint, Settings, str], Awaitable[Outcome]]


def play_strategy(strategy: str) -> Play:
    """Return what makes a run of a strategy, with faults of the endpoint and a second attempt."""

    async def play(endpoint: Endpoint, settings: Settings, thread: str) -> Outcome:
        answers = {"Decision": DECISIONS.get(strategy)}
        endpoint.load_scenario(Scenario(tasks=TASKS, faults=FAULTS, answers=answers))
        context: Any = {"strategy": strategy}
        team = make_counting_team()
        return await arun(REQUEST, team=team, settings=settings, thread=thread, context=context)

    return play


async def play_question(endpoint: Endpoint, settings: Settings, thread: str) -> Outcome:
    """Run to a question of a worker, and answer it."""
    tasks = (ScriptedTask(id="A", report=[ASKED, GOOD]), ScriptedTask(id="B"))
    endpoint.load_scenario(Scenario(tasks=tasks))
    how: Any = {"settings": settings, "context": Context(ask_human=True)}
    waiting = await arun(REQUEST, team=make_team(), thread=thread, **how)
    assert waiting.status == "needs_input"
    return await aresume(thread, answer="2024", settings=settings)


async def play_stop(endpoint: Endpoint, settings: Settings, thread: str) -> Outcome:
    """Run until a human stops a task that hangs."""
    endpoint.load_scenario(Scenario(tasks=TASKS, faults=(HANGS,)))
    team, before = make_counting_team(), len(endpoint.requests)
    run = asyncio.create_task(arun(REQUEST, team=team, settings=settings, thread=thread))
    async with asyncio.timeout(HANG_S):
        while not any(call.task == "B" for call in endpoint.requests[before:]):  # noqa: ASYNC110
            await asyncio.sleep(0.02)
    await astop(thread, "B", settings=settings)
    return await asyncio.wait_for(run, HANG_S)


async def play_deadline(endpoint: Endpoint, settings: Settings, thread: str) -> Outcome:
    """Run until the deadline cuts a task that hangs."""
    endpoint.load_scenario(Scenario(tasks=TASKS, faults=(HANGS,)))
    how: Any = {"settings": settings, "context": Context(deadline_s=1.0)}
    return await arun(REQUEST, team=make_counting_team(), thread=thread, **how)


PLAYS: dict[str, tuple[Play, str]] = {
    "plan": (play_strategy("plan"), "done"),
    "route": (play_strategy("route"), "done"),
    "step": (play_strategy("step"), "done"),
    "recursive": (play_strategy("recursive"), "done"),
    "single": (play_strategy("single"), "done"),
    "question": (play_question, "done"),
    "stop": (play_stop, "partial"),
    "deadline": (play_deadline, "partial"),
}


QUICK = ("plan", "question")


@pytest.mark.parametrize(
    "name",
    [each if each in QUICK else pytest.param(each, marks=pytest.mark.slow) for each in PLAYS],
)
async def test_a_run_is_replayed_equal(endpoint: Endpoint, settings: Settings, name: str) -> None:
    play, status = PLAYS[name]
    outcome = await play(endpoint, settings, name)
    asked = len(endpoint.requests)

    done = await areplay(name, settings=settings)

    assert outcome.status == status and len(endpoint.requests) == asked
    assert done.is_equal and done.is_whole, done.differing
    assert done.outcome.answer == outcome.answer and done.outcome.usage == outcome.usage
    assert done.outcome.results == outcome.results and done.outcome.status == status


@pytest.mark.slow
async def test_no_replay_opens_a_socket_a_process_or_a_file_to_write(
    endpoint: Endpoint, settings: Settings
) -> None:
    paths = list[Path]()
    for name, (play, _) in PLAYS.items():
        await play(endpoint, settings, name)
        paths.append(get_record_path(name, settings))

    found = await asyncio.to_thread(watch_replays, paths[0], *paths)

    assert found == {"endings": ["equal"] * len(PLAYS), "seen": [], "is_watched": True}
