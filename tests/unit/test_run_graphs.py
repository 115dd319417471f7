"""The graph of a run: which runs of a process share one."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.store.memory import InMemoryStore

from graph.runs.session import MAX_GRAPHS, build_run_graph
from graph.settings import Settings
from graph.stores.run_database import RunDatabase
from graph.topology.supervisor_graph import SupervisorGraph
from supervisor_worker.testing.fake_models import FakeChatModel
from tests.teams import make_team

TEAM = make_team()


def build(team: Any = TEAM, settings: Settings | None = None, **objects: Any) -> SupervisorGraph:
    database = RunDatabase(InMemorySaver(), InMemoryStore())
    return build_run_graph(team, settings or Settings(), database, **objects)


def share(first: SupervisorGraph, second: SupervisorGraph) -> bool:
    """Return whether two graphs have what is built once, such as the workers' agents."""
    return first.prepare == second.prepare


async def test_runs_of_one_team_share_a_graph_and_each_has_its_database() -> None:
    first, second = build(), build(make_team())

    assert share(first, second)
    assert first.checkpointer is not second.checkpointer and first.store is not second.store


async def test_another_team_setting_model_or_variable_has_a_graph_of_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first, model = build(), FakeChatModel()
    others = [
        build(make_team(max_tasks=3)),
        build(settings=Settings(max_concurrency=3)),
        build(models={"fast": model}),
    ]
    monkeypatch.setenv("SUPPORT_TOKEN", "rotated")
    others.append(build())

    assert not any(share(first, other) for other in others)
    assert share(others[-1], build()) and not share(
        others[2], build(models={"fast": FakeChatModel()})
    )


def test_another_event_loop_has_a_graph_of_its_own() -> None:
    async def run() -> SupervisorGraph:
        return build()

    assert not share(asyncio.run(run()), asyncio.run(run()))


async def test_the_oldest_graph_is_dropped_first(tmp_path: Path) -> None:
    first = build()
    for number in range(MAX_GRAPHS):
        build(make_team(max_tasks=2 + number))

    assert not share(first, build())
