"""A worker's agent: one model call where only a report is left to ask for, else a tool loop.

A worker without tools needs no graph for its turn. Where its reply is no report, the loop
continues from there: the model reads what was wrong.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Any

from langchain_core.language_models import LanguageModelInput
from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.runnables import RunnableBinding
from langchain_core.tools import BaseTool
from langgraph.graph.state import CompiledStateGraph

from nodes.errors import ModelError
from nodes.execution.attempt_context import AttemptContext, TurnLimitReached
from nodes.models.lengths import SHORTENED
from nodes.models.run_context import get_run_context, has_time_left
from nodes.models.structured_output import UnreadableReply, read_content, read_value
from nodes.models.usage import read_usage
from nodes.prompts.checks import build_proof_message
from nodes.telemetry.events import emit
from state import Report, Usage

REPORT_SHARE = 0.25
"""Share of an attempt's time at its end, in which the worker may only report."""
ToolLoop = CompiledStateGraph[Any, AttemptContext, Any, Any]


@dataclass(frozen=True, kw_only=True)
class WorkerAgent:
    """Built once for a worker; each attempt brings its own `AttemptContext`."""

    tool_loop: ToolLoop
    instructions: SystemMessage
    report_tool: BaseTool
    """What the model calls to report."""
    tools: Sequence[BaseTool]
    """Its own."""
    reading_tools: Sequence[BaseTool]
    """Those that every worker is offered for a material that is cut."""

    async def run(
        self,
        message: HumanMessage,
        context: AttemptContext,
        *,
        inputs: Mapping[str, Any],
        is_checkpointed: bool,
    ) -> Report:
        """Return the report on a handoff.

        Args:
            message: the handoff.
            inputs: what the tools may read besides their arguments.
            is_checkpointed: a checkpointer keeps the run.

        Raises:
            TurnLimitReached: no report within the turns.
            UnreadableReply: the last reply is no report.
            ModelError: there is no reply.
        """
        messages: list[AnyMessage] = [message]
        if not self._list_offered(context):
            reply = await self._ask_for_report(messages, context)
            try:
                report = self._read_reply(reply)
            except UnreadableReply as error:
                if not reply.tool_calls:
                    raise
                messages += [reply, *_answer_calls(reply, f"Error: {error}")]
            else:
                if not (doubts := await find_doubts(context, report)):
                    return report
                context.early_report = report
                answers = _answer_calls(reply, "The report was read.")
                messages += [reply, *answers, build_proof_message(doubts)]
        result = await self.tool_loop.ainvoke(
            {"messages": messages, **inputs},
            context=context,
            # A resume repeats the whole attempt, so its turns need no checkpoints.
            durability="exit" if is_checkpointed else None,
        )
        value = result.get("structured_response")
        if value is None:
            return read_content(_read_last_text(result["messages"]), Report)
        return Report.model_validate(value if isinstance(value, dict) else value.model_dump())

    def build_first_request(
        self, message: HumanMessage, context: AttemptContext
    ) -> tuple[RunnableBinding[LanguageModelInput, AIMessage], list[BaseMessage]]:
        """Return the model with the tools of the first turn, and what it is asked."""
        offered = [*self._list_offered(context), self.report_tool]
        model: Any = context.model.bind_tools(offered, tool_choice="any")
        return model, [self.instructions, message]

    def _list_offered(self, context: AttemptContext) -> list[BaseTool]:
        return [*self.tools, *(self.reading_tools if context.reading.has_cut else ())]

    async def _ask_for_report(
        self, messages: Sequence[AnyMessage], context: AttemptContext
    ) -> AIMessage:
        model = context.model.bind_tools([self.report_tool], tool_choice="any")
        begin_turn(context)
        began = monotonic()
        try:
            reply = await model.ainvoke([self.instructions, *messages])
        except ModelError as error:
            context.usage += error.usage or Usage()
            raise
        end_turn(context, monotonic() - began, [reply])
        return reply

    def _read_reply(self, reply: AIMessage) -> Report:
        calls = reply.tool_calls
        if not calls:
            return read_content(str(reply.text), Report)
        if len(calls) > 1 or calls[0]["name"] != self.report_tool.name:
            raise UnreadableReply([f"call {self.report_tool.name} once, and nothing else"])
        return read_value(calls[0]["args"], Report, correct=settle_escalation)


def settle_escalation(fields: dict[str, Any]) -> dict[str, Any]:
    """Return a report that says both `completed`, with an output, and why it cannot be done.

    Models fill what a schema offers: a small one put a reason beside a complete result. Its own
    word for the status counts, and the reason becomes a gap.
    """
    asked, gaps = fields.get("escalation"), fields.get("gaps") or []
    is_both = fields.get("status") == "completed" and str(fields.get("output") or "").strip()
    if not (is_both and isinstance(asked, Mapping) and isinstance(gaps, list)):
        return fields
    said = [text for text in [asked.get("message")] if isinstance(text, str) and text.strip()]
    return {**fields, "escalation": None, "gaps": [*gaps, *said]}


def begin_turn(context: AttemptContext) -> None:
    """Count a turn.

    Raises:
        TurnLimitReached: the attempt has had all its turns.
    """
    context.turns += 1
    context.taint.mark_results_seen()
    if context.turns > context.limits.max_turns + 1:
        raise TurnLimitReached(f"no readable report within {context.limits.max_turns} turns")


def end_turn(context: AttemptContext, seconds: float, replies: Sequence[BaseMessage]) -> None:
    """Count the usage of a turn, and note what its prompt had to leave out."""
    context.longest_turn_s = max(context.longest_turn_s, seconds)
    for message in replies:
        if isinstance(message, AIMessage):
            context.usage += read_usage(message)
            if gap := message.response_metadata.get(SHORTENED):
                context.left_out.append(str(gap))


def _answer_calls(reply: AIMessage, answer: str) -> list[ToolMessage]:
    return [
        ToolMessage(answer, name=call["name"], tool_call_id=call["id"]) for call in reply.tool_calls
    ]


def _read_last_text(messages: Sequence[AnyMessage]) -> str:
    replies = [message for message in messages if isinstance(message, AIMessage)]
    return str(replies[-1].text) if replies else ""


def must_report(context: AttemptContext) -> bool:
    """Return whether a cap is so near that the turn may only report."""
    budget = get_run_context().budget
    return (
        context.turns >= context.limits.max_turns
        or context.earlier_calls.must_report
        or not has_time_left(REPORT_SHARE, least_s=2 * context.longest_turn_s)
        or context.usage.input_tokens + context.usage.output_tokens >= context.limits.max_tokens
        or (budget is not None and budget.is_low())
    )


def may_ask_again(context: AttemptContext, report: Report | None) -> bool:
    """Return whether a complete report may be asked for once more, within the attempt's caps."""
    if report is None or report.status != "completed" or report.escalation:
        return False
    has_turns = context.turns + 1 < context.limits.max_turns
    # A report that is there is not risked for one that comes too late.
    return has_turns and has_time_left(0.5) and not must_report(context)


async def find_doubts(context: AttemptContext, report: Report | None) -> list[str]:
    """Return what of a report is not proved, if it is sent back for it: once in an attempt."""
    proof = context.proof
    if not proof.may_send_back or proof.was_sent_back:
        return []
    if report is None or not may_ask_again(context, report):
        return []
    doubts = await proof.list_doubts(report)
    if doubts:
        proof.was_sent_back = True
        await emit("report_sent_back", problems=doubts)
    return doubts
