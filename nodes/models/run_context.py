"""What a call knows about the run it is made in, if there is one, and the time it has."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Final

from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.runnables import RunnableConfig
from langgraph.config import get_config

from nodes.errors import CallTimedOut, DeadlinePassed, EndpointDown
from nodes.errors.redaction import redact_text
from nodes.limits.budget import HoldMore
from nodes.limits.deadline import now_s
from nodes.limits.langgraph_keys import RUNTIME_KEY
from nodes.limits.recorder import find_place, read_outside
from nodes.limits.run_scope import RunScope, get_run_scope
from nodes.models.circuit_breaker import FAILURE_THRESHOLD, OPEN_S
from nodes.models.reply_stream import AnswerTextListener
from nodes.models.usage import ModelSpeed
from nodes.prompts.tags import shorten_text
from nodes.telemetry.events import EventKind, emit
from nodes.telemetry.tracing import TURN, get_purpose
from state import Usage

REPORT = "Report"

TextListener = Callable[[str], None]
"""Called with the text of a reply so far."""

_writes_answer: ContextVar[bool] = ContextVar("writes_answer", default=False)
_reply_listener: ContextVar[TextListener | None] = ContextVar("reply_listener", default=None)
NEARLY_OVER_SHARE = 0.1
"""Share of a call's seconds; a worker whose time ends with the call's cuts it slightly earlier."""
_attempt: ContextVar["CallDeadline | None"] = ContextVar("attempt", default=None)
MAX_MESSAGE_CHARS: Final = 20_000
"""Limit for one message; the rest is cut."""


@dataclass(frozen=True)
class RunContext:
    """The run of a call and the seconds it has left; empty outside a run."""

    scope: RunScope = field(default_factory=RunScope)
    run_id: str = ""
    remaining_s: float | None = None
    is_run: bool = False
    task: str = ""
    """The path of the task that the call is made for; empty for the supervisor's."""
    attempt: int = 0
    is_last: bool = False
    """The call writes the answer."""
    listeners: tuple[TextListener, ...] = ()
    """Called with the text, or the JSON, that the model has written so far."""

    def reserve_call(
        self, tokens: int, cost_usd: float | None
    ) -> AbstractContextManager[HoldMore | None]:
        """Keep room for a call in the run's budget, if it has one.

        Raises:
            BudgetSpent: there is no room.
        """
        budget = self.scope.budget
        if budget is None:
            return nullcontext()
        return budget.reserve_call(tokens, cost_usd, is_last=self.is_last)

    def wait_outside(self) -> AbstractContextManager[None]:
        """Count the time inside as a wait for what does not run in this process."""
        return self.scope.waits.count(self.task)

    async def charge(self, usage: Usage) -> None:
        """Count a call; the first that makes the budget low says so."""
        budget = self.scope.budget
        if budget is None:
            return
        budget.charge(usage)

        def measure() -> dict[str, Any] | None:
            if not budget.is_low() or budget.has_warned:
                return None
            budget.has_warned = True
            return {"tokens": budget.tokens, "cost_usd": budget.cost_usd}

        if self.is_run and (spent := read_outside("budget is low", measure)):
            await emit("budget", level="low", **spent)

    async def emit(self, kind: EventKind, **data: Any) -> None:
        """Emit an event; nothing outside a run."""
        if self.is_run:
            await emit(kind, **data)

    async def emit_circuit_open(self, model: str, circuit: str, said: str) -> None:
        """Emit that the circuit of a model or its address is open; nothing outside a run."""
        failures = f"{FAILURE_THRESHOLD} consecutive failures"
        await self.emit(
            "error",
            code=EndpointDown.code,
            message=f"circuit open for {circuit} for {OPEN_S:g} s after {failures}",
            model=model,
            state="open",
            failures=FAILURE_THRESHOLD,
            said=said,
        )

    async def emit_limits_scaled(self, model: str, speed: ModelSpeed) -> None:
        """Emit, once in a run, that limits which were not set are longer for a slow model."""
        if not self.is_run:
            return

        def measure() -> dict[str, Any] | None:
            if speed.limit_factor <= 1 or not speed.note_run(self.run_id):
                return None
            tokens_per_s, factor = round(speed.tokens_per_s or 0.0, 2), speed.limit_factor
            timeouts = speed.timeouts
            return {"tokens_per_s": tokens_per_s, "factor": round(factor, 2), "timeouts": timeouts}

        if scaled := read_outside("scaled limits", measure):
            await emit("limits_scaled", model=model, **scaled)


@contextmanager
def use_answer_reserve() -> Iterator[None]:
    """Let the calls made inside use the time and the budget that are kept for the answer."""
    token = _writes_answer.set(True)
    try:
        yield
    finally:
        _writes_answer.reset(token)


@contextmanager
def listen_to_reply(listener: TextListener | None) -> Iterator[None]:
    """Pass on the replies of the calls made inside while models still write them."""
    token = _reply_listener.set(listener)
    try:
        yield
    finally:
        _reply_listener.reset(token)


def get_run_context() -> RunContext:
    """Look around; a call made outside a run has none."""
    listeners = tuple(filter(None, [_reply_listener.get()]))
    try:
        config = get_config()
    except RuntimeError:
        return RunContext(listeners=listeners)
    configurable: Mapping[str, Any] = config.get("configurable", {})
    path, attempt = find_place(config)
    scope, is_last, remaining_s = get_run_scope(config), _writes_answer.get(), None
    if scope.deadline:  # what is kept for the answer is for the answer alone
        ends_at = scope.deadline.ends_at if is_last else scope.deadline.work_ends_at
        remaining_s = ends_at - now_s()
    if is_last and scope.on_answer_text:
        listeners += (AnswerTextListener(scope.on_answer_text),)
    return RunContext(
        scope=scope,
        run_id=f"{configurable.get('thread_id', '')}/{scope.began_at or ''}",
        remaining_s=remaining_s,
        is_run=RUNTIME_KEY in configurable,
        task=path,
        attempt=attempt,
        is_last=is_last,
        listeners=listeners,
    )


def name_requested_schema(kwargs: Mapping[str, Any]) -> str:
    """Name the schema a call asks for: the forced tool, or `Report` when it is on offer."""
    names = [_read_tool_name(tool) for tool in kwargs.get("tools") or ()]
    choice = kwargs.get("tool_choice")
    forced = _read_tool_name(choice) or (choice if choice in names else "")
    if forced or REPORT in names:
        return forced or REPORT
    return names[0] if len(names) == 1 else ""


def find_purpose(config: RunnableConfig | None, kwargs: Mapping[str, Any]) -> str:
    """Return what a call is for: as its caller names it, or by what it asks for."""
    schema = name_requested_schema(kwargs)
    is_turn = schema == REPORT and len(kwargs.get("tools") or ()) > 1
    return (config or {}).get("run_name") or (TURN if is_turn else get_purpose(schema))


def _read_tool_name(tool: Any) -> str:
    if not isinstance(tool, Mapping):
        return ""
    inner = tool.get("function")
    return str((inner if isinstance(inner, Mapping) else tool).get("name") or "")


def has_time_left(share: float, *, least_s: float = 0.0) -> bool:
    """Return whether a share of the current attempt's seconds is left; true outside of one.

    Args:
        least_s: seconds that must be left in any case.
    """
    deadline = _attempt.get()
    if deadline is None:
        return True

    def measure() -> bool:
        return deadline.get_remaining_s() >= max(share * deadline.limit_s, least_s)

    return read_outside("has time left", measure, usual=True)


class CallDeadline:
    """Counts a call's own seconds except while it queues; the run's deadline never pauses."""

    def __init__(self, call_s: float, run_s: float | None = None) -> None:
        now = time.monotonic()
        self.call_s, self._run_s = call_s, run_s
        self._call_ends_s = now + call_s
        self._run_ends_s = float("inf") if run_s is None else now + run_s
        self._timer: asyncio.Timeout | None = None
        self._paused_s: float | None = None

    @property
    def limit_s(self) -> float:
        """The seconds it had at its start."""
        return self.call_s if self._run_s is None else min(self.call_s, self._run_s)

    def get_remaining_s(self) -> float:
        """Return the seconds left; negative after the deadline."""
        return min(self._call_ends_s, self._run_ends_s) - time.monotonic()

    def is_nearly_over(self) -> bool:
        """Return whether the call's own seconds are used up: a call cut now was not answered."""
        return self._call_ends_s - time.monotonic() <= self.call_s * NEARLY_OVER_SHARE

    @asynccontextmanager
    async def enforce(self, model: str) -> AsyncIterator[None]:
        """Cancel the body at the deadline.

        Raises:
            CallTimedOut: the deadline has passed.
        """
        left_s = self.get_remaining_s()
        if left_s <= 0:
            raise self._build_timeout_error(model)
        try:
            async with asyncio.timeout(left_s) as self._timer:
                yield
        except TimeoutError:
            raise self._build_timeout_error(model) from None
        finally:
            self._timer = None

    @asynccontextmanager
    async def enforce_on_attempt(self) -> AsyncIterator[None]:
        """Cancel the body at the deadline; time that its calls queue is not counted.

        Raises:
            TimeoutError: the deadline has passed.
        """
        token = _attempt.set(self)
        try:
            async with asyncio.timeout(self.get_remaining_s()) as self._timer:
                yield
        finally:
            self._timer = None
            _attempt.reset(token)

    @contextmanager
    def pause_while_queueing(self) -> Iterator[None]:
        """Stop counting the seconds of the call and of its attempt while the body queues."""
        waiting = [deadline for deadline in (self, _attempt.get()) if deadline is not None]
        for deadline in waiting:
            deadline.pause()
        try:
            yield
        finally:
            for deadline in waiting:
                deadline.resume()

    def pause(self) -> None:
        """Stop counting the call's own seconds: a long queue does not mean a slow endpoint."""
        self._paused_s = time.monotonic()
        self._reschedule(self._run_ends_s)

    def resume(self) -> None:
        """Continue counting the call's own seconds."""
        if self._paused_s is not None:
            self._call_ends_s += time.monotonic() - self._paused_s
            self._paused_s = None
            self._reschedule(min(self._call_ends_s, self._run_ends_s))

    def _reschedule(self, ends_s: float) -> None:
        if self._timer is None or self._timer.expired():
            return
        loop_s = asyncio.get_running_loop().time() - time.monotonic()
        self._timer.reschedule(None if ends_s == float("inf") else ends_s + loop_s)

    def _build_timeout_error(self, model: str) -> CallTimedOut:
        if self._run_ends_s <= time.monotonic():
            return DeadlinePassed(
                f"no answer from {model} before the run's deadline",
                next="allow more time (on the command line: --deadline) "
                "(setting: SUPERVISE_DEADLINE_S), or ask for less",
            )
        return CallTimedOut(
            f"no answer from {model} within {self.call_s:g} s",
            next="try again, or allow a call more time",
        )


def describe_messages(messages: Sequence[BaseMessage]) -> list[dict[str, Any]]:
    """Return messages as JSON: the role, the text, and the tool calls of a model."""
    described = list[dict[str, Any]]()
    for message in messages:
        text = shorten_text(redact_text(message.text), MAX_MESSAGE_CHARS)
        described.append({"role": message.type, "text": text})
        if isinstance(message, AIMessage) and message.tool_calls:
            calls = [{"name": call["name"], "args": call["args"]} for call in message.tool_calls]
            described[-1]["tool_calls"] = calls
    return described
