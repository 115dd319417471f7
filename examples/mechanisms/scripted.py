"""Runs a team with models that play a script, and prints what happens as it happens."""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from examples.mechanisms.scripted_model import Json, Replies, Reports, Script, ScriptedModel
from graph import build_supervisor
from graph.display.progress_lines import format_event
from graph.runs.run_view import RunView
from graph.settings import Settings
from graph.topology.supervisor_graph import SupervisorGraph
from nodes.schemas.team import Team, Worker
from nodes.telemetry.cost import PLAN, SYNTHESIS, WORK, count_extra_calls
from state import Context, Tier

TIER_MODELS: Mapping[Tier, str] = {"fast": "small", "standard": "medium", "strong": "large"}


@dataclass(frozen=True)
class Played:
    """A run that has ended."""

    state: Mapping[str, Any]
    events: Sequence[Json]
    script: Script = field(default_factory=Script)

    def select_events(self, kind: str) -> list[Json]:
        """Return the events of a kind, in their order."""
        return [event for event in self.events if event["kind"] == kind]

    def count_calls(self) -> Mapping[str, int]:
        """Return the model calls by what they were for."""
        counts: Mapping[str, int] = self.state["usage"].by_mechanism
        return counts

    def find_prompt(self, schema: str, task: str = "", number: int = 0) -> str:
        """Return the prompt of a call; `number` counts the calls of this schema and task."""
        calls = [call for call in self.script.calls if (call.schema, call.task) == (schema, task)]
        return calls[number].prompt


@dataclass
class Narrator:
    """Prints the events of a run as they happen, and keeps them."""

    events: list[Json] = field(default_factory=list)
    _progress: RunView = field(default_factory=RunView)

    def print_event(self, event: Json) -> None:
        """Print the line of an event, if it has one."""
        self.events.append(event)
        self._progress.apply_event(event)
        text = format_event(self._progress, event)
        if text and event["kind"] != "request":
            print(f"{event['t']:5.2f} s  " + text.replace("\n", "\n         "), flush=True)


def make_team(name: str, roles: Mapping[str, str], **fields: Any) -> Team:
    """Return a team of workers without tools.

    Args:
        roles: what each worker does, by its name.
        fields: keys of `team.md`, such as `strategy`.
    """
    roster = tuple(
        Worker(name=worker, description=does, instructions=f"Your work: {does}")
        for worker, does in roles.items()
    )
    fields = {"description": f"The team {name}.", "guidance": "Plan.", "workers": roster} | fields
    return Team(name=name, **fields)


def make_plan(goal: str, *tasks: Json, **fields: Any) -> Json:
    """Return a plan as a planner's model writes it."""
    return {"goal": goal, "tasks": list(tasks), **fields}


def make_task(
    name: str, worker: str, description: str, *, needs: Sequence[Any] = (), **fields: Any
) -> Json:
    """Return a task of a plan; `needs` are the tasks whose results it gets."""
    task = {"id": name, "worker": worker, "description": description}
    return {**task, "depends_on": list(needs), **fields}


def make_report(output: str, source: str, **fields: Any) -> Json:
    """Return a completed report as a worker's model writes it: one claim, and its source."""
    claims = [{"text": output, "source": source}]
    said = {"confidence": 90, "found_as_expected": True}
    return {"output": output, "claims": claims, **said, **fields}


def make_failure(message: str) -> Json:
    """Return a failed report as a worker's model writes it."""
    return {"status": "failed", "output": message}


def make_answer(text: str, *sources: str, **fields: Any) -> Json:
    """Return an answer as the synthesizer's model writes it."""
    return {"text": text, "confidence": 90, "sources": list(sources), **fields}


async def play(
    team: Team,
    request: str,
    replies: Replies,
    reports: Reports,
    *,
    seconds: Mapping[str, float] | None = None,
    human_replies: Sequence[str] = (),
    context: Context | None = None,
) -> Played:
    """Run a request with scripted models, and print what happens.

    Args:
        seconds: what a worker's model takes to reply, by the id of the task.
        human_replies: what a human answers to the questions of the run, one after another.
    """
    script = Script(replies, reports, seconds or {})
    graph = build_supervisor(
        team,
        settings=Settings(),
        models={
            tier: ScriptedModel(model_name=name, script=script)
            for tier, name in TIER_MODELS.items()
        },
        checkpointer=InMemorySaver() if human_replies else None,
    )
    return await watch(graph, request, script, human_replies=human_replies, context=context)


async def watch(
    graph: SupervisorGraph,
    request: str,
    script: Script | None = None,
    *,
    human_replies: Sequence[str] = (),
    context: Context | None = None,
) -> Played:
    """Run a request on a graph, and print what happens."""
    narrator, state = Narrator(), dict[str, Any]()
    given: Any = {"request": request}
    print(f"request: {request}")
    for reply in (*human_replies, None):
        async for place, mode, part in graph.astream(
            given,
            {"configurable": {"thread_id": graph.name}},
            context=context,
            stream_mode=["custom", "values"],
            subgraphs=True,
        ):
            if mode == "custom":
                narrator.print_event(part)
            elif not place:
                state = part
                for question in part.get("__interrupt__", ()):
                    print(f"{question.value['task']} asks: {question.value['question']}")
        if reply is not None:
            print(f"the human replies: {reply}")
            given = Command(resume=reply)
    played = Played(state, narrator.events, script or Script())
    _print_outcome(played)
    return played


def show(about: str | None, run_example: Callable[[], Coroutine[Any, Any, object]]) -> None:
    """Print what an example is about, then run it.

    Args:
        about: the docstring of the example; its line with the command is left out.
    """
    logging.disable(logging.WARNING)  # what it would say is printed as an event
    paragraphs = [part for part in (about or "").split("\n\n") if not part.startswith("    ")]
    print("\n\n".join(paragraphs).strip(), end="\n\n", flush=True)
    asyncio.run(run_example())


def _print_outcome(played: Played) -> None:
    answer, calls = played.state["answer"], played.count_calls()
    print(f"answer ({played.state['status']}): {answer.text}")
    for gap in answer.gaps:
        print(f"  gap: {gap}")
    for found in answer.contradictions:
        sides = " / ".join(f"{claim.text} ({claim.source})" for claim in found.claims)
        print(f"  contradiction: {sides}")
        print(f"  verdict: {found.verdict}")
    planned = [f"{name} {calls[name]}" for name in (PLAN, WORK, SYNTHESIS) if name in calls]
    further = [f"{name} {n}" for name, n in count_extra_calls(played.state["usage"]).items()]
    print(
        "model calls: " + "; further: ".join(", ".join(part) for part in (planned, further) if part)
    )
