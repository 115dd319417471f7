"""Delivers the answer: as the run's chat message while it is written, and with status and cost."""

from collections.abc import Mapping
from typing import Any, Final
from uuid import uuid4

from langchain_core.callbacks import AsyncCallbackHandler, CallbackManager
from langchain_core.callbacks.manager import CallbackManagerForLLMRun
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, LLMResult
from langchain_core.runnables import RunnableConfig
from langchain_core.tracers._streaming import _StreamingCallbackHandler
from langgraph.runtime import Runtime

from nodes.limits.deadline import get_elapsed_s
from nodes.limits.recorder import read_outside
from nodes.limits.run_scope import get_run_scope
from nodes.limits.worker_load import get_team_load
from nodes.models.reply_stream import AnswerTextListener
from nodes.models.run_context import TextListener
from nodes.planning.estimate import learn_run
from nodes.schemas.team import Team
from nodes.telemetry.cost import find_unattributed, measure_latency, sum_ledger
from nodes.telemetry.events import build_task_path, emit
from nodes.text.markdown import escape_active_markdown, find_active_markdown, format_answer
from nodes.text.phrases import say
from nodes.text.plain_text import make_printable
from state import Answer, Context, Expense, RunStatus, SupervisorState, Tier, Usage

RUN_NAME: Final = "answer"


class AnswerStream:
    """The growing text of one answer, for the handlers that stream messages.

    Only whole words are sent, without secrets; nothing from a picture or HTML on, which is escaped
    when the answer is complete. What has been sent is not taken back: an answer that is written
    again is sent on where its beginning is the same, else as a message of its own.
    """

    def __init__(self, config: RunnableConfig) -> None:
        callbacks = config.get("callbacks")
        handlers: list[Any] = [  # the marker class is no callback handler itself
            handler
            for handler in (getattr(callbacks, "handlers", None) or ())
            if isinstance(handler, _StreamingCallbackHandler)
            and not isinstance(handler, AsyncCallbackHandler)
        ]
        # The answer of a team inside a task is a report of the outer run.
        self._handlers = [] if build_task_path(config) else handlers
        self._metadata = dict(config.get("metadata", {}))
        self._run: CallbackManagerForLLMRun | None = None
        self._sent, self._id = "", str(uuid4())

    @property
    def listener(self) -> TextListener | None:
        """Takes the reply so far of the model that writes the answer; None if there is no reader.

        Such a listener makes the model stream its reply.
        """
        return AnswerTextListener(self.send_text) if self._handlers else None

    def send_text(self, text: str) -> None:
        """Send what is new in the text so far."""
        shown = make_printable(text).lstrip()
        whole_words = shown[: max(shown.rfind(" "), shown.rfind("\n"), 0)]
        self._send(whole_words[: find_active_markdown(whole_words)].rstrip())

    def finish(self, text: str) -> AIMessage:
        """Send the rest of the message, and return it."""
        if self._run is None or not text.startswith(self._sent):
            return AIMessage(text)
        self._send(text)
        message = AIMessage(text, id=self._id)
        self._send_event({"event": "content-block-finish", "index": 0, "content": _block(text)})
        self._send_event({"event": "message-finish"})
        self._run.on_llm_end(LLMResult(generations=[[ChatGeneration(message=message)]]))
        return message

    def _send(self, text: str) -> None:
        if len(text) <= len(self._sent) or not text.startswith(self._sent):
            return
        added, self._sent = text[len(self._sent) :], text
        if self._run is None:
            self._begin()
        assert self._run is not None, "the message has begun"
        chunk = ChatGenerationChunk(message=AIMessageChunk(content=added, id=self._id))
        self._run.on_llm_new_token(added, chunk=chunk)
        delta = {"type": "text-delta", "text": added}
        self._send_event({"event": "content-block-delta", "index": 0, "delta": delta})

    def _begin(self) -> None:
        manager = CallbackManager(self._handlers, metadata=self._metadata)
        self._run = manager.on_chat_model_start({"name": RUN_NAME}, [[]])[0]
        # LangGraph looks for `message_id`, LangChain for `id`.
        ids = {"id": self._id, "message_id": self._id}
        self._send_event({"event": "message-start", "role": "ai", **ids})
        self._send_event({"event": "content-block-start", "index": 0, "content": _block("")})

    def _send_event(self, event: Any) -> None:  # its type is a union of private ones
        """Send an event of LangChain's content-block protocol; others take the chunks."""
        assert self._run is not None, "the message has begun"
        self._run.on_stream_event(event)


def _block(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


async def deliver_answer(
    state: SupervisorState,
    config: RunnableConfig,
    runtime: Runtime[Context],
    team: Team,
    *,
    answer: Answer,
    status: RunStatus,
    ledger: dict[str, Expense],
    stream: AnswerStream | None = None,
) -> SupervisorState:
    """Send the answer event and return the last state update; `ledger` has the new entries.

    Args:
        stream: has sent the beginning of the message; without it the message is sent whole.
    """
    await get_team_load(team).save_to_store(runtime.store)
    ledger = {**ledger, **_collect_cut_off_usage({**state.get("ledger", {}), **ledger}, config)}
    usage = sum_ledger({**state.get("ledger", {}), **ledger}, state.get("estimate"))
    timing = measure_latency(
        state.get("plan"),
        state.get("results", {}),
        asked_s=state["asked_s"],
        planned_s=state["planned_s"],
        ended_s=get_elapsed_s(config),
    )
    await emit(
        "answer",
        answer=answer.model_dump(mode="json"),
        status=status,
        usage=usage.model_dump(mode="json"),
        timing=timing.model_dump(mode="json"),
    )
    plan = state.get("plan")
    ended: SupervisorState = {**state, "ledger": {**state.get("ledger", {}), **ledger}}
    ended |= {"status": status, "usage": usage, "timing": timing}
    await learn_run(ended, team, config, runtime.store)
    shown = write_chat_message(answer, status, is_planned=plan is not None)
    message = (stream or AnswerStream(config)).finish(shown)
    return {
        "answer": answer,
        "status": status,
        "messages": [message],
        "ledger": ledger,
        "usage": usage,
        "timing": timing,
    }


def _collect_cut_off_usage(
    ledger: Mapping[str, Expense], config: RunnableConfig
) -> dict[str, Expense]:
    """Return the usage of attempts that were cut off before a resume, from the event log.

    The log covers the whole run, so a team inside a task must not add its entries.
    """

    def read_log() -> dict[Tier, Any]:
        read_usage = get_run_scope(config).read_logged_usage
        found = read_usage() if read_usage and not build_task_path(config) else {}
        return {tier: usage.model_dump(mode="json") for tier, usage in found.items()}

    logged: dict[Tier, Any] = read_outside("logged usage", read_log, config, usual={})
    known = {tier: Usage.model_validate(usage) for tier, usage in logged.items()}
    return find_unattributed(ledger, known, is_over=True) if known else {}


_STATUS_KEYS: Final[Mapping[str, str]] = {
    "passages": "status_passages",
    "partial": "status_partial",
    "failed": "status_failed",
}
"""Keys of the phrases for what is less than an answer."""


def write_chat_message(answer: Answer, status: RunStatus, *, is_planned: bool = True) -> str:
    """Return the answer as Markdown that is safe to render; it begins with the answer's text.

    Args:
        is_planned: it rests on tasks; the reply to small talk is shown without a confidence.
    """
    shown = format_answer(answer.model_dump(mode="json")) if is_planned else answer.text
    if status in _STATUS_KEYS:
        name = say(answer.language, "status")
        shown += f"\n\n**{name}:** {say(answer.language, _STATUS_KEYS[status])}"
    return escape_active_markdown(make_printable(shown))
