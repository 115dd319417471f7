"""A worker's own loop: a model, the worker's tools, and a report at the end."""

from collections.abc import Awaitable, Callable, Sequence
from time import monotonic
from typing import Any

from langchain.agents import AgentState, create_agent
from langchain.agents.middleware import (
    AgentMiddleware,
    ModelRequest,
    ModelResponse,
    ToolCallRequest,
)
from langchain.agents.structured_output import ToolStrategy
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import BaseTool
from langgraph.errors import GraphBubbleUp
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command

from nodes.errors import ModelError, NothingToRead, ToolFailed, ToolRefused
from nodes.errors.redaction import redact_text
from nodes.execution.attempt_context import AttemptContext, TurnLimitReached
from nodes.execution.tool_outcomes import FAILED, CallEnding, read_failures
from nodes.models.run_context import get_run_context
from nodes.models.structured_output import build_lenient_schema
from nodes.models.usage import read_usage
from nodes.prompts.messages import build_worker_prompt, shorten_text
from nodes.security.taint import EgressDenied, Taint
from nodes.security.tool_access import read_access
from nodes.telemetry.events import emit
from nodes.text.plain_text import sanitize_text
from state import Report, Usage, Worker

MAX_TOOL_RESULT_CHARS = 24_000
"""Of one tool result; what is cut is said in the result."""
MAX_CALLS_PER_TURN = 8
"""Tool calls of one message; the others are refused, and the model may ask again."""
MAX_TRACED_CHARS = 500
"""Of an argument, in the trace."""


class WorkerAgentState(AgentState[Report]):
    """A worker's conversation, and what its tools may read besides their arguments."""

    materials: dict[str, str]
    lacking: list[str]
    """What the reports that were handed over lack, each with its task."""


class TurnLimitMiddleware(AgentMiddleware[WorkerAgentState, AttemptContext, Report]):
    """Choose the attempt's model, count what it spends, and let the last turn only report."""

    state_schema = WorkerAgentState

    async def awrap_model_call(
        self,
        request: ModelRequest[AttemptContext],
        handler: Callable[[ModelRequest[AttemptContext]], Awaitable[ModelResponse[Report]]],
    ) -> ModelResponse[Report]:
        errand = request.runtime.context
        errand.turns += 1
        errand.taint.mark_results_seen()
        spent = errand.usage.input_tokens + errand.usage.output_tokens
        if errand.turns > errand.limits.max_turns + 1:
            raise TurnLimitReached(f"no readable report within {errand.limits.max_turns} turns")
        budget = get_run_context().budget
        must_report = (
            errand.turns >= errand.limits.max_turns
            or spent >= errand.limits.max_tokens
            or (budget is not None and budget.is_low())
        )
        tools = [] if must_report else request.tools
        try:
            response = await handler(request.override(model=errand.model, tools=tools))
        except ModelError as error:
            errand.usage += error.usage or Usage()
            raise
        for message in response.result:
            if isinstance(message, AIMessage):
                errand.usage += read_usage(message)
        return response


class ToolGuardMiddleware(AgentMiddleware[WorkerAgentState, AttemptContext, Report]):
    """Hold each tool call to what the task has read; make it an event, and its failure a message.

    A call that is refused here has not been made. The worker's model is told, and may act on it.
    """

    async def awrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]],
    ) -> ToolMessage | Command[Any]:
        began = monotonic()
        denied, failures = request.tool is None, tuple[str, ...]()
        result: ToolMessage | Command[Any]
        try:
            request = _restrict_call(request)
        except EgressDenied as refusal:
            denied, result = True, _build_refusal(request, str(refusal))
        else:
            result, failures = await _run_call(request, handler)
        failed = isinstance(result, ToolMessage) and result.status == "error"
        await emit(
            "tool_call",
            tool=request.tool_call["name"],
            args={
                key: shorten_text(value, MAX_TRACED_CHARS) if isinstance(value, str) else value
                for key, value in request.tool_call["args"].items()
            },
            seconds=round(monotonic() - began, 6),
            error=str(result.content) if failed and isinstance(result, ToolMessage) else None,
            denied=denied,
            failures=list(failures),
        )
        return result


def _restrict_call(request: ToolCallRequest) -> ToolCallRequest:
    """Return the call as it may be made.

    Raises:
        OutsideClosed: it would carry outside what was read, or go where nobody pointed.
    """
    call = request.tool_call
    if request.tool is None:  # no tool of this worker: LangChain answers with those there are
        return request
    args = _get_taint(request).restrict_arguments(
        call["name"], read_access(request.tool), call["args"]
    )
    return request.override(tool_call={**call, "args": args})


async def _run_call(
    request: ToolCallRequest,
    handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]],
) -> tuple[ToolMessage | Command[Any], tuple[str, ...]]:
    """Make a call; return its message, and what the tool could not do."""
    if _is_surplus(request):
        return _build_refusal(
            request, f"only {MAX_CALLS_PER_TURN} calls are made at a time; make this one again"
        ), ()
    try:
        result = await _try_call(request, handler)
    except NothingToRead as error:
        refusal = _build_refusal(request, str(error))
        return refusal, _record_outcome(request, refusal)
    if isinstance(result, ToolMessage) and isinstance(result.content, str):
        # What no person sees there, no model shall read.
        result = result.model_copy(update={"content": sanitize_text(redact_text(result.content))})
    if request.tool is not None:
        said = str(result.content) if isinstance(result, ToolMessage) else ""
        _get_taint(request).record_result(
            request.tool_call["name"], read_access(request.tool), said
        )
    failures = _record_outcome(request, result)
    if isinstance(result, ToolMessage) and isinstance(result.content, str):
        content = shorten_text(result.content, MAX_TOOL_RESULT_CHARS)
        return result.model_copy(update={"content": content}), failures
    return result, failures


async def _try_call(
    request: ToolCallRequest,
    handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]],
) -> ToolMessage | Command[Any]:
    """Make a call; whatever a tool raises is for its worker's model, not for the run."""
    try:
        return await handler(request)
    except (GraphBubbleUp, NothingToRead):
        raise
    except ToolRefused as error:
        return _build_refusal(request, str(error))
    except ToolFailed as error:
        return _build_failure(request, str(error))
    except Exception as error:  # a tool may be anybody's: its mistake must not end the worker
        return _build_failure(request, f"{type(error).__name__}: {error}")


def _record_outcome(
    request: ToolCallRequest, result: ToolMessage | Command[Any]
) -> tuple[str, ...]:
    """Enter how a call ended; return what the tool could not do, in words for a person."""
    name, errand = request.tool_call["name"], _get_attempt_context(request)
    if request.tool is None:
        return ()
    said = str(result.content) if isinstance(result, ToolMessage) else ""
    ending: CallEnding = "answered"
    reasons: tuple[str, ...] = ()
    if isinstance(result, ToolMessage) and result.status == "error":
        ending, reasons = ("failed" if result.artifact == FAILED else "refused"), (said,)
    else:
        reasons = tuple(f"{name} is incomplete: {reason}" for reason in read_failures(said))
        if len(said) > MAX_TOOL_RESULT_CHARS:
            cut = (
                f"{name} answered with {len(said):,} characters, of which "
                f"{MAX_TOOL_RESULT_CHARS:,} are"
            )
            reasons = (*reasons, f"{cut} read")
    materials = request.state.get("materials") or {}
    errand.outcomes.record_call(
        request.tool_call, ending, turn=errand.turns, materials=materials, reasons=reasons
    )
    return () if ending == "refused" else reasons


def _is_surplus(request: ToolCallRequest) -> bool:
    asking = request.state["messages"][-1]
    calls = asking.tool_calls if isinstance(asking, AIMessage) else []
    first = [call["id"] for call in calls[:MAX_CALLS_PER_TURN]]
    return len(calls) > MAX_CALLS_PER_TURN and request.tool_call["id"] not in first


def _get_attempt_context(request: ToolCallRequest) -> AttemptContext:
    errand: Any = request.runtime.context  # LangChain does not say of which type it is
    assert isinstance(errand, AttemptContext), "a worker's loop runs on an errand"
    return errand


def _get_taint(request: ToolCallRequest) -> Taint:
    return _get_attempt_context(request).taint


def _build_failure(request: ToolCallRequest, reason: str) -> ToolMessage:
    failure = _build_refusal(request, f"{request.tool_call['name']} failed: {reason}")
    return failure.model_copy(update={"artifact": FAILED})


def _build_refusal(request: ToolCallRequest, reason: str) -> ToolMessage:
    return ToolMessage(
        content=redact_text(reason),
        name=request.tool_call["name"],
        tool_call_id=request.tool_call["id"],
        status="error",
    )


def build_worker_agent(
    worker: Worker, tools: Sequence[BaseTool], model: BaseChatModel
) -> CompiledStateGraph[Any, AttemptContext, Any, Any]:
    """Compile a worker's loop once; each attempt brings its own `Errand` as context.

    The report is asked for as a tool call, which any tool-calling endpoint understands.
    """
    return create_agent(
        model,
        tools,
        system_prompt=build_worker_prompt(worker),
        response_format=ToolStrategy(build_lenient_schema(Report)),
        middleware=[TurnLimitMiddleware(), ToolGuardMiddleware()],
        context_schema=AttemptContext,
        name=f"{worker.name}_loop",
    )
