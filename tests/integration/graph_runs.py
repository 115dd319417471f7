"""Runs of a compiled graph that a test looks into: the last state, and all events."""

from typing import Any

from langchain_core.runnables import RunnableConfig

from graph import build_supervisor
from graph.settings import Settings
from graph.topology.supervisor_graph import SupervisorGraph
from nodes.schemas.team import Team
from state import RequestInput
from tests.endpoint import Endpoint, Scenario
from tests.teams import make_team

REQUEST: RequestInput = {"request": "Compare the parts and say which one is best."}


async def run_scenario(
    endpoint: Endpoint,
    settings: Settings,
    scenario: Scenario,
    team: Team | None = None,
    *,
    request: Any = REQUEST,
    **fields: Any,
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Run a team, or the test team with these fields; return the last state and all events."""
    endpoint.load_scenario(scenario)
    graph = build_supervisor(team or make_team(**fields), settings=settings)
    return await run_graph(graph, request)


async def run_graph(
    graph: SupervisorGraph,
    given: Any = REQUEST,
    config: RunnableConfig | None = None,
    **options: Any,
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Run or resume a graph; events are those of inner teams, too."""
    events, state = [], {}
    async for where, mode, part in graph.astream(
        given,
        config,
        stream_mode=["custom", "values"],
        subgraphs=True,
        output_keys=graph.stream_channels_list,
        **options,
    ):
        if mode == "custom":
            events.append(part)
        elif not where:
            state = part
    return state, events


def select_events(events: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [event for event in events if event["kind"] == kind]
