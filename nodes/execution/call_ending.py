"""How a tool call ended: its message for the worker's model, and its record in the attempt."""

from typing import Any

from langchain.agents.middleware import ToolCallRequest
from langchain_core.messages import ToolMessage
from langgraph.types import Command

from nodes.errors.redaction import redact_text
from nodes.execution.attempt_context import AttemptContext
from nodes.execution.tool_outcomes import FAILED, NOTHING_TO_READ, CallEnding, read_failures
from nodes.prompts.tags import shorten_text
from nodes.tools.framework.confirmed_tool import is_of_server
from nodes.tools.framework.materials import takes_materials

MAX_TOOL_RESULT_CHARS = 24_000
"""Limit for one tool result; a mark in the result shows a cut."""
MAX_TRACED_CHARS = 500
"""Limit for an argument, and for the message of an exception, in the trace."""


def record_outcome(
    request: ToolCallRequest, result: ToolMessage | Command[Any], unread: tuple[str, ...] = ()
) -> tuple[str, ...]:
    """Record how a call ended; return what the tool could not do, in words for a human.

    Args:
        unread: the parts of its answer that are no text.
    """
    name, context = request.tool_call["name"], get_attempt_context(request)
    if request.tool is None:
        return ()
    content = str(result.content) if isinstance(result, ToolMessage) else ""
    ending: CallEnding = "answered"
    reasons: tuple[str, ...] = ()
    if isinstance(result, ToolMessage) and result.status == "error":
        ending, reasons = ("failed" if result.artifact == FAILED else "refused"), (content,)
    else:
        reasons = tuple(f"{name} is incomplete: {reason}" for reason in read_failures(content))
        reasons += tuple(f"{name} answered with a part that is not read: {one}" for one in unread)
        if len(content) > MAX_TOOL_RESULT_CHARS:
            cut = (
                f"{name} answered with {len(content):,} characters, of which "
                f"{MAX_TOOL_RESULT_CHARS:,} are"
            )
            reasons = (*reasons, f"{cut} read")
    if ending == "answered":
        context.results.append(f"{name}: {shorten_text(content, MAX_TRACED_CHARS)}")
        context.proof.record_result(
            name, request.tool_call["args"], content, is_of_server=is_of_server(request.tool)
        )
    materials = request.state.get("materials") or {}
    context.outcomes.record_call(
        request.tool_call,
        ending,
        turn=context.turns,
        materials=materials,
        reasons=reasons,
        reads_materials=takes_materials(request.tool),
        lacks_file=isinstance(result, ToolMessage) and result.artifact == NOTHING_TO_READ,
    )
    return () if ending == "refused" else reasons


def get_attempt_context(request: ToolCallRequest) -> AttemptContext:
    """Return the context of the attempt that makes a call."""
    context: Any = request.runtime.context  # LangChain does not type it
    assert isinstance(context, AttemptContext), "a worker's agent runs with an AttemptContext"
    return context


def build_failure(request: ToolCallRequest, reason: str) -> ToolMessage:
    """Return the message for a call that the tool could not do."""
    failure = build_refusal(request, f"{request.tool_call['name']} failed: {reason}")
    return failure.model_copy(update={"artifact": FAILED})


def build_refusal(request: ToolCallRequest, reason: str) -> ToolMessage:
    """Return the message for a call that was refused."""
    return ToolMessage(
        content=redact_text(reason),
        name=request.tool_call["name"],
        tool_call_id=request.tool_call["id"],
        status="error",
    )
