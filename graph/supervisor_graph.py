"""A compiled graph that any caller can use: plain synchronous Python, a notebook, a server."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Any, Self, cast

from langchain_core.runnables import RunnableConfig
from langgraph.errors import InvalidUpdateError
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command, StateSnapshot, StateUpdate

from graph.given import read_context, read_edit, read_input
from graph.harvest import harvest
from graph.portal import portal
from nodes.budget import Budget
from nodes.checks.plan import problems
from nodes.deadline import stamps
from nodes.events import now_s
from state import Context, Plan, RequestInput, SupervisorState, Team, Usage

Edits = list[list[StateUpdate]]


class SupervisorGraph(CompiledStateGraph[SupervisorState, Context, RequestInput, SupervisorState]):
    """Adds to LangGraph's graph what its async steps need from every entry.

    The synchronous methods run on one background loop of the process, so that all runs share its
    limits. Each run gets its clock, its `Context`, and, with a checkpointer, `sync` durability.
    """

    prepare: Callable[[], Awaitable[None]]
    """Loads and builds what the workers need; a run does it while it plans, unless it is done."""
    team: Team
    """Whose workers an edited plan may name."""

    @classmethod
    def of(cls, graph: CompiledStateGraph[Any, Any, Any, Any]) -> Self:
        """Make a compiled graph one of this class; LangGraph gives no other way to choose it."""
        graph.__class__ = cls
        return cast(Self, graph)

    def copy(self, update: dict[str, Any] | None = None) -> Self:
        """Copy with what LangGraph's copy forgets, such as the types a strict checkpoint may hold.

        A server copies the graph for every run.
        """
        made = super().copy(update)
        made._serde_allowlist = self._serde_allowlist
        made.prepare, made.team = self.prepare, self.team
        return made

    async def astream(
        self,
        input: Any,
        config: RunnableConfig | None = None,
        *,
        context: Context | Mapping[str, Any] | None = None,
        durability: Any = None,
        **kwargs: Any,
    ) -> AsyncIterator[Any]:
        """Stream a run; every other entry comes through here."""
        input, context = read_input(input), read_context(context)
        configurable = dict((config or {}).get("configurable", {}))
        if "began_at" not in configurable:
            configurable["began_at"] = now_s() - await self._elapsed_s(input, config)
        if context.deadline_s is not None and "deadline_at" not in configurable:
            configurable |= stamps(now_s(), context.deadline_s)
        # A server saves what stands here with each checkpoint, but for names that begin so.
        if _has_budget(context) and "__budget" not in configurable:
            configurable["__budget"] = await self._budget(input, config, context)
        stamped = cast(RunnableConfig, {**(config or {}), "configurable": configurable})
        if durability is None and self._saves(configurable):
            durability = "sync"
        async for part in super().astream(
            input, stamped, context=context, durability=durability, **kwargs
        ):
            yield part

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Run to the end; `context` may be a plain mapping, which LangGraph's own types refuse."""
        return await super().ainvoke(input, config, **kwargs)

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Run to the end, from a thread that has no use for `await`."""
        return portal().call(self.ainvoke(input, config, **kwargs))

    def stream(
        self, input: Any, config: RunnableConfig | None = None, **kwargs: Any
    ) -> Iterator[Any]:
        """Stream a run into a plain `for`."""
        return portal().iterate(self.astream(input, config, **kwargs))

    def bulk_update_state(
        self, config: RunnableConfig, supersteps: Sequence[Sequence[StateUpdate]]
    ) -> RunnableConfig:
        """Edit the state of a thread; `update_state` comes through here. Values may be JSON."""
        edits = _read(supersteps)
        if any(_plans(edits)):
            self._require_sound(edits, self.get_state(config).values)
        return super().bulk_update_state(config, edits)

    async def abulk_update_state(
        self, config: RunnableConfig, supersteps: Sequence[Sequence[StateUpdate]]
    ) -> RunnableConfig:
        """Edit the state of a thread; `aupdate_state` comes through here, and so does Studio."""
        edits = _read(supersteps)
        if any(_plans(edits)):
            self._require_sound(edits, (await self.aget_state(config)).values)
        return await super().abulk_update_state(config, edits)

    def _require_sound(self, edits: Edits, held: Mapping[str, Any]) -> None:
        """Hold a plan that was put into the state to what any other plan is held to."""
        before = held.get("plan")
        max_tasks = max(self.team.max_tasks, len(before.tasks) if before else 0)
        for values, plan in _plans(edits):
            materials = values.get("materials", held.get("materials", {}))
            if wrong := problems(plan, self.team, max_tasks=max_tasks, materials=materials):
                raise InvalidUpdateError(f"plan: {'; '.join(wrong)}")

    async def _budget(self, input: Any, config: RunnableConfig | None, context: Context) -> Budget:
        """Make a run's budget; a resumed run has spent what its checkpoint or its journal says."""
        budget = Budget(max_tokens=context.max_tokens, max_cost_usd=context.max_cost_usd)
        if snapshot := await self._resumed(input, config):
            tell = (config or {}).get("configurable", {}).get("__told")
            told = list(tell().values()) if tell else []
            # A run that another machine began is in a journal there.
            for usage in max(_saved(snapshot), told, key=_tokens):
                budget.charge(usage)
        return budget

    async def _elapsed_s(self, input: Any, config: RunnableConfig | None) -> float:
        """Give where the clock of a resumed run goes on: its last known moment."""
        snapshot = await self._resumed(input, config)
        if snapshot is None:
            return 0.0
        values = snapshot.values
        reports = {**values.get("results", {}), **harvest(snapshot)}.values()
        moments: list[float] = [report.ended_s for report in reports]
        return float(max([values.get("planned_s", 0.0), *moments]))

    async def _resumed(self, input: Any, config: RunnableConfig | None) -> StateSnapshot | None:
        """Give the state that an input goes on from; None when it begins a run."""
        goes_on = input is None or (isinstance(input, Command) and input.resume is not None)
        if not (goes_on and config and self._saves(dict(config.get("configurable", {})))):
            return None
        return await self.aget_state(config, subgraphs=True)

    def _saves(self, configurable: dict[str, Any]) -> bool:
        is_inner = "__pregel_task_id" in configurable
        return not is_inner and bool(self.checkpointer or "__pregel_checkpointer" in configurable)


def _saved(snapshot: StateSnapshot) -> list[Usage]:
    """Give what a checkpoint knows to be spent on its request."""
    values = snapshot.values
    if values.get("planned_for") != values.get("request"):  # the ledger is an earlier request's
        return []
    entered = [expense.usage for expense in values.get("ledger", {}).values()]
    return entered + [report.usage for report in harvest(snapshot).values()]


def _tokens(spent: list[Usage]) -> int:
    return sum(usage.input_tokens + usage.output_tokens for usage in spent)


def _has_budget(context: Context) -> bool:
    return context.max_tokens is not None or context.max_cost_usd is not None


def _read(supersteps: Sequence[Sequence[StateUpdate]]) -> Edits:
    return [[edit._replace(values=read_edit(edit.values)) for edit in step] for step in supersteps]


def _plans(edits: Edits) -> Iterator[tuple[Mapping[str, Any], Plan]]:
    for edit in (edit for step in edits for edit in step):
        values = edit.values if isinstance(edit.values, Mapping) else {}
        if isinstance(values.get("plan"), Plan):
            yield values, values["plan"]
