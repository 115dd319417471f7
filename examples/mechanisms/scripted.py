"""Chat models that play a script, and a run of a team with them, printed as it happens."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.callbacks import (
    AsyncCallbackManagerForLLMRun,
    CallbackManagerForLLMRun,
)
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from pydantic import ConfigDict

from graph import build_supervisor
from graph.display.progress import RunProgress
from graph.display.progress_lines import format_event
from graph.settings import Settings
from nodes.schemas.team import Team, Worker
from state import Context, Tier

Json = Mapping[str, Any]

Replies = Mapping[str, Sequence[Json]]
"""By the name of the schema that a step asks for: `Plan`, `Answer`, `Critique` …"""

TIER_MODELS: Mapping[Tier, str] = {"fast": "small", "standard": "medium", "strong": "large"}


@dataclass(frozen=True)
class ToolUse:
    """A reply of a worker's model that calls one of its tools."""

    name: str
    arguments: Json


Reports = Mapping[str, Sequence[Json | ToolUse]]
"""Of workers, by the id of the task."""


@dataclass
class Script:
    """What the models reply. Replies are used up in order, and the last one repeats."""

    replies: Replies
    reports: Reports
    seconds: Mapping[str, float] = field(default_factory=dict)
    """What a worker's model takes to reply, by the id of the task."""
    calls: list[tuple[str, str, str]] = field(default_factory=list)
    """What was asked so far: schema, task (empty outside workers), and the whole prompt."""

    def answer(self, schema: str, prompt: str) -> tuple[Json | ToolUse, float]:
        """Return the next reply, and the seconds that it takes."""
        task = _find_task(prompt) if schema == "Report" else ""
        number = sum(call[:2] == (schema, task) for call in self.calls)
        self.calls.append((schema, task, prompt))
        replies = self.reports[task] if task else self.replies[schema]
        return replies[min(number, len(replies) - 1)], self.seconds.get(task, 0.0)


class ScriptedModel(BaseChatModel):
    """Replies from a script, as a model that supports tool calls does."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    model_name: str
    script: Script

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(
        self, tools: Sequence[Any], *, tool_choice: str | None = None, **kwargs: Any
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Bind the names of the tools, one of which is the schema of the reply."""
        names = [convert_to_openai_tool(tool)["function"]["name"] for tool in tools]
        return self.bind(schema="Report" if "Report" in names else names[0])

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return asyncio.run(self._agenerate(messages, stop, None, **kwargs))

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        schema = kwargs["schema"]
        prompt = "\n".join(str(message.text) for message in messages)
        reply, seconds = self.script.answer(schema, prompt)
        await asyncio.sleep(seconds)
        use = reply if isinstance(reply, ToolUse) else ToolUse(schema, reply)
        call = {
            "name": use.name,
            "args": dict(use.arguments),
            "id": f"call_{len(self.script.calls)}",
        }
        message = AIMessage(
            "", tool_calls=[call], response_metadata={"finish_reason": "tool_calls"}
        )
        return ChatResult(generations=[ChatGeneration(message=message)])


@dataclass(frozen=True)
class Played:
    """A run that has ended."""

    state: Mapping[str, Any]
    events: Sequence[Json]
    script: Script

    def select_events(self, kind: str) -> list[Json]:
        """Return the events of a kind, in their order."""
        return [event for event in self.events if event["kind"] == kind]

    def count_calls(self) -> Mapping[str, int]:
        """Return the model calls by what they were for."""
        counts: Mapping[str, int] = self.state["usage"].by_mechanism
        return counts


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


def make_report(output: str, source: str, **fields: Any) -> Json:
    """Return a completed report as a worker's model writes it: one claim, and its source."""
    claims = [{"text": output, "source": source}]
    return {"output": output, "claims": claims, "confidence": 90, **fields}


def make_answer(text: str, *sources: str) -> Json:
    """Return an answer as the synthesizer's model writes it."""
    return {"text": text, "confidence": 90, "sources": list(sources)}


async def play(
    team: Team,
    script: Script,
    request: str,
    *,
    human_replies: Sequence[str] = (),
    context: Context | None = None,
) -> Played:
    """Run a request with scripted models, and print what happens.

    Args:
        human_replies: what a human answers to the questions of the run, one after another.
    """
    graph = build_supervisor(
        team,
        settings=Settings(),
        models={
            tier: ScriptedModel(model_name=name, script=script)
            for tier, name in TIER_MODELS.items()
        },
        checkpointer=InMemorySaver() if human_replies else None,
    )
    progress, events, state = RunProgress(), list[Json](), dict[str, Any]()
    given: Any = {"request": request}
    print(f"request: {request}")
    for reply in (*human_replies, None):
        async for place, mode, part in graph.astream(
            given,
            {"configurable": {"thread_id": team.name}},
            context=context,
            stream_mode=["custom", "values"],
            subgraphs=True,
        ):
            if mode == "custom":
                events.append(part)
                progress.apply_event(part)
                _print_event(part, format_event(progress, part))
            elif not place:
                state = part
                for question in part.get("__interrupt__", ()):
                    print(f"{question.value['task']} asks: {question.value['question']}")
        if reply is not None:
            print(f"the human replies: {reply}")
            given = Command(resume=reply)
    played = Played(state, events, script)
    _print_outcome(played)
    return played


def _find_task(prompt: str) -> str:
    """Return the id of the task that a worker's prompt is about."""
    lines = [line for line in prompt.splitlines() if line.startswith("task: ")]
    return lines[-1].removeprefix("task: ").strip()


def _print_event(event: Json, text: str) -> None:
    if text and event["kind"] != "request":
        print(f"{event['t']:5.2f} s  " + text.replace("\n", "\n         "))


def _print_outcome(played: Played) -> None:
    answer, calls = played.state["answer"], played.count_calls()
    print(f"answer ({played.state['status']}): {answer.text}")
    for gap in answer.gaps:
        print(f"  gap: {gap}")
    print("model calls: " + ", ".join(f"{name} {count}" for name, count in calls.items()))
