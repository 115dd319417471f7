"""A task done by a worker on another server: one attempt, with its retries and its end.

The far side continues while this process is away, so that an attempt which is made again joins its
work. What this run no longer waits for is cancelled there.
"""

import asyncio
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from time import monotonic
from typing import Any, Final, TypeVar
from urllib.parse import quote

from langgraph.errors import GraphBubbleUp

from extensions.remote.output import read_report, read_usage
from extensions.remote.questions import HumanQuestions, describe_question
from extensions.remote.session import (
    OpenSession,
    RemoteRequest,
    RemoteSession,
    RemoteStart,
    RemoteState,
)
from nodes.errors import RemoteError
from nodes.execution.outside_worker import OutsideTask
from nodes.limits.budget import Budget
from nodes.limits.deadline import get_elapsed_s
from nodes.limits.run_scope import get_run_scope
from nodes.models.run_context import get_run_context
from nodes.models.usage import BYTES_PER_TOKEN
from nodes.net.connection import RemoteBusy, RemoteDenied, RemoteRunFailed, RemoteUnknown
from nodes.prompts.messages import build_subteam_request, format_report_line
from nodes.prompts.tags import wrap_in_tag
from nodes.schemas.servers import RemoteSpec
from nodes.telemetry.events import EventKind, build_task_path, emit
from nodes.text.plain_text import sanitize_line, sanitize_text
from state import Escalation, Report, Usage

PAUSES_S: Final = (0.5, 1.0, 2.0, 4.0, 8.0)
"""Between the tries of a call that could not reach the far side."""
MAX_PAUSE_S: Final = 30.0
"""Limit for a pause that the far side asks for."""
CANCEL_TIMEOUT_S: Final = 5.0
ANSWER_SHARE: Final = 0.1
"""Of the attempt's time, at most `MAX_ANSWER_S`: the far side must end before this run cuts it."""
MAX_ANSWER_S: Final = 5.0
MAX_NAME_CHARS: Final = 120
MAX_EVENTS: Final = 200
"""Of one attempt that are passed on."""
HEARD: Final = ("plan_created", "task_started", "tool_call", "report", "task_skipped", "error")
"""Kinds of events of a graph of ours that are passed on."""
Value = TypeVar("Value")


@dataclass(kw_only=True)
class RemoteRun:
    """One attempt at a task by a remote worker."""

    spec: RemoteSpec
    open: OpenSession
    task: OutsideTask
    pauses_s: Sequence[float] = PAUSES_S
    _events: int = 0

    async def run(self) -> Report:
        """Return the report of the far side's answer.

        Raises:
            RemoteError: the far side cannot be used, or failed.
            GraphInterrupt: a human is asked.
        """
        self._require_access()
        request = build_remote_request(self.task, key=self._build_key(), caps=self._list_caps())
        self.task.taint_labels = self.spec.access.reads
        tokens = _estimate_tokens(request.full_text)
        began = monotonic()
        here = get_run_context()
        with here.reserve_call(tokens, None), here.wait_outside():
            async with self.open(build_trace_headers()) as session:
                state = await self._work(session, request)
        report = read_report(state.values) if state.status == "done" else None
        await self._charge(state, request, report, monotonic() - began)
        return report or self._escalate(state)

    def _require_access(self) -> None:
        """Raise if something private would be sent to a worker that may pass it on."""
        spec = self.spec
        if spec.access.sends != "nothing" and self.task.private_source:
            raise RemoteDenied(
                f"private data is not sent to {self.task.handoff.to} at {spec.host}",
                cause=self.task.private_source,
                next="write `access: {sends: nothing}` into its file if it passes nothing on; "
                "a result of another server is private until the file of its worker says "
                "`access: {reads: [untrusted]}`",
            )

    async def _work(self, session: RemoteSession, request: RemoteRequest) -> RemoteState:
        """Return the state in which the far side has ended; cancel it where the wait ends."""
        start: RemoteStart | None = None
        try:
            start = await self._begin(session, request)
            try:
                return await self._wait_and_ask(session, start)
            except RemoteUnknown:  # the far side was started again, and has lost the work
                start = await self._begin(session, request)
                return await self._wait_and_ask(session, start)
        except GraphBubbleUp:  # the far side waits for the human's answer
            raise
        except (asyncio.CancelledError, Exception) as error:  # whatever ends the wait ends the work
            if start is not None or isinstance(error, asyncio.CancelledError):
                await self._cancel(session)
            if start is not None:
                await self._add_usage(_estimate_usage(request))
            raise

    async def _begin(self, session: RemoteSession, request: RemoteRequest) -> RemoteStart:
        start = await self._retry(lambda: session.begin(request))
        about = {"graph": self.spec.graph, "place": start.place, "is_joined": start.is_joined}
        await self._emit("remote_started", host=self.spec.host, **about)
        return start

    async def _wait_and_ask(self, session: RemoteSession, start: RemoteStart) -> RemoteState:
        path = build_task_path(self.task.config, self.task.handoff.task)
        asked_s = round(get_elapsed_s(self.task.config), 3)
        human = HumanQuestions(task=path, worker=self.task.handoff.to, asked_s=asked_s)
        human.skip(start.answered)
        while True:
            state = await self._retry(lambda: session.wait(self._hear))
            if state.status != "asks":
                return state
            if not (self.task.is_checkpointed and session.can_reply):
                await self._cancel(session)
                return state
            replies = {question.id: human.ask(question) for question in state.questions}
            await self._retry(partial(session.reply, replies, answered=human.asked))

    async def _retry(self, call: Callable[[], Awaitable[Value]]) -> Value:
        """Call until the far side can be reached; a call that lasted starts the pauses again."""
        tries = 0
        while True:
            began = monotonic()
            try:
                return await call()
            except RemoteError as error:
                if monotonic() - began > MAX_PAUSE_S:
                    tries = 0
                if not error.retryable or tries >= len(self.pauses_s):
                    raise
                pause_s = self.pauses_s[tries]
                if isinstance(error, RemoteBusy) and error.retry_after_s is not None:
                    pause_s = min(error.retry_after_s, MAX_PAUSE_S)
            tries += 1
            await asyncio.sleep(pause_s)

    async def _cancel(self, session: RemoteSession) -> None:
        """End the work on the far side, as far as it can be reached."""
        try:
            async with asyncio.timeout(CANCEL_TIMEOUT_S):
                await session.cancel()
        except (RemoteError, TimeoutError) as error:
            outcome = f"not cancelled there: {error or 'no answer in time'}"
        else:
            outcome = "cancelled there"
        await self._emit("remote_ended", outcome=outcome, host=self.spec.host)

    def _escalate(self, state: RemoteState) -> Report:
        """Return the question with which the far side has ended, as an escalation.

        Raises:
            RemoteRunFailed: it has ended with a failure.
        """
        name = f"{self.task.handoff.to} at {self.spec.host}"
        if state.status in ("failed", "cancelled"):
            raise RemoteRunFailed(f"{name} has failed", cause=state.error)
        asked = "; ".join(describe_question(each.value) for each in state.questions)
        return Report(
            status="escalated",
            escalation=Escalation(reason="ambiguous_input", message=asked or "it asks a human"),
            confidence=0,
        )

    async def _charge(
        self, state: RemoteState, request: RemoteRequest, report: Report | None, seconds: float
    ) -> None:
        said = read_usage(state.values)
        answer = report.output if report else ""
        await self._add_usage(said or _estimate_usage(request, answer), seconds)
        outcome = report.status if report else state.status
        used = self.task.usage.model_dump(mode="json")
        await self._emit("remote_ended", outcome=outcome, host=self.spec.host, usage=used)

    async def _add_usage(self, usage: Usage, seconds: float = 0.0) -> None:
        model = f"remote:{self.spec.graph or self.task.handoff.to}"
        spent = usage.model_copy(update={"models": (model,), "seconds": seconds})
        self.task.usage += spent
        await get_run_context().charge(spent)

    def _build_key(self) -> str:
        """Return what names this attempt, the same after a crash, and no other attempt's.

        The namespace of the worker's node holds LangGraph's id of the node, which follows from the
        run's checkpoint; the last part of it is the step inside the worker.
        """
        configurable, spec = self.task.config.get("configurable", {}), self.spec
        namespace = str(configurable.get("checkpoint_ns", "")).rpartition("|")[0]
        handoff, thread = self.task.handoff, configurable.get("thread_id", "")
        attempt = (thread, namespace, handoff.task, self.task.attempt, handoff.to)
        return "/".join(map(str, (*attempt, spec.url, spec.graph)))

    def _list_caps(self) -> dict[str, Any]:
        """Return what the far side may still use, by the names of our own graphs' context."""
        reserve_s = min(ANSWER_SHARE * self.task.timeout_s, MAX_ANSWER_S)
        caps: dict[str, Any] = {"deadline_s": round(self.task.timeout_s - reserve_s, 3)}
        budget = get_run_scope(self.task.config).budget
        limit = self.task.handoff.constraints.max_tokens
        caps["max_tokens"] = min([limit, *_list_left(budget, "max_tokens", "tokens")])
        if left := _list_left(budget, "max_cost_usd", "cost_usd"):
            caps["max_cost_usd"] = min(left)
        if self.task.ask_human and self.task.is_checkpointed:
            caps["ask_human"] = True
        return caps

    async def _hear(self, event: Mapping[str, Any]) -> None:
        """Pass on an event of the far side, as its word."""
        kind = event.get("kind")
        if kind not in HEARD or self._events >= MAX_EVENTS:
            return
        self._events += 1
        await self._emit(
            "remote_event",
            said=kind,
            remote_task=sanitize_line(str(event.get("task", "")), MAX_NAME_CHARS),
            remote_worker=sanitize_line(str(event.get("worker", "")), MAX_NAME_CHARS),
        )

    async def _emit(self, kind: EventKind, **data: Any) -> None:
        handoff = self.task.handoff
        await emit(kind, task=handoff.task, worker=handoff.to, **data)


def _list_left(budget: Budget | None, cap: str, spent: str) -> list[Any]:
    """Return what is left of a cap, in this budget and in those around it."""
    left = []
    while budget is not None:
        if (most := getattr(budget, cap)) is not None:
            left.append(max(0, most - getattr(budget, spent)))
        budget = budget.parent
    return left


def _estimate_usage(request: RemoteRequest, answer: str = "") -> Usage:
    """Return the tokens of the texts, for a far side that does not say what it has used."""
    return Usage(
        model_calls=1,
        input_tokens=_estimate_tokens(request.full_text),
        output_tokens=_estimate_tokens(answer),
        cost_usd=None,
        uncounted_calls=1,
    )


def _estimate_tokens(text: str) -> int:
    return -(-len(text.encode(errors="replace")) // BYTES_PER_TOKEN)


def build_remote_request(task: OutsideTask, *, key: str, caps: Mapping[str, Any]) -> RemoteRequest:
    """Return a task for a remote worker: its words, the results it needs, and its materials.

    Args:
        key: of the attempt.
        caps: what the run still allows.
    """
    handoff = task.handoff
    words = build_subteam_request(
        handoff, guidance=task.guidance, earlier=task.earlier, answers=task.answers
    )
    results = {
        f"result {report.task}": format_report_line(report, names_worker=False)
        for report in handoff.context
    }
    texts = {name: sanitize_text(text) for name, text in handoff.artifacts.items()}
    blocks = [wrap_in_tag("file", text, name=name) for name, text in {**texts, **results}.items()]
    return RemoteRequest(
        key=key,
        words=words,
        materials={**results, **texts},
        full_text="\n\n".join([words, *blocks]),
        caps=caps,
    )


def build_trace_headers() -> dict[str, str]:
    """Return the headers of LangSmith and of OpenTelemetry; empty where neither traces.

    Of LangSmith the place in the trace and the project, not the run's metadata, which stays here.
    """
    from langsmith.run_helpers import get_current_run_tree  # imports LangSmith's client
    from langsmith.utils import tracing_is_enabled

    headers = dict[str, str]()
    if tracing_is_enabled() is True and (tree := get_current_run_tree()):
        project = quote(str(tree.session_name), safe="")
        headers["langsmith-trace"] = str(tree.dotted_order)
        headers["baggage"] = f"langsmith-project={project}"
    trace = sys.modules.get("opentelemetry.trace")  # where it is not imported nothing is traced
    span = trace.get_current_span().get_span_context() if trace else None
    if span and span.is_valid:
        place = f"{span.trace_id:032x}-{span.span_id:016x}-{span.trace_flags:02x}"
        headers["traceparent"] = f"00-{place}"
    return headers
