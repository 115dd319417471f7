"""Runs that a test of the synthesis looks into."""

from typing import Any

from graph import build_supervisor
from graph.settings import Settings
from graph.topology.supervisor_graph import SupervisorGraph
from state import RequestInput
from tests.endpoint import Endpoint, Scenario
from tests.teams import make_team

REQUEST: RequestInput = {"request": "Compare the parts and say which one is best."}


async def run_scenario(
    endpoint: Endpoint, settings: Settings, scenario: Scenario, **fields: Any
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    endpoint.load_scenario(scenario)
    graph = build_supervisor(make_team(**fields), settings=settings)
    return await run_graph(graph)


async def run_graph(
    graph: SupervisorGraph, request: RequestInput = REQUEST
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    events, state = [], {}
    async for mode, part in graph.astream(
        request, stream_mode=["custom", "values"], output_keys=graph.stream_channels_list
    ):
        if mode == "custom":
            events.append(part)
        else:
            state = part
    return state, events


def select_events(events: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [event for event in events if event["kind"] == kind]
