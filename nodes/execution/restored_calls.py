"""Records the calls of an attempt that were made before a human was asked, or before a stop.

An attempt that is resumed has a new context. What its model has read before restricts it still.
"""

from collections.abc import Iterable, Mapping

from langchain_core.messages import AIMessage, AnyMessage, ToolMessage
from langchain_core.tools import BaseTool

from nodes.execution.attempt_context import AttemptContext
from nodes.execution.tool_outcomes import FAILED
from nodes.security.tool_access import read_access
from nodes.tools.framework.confirmed_tool import is_of_server


def restore_calls(
    context: AttemptContext, messages: Iterable[AnyMessage], tools: Mapping[str, BaseTool]
) -> None:
    """Record the calls that the conversation shows and the context does not know."""
    found = list(messages)
    calls = {
        call["id"]: call
        for each in found
        if isinstance(each, AIMessage)
        for call in each.tool_calls
    }
    for message in found:
        call = calls.get(getattr(message, "tool_call_id", None))
        if not isinstance(message, ToolMessage) or call is None:
            continue
        name, content = call["name"], str(message.content)
        if message.tool_call_id in context.recorded_calls or name not in tools:
            continue
        context.recorded_calls.add(message.tool_call_id)
        context.taint.record_result(
            name, read_access(tools[name]), content, is_of_server=is_of_server(tools[name])
        )
        if message.status != "error":
            is_outside = is_of_server(tools[name])
            context.proof.record_result(name, call["args"], content, is_of_server=is_outside)
        if message.status == "error" and message.artifact == FAILED:
            context.outcomes.record_call(
                call, "failed", turn=context.turns, materials={}, reasons=(content,)
            )
        context.taint.mark_results_seen()
