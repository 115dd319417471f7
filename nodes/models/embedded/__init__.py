"""The embedded model: deterministic, extractive and offline; it says that it is not an LLM.

It reads this application's prompts, calls the offered tools, and repeats their results. It has the
same interface as every other chat model.
"""

import json
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, ToolCall
from langchain_core.messages.ai import UsageMetadata
from langchain_core.messages.tool import tool_call, tool_call_chunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool

from nodes.models.embedded.answering import write_answer
from nodes.models.embedded.planning import write_plan, write_recruit, write_refinement
from nodes.models.embedded.prompt_reading import read_handoff
from nodes.models.embedded.reporting import write_report
from nodes.models.embedded.routing import write_decision
from nodes.models.embedded.tool_calls import ToolSchemas, choose_calls, fill_arguments

CHARS_PER_TOKEN = 4
CHUNK_CHARS = 24
INTRODUCTION = (
    "This is the built-in embedded model. It repeats what tools and documents say and cannot "
    "converse. For a language model set OPENAI_API_KEY, or SUPERVISE_MODEL_STANDARD to a "
    "provider:model name."
)
_WRITERS: dict[str, Callable[[Sequence[BaseMessage]], dict[str, Any]]] = {
    "Plan": write_plan,
    "Decision": write_decision,
    "Refinement": write_refinement,
    "Recruit": write_recruit,
    "Answer": write_answer,
    "Report": lambda messages: write_report(read_handoff(messages)),
}
REPLY_FORMS = frozenset(_WRITERS)
"""Names of the tools by which a model replies; all others work."""


class EmbeddedModel(BaseChatModel):
    """Answers by rule, from the messages and the results of tools."""

    model: str = "embedded"
    stop: list[str] | None = None

    @property
    def _llm_type(self) -> str:
        return "embedded"

    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool],
        *,
        tool_choice: str | dict[str, Any] | bool | None = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Return the model with tools; `tool_choice` is a tool's name, `any`, `auto` or `none`."""
        offered = [convert_to_openai_tool(tool) for tool in tools]
        return self.bind(tools=offered, tool_choice=tool_choice, **kwargs)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        reply = self._build_reply(messages, stop or self.stop, **kwargs)
        return ChatResult(generations=[ChatGeneration(message=reply)])

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return self._generate(messages, stop, **kwargs)

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        for chunk in _split_into_chunks(self._build_reply(messages, stop or self.stop, **kwargs)):
            generation = ChatGenerationChunk(message=chunk)
            if run_manager:
                run_manager.on_llm_new_token(str(chunk.content), chunk=generation)
            yield generation

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        for chunk in _split_into_chunks(self._build_reply(messages, stop or self.stop, **kwargs)):
            generation = ChatGenerationChunk(message=chunk)
            if run_manager:
                await run_manager.on_llm_new_token(str(chunk.content), chunk=generation)
            yield generation

    def _build_reply(
        self, messages: list[BaseMessage], stop: list[str] | None, **kwargs: Any
    ) -> AIMessage:
        tools = _index_schemas(kwargs.get("tools") or [])
        calls = _choose_reply_calls(messages, tools, kwargs.get("tool_choice"))
        text = "" if calls else _cut_at_stop(INTRODUCTION, stop)
        made = [
            tool_call(name=name, args=args, id=f"embedded-{len(messages)}-{index}")
            for index, (name, args) in enumerate(calls)
        ]
        return AIMessage(
            text,
            tool_calls=made,
            usage_metadata=_estimate_usage(messages, tools, text, made),
            response_metadata={
                "model_name": kwargs.get("model") or self.model,
                "model_provider": "embedded",
                "finish_reason": "tool_calls" if made else "stop",
            },
        )


def _choose_reply_calls(
    messages: list[BaseMessage], tools: ToolSchemas, choice: Any
) -> list[tuple[str, dict[str, Any]]]:
    """Return the tool calls: the forced tool, one of our schemas, else tools that can be filled."""
    if isinstance(choice, dict):
        choice = choice.get("function", {}).get("name")
    if choice in tools:
        tools = {choice: tools[choice]}
    if not tools or choice == "none":
        return []
    working = {name: tools[name] for name in tools if name not in _WRITERS}
    handoff = read_handoff(messages)
    calls = choose_calls(handoff, working)
    authored = [(name, _WRITERS[name](messages)) for name in _WRITERS if name in tools][:1]
    calls = calls or authored
    if not calls and (choice in ("any", "required", True) or choice in tools):
        name, schema = next(iter(tools.items()))
        calls = [(name, fill_arguments(handoff, schema) or {})]
    return calls


def _index_schemas(tools: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    functions = [tool.get("function", tool) for tool in tools]
    return {function["name"]: function.get("parameters") or {} for function in functions}


def _estimate_usage(
    messages: list[BaseMessage], tools: ToolSchemas, text: str, calls: list[ToolCall]
) -> UsageMetadata:
    """Return tokens about as other endpoints count them, so that budgets can be tested."""
    read = sum(len(str(message.text)) for message in messages) + len(json.dumps(tools))
    written = len(text) + sum(len(json.dumps(call["args"])) for call in calls)
    tokens = 1 + read // CHARS_PER_TOKEN, 1 + written // CHARS_PER_TOKEN
    return UsageMetadata(input_tokens=tokens[0], output_tokens=tokens[1], total_tokens=sum(tokens))


def _split_into_chunks(reply: AIMessage) -> Iterator[AIMessageChunk]:
    text = str(reply.text)
    for at in range(0, len(text), CHUNK_CHARS):
        yield AIMessageChunk(content=text[at : at + CHUNK_CHARS])
    for index, call in enumerate(reply.tool_calls):
        args = json.dumps(call["args"], ensure_ascii=False)
        piece = tool_call_chunk(name=call["name"], args=args, id=call["id"], index=index)
        yield AIMessageChunk(content="", tool_call_chunks=[piece])
    yield AIMessageChunk(
        content="",
        usage_metadata=reply.usage_metadata,
        response_metadata=reply.response_metadata,
        chunk_position="last",
    )


def _cut_at_stop(text: str, stop: list[str] | None) -> str:
    positions = [text.find(word) for word in stop or [] if word and word in text]
    return text[: min(positions)] if positions else text
