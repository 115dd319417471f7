"""A worker's agent: a model, the worker's tools, and a report at the end."""

from collections.abc import Awaitable, Callable, Sequence
from functools import cache
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain.agents.structured_output import OutputToolBinding, ToolStrategy
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage, SystemMessage
from langchain_core.tools import BaseTool

from nodes.errors import ModelError
from nodes.execution.attempt_context import (
    READ_MATERIAL,
    AttemptContext,
    TurnLimitReached,
    restore_calls,
)
from nodes.execution.tool_calls import UNTRACED, ToolGuardMiddleware, WorkerAgentState
from nodes.execution.worker_agent import (
    WorkerAgent,
    count_turn,
    find_doubts,
    may_ask_again,
    must_report,
    name_tool_set,
    note_refusals,
    settle_escalation,
)
from nodes.models.guarded_model import SHOWN_TOOLS
from nodes.models.structured_output import UnreadableReply, build_lenient_schema
from nodes.prompts.checks import build_proof_message
from nodes.prompts.materials import build_reading_message
from nodes.prompts.messages import build_worker_prompt
from nodes.schemas.team import Worker
from nodes.tools.framework.catalog import load_tools
from nodes.tools.framework.settings import ToolSettings
from state import Report

PLAIN_GRAPH = {"ls_integration": "langgraph"}
"""Metadata of a loop, whose attempt is the agent in traces; the library would name it again."""
AskModel = Callable[[ModelRequest[AttemptContext]], Awaitable[ModelResponse[Report]]]


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
        self, request: ModelRequest[AttemptContext], handler: AskModel
    ) -> ModelResponse[Report]:
        """Ask for a turn; its report is sent back for what was not read, then for its proof."""
        context = request.runtime.context
        restore_calls(context, request.messages, self._tools)
        response = await self._ask(request, handler)
        reading, report = context.reading, response.structured_response
        unread = [] if reading.was_reminded else reading.describe_required()
        if unread and may_ask_again(context, report):
            reading.was_reminded = True
            reminder = build_reading_message(unread)
            response = await self._send_back(request, handler, response, [reminder])
        doubts = await find_doubts(context, response.structured_response)
        if doubts:
            asked = [*response.result, build_proof_message(doubts)]
            response = await self._send_back(request, handler, response, asked)
        return response

    async def _send_back(
        self,
        request: ModelRequest[AttemptContext],
        handler: AskModel,
        response: ModelResponse[Report],
        asked: Sequence[BaseMessage],
    ) -> ModelResponse[Report]:
        """Return the next turn, or the one that was sent back where there is no other.

        What was not read is then a gap of its report; what is not proved is marked.
        """
        request.runtime.context.early_report = response.structured_response
        messages: list[Any] = [*request.messages, *asked]  # the library's union is not exported
        try:
            return await self._ask(request.override(messages=messages), handler)
        except (ModelError, TurnLimitReached, UnreadableReply):
            return response

    async def _ask(
        self, request: ModelRequest[AttemptContext], handler: AskModel
    ) -> ModelResponse[Report]:
        """Ask the model for its next turn, within the attempt's caps."""
        context = request.runtime.context
        with count_turn(context) as replies:
            tools, settings = self._list_offered(request), request.model_settings
            if must_report(context):  # the prompt's beginning stays that of the turns before
                settings, tools = {**settings, SHOWN_TOOLS: tools}, []
            asked = request.override(model=context.model, tools=tools, model_settings=settings)
            response = await handler(asked)
            replies += response.result
        if response.structured_response is None:
            note_refusals(context, response.result)
        return response

    def _list_offered(self, request: ModelRequest[AttemptContext]) -> list[Any]:
        if request.runtime.context.reading.has_cut:
            return request.tools
        return [each for each in request.tools if getattr(each, "name", "") not in self._granted]


def choose_report_schema(worker: Worker, tools: Sequence[BaseTool]) -> type[Report]:
    """Return the schema of a worker's report: with findings where the worker reads of any."""
    texts = [worker.instructions, worker.description, *(tool.description for tool in tools)]
    return _build_report_schema(any("finding" in text.lower() for text in texts))


@cache
def _build_report_schema(has_findings: bool) -> type[Report]:
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
        tool_set=name_tool_set(worker),
        reading_tools=granted,
    )
