"""Runs of teams whose models are at one endpoint: what most tests of whole runs begin with."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver

from graph import aresume, arun, build_supervisor
from graph.runs.outcome import Outcome
from graph.runs.trace import load_trace
from graph.settings import Settings
from graph.stores.serializer import build_strict_serializer
from graph.topology.supervisor_graph import SupervisorGraph
from nodes.schemas.team import Team, Worker
from tests.endpoint import Call, Endpoint, Scenario, ScriptedTask
from tests.teams import make_team

REQUEST = "Compare the parts and say which one is best."
GIVEN: Any = {"request": REQUEST}
THREAD: Any = {"configurable": {"thread_id": "one"}}


def make_saver() -> InMemorySaver:
    """Make a checkpointer that reads no types but ours, as those of the stores."""
    return InMemorySaver(serde=build_strict_serializer())


@dataclass(frozen=True)
class Runs:
    """An endpoint, settings whose models are at it, and the runs of both."""

    endpoint: Endpoint
    settings: Settings

    def with_settings(self, **changes: Any) -> "Runs":
        """Return the same with other settings."""
        return Runs(self.endpoint, self.settings.model_copy(update=changes))

    def script(self, *tasks: ScriptedTask, **scenario: Any) -> None:
        """Let the endpoint play a plan of these tasks; the records of earlier calls stay."""
        self.load_scenario(Scenario(tasks=tasks, **scenario))

    def load_scenario(self, scenario: Scenario) -> None:
        """Let the endpoint play a scenario."""
        self.endpoint.load_scenario(scenario)

    def script_inner_team(self) -> Team:
        """Let the endpoint plan for a team with a team as its worker; return the outer one."""
        worker = Worker(
            name="library", description="Reads.", team=make_team("reader", name="readers")
        )
        plans = [
            Scenario(tasks=(ScriptedTask(id=name, worker=who),)).build_plan()
            for name, who in (("all", "library"), ("part", "reader"))
        ]
        self.script(answers={"Plan": plans})
        return make_team(name="house", workers=(worker,))

    @property
    def requests(self) -> list[Call]:
        """All calls of models in the order they came."""
        return self.endpoint.requests

    @property
    def base_url(self) -> str:
        """The address of the endpoint."""
        return self.endpoint.base_url

    @property
    def max_in_flight(self) -> int:
        """The most calls of models that were open at once."""
        return self.endpoint.max_in_flight

    def select_calls(self, schema: str | None = None, task: str | None = None) -> list[Call]:
        """Return the calls for a schema, for a task, or for both."""
        return self.endpoint.select_calls(schema, task)

    async def wait_for_calls(self, began: int, ended: int = 0) -> None:
        """Wait until so many calls have begun and ended."""
        await self.endpoint.wait_for_calls(began, ended)

    def build_graph(self, team: Team | Path | str | None = None, **options: Any) -> SupervisorGraph:
        """Compile a team, the test team without one; options are those of `build_supervisor`."""
        return build_supervisor(team or make_team(), **{"settings": self.settings, **options})

    def build_saved(self, team: Team | None = None, **fields: Any) -> SupervisorGraph:
        """Compile a team, or the test team with these fields; its threads are kept in memory."""
        return self.build_graph(team or make_team(**fields), checkpointer=make_saver())

    async def play(
        self, scenario: Scenario, team: Team | None = None, *, request: Any = GIVEN, **fields: Any
    ) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """Run a team, or the test team with these fields; return the last state and all events."""
        self.load_scenario(scenario)
        return await run_graph(self.build_graph(team or make_team(**fields)), request)

    async def run(self, request: str = REQUEST, **options: Any) -> Outcome:
        """Run the test team, unless the options of `arun` name another."""
        return await arun(request, **{"team": make_team(), "settings": self.settings, **options})

    async def resume(self, thread: str = "one", **options: Any) -> Outcome:
        """Resume a thread."""
        return await aresume(thread, **{"settings": self.settings, **options})

    def load_trace(self, thread: str) -> dict[str, Any]:
        """Return the trace of a thread."""
        return load_trace(thread, self.settings)

    def load_events(self, thread: str = "one", *kinds: str) -> list[dict[str, Any]]:
        """Return the events of a thread's trace, those of some kinds only where kinds are named."""
        events: list[dict[str, Any]] = self.load_trace(thread)["events"]
        return [event for event in events if not kinds or event["kind"] in kinds]


async def run_graph(
    graph: SupervisorGraph,
    given: Any = GIVEN,
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
