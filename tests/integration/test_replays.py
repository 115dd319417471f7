"""Runs of every kind, and the replay of each: equal, and nothing is opened for it."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from extensions.replay.runs import areplay
from graph.runs.outcome import Outcome
from graph.runs.stopping import astop
from graph.runs.trace import get_record_path
from state import Context
from tests.endpoint import Fault, ScriptedTask
from tests.runs import Runs
from tests.unit.extensions.replay.kept_records import make_counting_team, watch_replays

pytestmark = pytest.mark.needs("replay")

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

Play = Callable[[Runs, str], Awaitable[Outcome]]


def play_strategy(strategy: str) -> Play:
    """Return what makes a run of a strategy, with faults of the endpoint and a second attempt."""

    async def play(runs: Runs, thread: str) -> Outcome:
        runs.script(*TASKS, faults=FAULTS, answers={"Decision": DECISIONS.get(strategy)})
        how: Any = {"team": make_counting_team(), "context": {"strategy": strategy}}
        return await runs.run(thread=thread, **how)

    return play


async def play_question(runs: Runs, thread: str) -> Outcome:
    """Run to a question of a worker, and answer it."""
    runs.script(ScriptedTask(id="A", report=[ASKED, GOOD]), ScriptedTask(id="B"))
    waiting = await runs.run(thread=thread, context=Context(ask_human=True))
    assert waiting.status == "needs_input"
    return await runs.resume(thread, answer="2024")


async def play_stop(runs: Runs, thread: str) -> Outcome:
    """Run until a human stops a task that hangs."""
    runs.script(*TASKS, faults=(HANGS,))
    team, before = make_counting_team(), len(runs.requests)
    run = asyncio.create_task(runs.run(team=team, thread=thread))
    async with asyncio.timeout(HANG_S):
        while not any(call.task == "B" for call in runs.requests[before:]):  # noqa: ASYNC110
            await asyncio.sleep(0.02)
    await astop(thread, "B", settings=runs.settings)
    return await asyncio.wait_for(run, HANG_S)


async def play_deadline(runs: Runs, thread: str) -> Outcome:
    """Run until the deadline cuts a task that hangs."""
    runs.script(*TASKS, faults=(HANGS,))
    context = Context(deadline_s=2.5)
    return await runs.run(thread=thread, team=make_counting_team(), context=context)


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
async def test_a_run_is_replayed_equal(runs: Runs, name: str):
    play, status = PLAYS[name]
    outcome = await play(runs, name)
    asked = len(runs.requests)

    done = await areplay(name, settings=runs.settings)

    assert outcome.status == status and len(runs.requests) == asked
    assert done.is_equal and done.is_whole, done.differing
    assert done.outcome.answer == outcome.answer and done.outcome.usage == outcome.usage
    assert done.outcome.results == outcome.results and done.outcome.status == status


@pytest.mark.slow
async def test_no_replay_opens_a_socket_a_process_or_a_file_to_write(runs: Runs):
    paths = list[Path]()
    for name, (play, _) in PLAYS.items():
        await play(runs, name)
        paths.append(get_record_path(name, runs.settings))

    found = await asyncio.to_thread(watch_replays, paths[0], *paths)

    assert found == {"endings": ["equal"] * len(PLAYS), "seen": [], "is_watched": True}
