"""A chat model that plays a script: each reply is written down, by schema and by task."""

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
from pydantic import ConfigDict

Json = Mapping[str, Any]


@dataclass(frozen=True)
class ToolUse:
    """A reply of a worker's model that calls one of its tools."""

    name: str
    arguments: Json


Reply = Json | ToolUse
Replies = Mapping[str, Json | Sequence[Json]]
"""By the name of the schema that a step asks for: `Plan`, `Answer`, `Critique` …"""
Reports = Mapping[str, Reply | Sequence[Reply]]
"""Of workers, by the id of the task."""


@dataclass(frozen=True)
class Call:
    """What a model was asked."""

    schema: str
    task: str
    """Empty outside workers."""
    prompt: str
    tools: tuple[str, ...]
    """On offer, the schema not among them."""


@dataclass
class Script:
    """What the models reply. Several replies are used up in order, and the last one repeats."""

    replies: Replies = field(default_factory=dict)
    reports: Reports = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)
    """What a worker's model takes to reply, by the id of the task."""
    calls: list[Call] = field(default_factory=list)

    def answer(self, schema: str, prompt: str, tools: tuple[str, ...]) -> tuple[Reply, float]:
        """Return the next reply, and the seconds that it takes; without tools the last one."""
        task = _find_task(prompt) if schema == "Report" else ""
        number = sum((call.schema, call.task) == (schema, task) for call in self.calls)
        self.calls.append(Call(schema, task, prompt, tools))
        given = self.reports[task] if task else self.replies[schema]
        replies = given if isinstance(given, Sequence) else [given]
        reply = replies[min(number, len(replies) - 1)]
        if isinstance(reply, ToolUse) and not tools:
            reply = replies[-1]
        return reply, self.seconds.get(task, 0.0)


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
        """Bind the schema of the reply, which is one of the tools, and the names of the others."""
        names = [convert_to_openai_tool(tool)["function"]["name"] for tool in tools]
        schema = "Report" if "Report" in names else names[0]
        return self.bind(schema=schema, offered=tuple(name for name in names if name != schema))

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
        reply, seconds = self.script.answer(schema, prompt, kwargs["offered"])
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


def _find_task(prompt: str) -> str:
    """Return the id of the task that a worker's prompt is about."""
    lines = [line for line in prompt.splitlines() if line.startswith("task: ")]
    return lines[-1].removeprefix("task: ").strip()
