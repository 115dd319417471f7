"""Makes the tool calls of an attempt: restricts them, asks a human, records how each ended."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import nullcontext
from time import monotonic
from typing import Any

from langchain.agents import AgentState
from langchain.agents.middleware import AgentMiddleware, ToolCallRequest
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool
from langgraph.errors import GraphBubbleUp
from langgraph.types import Command, TracePolicy, omit_payload

from nodes.errors import NothingToRead, ToolFailed, ToolRefused
from nodes.errors.redaction import redact_text, redact_value
from nodes.execution.attempt_context import (
    READ_MATERIAL,
    AttemptContext,
    restore_calls,
)
from nodes.execution.tool_outcomes import (
    FAILED,
    NOTHING_TO_READ,
    PUT_OFF,
    CallEnding,
    read_failures,
)
from nodes.human.request import ask_until_clear, build_tool_request
from nodes.limits.run_scope import has_checkpointer
from nodes.models.run_context import get_run_context
from nodes.prompts.tags import shorten_text
from nodes.security.taint import Taint
from nodes.security.tool_access import is_declared, read_access
from nodes.telemetry.events import build_task_path, emit
from nodes.text.plain_text import sanitize_line, sanitize_text
from nodes.text.tool_messages import flatten_content
from nodes.tools.framework.catalog import ConfirmedTool, get_origin, is_of_server
from nodes.tools.framework.materials import takes_materials
from state import Report

MAX_CALLS_PER_TURN = 8
"""Limit for the tool calls of one message; the others are refused and may be repeated."""
MAX_TOOL_RESULT_CHARS = 24_000
"""Limit for one tool result; a mark in the result shows a cut."""
MAX_TRACED_CHARS = 500
"""Limit for an argument, and for the message of an exception, in the trace."""
MAX_TRACED_RESULT_CHARS = 2_000
"""Limit for what a tool answered, in the trace."""
UNTRACED = TracePolicy(process_inputs=omit_payload, process_outputs=omit_payload)
"""The model calls and tools inside record what passes through the middleware."""
CallTool = Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]]
Restrict = Callable[[ToolCallRequest], ToolCallRequest]


class WorkerAgentState(AgentState[Report]):
    """A worker's conversation, and the data that its tools may read besides their arguments."""

    materials: dict[str, str]
    lacking: list[str]
    """What the reports in the handoff lack, each with its task."""


class NotConfirmed(ToolFailed):
    """No human agreed to the call, so it was not made; the message says why."""


class ToolGuardMiddleware(AgentMiddleware[WorkerAgentState, AttemptContext, Report]):
    """Restricts each tool call by the attempt's taint, and emits it as an event.

    A call that is refused here is not made. The worker's model receives the reason, as it receives
    the failure of a call.
    """

    trace_policy = UNTRACED

    def __init__(self, tools: Sequence[BaseTool] = ()) -> None:
        super().__init__()
        self._tools = {tool.name: tool for tool in tools}

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: CallTool
    ) -> ToolMessage | Command[Any]:
        began = monotonic()
        denied, failures = request.tool is None, tuple[str, ...]()
        result: ToolMessage | Command[Any]
        context, call = get_attempt_context(request), request.tool_call
        restore_calls(context, request.state["messages"], self._tools)
        if found := context.earlier_calls.find(call):
            result = _repeat_result(request, *found)
        else:
            request, result, failures, was_refused = await _make_call(request, handler)
            denied = denied or was_refused
            if not failures and is_declared(request.tool) and isinstance(result, ToolMessage):
                context.earlier_calls.record(call, result)
        context.recorded_calls.add(str(call["id"]))
        failed = isinstance(result, ToolMessage) and result.status == "error"
        await emit(
            "tool_call",
            tool=get_origin(request.tool, request.tool_call["name"]),
            args={
                key: shorten_text(value, MAX_TRACED_CHARS) if isinstance(value, str) else value
                for key, value in request.tool_call["args"].items()
            },
            seconds=round(monotonic() - began, 6),
            repeated=found is not None,
            result=_trace_result(result),
            error=str(result.content) if failed and isinstance(result, ToolMessage) else None,
            denied=denied,
            failures=list(failures),
        )
        return result


def _trace_result(result: ToolMessage | Command[Any]) -> str | None:
    """Return what a tool answered, cut; None for a call that failed or was refused."""
    if not isinstance(result, ToolMessage) or result.status == "error":
        return None
    return shorten_text(redact_text(str(result.content)), MAX_TRACED_RESULT_CHARS)


def _repeat_result(request: ToolCallRequest, content: str, was_refused: bool) -> ToolMessage:
    """Return the message for a call that was made before."""
    message = build_refusal(request, content)
    return message if was_refused else message.model_copy(update={"status": "success"})


def _restrict_call(request: ToolCallRequest) -> ToolCallRequest:
    """Return the call with its allowed arguments.

    Raises:
        EgressDenied: it would leak private data or fetch an unapproved URL.
    """
    call = request.tool_call
    if request.tool is None:  # unknown tool: LangChain answers with the available ones
        return request
    args = _get_taint(request).restrict_arguments(
        call["name"], read_access(request.tool), call["args"]
    )
    return request.override(tool_call={**call, "args": args})


async def _make_call(
    request: ToolCallRequest, handler: CallTool
) -> tuple[ToolCallRequest, ToolMessage | Command[Any], tuple[str, ...], bool]:
    """Make a call that is allowed, and that a human agrees to where its tool asks.

    Returns the call as it was made, its message, what the tool could not do, and whether the call
    was denied.
    """
    try:
        request = _restrict_call(request)
        if not _is_surplus(request):
            request = confirm_call(request, _restrict_call)
    except NotConfirmed as failure:
        # The report must say so, though the tool has not failed.
        message = build_refusal(request, str(failure)).model_copy(update={"artifact": FAILED})
        return request, message, record_outcome(request, message), True
    except ToolRefused as refusal:
        return request, build_refusal(request, str(refusal)), (), True
    return request, *await _run_call(request, handler), False


async def _run_call(
    request: ToolCallRequest, handler: CallTool
) -> tuple[ToolMessage | Command[Any], tuple[str, ...]]:
    """Run a call; return its message, and what the tool could not do."""
    if _is_surplus(request):
        refusal = build_refusal(
            request, f"only {MAX_CALLS_PER_TURN} calls are made at a time; make this one again"
        )
        return refusal.model_copy(update={"artifact": PUT_OFF}), ()
    try:
        result = await _try_call(request, handler)
    except NothingToRead as error:
        refusal = build_refusal(request, str(error))
        refusal = refusal.model_copy(update={"artifact": NOTHING_TO_READ})
        return refusal, record_outcome(request, refusal)
    unread = tuple[str, ...]()
    if isinstance(result, ToolMessage):
        content, unread = flatten_content(result.content)
        # A model must not read what a human cannot see.
        result = result.model_copy(update={"content": sanitize_text(redact_text(content))})
        if request.tool_call["name"] == READ_MATERIAL and result.status == "success":
            get_attempt_context(request).reading.record(result.artifact)
    if request.tool is not None:
        content = str(result.content) if isinstance(result, ToolMessage) else ""
        _get_taint(request).record_result(
            request.tool_call["name"],
            read_access(request.tool),
            content,
            is_of_server=is_of_server(request.tool),
        )
    failures = record_outcome(request, result, unread)
    if isinstance(result, ToolMessage):
        content = shorten_text(str(result.content), MAX_TOOL_RESULT_CHARS)
        return result.model_copy(update={"content": content}), failures
    return result, failures


async def _try_call(request: ToolCallRequest, handler: CallTool) -> ToolMessage | Command[Any]:
    """Run a call; an error of the tool becomes a message to its worker, not the run's end."""
    is_outside = request.tool is not None and read_access(request.tool).sends != "nothing"
    try:
        with get_run_context().wait_outside() if is_outside else nullcontext():
            return await handler(request)
    except (GraphBubbleUp, NothingToRead):
        raise
    except ToolRefused as error:
        return build_refusal(request, str(error))
    except ToolFailed as error:
        return build_failure(request, str(error))
    except Exception as error:  # a tool may be the user's own: its bug must not end the worker
        reason = f"{type(error).__name__}: {sanitize_line(str(error), MAX_TRACED_CHARS)}"
        return build_failure(request, reason)


def _is_surplus(request: ToolCallRequest) -> bool:
    message = request.state["messages"][-1]
    calls = message.tool_calls if isinstance(message, AIMessage) else []
    first = [call["id"] for call in calls[:MAX_CALLS_PER_TURN]]
    return len(calls) > MAX_CALLS_PER_TURN and request.tool_call["id"] not in first


def _get_taint(request: ToolCallRequest) -> Taint:
    return get_attempt_context(request).taint


def confirm_call(request: ToolCallRequest, restrict: Restrict) -> ToolCallRequest:
    """Return the call as a human agrees to it; a tool that does not ask is returned at once.

    Args:
        restrict: checks arguments that the human has edited, as it did those of the model.

    Raises:
        NotConfirmed: the human rejected the call, or no human can be asked.
        EgressDenied: the edited arguments would leak private data.
        ToolRefused: the arguments do not fit the tool.
    """
    tool, call = request.tool, request.tool_call
    if not isinstance(tool, ConfirmedTool) or not tool.asks:
        return request
    tool.check_arguments(call["args"])
    config = request.runtime.config
    if not has_checkpointer(config):
        raise NotConfirmed(
            f"{tool.origin} was not called: it asks a human before each call, and no human can be "
            "asked in a run that is not saved"
        )
    decision = ask_until_clear(_build_question(tool, call["args"], config))
    if decision.kind == "approve":
        return request
    if decision.kind != "edit" or decision.args is None:
        reason = f": {decision.message}" if decision.message else ""
        raise NotConfirmed(f"{tool.origin} was not called: a human rejected the call{reason}")
    tool.check_arguments(dict(decision.args))
    return restrict(request.override(tool_call={**call, "args": dict(decision.args)}))


def _build_question(
    tool: ConfirmedTool, args: dict[str, Any], config: RunnableConfig
) -> dict[str, Any]:
    metadata = config.get("metadata") or {}
    task, worker = str(metadata.get("task", "")), str(metadata.get("worker", ""))
    schema = tool.args_schema if isinstance(tool.args_schema, dict) else None
    return build_tool_request(
        tool.origin or tool.name,
        redact_value(args),
        task=build_task_path(config, task),
        worker=worker,
        args_schema=schema,
    )


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
