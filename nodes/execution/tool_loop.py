"""A worker's agent: a model, the worker's tools, and a report at the end."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import nullcontext
from time import monotonic
from typing import Any

from langchain.agents import AgentState, create_agent
from langchain.agents.middleware import (
    AgentMiddleware,
    ModelRequest,
    ModelResponse,
    ToolCallRequest,
)
from langchain.agents.structured_output import OutputToolBinding, ToolStrategy
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, SystemMessage, ToolMessage
from langchain_core.tools import BaseTool
from langgraph.errors import GraphBubbleUp
from langgraph.types import Command, TracePolicy, omit_payload

from nodes.errors import ModelError, NothingToRead, ToolFailed, ToolRefused
from nodes.errors.redaction import redact_text
from nodes.execution.attempt_context import AttemptContext, TurnLimitReached
from nodes.execution.call_confirmation import NotConfirmed, confirm_call
from nodes.execution.call_ending import (
    MAX_TOOL_RESULT_CHARS,
    MAX_TRACED_CHARS,
    build_failure,
    build_refusal,
    get_attempt_context,
    record_outcome,
)
from nodes.execution.earlier_calls import EarlierCalls
from nodes.execution.reading import READ_MATERIAL
from nodes.execution.restored_calls import restore_calls
from nodes.execution.tool_outcomes import FAILED, NOTHING_TO_READ
from nodes.execution.worker_agent import (
    WorkerAgent,
    begin_turn,
    end_turn,
    find_doubts,
    may_ask_again,
    must_report,
    settle_escalation,
)
from nodes.models.guarded_model import SHOWN_TOOLS
from nodes.models.run_context import get_run_context
from nodes.models.structured_output import build_lenient_schema
from nodes.prompts.checks import build_proof_message
from nodes.prompts.materials import build_reading_message
from nodes.prompts.messages import build_worker_prompt
from nodes.prompts.tags import shorten_text
from nodes.schemas.team import Worker
from nodes.security.taint import Taint
from nodes.security.tool_access import is_declared, read_access
from nodes.telemetry.events import emit
from nodes.text.content_blocks import flatten_content
from nodes.text.plain_text import sanitize_line, sanitize_text
from nodes.tools.framework.catalog import load_tools
from nodes.tools.framework.confirmed_tool import get_origin, is_of_server
from nodes.tools.framework.settings import ToolSettings
from state import Report, Usage

MAX_CALLS_PER_TURN = 8
"""Limit for the tool calls of one message; the others are refused and may be repeated."""
UNTRACED = TracePolicy(process_inputs=omit_payload, process_outputs=omit_payload)
"""The model calls and tools inside record what passes through the middleware."""
PLAIN_GRAPH = {"ls_integration": "langgraph"}
"""Metadata of a loop, whose attempt is the agent in traces; the library would name it again."""
PUT_OFF = "put off"
"""Marks the message of a call that was one too many; no model sees it."""
MAX_TRACED_RESULT_CHARS = 2_000
"""Limit for what a tool answered, in the trace."""


class WorkerAgentState(AgentState[Report]):
    """A worker's conversation, and the data that its tools may read besides their arguments."""

    materials: dict[str, str]
    lacking: list[str]
    """What the reports in the handoff lack, each with its task."""


class TurnLimitMiddleware(AgentMiddleware[WorkerAgentState, AttemptContext, Report]):
    """Chooses the attempt's model, counts its usage, and allows only a report in the last turn."""

    state_schema = WorkerAgentState
    trace_policy = UNTRACED

    def __init__(
        self, tools: Sequence[BaseTool] = (), *, granted: frozenset[str] = frozenset()
    ) -> None:
        super().__init__()
        self._tools = {tool.name: tool for tool in tools}
        self._granted = granted
        """Tools that are offered only where a material is cut."""

    async def awrap_model_call(
        self,
        request: ModelRequest[AttemptContext],
        handler: Callable[[ModelRequest[AttemptContext]], Awaitable[ModelResponse[Report]]],
    ) -> ModelResponse[Report]:
        restore_calls(request.runtime.context, request.messages, self._tools)
        response = await self._ask_until_read(request, handler)
        return await self._ask_for_proof(request, handler, response)

    async def _ask_until_read(
        self,
        request: ModelRequest[AttemptContext],
        handler: Callable[[ModelRequest[AttemptContext]], Awaitable[ModelResponse[Report]]],
    ) -> ModelResponse[Report]:
        """Ask for a turn; a report before all was read is asked for once more."""
        context, response = request.runtime.context, await self._ask(request, handler)
        if not _should_read_on(context, response.structured_response):
            return response
        context.reading.was_reminded = True
        context.early_report = _read_report(response.structured_response)
        reminder = build_reading_message(context.reading.describe_required())
        try:
            more = request.override(messages=[*request.messages, reminder])
            return await self._ask(more, handler)
        except (ModelError, TurnLimitReached):
            return response  # what was not read is a gap of this report

    async def _ask_for_proof(
        self,
        request: ModelRequest[AttemptContext],
        handler: Callable[[ModelRequest[AttemptContext]], Awaitable[ModelResponse[Report]]],
        response: ModelResponse[Report],
    ) -> ModelResponse[Report]:
        """Return the turn, or the one after its report was sent back with what is not proved."""
        context, report = request.runtime.context, _read_report(response.structured_response)
        doubts = await find_doubts(context, report)
        if not doubts:
            return response
        context.early_report = report
        asked = [*request.messages, *response.result, build_proof_message(doubts)]
        messages: list[Any] = asked  # the library's union of message types is not exported
        try:
            return await self._ask(request.override(messages=messages), handler)
        except (ModelError, TurnLimitReached):
            return response  # what is not proved is marked

    async def _ask(
        self,
        request: ModelRequest[AttemptContext],
        handler: Callable[[ModelRequest[AttemptContext]], Awaitable[ModelResponse[Report]]],
    ) -> ModelResponse[Report]:
        """Ask the model for its next turn, within the attempt's caps."""
        context = request.runtime.context
        begin_turn(context)
        tools, settings = self._list_offered(request), request.model_settings
        if must_report(context):  # the prompt's beginning stays that of the turns before
            settings, tools = {**settings, SHOWN_TOOLS: tools}, []
        asked = request.override(model=context.model, tools=tools, model_settings=settings)
        began = monotonic()
        try:
            response = await handler(asked)
        except ModelError as error:
            context.usage += error.usage or Usage()
            raise
        end_turn(context, monotonic() - began, response.result)
        return response

    def _list_offered(self, request: ModelRequest[AttemptContext]) -> list[Any]:
        if request.runtime.context.reading.has_cut:
            return request.tools
        return [each for each in request.tools if getattr(each, "name", "") not in self._granted]


def _read_report(value: Report | None) -> Report | None:
    """Return a reply as a plain report; a model is asked for one of a lenient schema."""
    return None if value is None else Report.model_validate(value.model_dump())


def _should_read_on(context: AttemptContext, report: Report | None) -> bool:
    """Return whether a model that reports is asked to read the rest first, and has turns for it."""
    reading = context.reading
    is_due = not reading.was_reminded and bool(reading.describe_required())
    return is_due and may_ask_again(context, report)


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
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]],
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
            if not failures and is_declared(request.tool):
                _keep_result(context.earlier_calls, call, result)
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


def _keep_result(
    earlier: EarlierCalls, call: Mapping[str, Any], result: ToolMessage | Command[Any]
) -> None:
    """Keep the result of a call; one that failed, or was put off, may be made again."""
    if not isinstance(result, ToolMessage) or result.artifact in (FAILED, PUT_OFF):
        return
    earlier.record(call, str(result.content), was_refused=result.status == "error")


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
    request: ToolCallRequest,
    handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]],
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
    request: ToolCallRequest,
    handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]],
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


async def _try_call(
    request: ToolCallRequest,
    handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]],
) -> ToolMessage | Command[Any]:
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


def choose_report_schema(worker: Worker, tools: Sequence[BaseTool]) -> type[Report]:
    """Return the schema of a worker's report: with findings where the worker reads of any."""
    texts = [worker.instructions, worker.description, *(tool.description for tool in tools)]
    has_findings = any("finding" in text.lower() for text in texts)
    unshown = () if has_findings else ("findings",)
    return build_lenient_schema(Report, unshown=unshown, correct=settle_escalation)


def build_worker_agent(
    worker: Worker, tools: Sequence[BaseTool], model: BaseChatModel
) -> WorkerAgent:
    """Build a worker's agent.

    The report is requested as a tool call, which any tool-calling endpoint supports. Each worker
    can read on in a material that is too long for its handoff.
    """
    is_given = any(tool.name == READ_MATERIAL for tool in tools)
    granted = [] if is_given else load_tools([READ_MATERIAL], ToolSettings())
    offered = [*tools, *granted]
    instructions = SystemMessage(build_worker_prompt(worker))
    response_format = ToolStrategy(choose_report_schema(worker, tools))
    tool_loop = create_agent(
        model,
        offered,
        system_prompt=instructions,
        response_format=response_format,
        middleware=[
            TurnLimitMiddleware(offered, granted=frozenset(tool.name for tool in granted)),
            ToolGuardMiddleware(offered),
        ],
        context_schema=AttemptContext,
        name=worker.name,
    ).with_config(metadata=PLAIN_GRAPH)
    return WorkerAgent(
        tool_loop=tool_loop,
        instructions=instructions,
        report_tool=OutputToolBinding.from_schema_spec(response_format.schema_specs[0]).tool,
        tools=tools,
        reading_tools=granted,
    )
