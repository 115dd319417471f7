"""A worker's agent: one model call where only a report is left to ask for, else a tool loop.

A worker without tools needs no graph for its turn. Where its reply is no report, the loop
continues from there: the model reads what was wrong.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, ClassVar

from langchain_core.language_models import LanguageModelInput
from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.runnables import RunnableBinding, RunnableConfig
from langchain_core.tools import BaseTool
from langgraph.graph.state import CompiledStateGraph

from nodes.errors import ModelError
from nodes.execution.attempt_context import AttemptContext, MaterialReading, TurnLimitReached
from nodes.execution.doer import Doer
from nodes.execution.proving import LONG_TEXT_CHARS
from nodes.limits.recorder import get_recorder, read_outside
from nodes.models.endpoint_limits import hold_for_task
from nodes.models.lengths import SHORTENED
from nodes.models.reply_stream import offer_reply
from nodes.models.run_context import get_run_context, has_time_left
from nodes.models.settings import EMBEDDED
from nodes.models.structured_output import UnreadableReply, read_value
from nodes.models.usage import read_usage
from nodes.planning.skipping import list_shortfalls
from nodes.planning.speculation import get_speculative_calls
from nodes.prompts.checks import build_proof_message
from nodes.prompts.materials import show_materials
from nodes.prompts.messages import build_handoff_message
from nodes.schemas.handoff import WorkValues, lay_beside
from nodes.schemas.team import Worker
from nodes.telemetry.events import emit
from nodes.text.phrases import DEFAULT_LANGUAGE, detect_language, say
from nodes.tools.framework.documents import is_cut
from state import Fault, Origin, Report, Usage

REPORT_SHARE = 0.25
"""Share of an attempt's time at its end, in which the worker may only report."""
ToolLoop = CompiledStateGraph[Any, AttemptContext, Any, Any]


def name_tool_set(worker: Worker) -> str:
    """Return what tells a worker's tools from those of others in a record."""
    return f"{worker.name}: {', '.join(worker.tools)}"


@dataclass(frozen=True, kw_only=True)
class WorkerAgent:
    """Built once for a worker; each attempt brings its own `AttemptContext`."""

    tool_loop: ToolLoop
    instructions: SystemMessage
    report_tool: BaseTool
    """What the model calls to report."""
    tools: Sequence[BaseTool]
    """Its own."""
    tool_set: str
    """As `name_tool_set` names them."""
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
                context.refused_reports.append(str(error))
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
            return read_value(_read_last_text(result["messages"]), Report)
        return Report.model_validate(value)

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
        with count_turn(context) as replies:
            reply = await model.ainvoke([self.instructions, *messages])
            replies.append(reply)
        return reply

    def _read_reply(self, reply: AIMessage) -> Report:
        calls = reply.tool_calls
        if not calls:
            return read_value(str(reply.text), Report)
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


@contextmanager
def count_turn(context: AttemptContext) -> Iterator[list[BaseMessage]]:
    """Count a turn and its usage, also of one that fails; the caller adds the replies.

    Raises:
        TurnLimitReached: the attempt has had all its turns.
        UnreadableReply: it has, and its reports were refused: more turns would not help.
    """
    context.turns += 1
    context.taint.mark_results_seen()
    if context.turns > context.limits.max_turns + 1:
        raise _build_turns_error(context)
    began, replies = monotonic(), list[BaseMessage]()
    try:
        yield replies
    except ModelError as error:
        context.usage += error.usage or Usage()
        raise
    context.longest_turn_s = max(context.longest_turn_s, monotonic() - began)
    for message in replies:
        if isinstance(message, AIMessage):
            context.usage += read_usage(message)
            if gap := message.response_metadata.get(SHORTENED):
                context.left_out.append(str(gap))


def _build_turns_error(context: AttemptContext) -> TurnLimitReached | UnreadableReply:
    refused, turns = context.refused_reports, context.limits.max_turns
    if len(refused) > 1:
        return UnreadableReply([f"its report was refused {len(refused)} times: {refused[-1]}"])
    error = f"no readable report within {turns} turns"
    return TurnLimitReached(f"{error}; one was refused: {refused[0]}" if refused else error)


def note_refusals(context: AttemptContext, replies: Iterable[BaseMessage]) -> None:
    """Keep what is wrong with each report among the replies, which the model reads too."""
    calls = [call for each in replies if isinstance(each, AIMessage) for call in each.tool_calls]
    for call in calls:
        if call["name"] == Report.__name__:
            try:
                read_value(call["args"], Report, correct=settle_escalation)
            except UnreadableReply as error:
                context.refused_reports.append(str(error))


def _answer_calls(reply: AIMessage, answer: str) -> list[ToolMessage]:
    return [
        ToolMessage(answer, name=call["name"], tool_call_id=call["id"]) for call in reply.tool_calls
    ]


def _read_last_text(messages: Sequence[AnyMessage]) -> str:
    replies = [message for message in messages if isinstance(message, AIMessage)]
    return str(replies[-1].text) if replies else ""


def must_report(context: AttemptContext) -> bool:
    """Return whether a cap is so near that the turn may only report."""
    budget = get_run_context().scope.budget
    return (
        context.turns >= context.limits.max_turns
        or context.earlier_calls.must_report
        or not has_time_left(REPORT_SHARE, least_s=2 * context.longest_turn_s)
        or context.usage.input_tokens + context.usage.output_tokens >= context.limits.max_tokens
        or read_outside("is low", lambda: budget is not None and budget.is_low(), usual=False)
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


@dataclass(kw_only=True)
class AgentDoer(Doer):
    """A worker's own agent: a model with the worker's tools."""

    get_agent: Callable[[], Awaitable[WorkerAgent]]
    context: AttemptContext = field(init=False)
    timeout_fault: ClassVar[Fault] = "form"

    def __post_init__(self) -> None:
        super().__post_init__()
        work = self.work
        self.context = AttemptContext(model=work.model, limits=work.worker.limits, taint=self.taint)

    async def do(self, config: RunnableConfig, timeout_s: float) -> Report:
        """Return the agent's report; a call that began before the plan was complete is taken."""
        call, calls = None, get_speculative_calls(config)
        if calls and self.work.number == 1:
            call = calls.take(self.work.task)
        if call is None:
            return await self._ask_agent()
        try:
            with offer_reply(call.reply):
                return await self._ask_agent()
        finally:
            if call.reply.was_taken:
                await call.emit_outcome("taken")
            else:
                usage = await call.discard("its worker makes a call of its own")
                self.context.usage += usage

    async def prepare(self) -> tuple[WorkerAgent, HumanMessage]:
        """Return the worker's agent and the handoff for it."""
        agent = await self.get_agent()
        if recorder := get_recorder():
            recorder.note_tools(agent.tool_set, agent.tools)
        if sum(map(len, self.work.materials.values())) < LONG_TEXT_CHARS:
            return agent, self._build_message()
        return agent, await asyncio.to_thread(self._build_message)

    async def complete(self, report: Report) -> Report:
        """Return a report with its proof, and with what the tools and the reading lack."""
        report = await self.context.proof.prove(report)
        outcomes = self.context.outcomes
        update: dict[str, Any] = {"lacks_file": outcomes.lacks_file}
        if not self._is_rule_based:
            update |= {"is_unread": False, "left_open": (), "gaps_of_parts": ()}
        if report.status != "completed" or report.escalation:
            return report.model_copy(update=update | {"failures": (), "is_partial": False})
        language = DEFAULT_LANGUAGE
        if self.work.materials:  # only they can be unread or cut
            language = await asyncio.to_thread(detect_language, self.context.proof.words)
        unreviewed, unread = self.context.reading.list_gaps(outcomes, language)
        cut = [name for name, text in self.work.materials.items() if is_cut(text)]
        failures = (
            *unreviewed,
            *(say(language, "cut_when_read", name=name) for name in cut),
            *self.context.left_out[-1:],
            *outcomes.list_failures(),
            *(report.failures if self._is_rule_based else ()),
        )
        gaps = dict.fromkeys((*failures, *outcomes.list_refusals(), *unread, *report.gaps))
        update |= {"failures": failures, "is_partial": bool(failures), "gaps": tuple(gaps)}
        return report.model_copy(update=update)

    @property
    def usage(self) -> Usage:
        """What the model's calls have used."""
        return self.context.usage

    @property
    def early_report(self) -> Report | None:
        """A report that was sent back for what was not read or proved."""
        return self.context.early_report

    def list_found(self) -> Sequence[str]:
        """Return what the tools have answered."""
        return self.context.results

    def list_open_tools(self) -> Sequence[str]:
        """Return the tools that are at work, by name."""
        return self.context.open_tools

    def hold_slot(self, left_s: float | None) -> AbstractAsyncContextManager[object]:
        """Wait until a slow server is free for this task."""
        return hold_for_task(self.work.model, left_s)

    @property
    def _is_rule_based(self) -> bool:
        """Whether the built-in model does the task; what it says of itself is so."""
        return getattr(self.work.model, "model", "") == EMBEDDED

    async def _ask_agent(self) -> Report:
        agent, message = await self.prepare()
        work, proof = self.work, self.context.proof
        proof.materials = work.materials
        proof.claims = tuple(claim for each in work.handoff.context for claim in each.claims)
        asked = work.state.get("origin", Origin()).user_text or work.state["description"]
        proof.words = "\n".join((asked, *work.answers.values()))
        proof.may_send_back = not self._is_rule_based
        subject = work.task.asked
        beside = WorkValues(
            work.worker,
            work.handoff,
            subject,
            work.earlier,
            work.answers,
            before=asked.rpartition(subject)[0] if subject else "",
        )
        with lay_beside(beside):
            return await agent.run(
                message,
                self.context,
                inputs={"materials": work.materials, "lacking": self._list_shortfalls()},
                is_checkpointed=work.is_checkpointed,
            )

    def _build_message(self) -> HumanMessage:
        """Return the handoff; the embedded model is shown no material, and reads by tools alone."""
        work = self.work
        if not self._is_rule_based:
            self.context.reading = MaterialReading(show_materials(work.worker, work.materials))
        return build_handoff_message(
            work.handoff,
            earlier=work.earlier,
            answers=work.answers,
            shown=self.context.reading.materials,
        )

    def _list_shortfalls(self) -> list[str]:
        """Return what the reports in the handoff lack, and which of those it needs are missing."""
        given = self.work.handoff.context
        done = {each.worker for each in given if each.status == "completed"}
        lacking = [f"{each.task} {reason}" for each in given for reason in list_shortfalls(each)]
        needs = self.work.worker.needs
        return [*lacking, *(f"no report of {name}" for name in needs if name not in done)]
