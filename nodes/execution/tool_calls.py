"""Makes the tool calls of an attempt: restricts them, asks a human, records how each ended."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
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
    NO_FILE_OF_TASK,
    NOTHING_TO_READ,
    PUT_OFF,
    CallEnding,
    read_failures,
)
from nodes.human.request import ask_until_clear, build_tool_request
from nodes.limits.recorder import Effect, get_recorder, hash_section, take_effect
from nodes.limits.run_scope import has_checkpointer
from nodes.models.run_context import RunContext, get_run_context
from nodes.prompts.tags import shorten_text
from nodes.security.tool_access import is_declared, read_access
from nodes.telemetry.events import build_task_path, emit
from nodes.text.plain_text import sanitize_line, sanitize_text
from nodes.text.tool_messages import drop_advice, flatten_content, strip_media
from nodes.tools.framework.catalog import ConfirmedTool, get_origin, is_of_server
from nodes.tools.framework.materials import takes_materials
from state import Report

USED_KEY = "used"
"""Of a tool's answer: the rows that its figures are computed of, which a page shows as proof."""
MAX_CALLS_PER_TURN = 8
"""Limit for the tool calls of one message; the others are refused and may be repeated."""
MAX_TOOL_RESULT_CHARS = 24_000
"""Limit for one tool result; a mark in the result shows a cut."""
MAX_TRACED_CHARS = 500
MAX_NAMED_CHARS = 200
"""Limit for an argument, and for the message of an exception, in the trace."""
MAX_TRACED_RESULT_CHARS = 2_000
MAX_TRACED_ROWS_CHARS = 8_000
"""Limits for what a tool answered, in the trace: the second with the rows that figures are of."""
UNTRACED = TracePolicy(process_inputs=omit_payload, process_outputs=omit_payload)
"""The model calls and tools inside record what passes through the middleware."""
CallTool = Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]]


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

    async def awrap_tool_call(self, request: ToolCallRequest, handler: CallTool) -> ToolMessage:
        began, asked = monotonic(), request.tool_call
        call = _Call(request, handler)
        restore_calls(call.context, request.state["messages"], self._tools)
        if found := call.context.earlier_calls.find(asked):
            result = call.repeat(*found)
        else:
            call.context.open_tools.append(call.name)
            result = await call.make()
            call.context.open_tools.remove(call.name)
            if not call.failures and is_declared(request.tool):
                call.context.earlier_calls.record(asked, result)
        call.context.recorded_calls.add(str(asked["id"]))
        await call.emit(result, seconds=monotonic() - began, repeated=found is not None)
        return result


@dataclass
class _Call:
    """A call of a tool, from the model's request to the message that answers it."""

    request: ToolCallRequest
    """As it is made: with the arguments that are allowed, and that a human agrees to."""
    handler: CallTool
    failures: tuple[str, ...] = ()
    """What the tool could not do, in words for a human."""
    was_denied: bool = False

    @property
    def context(self) -> AttemptContext:
        """Of the attempt that makes the call."""
        context: Any = self.request.runtime.context  # LangChain does not type it
        assert isinstance(context, AttemptContext), "a worker's agent runs with an AttemptContext"
        return context

    @property
    def name(self) -> str:
        return self.request.tool_call["name"]

    async def make(self) -> ToolMessage:
        """Make the call if it is allowed, and a human agrees to it where its tool asks."""
        try:
            self.request = self._restrict(self.request)
            if self._is_surplus():
                advice = f"only {MAX_CALLS_PER_TURN} calls are made at a time; make this one again"
                return self._refuse(advice, PUT_OFF)
            self._confirm()
        except NotConfirmed as failure:
            # The report must say so, though the tool has not failed.
            self.was_denied = True
            return self._record(self._refuse(str(failure), FAILED))
        except ToolRefused as refusal:
            self.was_denied = True
            return self._refuse(str(refusal))
        try:
            result = await self._run()
        except NothingToRead as error:
            return self._record(self._refuse_unread(error))
        return self._finish(result)

    def repeat(self, content: str, was_refused: bool) -> ToolMessage:
        """Return the message for a call that was made before."""
        message = self._refuse(content)
        return message if was_refused else message.model_copy(update={"status": "success"})

    async def emit(self, result: ToolMessage, *, seconds: float, repeated: bool) -> None:
        """Emit the call as an event, with what the tool answered, cut."""
        shown = error = None
        if result.status == "error":
            error = drop_advice(str(result.content))
        else:
            content = redact_text(str(result.content))
            has_rows = f'"{USED_KEY}":' in content
            limit = MAX_TRACED_ROWS_CHARS if has_rows else MAX_TRACED_RESULT_CHARS
            shown = shorten_text(content, limit)
        lacking: dict[str, Any] = {}
        if result.artifact in (NOTHING_TO_READ, NO_FILE_OF_TASK):
            lacking["lacks_file" if result.artifact == NOTHING_TO_READ else "not_given_file"] = True
        await emit(
            "tool_call",
            tool=get_origin(self.request.tool, self.name),
            args={
                key: shorten_text(value, MAX_TRACED_CHARS) if isinstance(value, str) else value
                for key, value in self.request.tool_call["args"].items()
            },
            seconds=round(seconds, 6),
            repeated=repeated,
            result=shown,
            error=error,
            denied=self.was_denied or self.request.tool is None,
            failures=list(self.failures),
            **lacking,
        )

    def _restrict(self, request: ToolCallRequest) -> ToolCallRequest:
        """Return a call with its allowed arguments.

        Raises:
            EgressDenied: it would leak private data or fetch an unapproved URL.
        """
        call = request.tool_call
        if request.tool is None:  # unknown tool: LangChain answers with the available ones
            return request
        access = read_access(request.tool)
        args = self.context.taint.restrict_arguments(call["name"], access, call["args"])
        return request.override(tool_call={**call, "args": args})

    def _is_surplus(self) -> bool:
        message = self.request.state["messages"][-1]
        calls = message.tool_calls if isinstance(message, AIMessage) else []
        first = [call["id"] for call in calls[:MAX_CALLS_PER_TURN]]
        return len(calls) > MAX_CALLS_PER_TURN and self.request.tool_call["id"] not in first

    def _confirm(self) -> None:
        """Ask a human if the tool asks, and take the arguments as they agree to them.

        Raises:
            NotConfirmed: the human rejected the call, or no human can be asked.
            EgressDenied: the edited arguments would leak private data.
            ToolRefused: the arguments do not fit the tool.
        """
        tool, call, config = self.request.tool, self.request.tool_call, self.request.runtime.config
        if not isinstance(tool, ConfirmedTool) or not tool.asks:
            return
        tool.check_arguments(call["args"])
        if not has_checkpointer(config):
            raise NotConfirmed(
                f"{tool.origin} was not called: it asks a human before each call, and no human can "
                "be asked in a run that is not saved"
            )
        decision = ask_until_clear(_build_question(tool, call["args"], config))
        if decision.kind == "approve":
            return
        if decision.kind != "edit" or decision.args is None:
            reason = f": {decision.message}" if decision.message else ""
            raise NotConfirmed(f"{tool.origin} was not called: a human rejected the call{reason}")
        edited = dict(decision.args)
        tool.check_arguments(edited)
        self.request = self._restrict(self.request.override(tool_call={**call, "args": edited}))

    async def _run(self) -> ToolMessage:
        """Run the tool, through the run's recorder; what it answers has no known secret.

        Raises:
            NothingToRead: there is nothing for the tool to read.
        """
        context, call = get_run_context(), self.request.tool_call
        effect = Effect(
            kind="tool",
            purpose=self.name,
            task=context.task,
            attempt=context.attempt,
            sections={"arguments": hash_section(call["args"])} if get_recorder() else {},
            dump=_dump_result,
            load=partial(_load_result, call=call),
        )
        return await take_effect(effect, partial(self._run_tool, context))

    async def _run_tool(self, context: RunContext) -> ToolMessage:
        """Run the tool; an error of it becomes a message to its worker, not the run's end.

        Of a `Command` only the message that answers the call counts: a tool does not change the
        state of the worker's loop, or where it goes.
        """
        tool = self.request.tool
        is_outside = tool is not None and read_access(tool).sends != "nothing"
        try:
            with context.wait_outside() if is_outside else nullcontext():
                result = await self.handler(self.request)
            if answer := _find_answer(result, self.request.tool_call["id"]):
                return answer
            reason = "it returned a Command without a message that answers the call"
        except (GraphBubbleUp, NothingToRead):
            raise
        except ToolRefused as error:
            return self._refuse(str(error))
        except ToolFailed as error:
            reason = str(error)
        except Exception as error:  # a tool may be the user's own: its bug must not end the worker
            reason = f"{type(error).__name__}: {sanitize_line(str(error), MAX_TRACED_CHARS)}"
        return self._refuse(f"{self.name} failed: {reason}", FAILED)

    def _refuse(self, reason: str, mark: str | None = None) -> ToolMessage:
        """Return the message for a call that was refused, or that the tool could not do."""
        return ToolMessage(
            content=redact_text(reason),
            name=self.name,
            tool_call_id=self.request.tool_call["id"],
            status="error",
            artifact=mark,
        )

    def _refuse_unread(self, error: NothingToRead) -> ToolMessage:
        """Return why there was nothing to read: no file in the run, or none given to this task."""
        held = self.request.state.get("materials") or {}
        of_run = get_run_context().scope.materials.values()
        others = dict.fromkeys(name for each in of_run for name in each if name not in held)
        if not others:
            return self._refuse(str(error), NOTHING_TO_READ)
        names = shorten_text(", ".join(others), MAX_NAMED_CHARS)
        said = f"the plan gives this task no file of the request ({names}); {error}"
        return self._refuse(said, NO_FILE_OF_TASK)

    def _finish(self, result: ToolMessage) -> ToolMessage:
        """Record what the tool has answered; return it as the worker's model may read it."""
        tool = self.request.tool
        text, unread = flatten_content(result.content)
        # A model must not read what a human cannot see.
        content = sanitize_text(redact_text(text))
        result = result.model_copy(update={"content": content})
        if self.name == READ_MATERIAL and result.status == "success":
            self.context.reading.record(result.artifact)
        if tool is not None:
            access, is_elsewhere = read_access(tool), is_of_server(tool)
            self.context.taint.record_result(self.name, access, content, is_of_server=is_elsewhere)
        self._record(result, unread)
        return result.model_copy(update={"content": shorten_text(content, MAX_TOOL_RESULT_CHARS)})

    def _record(self, result: ToolMessage, unread: tuple[str, ...] = ()) -> ToolMessage:
        """Record how the call ended, and what the tool could not do; return the result.

        Args:
            unread: the parts of its answer that are no text.
        """
        name, context, tool = self.name, self.context, self.request.tool
        if tool is None:
            return result
        content = str(result.content)
        ending: CallEnding = "answered"
        if result.status == "error":
            ending, reasons = ("failed" if result.artifact == FAILED else "refused"), [content]
        else:
            reasons = [f"{name} is incomplete: {reason}" for reason in read_failures(content)]
            reasons += [f"{name} answered with a part that is not read: {one}" for one in unread]
            if len(content) > MAX_TOOL_RESULT_CHARS:
                reasons.append(
                    f"{name} answered with {len(content):,} characters, of which "
                    f"{MAX_TOOL_RESULT_CHARS:,} are read"
                )
            context.results.append(f"{name}: {shorten_text(content, MAX_TRACED_CHARS)}")
            arguments, is_elsewhere = self.request.tool_call["args"], is_of_server(tool)
            context.proof.record_result(name, arguments, content, is_of_server=is_elsewhere)
        context.outcomes.record_call(
            self.request.tool_call,
            ending,
            turn=context.turns,
            materials=self.request.state.get("materials") or {},
            reasons=tuple(reasons),
            reads_materials=takes_materials(tool),
            lacks_file=result.artifact == NOTHING_TO_READ,
        )
        self.failures = () if ending == "refused" else tuple(reasons)
        return result


def _dump_result(result: ToolMessage | None) -> Any:
    """Return what a tool has answered as JSON; parts that are no text without their data."""
    if result is None:
        return None
    kept: dict[str, Any] = {"content": strip_media(redact_value(result.content))}
    kept |= {"status": result.status} if result.status != "success" else {}
    if isinstance(result.artifact, str | dict):  # a mark of ours, or what was read of a material
        kept["artifact"] = redact_value(result.artifact)
    return kept


def _load_result(kept: Any, *, call: Mapping[str, Any]) -> ToolMessage | None:
    if kept is None:
        return None
    return ToolMessage(**kept, name=call["name"], tool_call_id=call["id"])


def _find_answer(result: ToolMessage | Command[Any], call: str | None) -> ToolMessage | None:
    """Return the message of a tool's result that answers a call; None without one."""
    if isinstance(result, ToolMessage):
        return result
    update = result.update if isinstance(result.update, dict) else {}
    messages = [each for each in update.get("messages") or () if isinstance(each, ToolMessage)]
    return next((each for each in messages if each.tool_call_id == call), None)


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
