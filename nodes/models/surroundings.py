"""What a call knows about the run it is made in, if there is one."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from langgraph.config import get_config

from nodes.budget import Budget
from nodes.errors import EndpointDown
from nodes.events import emit, now_s
from nodes.models.breaker import OPEN_S, THRESHOLD
from state import Usage

REPORT = "Report"

_writes_answer: ContextVar[bool] = ContextVar("writes_answer", default=False)


@dataclass(frozen=True)
class Surroundings:
    """The run's name and the seconds it has left; empty outside a run."""

    run: str = ""
    remaining_s: float | None = None
    is_run: bool = False
    budget: Budget | None = None
    is_last: bool = False
    """The call writes the answer."""

    @contextmanager
    def holding(self, tokens: int, cost_usd: float | None) -> Iterator[None]:
        """Keep room for a call in the run's budget, if it has one.

        Raises:
            BudgetSpent: there is no room.
        """
        if self.budget is None:
            yield
        else:
            with self.budget.holding(tokens, cost_usd, is_last=self.is_last):
                yield

    async def charge(self, usage: Usage) -> None:
        """Count a call; the first that makes the budget low says so."""
        if self.budget is None:
            return
        self.budget.charge(usage)
        if self.is_run and self.budget.is_low() and not self.budget.warned:
            self.budget.warned = True
            budget = self.budget
            await emit("budget", level="low", tokens=budget.tokens, cost_usd=budget.cost_usd)

    async def tell_down(self, model: str, said: str) -> None:
        """Say that a model is taken for dead; silence outside a run."""
        if self.is_run:
            message = f"{model} is not asked for {OPEN_S:g} s: {THRESHOLD} failures in a row"
            await emit(
                "error",
                code=EndpointDown.code,
                message=message,
                model=model,
                state="open",
                failures=THRESHOLD,
                said=said,
            )

    async def tell(self, **data: Any) -> None:
        """Make a `model_call` event; silence outside a run."""
        if self.is_run:
            await emit("model_call", **data)


@contextmanager
def writing_the_answer() -> Iterator[None]:
    """Let the calls made inside use the time and the budget that are kept for the answer."""
    token = _writes_answer.set(True)
    try:
        yield
    finally:
        _writes_answer.reset(token)


def surroundings() -> Surroundings:
    """Look around; a call made outside a run has none."""
    try:
        config = get_config()
    except RuntimeError:
        return Surroundings()
    configurable: Mapping[str, Any] = config.get("configurable", {})
    is_last = _writes_answer.get()
    ends_at = configurable.get("deadline_at")
    if not is_last:  # what is kept for the answer is for the answer alone
        ends_at = configurable.get("work_until", ends_at)
    return Surroundings(
        run=f"{configurable.get('thread_id', '')}/{configurable.get('began_at', '')}",
        remaining_s=None if ends_at is None else ends_at - now_s(),
        is_run="__pregel_runtime" in configurable,
        budget=configurable.get("__budget"),
        is_last=is_last,
    )


def schema_asked(kwargs: Mapping[str, Any]) -> str:
    """Name the schema a call asks for: the forced tool, or `Report` when it is on offer."""
    names = [_name(tool) for tool in kwargs.get("tools") or ()]
    choice = kwargs.get("tool_choice")
    forced = _name(choice) or (choice if choice in names else "")
    if forced or REPORT in names:
        return forced or REPORT
    return names[0] if len(names) == 1 else ""


def _name(tool: Any) -> str:
    if not isinstance(tool, Mapping):
        return ""
    inner = tool.get("function")
    return str((inner if isinstance(inner, Mapping) else tool).get("name") or "")
