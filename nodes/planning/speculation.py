"""Begins the first model calls of tasks while the planner still writes the plan.

Only model calls are begun, never a tool call. The plan and the checkpoint stay the truth: a reply
is taken when the task has its turn and asks its model for exactly the same; the others are
cancelled, and billed.
"""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, Final

from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableConfig

from nodes.errors import SupervisorError
from nodes.models.reply_stream import OfferedReply
from nodes.models.run_context import REPORT, get_run_context
from nodes.models.usage import build_counts, read_usage
from nodes.telemetry.events import emit
from state import Expense, Plan, Task, Tier, Usage

SPECULATION_KEY: Final = "__speculative_calls"
"""Of a `configurable`. LangGraph saves no entry whose name begins like this with a checkpoint."""
MAX_SPECULATIVE_CALLS: Final = 32
"""Limit for the calls of one plan."""


class SpeculativeCall:
    """The first model call of one task."""

    reply: OfferedReply

    def __init__(self, task: Task) -> None:
        self.task = task
        self.tier: Tier = "standard"
        self.prompt_usage = Usage()
        """What the call costs when it is cancelled, as an estimate; nothing until it is sent."""

    def cancel(self) -> Usage:
        """Cancel the call if it has not ended; return what it has cost."""
        call = self.reply.call
        if call.cancel() or call.cancelled():
            return self.prompt_usage
        error = call.exception()
        if isinstance(error, SupervisorError):
            return error.usage or Usage()
        return Usage() if error else read_usage(call.result())

    async def discard(self, reason: str) -> Usage:
        """Cancel the call, charge the run's budget for it, and emit that it was not used.

        A call that has ended was charged and traced when it ended.
        """
        was_open = not self.reply.call.done()
        usage = self.cancel()
        if was_open and usage.model_calls:
            run_context = get_run_context()
            await run_context.charge(usage)
            await run_context.emit(
                "model_call",
                task=self.task.id,
                worker=self.task.worker,
                model=usage.models[0],
                tier=self.tier,
                schema=REPORT,
                purpose="speculation",
                cancelled=True,
                seconds=0.0,
                tries=1,
                **build_counts(usage),
            )
        await self.emit_outcome("discarded", reason)
        return usage

    async def emit_outcome(self, outcome: str, reason: str = "") -> None:
        """Emit what became of the call."""
        about = {"reason": reason} if reason else {}
        name, worker = self.task.id, self.task.worker
        await emit("speculated", task=name, worker=worker, outcome=outcome, **about)


class SpeculativeCalls:
    """The speculative calls of one run."""

    def __init__(self) -> None:
        self._calls: dict[str, SpeculativeCall] = {}
        self._is_closed = False

    @property
    def open_calls(self) -> int:
        """The number of calls that were begun, and neither taken nor discarded."""
        return len(self._calls)

    def begin(
        self, task: Task, ask: Callable[[SpeculativeCall], Coroutine[Any, Any, AIMessage]]
    ) -> None:
        """Begin the first call of a task; a task whose id came before begins nothing."""
        if self._is_closed or len(self._calls) >= MAX_SPECULATIVE_CALLS or task.id in self._calls:
            return
        call = SpeculativeCall(task)
        running = asyncio.ensure_future(ask(call))
        running.add_done_callback(_read_outcome)
        call.reply = OfferedReply(running)
        self._calls[task.id] = call

    def take(self, task: Task) -> SpeculativeCall | None:
        """Return the call of a task, which is the caller's from now on; None without one."""
        call = self._calls.get(task.id)
        return self._calls.pop(task.id) if call and call.task == task else None

    async def keep_planned(self, plan: Plan | None) -> list[Expense]:
        """Discard the calls of tasks that a plan does not hold unchanged; return their costs.

        Without a plan discard all: no task will take them.
        """
        planned = {task.id: task for task in plan.tasks} if plan else {}
        reason = "the plan has no such task" if plan else "its task did not begin"
        expenses: list[Expense] = []
        for name, call in [*self._calls.items()]:
            if planned.get(name) == call.task:
                continue
            del self._calls[name]
            usage = await call.discard(reason)
            if usage.model_calls:
                spent = Expense(
                    worker=call.task.worker,
                    tier=call.tier,
                    usage=usage,
                    purpose="speculation",
                    task=name,
                )
                expenses.append(spent)
        return expenses

    async def close(self) -> None:
        """Cancel every call that is left, at the end of the run."""
        self._is_closed = True
        left = [call.reply.call for call in self._calls.values()]
        self._calls.clear()
        for call in left:
            call.cancel()
        if left:
            await asyncio.wait(left)


def get_speculative_calls(config: RunnableConfig) -> SpeculativeCalls | None:
    """Return the speculative calls of the run that a config belongs to; None outside a run."""
    calls: Any = config.get("configurable", {}).get(SPECULATION_KEY)
    return calls if isinstance(calls, SpeculativeCalls) else None


def _read_outcome(call: "asyncio.Future[AIMessage]") -> None:
    """Read the error of a call that was not taken, so that Python does not warn of it."""
    with suppress(asyncio.CancelledError):
        call.exception()
