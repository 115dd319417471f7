"""Reads the tasks of a plan while the planner still writes it, and begins their first model calls.

Only model calls are begun, never a tool call. The plan and the checkpoint stay the truth: a reply
is taken when the task has its turn and asks its model for exactly the same; the others are
cancelled, and billed.
"""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from time import monotonic
from typing import Any, Final

from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableConfig

from nodes.errors import SupervisorError
from nodes.limits.patterns import Pattern
from nodes.limits.recorder import enter_effect, read_outside
from nodes.models.json_reading import JSON_DECODER
from nodes.models.reply_stream import OfferedReply
from nodes.models.run_context import REPORT, get_run_context
from nodes.models.usage import build_counts, read_usage
from nodes.planning.corrections import correct_plan
from nodes.planning.validation import list_plan_problems, list_vague_tasks
from nodes.schemas.team import Team
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
        task, call = self.task.id, self.reply.call
        was_open = read_outside(f"is open {task}", lambda: not call.done(), usual=False)
        if not was_open:  # a replay comes here sooner
            await asyncio.wait([call])
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


_TASKS = Pattern(r'(?<!\\)"tasks"\s*:\s*\[')
MIN_CHARS_PER_S: Final = 40.0
"""About ten tokens a second, from the request on: a server of one's own is often slower."""
MAX_READ_TASKS: Final = 64
"""Only so many tasks of a plan are read before it is complete."""
BeginTask = Callable[[Task], None]
"""Begins what can be begun of a task before the plan is complete."""


class PlanStream:
    """Passes on each task that is complete, valid and free of dependencies, as soon as it is read.

    What it passes on is a guess: the plan may still end otherwise, or be refused. Of a reply that
    is written slowly it passes on nothing: calls that begin early would slow it down further.
    """

    def __init__(self, team: Team, materials: Mapping[str, str], begin: BeginTask) -> None:
        self._team, self._materials, self._begin = team, materials, begin
        self._began_s = monotonic()
        self._text, self._seen, self._at = "", 0, 0
        self._ids = set[str]()

    def read_text(self, text: str) -> None:
        """Read the reply so far; a reply that is written again is read from its beginning."""
        if not text.startswith(self._text):
            self._seen = self._at = 0
        self._text = text
        if not self._at and (found := _TASKS.search(text)):
            self._at = found.end()
        while self._at and self._seen < MAX_READ_TASKS:
            start = self._at + len(text[self._at :]) - len(text[self._at :].lstrip(", \t\r\n"))
            try:
                fields, self._at = JSON_DECODER.raw_decode(text, start)
            except ValueError:
                return
            self._seen += 1
            task = self._read_task(fields)
            if task is not None and task.id not in self._ids and self._is_fast():
                self._ids.add(task.id)
                self._begin(task)

    def _is_fast(self) -> bool:
        least = MIN_CHARS_PER_S * (monotonic() - self._began_s)
        with enter_effect(0):  # of the planner, whose reply is read
            return read_outside("is written fast", lambda: len(self._text) >= least)

    def _read_task(self, fields: Any) -> Task | None:
        """Return a task that can begin as it is; None for any other."""
        if not isinstance(fields, dict) or fields.get("depends_on"):
            return None
        if self._materials and not fields.get("materials"):
            return None  # whether it gets some is known when the plan is complete
        alone = {"goal": "One task.", "tasks": [fields]}
        try:
            corrected, _ = correct_plan(alone, self._team, self._materials)
            plan = Plan.model_validate(corrected)
        except (ValueError, TypeError, KeyError):
            return None
        problems = list_plan_problems(plan, self._team, max_tasks=1, materials=self._materials)
        if problems or list_vague_tasks(plan.tasks):
            return None
        return plan.tasks[0]
