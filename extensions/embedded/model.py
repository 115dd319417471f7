"""The built-in model, with the interface of every other chat model.

What it needs lies beside the messages.
"""

import json
from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage, ToolCall
from langchain_core.messages.ai import UsageMetadata
from langchain_core.messages.tool import tool_call
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool

from extensions.embedded.planning import write_decision, write_plan, write_recruit, write_refinement
from extensions.embedded.reporting import (
    NOTHING_LEFT_OPEN,
    NOTHING_TO_LOOK_UP,
    write_answer,
    write_report,
)
from extensions.embedded.tool_calls import ToolSchemas, choose_calls, list_uncalled
from extensions.embedded.work import Work, read_work
from nodes.schemas.handoff import (
    REPLY_FORMS,
    AnswerValues,
    PlanningValues,
    RecruitValues,
    RefinementValues,
    WorkValues,
    get_beside,
)

CHARS_PER_TOKEN = 4
CHECK = "check_sources"
INTRODUCTION = (
    "This is the built-in embedded model. It repeats what tools and documents say and cannot "
    "converse. A language model can be set (setting: OPENAI_API_KEY, or "
    "SUPERVISE_MODEL_STANDARD=provider:model)."
)


class EmbeddedModel(BaseChatModel):
    """Answers by rule, from the messages and the results of tools."""

    model: str = "embedded"

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
        functions = [tool.get("function", tool) for tool in kwargs.get("tools") or ()]
        tools = {each["name"]: each.get("parameters") or {} for each in functions}
        calls = _choose_reply_calls(messages, tools, kwargs.get("tool_choice"))
        text = "" if calls else INTRODUCTION
        made = [
            tool_call(name=name, args=args, id=f"embedded-{len(messages)}-{index}")
            for index, (name, args) in enumerate(calls)
        ]
        reply = AIMessage(
            text,
            tool_calls=made,
            usage_metadata=_estimate_usage(messages, tools, text, made),
            response_metadata={
                "model_name": kwargs.get("model") or self.model,
                "model_provider": "embedded",
                "finish_reason": "tool_calls" if made else "stop",
            },
        )
        return ChatResult(generations=[ChatGeneration(message=reply)])


def _choose_reply_calls(
    messages: list[BaseMessage], tools: ToolSchemas, choice: Any
) -> list[tuple[str, dict[str, Any]]]:
    """Return the tool calls: those of a worker that can be filled, else the form that is asked."""
    if isinstance(choice, dict):
        choice = choice.get("function", {}).get("name")
    if choice in tools:
        tools = {choice: tools[choice]}
    if not tools or choice == "none":
        return []
    working = {name: tools[name] for name in tools if name not in REPLY_FORMS}
    beside = get_beside(WorkValues)
    work = read_work(beside, messages) if beside else None
    is_open = work is not None and not work.is_answered
    if work and is_open and working and (calls := choose_calls(work, working)):
        return calls
    forms = [name for name in tools if name in REPLY_FORMS]
    return [(name, _fill_form(name, messages, work, working)) for name in forms[:1]]


def _fill_form(
    name: str, messages: Sequence[BaseMessage], work: Work | None, working: ToolSchemas
) -> dict[str, Any]:
    """Return the fields of a reply, from the values that lie beside the messages."""
    if name == "Report" and work:
        return _write_report(work, working)
    if name == "Plan" and (planning := get_beside(PlanningValues)):
        return write_plan(planning, sum(isinstance(message, AIMessage) for message in messages))
    if name == "Decision" and (planning := get_beside(PlanningValues)):
        return write_decision(planning)
    if name == "Answer" and (answer := get_beside(AnswerValues)):
        return write_answer(answer)
    if name == "Refinement" and (refinement := get_beside(RefinementValues)):
        return write_refinement(refinement)
    if name == "Recruit" and (recruit := get_beside(RecruitValues)):
        return write_recruit(recruit)
    return {}


def _write_report(work: Work, working: ToolSchemas) -> dict[str, Any]:
    if work.is_answered:
        return dict(NOTHING_LEFT_OPEN)
    if CHECK in working and not work.calls and not work.claims and work.has_computed:
        return dict(NOTHING_TO_LOOK_UP)
    return write_report(work, list_uncalled(work, working))


def _estimate_usage(
    messages: list[BaseMessage], tools: ToolSchemas, text: str, calls: list[ToolCall]
) -> UsageMetadata:
    """Return tokens about as other endpoints count them, so that budgets can be tested."""
    read = sum(len(str(message.text)) for message in messages) + len(json.dumps(tools))
    written = len(text) + sum(len(json.dumps(call["args"])) for call in calls)
    tokens = 1 + read // CHARS_PER_TOKEN, 1 + written // CHARS_PER_TOKEN
    return UsageMetadata(input_tokens=tokens[0], output_tokens=tokens[1], total_tokens=sum(tokens))
